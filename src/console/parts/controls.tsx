import type { ComponentChildren, FormHTMLAttributes } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKey } from '../browser/keys.ts'
import { zone } from '../browser/preferences.ts'
import { createStore, useStore } from '../browser/state.ts'
import { dismiss, toasts } from './announce.ts'
import { type Choice, Combobox } from './combobox.tsx'
import { IconButton } from './menu.tsx'
import { CLOCKS } from './text.tsx'

interface ButtonProps {
  label: ComponentChildren
  /** Accessible name if the label is not enough. */
  name?: string | undefined
  class?: string | undefined
  disabled?: boolean
  /** For buttons that toggle a section. */
  expanded?: boolean
  /** For buttons that switch something on. */
  pressed?: boolean
  onClick(): unknown
}

export const Button = ({ label, name, expanded, pressed, onClick, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-label={name}
    aria-expanded={expanded}
    aria-pressed={pressed}
    onClick={() => void onClick()}
  >
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
  type?: 'text' | 'search' | 'password'
  placeholder?: string
  /** Suggested values with meanings. */
  suggestions?: readonly Choice[] | undefined
}

/** A text input. */
export const TextField = ({
  value,
  onInput,
  type = 'text',
  suggestions,
  onFocus,
  placeholder,
  ...rest
}: TextFieldProps) => (
  <Field {...rest}>
    {control =>
      suggestions ? (
        <Combobox
          {...{ value, onInput, input: { ...control, onFocus, placeholder } }}
          choices={fittingChoices(suggestions, value)}
        />
      ) : (
        <input
          {...control}
          {...{ type: type as 'text', value, onFocus, placeholder }}
          spellcheck={false}
          // A key of a receiver is no password of this site.
          autocomplete={type === 'password' ? 'new-password' : undefined}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )
    }
  </Field>
)

interface TimeFieldProps extends FieldProps {
  /** Epoch milliseconds; undefined if empty. */
  value: number | undefined
  onInput(value: number | undefined): void
}

/** A time in the chosen zone. */
export const DateTimeField = ({ label, value, onInput, ...rest }: TimeFieldProps) => {
  const shown = useStore(zone)
  const [typed, setTyped] = useState('')
  const read = (text: string) => (text === '' ? undefined : Date.parse(shown === 'UTC' ? `${text}Z` : text))
  const given = value === undefined ? '' : CLOCKS[shown].format(value).replace(' ', 'T')
  return (
    <Field {...rest} label={`${label}, ${shown}`}>
      {control => (
        <input
          {...control}
          type="datetime-local"
          step="1"
          // A year that is being typed has fewer digits.
          value={read(typed) === value ? typed : given}
          onInput={event => {
            setTyped(event.currentTarget.value)
            onInput(read(event.currentTarget.value))
          }}
        />
      )}
    </Field>
  )
}

interface FileProps {
  label: string
  accept: string
  multiple?: boolean
  disabled?: boolean
  onFiles(files: File[]): unknown
}

/** A button that chooses files. */
export const FileField = ({ label, onFiles, ...rest }: FileProps) => (
  <label class="files">
    <input
      type="file"
      {...rest}
      onChange={event => {
        const input = event.currentTarget
        const files = [...(input.files ?? [])]
        input.value = ''
        void onFiles(files)
      }}
    />
    <span>{label}</span>
  </label>
)

const MOST_CHOICES = 50

/** Those that contain the text; all for a text that is one of them. */
export const fittingChoices = (choices: readonly Choice[], text: string): readonly Choice[] => {
  const sought = text.trim().toLowerCase()
  const isChosen = choices.some(({ value }) => value.toLowerCase() === sought)
  return choices
    .filter(
      ({ value, title = '', kind = '' }) => isChosen || `${value} ${title} ${kind}`.toLowerCase().includes(sought),
    )
    .slice(0, MOST_CHOICES)
}

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
        <IconButton icon="close" label="Close" onClick={onClose} />
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
        <IconButton icon="close" label="Close" onClick={() => element.current!.close()} />
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

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {useStore(toasts).map(({ id, text, kind }) => (
      <p key={id} class={kind}>
        {text}
        <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
      </p>
    ))}
  </div>
)
