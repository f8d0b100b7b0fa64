import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props<Name extends string> {
  label: string
  tabs: readonly { name: Name; title: string }[]
  current: NoInfer<Name>
  onChange(name: NoInfer<Name>): void
  /** What the current tab shows. */
  children: ComponentChildren
}

/** The arrow keys go from tab to tab. */
export const Tabs = <Name extends string>({ label, tabs, current, onChange, children }: Props<Name>) => {
  const id = useId()
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tabs.findIndex(({ name }) => name === current)
    const next = tabs[(at + step + tabs.length) % tabs.length]!.name
    onChange(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} tabIndex={-1} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </div>
  )
}
