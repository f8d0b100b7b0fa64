import { useEffect, useRef } from 'preact/hooks'

/**
 * An element in which something draws that is loaded when it is first needed, `what` for those who wait in vain. It begins anew where `key`
 * is another one.
 */
export const useLoaded = <T extends { remove(): void }>(
  what: string,
  key: unknown,
  load: () => Promise<(element: HTMLElement) => T>,
) => {
  const box = useRef<HTMLDivElement>(null)
  const loaded = useRef<T>(undefined)
  useEffect(() => {
    const element = box.current
    // A page that is left at once runs this when nothing is shown any more.
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
