import { useEffect, useRef } from 'preact/hooks'

/** Element of a component loaded on demand. `what` names it in errors; another `key` reopens it. */
export const useLoaded = <T extends { remove(): void }>(
  what: string,
  key: unknown,
  load: () => Promise<(element: HTMLElement) => T>,
) => {
  const box = useRef<HTMLDivElement>(null)
  const loaded = useRef<T>(undefined)
  useEffect(() => {
    const element = box.current
    // The page may be gone already.
    if (!element) return undefined
    let gone = false
    const draw = async () => {
      const open = await load()
      if (!gone) loaded.current = open(element)
    }
    draw().catch(() => {
      if (!gone) element.textContent = `The ${what} cannot be loaded. Reload the console.`
    })
    return () => {
      gone = true
      loaded.current?.remove()
    }
  }, [key])
  return { box, loaded }
}
