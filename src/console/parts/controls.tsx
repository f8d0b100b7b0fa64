import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { createStore, useStore } from '../shell/state.ts'
import { plain } from './format.ts'

interface FieldProps {
  label: string
  hint?: string | undefined
  /** What is wrong, and how it is corrected. */
  error?: string | undefined
  /** The control, which takes these. */
  children(field: Control): ComponentChildren
}

export interface Control {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
}

/** A control of a form with its name, a hint, and its error at its place. */
export const Field = ({ label, hint, error, children }: FieldProps) => {
  const id = useId()
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`]
  const described = [hint !== undefined && hintId, error !== undefined && errorId].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== undefined || undefined })}
      {hint !== undefined && (
        <p id={hintId} class="dim">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={errorId} class="fault" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

interface SelectProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  onChange(value: string): void
  hint?: string
  error?: string | undefined
}

export const SelectField = ({ options, value, onChange, ...rest }: SelectProps) => (
  <Field {...rest}>
    {field => (
      <select {...field} value={value} onChange={event => onChange(event.currentTarget.value)}>
        {options.map(option => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface TextProps {
  label: string
  value: string
  onInput(value: string): void
  hint?: string
  error?: string | undefined
  type?: 'text' | 'url' | 'email' | 'search' | 'number' | 'password'
}

export const TextField = ({ value, onInput, type = 'text', ...rest }: TextProps) => (
  <Field {...rest}>
    {field => (
      <input
        {...field}
        type={type as 'text'}
        value={value}
        spellcheck={false}
        onInput={event => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
)

export const CheckField = ({
  label,
  checked,
  onChange,
}: {
  label: string
  checked: boolean
  onChange(checked: boolean): void
}) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={event => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)

export interface Suggestion {
  value: string
  /** What it means. */
  label?: string
}

interface SuggestedProps {
  label: string
  value: string
  suggestions: readonly Suggestion[]
  hint?: string | undefined
  error?: string | undefined
  onInput(value: string): void
  onFocus?(): void
}

/** A line of text with values to choose from. */
export const SuggestedField = ({ label, value, suggestions, hint, error, onInput, onFocus }: SuggestedProps) => {
  const list = useId()
  return (
    <Field label={label} hint={hint} error={error}>
      {field => (
        <>
          <input
            {...field}
            type="text"
            list={list}
            value={value}
            spellcheck={false}
            autocomplete="off"
            onInput={event => onInput(event.currentTarget.value)}
            onFocus={onFocus}
          />
          <datalist id={list}>
            {suggestions.map(({ value, label }) => (
              <option key={value} value={value}>
                {label === undefined ? undefined : plain(label).slice(0, 120)}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

interface TabsProps<Name extends string> {
  label: string
  tabs: readonly { name: Name; title: string }[]
  current: NoInfer<Name>
  onChange(name: NoInfer<Name>): void
  /** What the current tab shows. */
  children: ComponentChildren
}

/** The arrow keys go from tab to tab. */
export const Tabs = <Name extends string>({ label, tabs, current, onChange, children }: TabsProps<Name>) => {
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

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
}

/** A window over the page, which keeps the focus; Escape closes it. */
export const Dialog = ({ title, onClose, children }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => element.current!.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={() => element.current!.close()}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  )
}

interface Question {
  title: string
  /** What will happen, and whether it can be undone. */
  text: string
  /** On the button that does it, such as `Delete the rule`. */
  action: string
  answer(yes: boolean): void
}

const question = createStore<Question | undefined>(undefined)

/** Asks before what cannot be undone. */
export const confirm = (asked: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise(resolve =>
    question.set({
      ...asked,
      answer(yes) {
        question.set(undefined)
        resolve(yes)
      },
    }),
  )

/** Where the questions of `confirm` appear. */
export const Confirm = () => {
  const asked = useStore(question)
  if (!asked) return null
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <p class="actions">
        <button type="button" class="danger" onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
      </p>
    </Dialog>
  )
}

interface Toast {
  id: number
  text: string
  kind: 'done' | 'error'
}

const toasts = createStore<readonly Toast[]>([])
const SHOWN_MS = 6_000
let last = 0

/** Tells what was done, also to who does not see it. Errors stay until they are dismissed. */
export const announce = (text: string, kind: Toast['kind'] = 'done') => {
  const id = ++last
  toasts.set([...toasts.get().slice(-3), { id, text, kind }])
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS)
}

const dismiss = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))

/** Where they appear. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStore(toasts).map(({ id, text, kind }) => (
      <p key={id} class={kind}>
        {text}
        <button type="button" class="quiet" onClick={() => dismiss(id)}>
          Dismiss
        </button>
      </p>
    ))}
  </div>
)
