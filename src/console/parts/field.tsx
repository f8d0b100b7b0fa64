import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props {
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
export const Field = ({ label, hint, error, children }: Props) => {
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
