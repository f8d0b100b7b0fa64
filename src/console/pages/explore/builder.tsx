import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import type { Kind } from '../../api/wire.ts'
import { type Choice, Combobox } from '../../parts/combobox.tsx'
import { Button, Form, fittingChoices, Select } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { IconButton } from '../../parts/menu.tsx'
import { Text } from '../../parts/text.tsx'
import type { KnownValues } from './catalogue.ts'
import {
  type Condition,
  clauseOf,
  conditionsOf,
  isArgument,
  isWhole,
  LABELS,
  type Operator,
  operatorsFor,
} from './conditions.ts'
import { type Catalogue, type FieldInfo, fieldsOf } from './fields.ts'
import type { Draft } from './state.ts'

interface BuilderProps {
  draft: Draft
  catalogue: Catalogue
  kinds: readonly Kind[]
  values: KnownValues
}

const NEW_CONDITION: Condition = { field: '', operator: 'is', not: false, value: '' }

export const Builder = ({ draft, catalogue, kinds, values }: BuilderProps) => {
  const [rows, setRows] = useState<readonly Condition[]>([NEW_CONDITION])
  const written = useRef<string>(undefined)
  useEffect(() => {
    if (draft.clause === undefined || draft.clause === written.current) return
    written.current = draft.clause
    const read = conditionsOf(draft.clause)
    setRows(read.length === 0 ? [NEW_CONDITION] : read)
  }, [draft.clause])

  const fields = useMemo(
    () =>
      fieldsOf(catalogue, kinds)
        .filter(({ path }) => !HIDDEN.test(path))
        .map(({ path, meaning }) => ({ value: path, kind: meaning })),
    [catalogue, kinds],
  )
  const write = (next: readonly Condition[]) => {
    setRows(next)
    const clause = clauseOf(next.filter(isWhole))
    written.current = clause
    draft.set(clause, 'conditions')
  }

  if (draft.clause === undefined)
    return (
      <p class="dim">The query cannot be shown as conditions: {visibleText(draft.error ?? '')} Correct it first.</p>
    )
  return (
    <Form class="conditions" aria-label="Conditions" onSubmit={draft.submit}>
      {rows.map((row, i) => (
        <ConditionRow
          key={i}
          {...{ row, fields, values }}
          at={i + 1}
          field={catalogue.fields.get(row.field)}
          onChange={next => write(rows.with(i, next))}
          onRemove={() => write(rows.length === 1 ? [NEW_CONDITION] : rows.toSpliced(i, 1))}
        />
      ))}
      <p class="actions">
        <Button label="Add a condition" onClick={() => setRows([...rows, NEW_CONDITION])} />
        <span class="dim">All of them have to hold.</span>
        {/* Enter in a condition searches. */}
        <button type="submit" class="skip">
          Search by the conditions
        </button>
      </p>
    </Form>
  )
}

/** Other encodings are offered, too. */
const HIDDEN = /\.padded$|(^|\.)(number|Number|Index|gas\w*|nonce|value|type|size|firstSeen)\.raw$/

interface RowProps {
  at: number
  row: Condition
  field: FieldInfo | undefined
  fields: readonly Choice[]
  values: KnownValues
  onChange(row: Condition): void
  onRemove(): void
}

const ConditionRow = ({ onRemove, ...props }: RowProps) => {
  const { at, row, field } = props
  return (
    <fieldset class="condition">
      <legend class="skip">Condition {at}</legend>
      {row.operator === 'json' ? (
        <p>
          {row.not && 'not '}
          <Text value={row.value} most={200} /> <span class="dim">Conditions cannot show this: change it as JSON.</span>
        </p>
      ) : (
        <Inputs {...props} />
      )}
      <IconButton icon="close" label={`Remove condition ${at}`} onClick={onRemove} />
      {field && row.operator !== 'json' && <p class="meaning dim">{field.meaning}</p>}
      {!field && row.field !== '' && <p class="meaning dim">No field of these kinds has this name.</p>}
    </fieldset>
  )
}

const Inputs = ({ at, row, field, fields, values, onChange }: Omit<RowProps, 'onRemove'>) => {
  const operators: readonly Operator[] = row.operator === 'text' ? ['text'] : operatorsFor(field)
  const shown = operators.includes(row.operator) ? operators : [...operators, row.operator]
  const options = shown.flatMap(operator =>
    LABELS[operator].map((label, i) => ({ value: `${i === 1 ? '!' : ''}${operator}`, label })),
  )
  const setField = (path: string) => {
    const { argument: _, ...rest } = row
    onChange({ ...rest, field: path, ...(isArgument(path) && { argument: row.argument ?? '' }) })
  }
  const setOperator = (value: string) =>
    onChange({ ...row, not: value.startsWith('!'), operator: value.replace('!', '') as Operator })
  return (
    <>
      {row.operator === 'text' ? (
        <span>the text of the search</span>
      ) : (
        <Input label={`Field ${at}`} placeholder="field" choices={fields} value={row.field} onInput={setField} />
      )}
      {row.argument !== undefined && (
        <KnownInput
          label={`Argument ${at}`}
          placeholder="argument"
          value={row.argument}
          known={{ key: 'names', ask: () => values('args.name') }}
          onInput={argument => onChange({ ...row, argument })}
        />
      )}
      <Select
        aria-label={`Operator ${at}`}
        value={`${row.not ? '!' : ''}${row.operator}`}
        options={options}
        onChange={setOperator}
      />
      {row.operator !== 'exists' && (
        <KnownInput
          label={`Value ${at}`}
          placeholder={field?.type === 'date' ? '2025-01-31T12:00:00' : 'value'}
          value={row.value}
          known={{ key: `${row.field} ${row.argument}`, ask: () => values(row.field, row.argument) }}
          onInput={value => onChange({ ...row, value })}
        />
      )}
    </>
  )
}

interface InputProps {
  label: string
  placeholder: string
  value: string
  choices: readonly Choice[]
  onFocus?(): void
  onInput(value: string): void
}

const Input = ({ label, value, choices, onInput, ...input }: InputProps) => (
  <Combobox
    {...{ value, onInput, choices: fittingChoices(choices, value) }}
    input={{ 'aria-label': label, ...input }}
  />
)

type KnownInputProps = Omit<InputProps, 'choices'> & { known: { key: string; ask(): Promise<readonly string[]> } }

/** An input that suggests stored values once it has the focus. */
const KnownInput = ({ known, ...rest }: KnownInputProps) => {
  const [isIn, setIn] = useState(false)
  const { data = [] } = useAsk(isIn ? known.key : undefined, known.ask)
  return <Input {...rest} choices={data.map(value => ({ value }))} onFocus={() => setIn(true)} />
}
