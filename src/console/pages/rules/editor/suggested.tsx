import { useId } from 'preact/hooks'
import { Field } from '../../../parts/field.tsx'
import { plain } from '../../../parts/visible.ts'

export interface Suggestion {
  value: string
  /** What it means. */
  label?: string
}

interface Props {
  label: string
  value: string
  suggestions: readonly Suggestion[]
  hint?: string | undefined
  error?: string | undefined
  onInput(value: string): void
  onFocus?(): void
}

/** A line of text with values to choose from. */
export const SuggestedField = ({ label, value, suggestions, hint, error, onInput, onFocus }: Props) => {
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
