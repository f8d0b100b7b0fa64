import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Item {
  title: string
  run(): void
}

/** A button that opens a list of actions. */
export const Menu = ({ label, items }: { label: string; items: readonly Item[] }) => {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const id = useId()

  useLayoutEffect(() => {
    if (!open) return
    root.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const close = (event: Event) => root.current!.contains(event.target as Node) || setOpen(false)
    addEventListener('pointerdown', close)
    return () => removeEventListener('pointerdown', close)
  }, [open])

  const leave = () => {
    setOpen(false)
    root.current!.querySelector('button')!.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...root.current!.querySelectorAll<HTMLElement>('[role=menuitem]')]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape') leave()
    else if (event.key === 'Tab') setOpen(false)
    else if (step !== 0) all[(at + step + all.length) % all.length]?.focus()
    if (event.key === 'Escape' || step !== 0) event.preventDefault()
  }

  return (
    <div class="menu" ref={root}>
      <button type="button" aria-haspopup="menu" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open && (
        <div role="menu" id={id} aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map(({ title, run }) => (
            <button
              key={title}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                leave()
                run()
              }}
            >
              {title}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
