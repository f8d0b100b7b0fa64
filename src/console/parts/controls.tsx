import type { ComponentChildren, FormHTMLAttributes } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKey } from '../browser/keys.ts'
import { useQueryState } from '../browser/router.tsx'
import { createStore, useStore } from '../browser/state.ts'
import { visibleText } from './format.ts'

interface ButtonProps {
  label: ComponentChildren
  /** Accessible name if the label is not enough. */
  name?: string | undefined
  class?: string | undefined
  disabled?: boolean
  /** For buttons that toggle a section. */
  expanded?: boolean
  onClick(): unknown
}

export const Button = ({ label, name, expanded, onClick, ...rest }: ButtonProps) => (
  <button type="button" {...rest} aria-label={name} aria-expanded={expanded} onClick={() => void onClick()}>
    {label}
  </button>
)

interface PlainFormProps extends Omit<FormHTMLAttributes, 'onSubmit'> {
  onSubmit(): unknown
  children: ComponentChildren
}

/** A form without browser submission and validation. */
export const Form = ({ onSubmit, children, ...rest }: PlainFormProps) => (
  <form
    {...rest}
    noValidate
    onSubmit={event => {
      event.preventDefault()
      void onSubmit()
    }}
  >
    {children}
  </form>
)

interface FieldProps {
  label: string
  hint?: string | undefined
  /** Error and its remedy. */
  error?: string | undefined
}

interface Control {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
}

/** A labelled control with hint and error. */
export const Field = ({
  label,
  hint,
  error,
  children,
}: FieldProps & { children(control: Control): ComponentChildren }) => {
  const id = useId()
  const [hintId, errorId] = [hint && `${id}-hint`, error && `${id}-error`]
  const described = [hintId, errorId].filter(Boolean).join(' ') || undefined
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error !== undefined || undefined })}
      {hint !== undefined && <p id={hintId} class="dim" children={hint} />}
      {error !== undefined && <p id={errorId} class="fault" role="alert" children={error} />}
    </div>
  )
}

export interface Option {
  value: string
  label: string
}

interface SelectProps extends Partial<Control> {
  value: string
  options: readonly (string | Option)[]
  onChange(value: string): void
}

export const Select = ({ options, value, onChange, ...rest }: SelectProps & { 'aria-label'?: string }) => (
  <select {...rest} value={value} onChange={event => onChange(event.currentTarget.value)}>
    {options.map(it => {
      const { value, label } = typeof it === 'string' ? { value: it, label: it } : it
      return <option key={value} value={value} children={label} />
    })}
  </select>
)

export const SelectField = ({ options, value, onChange, ...rest }: FieldProps & SelectProps) => (
  <Field {...rest}>{control => <Select {...control} {...{ options, value, onChange }} />}</Field>
)

interface TextFieldProps extends FieldProps {
  value: string
  onInput(value: string): void
  onFocus?(): void
  type?: 'text' | 'search'
  placeholder?: string
  /** Suggested values with meanings. */
  suggestions?: readonly { value: string; label?: string }[]
}

/** A text input; `/` focuses the search input. */
export const TextField = ({
  value,
  onInput,
  type = 'text',
  suggestions,
  onFocus,
  placeholder,
  ...rest
}: TextFieldProps) => {
  const list = useId()
  return (
    <Field {...rest}>
      {control => (
        <>
          <input
            {...control}
            {...{ type: type as 'text', value, onFocus, placeholder }}
            data-search={type === 'search' || undefined}
            list={suggestions && list}
            spellcheck={false}
            autocomplete={suggestions && 'off'}
            onInput={event => onInput(event.currentTarget.value)}
          />
          {suggestions && <Suggestions id={list} of={suggestions} />}
        </>
      )}
    </Field>
  )
}

export const Suggestions = ({ id, of }: { id: string; of: readonly { value: string; label?: string }[] }) => (
  <datalist id={id}>
    {of.map(({ value, label }) => (
      <option key={value} value={value} children={label === undefined ? undefined : visibleText(label).slice(0, 120)} />
    ))}
  </datalist>
)

interface CheckProps {
  label: ComponentChildren
  /** Accessible name if the label is not enough. */
  name?: string
  checked: boolean
  onChange(checked: boolean): void
}

export const CheckField = ({ label, name, checked, onChange }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      aria-label={name}
      checked={checked}
      onChange={event => onChange(event.currentTarget.checked)}
    />
    {label}
  </label>
)

export interface Tab {
  name: string
  title: string
  show(): ComponentChildren
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** Default: the first tab. */
  current: string
  onChange(name: string): void
}

/** Tabs; arrow keys switch between them. */
export const Tabs = ({ label, tabs, current, onChange }: TabsProps) => {
  const id = useId()
  const shown = tabs.find(({ name }) => name === current) ?? tabs[0]!
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length]!.name
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
            aria-selected={name === shown.name}
            aria-controls={`${id}-panel`}
            tabIndex={name === shown.name ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown.name}`}>
        {shown.show()}
      </div>
    </div>
  )
}

/** Tabs whose state is in the address. */
export const QueryTabs = ({ label, tabs }: Pick<TabsProps, 'label' | 'tabs'>) => {
  const [tab, setTab] = useQueryState('tab', tabs[0]!.name)
  return <Tabs {...{ label, tabs }} current={tab} onChange={name => setTab(name, { replace: true })} />
}

export const Menu = ({ label, items }: { label: string; items: readonly { title: string; run(): unknown }[] }) => {
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
  const choose = (run: () => unknown) => () => {
    leave()
    void run()
  }
  return (
    <div class="menu" ref={root}>
      <button type="button" aria-haspopup="menu" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open && (
        <div role="menu" id={id} aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map(({ title, run }) => (
            <button key={title} type="button" role="menuitem" tabIndex={-1} onClick={choose(run)}>
              {title}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

interface AsideProps {
  /** Kind of the open item, such as `hit`. */
  what: string
  title: ComponentChildren
  onClose(): void
  children: ComponentChildren
}

/** A side panel; Escape closes it. */
export const Aside = ({ what, title, onClose, children }: AsideProps) => {
  useKey('Escape', `Closes the ${what}`, onClose)
  return (
    <aside class="opened" aria-label={`The open ${what}`}>
      <header>
        <h2>{title}</h2>
        <Button class="quiet" label="Close" onClick={onClose} />
      </header>
      {children}
    </aside>
  )
}

/** A modal dialog; Escape closes it. */
export const Dialog = ({ title, onClose, children }: Omit<AsideProps, 'what'>) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => element.current!.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button class="quiet" label="Close" onClick={() => element.current!.close()} />
      </header>
      {children}
    </dialog>
  )
}

interface Confirmation {
  title: string
  /** Consequence, and whether it can be undone. */
  text: string
  /** Button label such as `Delete the rule`. */
  action: string
}

const question = createStore<(Confirmation & { answer(yes: boolean): void }) | undefined>(undefined)

/** Asks for a confirmation. */
export const confirm = (asked: Confirmation): Promise<boolean> =>
  new Promise(resolve =>
    question.set({
      ...asked,
      answer(yes) {
        question.set(undefined)
        resolve(yes)
      },
    }),
  )

export const Confirm = () => {
  const asked = useStore(question)
  if (!asked) return null
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <p class="actions">
        <Button class="danger" label={asked.action} onClick={() => asked.answer(true)} />
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
const TOAST_MS = 6_000
let last = 0

/** Shows a toast, also to screen readers; errors stay until dismissed. */
export const announce = (text: string, kind: Toast['kind'] = 'done') => {
  const id = ++last
  toasts.set([...toasts.get().slice(-3), { id, text, kind }])
  if (kind === 'done') setTimeout(() => dismiss(id), TOAST_MS)
}

const dismiss = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStore(toasts).map(({ id, text, kind }) => (
      <p key={id} class={kind}>
        {text}
        <Button class="quiet" label="Dismiss" onClick={() => dismiss(id)} />
      </p>
    ))}
  </div>
)
