import { useEffect, useRef } from 'preact/hooks'

/** Shortcuts outside of text inputs; `?` lists the active ones. */
export interface Shortcut {
  /** Value of `KeyboardEvent.key`. */
  key: string
  does: string
  run(event: KeyboardEvent): void
}

const keys: Shortcut[] = []

export const activeKeys = (): readonly Shortcut[] =>
  keys.filter(({ key }, i) => i === keys.findIndex(it => it.key === key))

export const useKey = (key: string, does: string, run: (event: KeyboardEvent) => void) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const entry: Shortcut = { key, does, run: event => latest.current(event) }
    keys.push(entry)
    return () => void keys.splice(keys.indexOf(entry), 1)
  }, [key, does])
}

addEventListener('keydown', event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isKeyForTarget(event)) return
  if (document.querySelector('dialog[open]')) return
  const found = keys.findLast(({ key }) => key === event.key)
  if (!found) return
  event.preventDefault()
  found.run(event)
})

/** Whether the focused element uses the key: text input, or Enter and space on controls. */
const isKeyForTarget = (event: KeyboardEvent): boolean => {
  // Sees through shadow roots, as of the editor.
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable || target.matches(TEXT_CONTROLS) || (PRESSES.has(event.key) && target.matches(PRESSED))
  )
}

const TEXT_CONTROLS =
  'select, textarea, input:not([type=checkbox], [type=radio], [type=file], [type=button], [type=submit])'
const PRESSED = 'a, button, summary, input'
const PRESSES: ReadonlySet<string> = new Set(['Enter', ' '])
