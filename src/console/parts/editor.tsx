import type { CompletionSource } from '@codemirror/autocomplete'
import type { LintSource } from '@codemirror/lint'
import { useEffect, useRef } from 'preact/hooks'
import type { Edited } from './editor-load.ts'

interface Props {
  label: string
  value: string
  onChange(value: string): void
  /** Ctrl+Enter. */
  onSubmit?: (() => void) | undefined
  complete?: CompletionSource
  lint?: LintSource
}

/** A text of JSON, with line numbers, colours, brackets that match, completion and faults at their place. It is loaded when needed. */
export const Editor = ({ label, value, onChange, onSubmit, complete, lint }: Props) => {
  const box = useRef<HTMLDivElement>(null)
  const edited = useRef<Edited>(undefined)
  const latest = useRef({ value, onChange, onSubmit, complete, lint })
  latest.current = { value, onChange, onSubmit, complete, lint }

  useEffect(() => {
    const element = box.current
    // A page that is left at once runs this when nothing is shown any more.
    if (!element) return undefined
    let gone = false
    const load = async () => {
      const { openEditor } = await import('./editor-load.ts')
      if (gone) return
      edited.current = openEditor(element, label, () => latest.current)
    }
    load().catch(() => {
      if (!gone) element.textContent = 'The editor cannot be loaded. Reload the console.'
    })
    return () => {
      gone = true
      edited.current?.remove()
    }
  }, [label])
  useEffect(() => edited.current?.set(value), [value])

  return <div ref={box} class="editor" />
}
