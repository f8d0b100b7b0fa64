import { useState } from 'preact/hooks'
import { isObject, type Json, type JsonObject, member, textAt } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import type { Kind } from '../../../api/wire.ts'
import { CheckField, Field, SelectField } from '../../../parts/field.tsx'
import { type Argument, type Attribute, getValues, operatorsFor } from '../attributes.ts'
import { COMPARING, EMPTY_CONDITION, hasArguments, INSPECT, listAt, put, takesList } from '../model.ts'
import type { FaultAt } from './places.ts'
import { SuggestedField } from './suggested.tsx'

export interface Known {
  network: string
  kind: Kind
  targetType: string
  attributes: readonly Attribute[]
  arguments: readonly Argument[]
}

interface Props {
  /** Such as `Condition 2`. */
  label: string
  value: Json
  path: string
  level: 1 | 2 | 3
  /** Names of the conditions around. */
  inside: readonly string[]
  known: Known
  faultAt: FaultAt
  onChange(value: Json): void
  onRemove(): void
}

/** One condition; with `Inspect`, those on what it inspects. */
export const ConditionForm = (props: Props) => {
  const { label, value, path, level, inside, known, faultAt, onChange, onRemove } = props
  const name = textAt(value, 'name') ?? ''
  const operator = textAt(value, 'operator') ?? ''
  const isArguments = level === 1 && name === 'args' && hasArguments(known.targetType)
  const attribute = level === 1 ? known.attributes.find(it => it.name === name) : undefined
  if (!isObject(value)) return <Odd label={label} onRemove={onRemove} />

  const setName = (next: string) => {
    const renamed = put(value, 'name', next)
    const inspects = level === 1 && next === 'args' && hasArguments(known.targetType) && operator !== INSPECT
    onChange(inspects ? inspecting(renamed) : renamed)
  }
  const inspects = operator === INSPECT
  return (
    <fieldset class="condition" data-level={level}>
      <legend>{label}</legend>
      <div class="line">
        <SuggestedField
          label={level === 1 ? 'Field' : inside[0] === 'args' && level === 2 ? 'Argument' : 'Part'}
          value={name}
          suggestions={namesFor(level, inside, known)}
          hint={attribute?.meaning}
          error={faultAt(`${path}.name`)}
          onInput={setName}
        />
        {!isArguments && (
          <SelectField
            label="Operator"
            value={operator}
            options={operatorOptions(operator, level, attribute)}
            error={faultAt(`${path}.operator`)}
            onChange={next => onChange(withOperator(value, next))}
          />
        )}
        {!inspects && <Operand {...props} value={value} attribute={attribute} operator={operator} />}
        <button type="button" class="quiet" aria-label={`Remove ${label.toLowerCase()}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      {level === 2 && inside[0] === 'args' && (
        <CheckField
          label="In units of the token, with its decimals"
          checked={value.useScaledValue === true}
          onChange={checked => onChange(put(value, 'useScaledValue', checked || undefined))}
        />
      )}
      {inspects && <Inner {...props} value={value} name={name} />}
    </fieldset>
  )
}

const Odd = ({ label, onRemove }: Pick<Props, 'label' | 'onRemove'>) => (
  <p class="note">
    {label} is not an object: correct it as JSON.{' '}
    <button type="button" onClick={onRemove}>
      Remove
    </button>
  </p>
)

const Inner = ({ value, name, path, level, inside, known, faultAt, onChange }: Props & { name: string }) => {
  const parameters = listAt(value, 'operatorParameters')
  const set = (next: Json[]) => onChange(put(value, 'operatorParameters', next))
  return (
    <div class="inner">
      {parameters.map((parameter, i) => (
        <ConditionForm
          key={i}
          label={`Condition ${i + 1} on ${name.slice(0, 40) || 'what is inspected'}`}
          value={parameter}
          path={`${path}.operatorParameters[${i}]`}
          level={level === 1 ? 2 : 3}
          inside={[...inside, name]}
          known={known}
          faultAt={faultAt}
          onChange={next => set(parameters.with(i, next))}
          onRemove={() => set(parameters.toSpliced(i, 1))}
        />
      ))}
      <button type="button" onClick={() => set([...parameters, EMPTY_CONDITION])}>
        {name === 'args' ? 'Add a condition on an argument' : 'Add a condition inside'}
      </button>
    </div>
  )
}

const Operand = ({
  value,
  path,
  level,
  known,
  faultAt,
  onChange,
  operator,
  attribute,
}: Props & { operator: string; attribute: Attribute | undefined }) => {
  const [focused, setFocused] = useState(false)
  const key =
    focused && attribute && level === 1 ? `values ${known.network} ${known.kind} ${attribute.field}` : undefined
  const values = useAsk(key, signal => getValues(known.network, known.kind, attribute!, signal))
  const operand = member(value, 'value')
  const error = faultAt(`${path}.value`, { inside: true })
  if (!takesList(operator))
    return (
      <SuggestedField
        label="Value"
        value={typeof operand === 'string' ? operand : operand === undefined ? '' : String(operand)}
        suggestions={(values.data ?? []).map(it => ({ value: it }))}
        error={error}
        onInput={next => onChange(put(value, 'value', next))}
        onFocus={() => setFocused(true)}
      />
    )
  const lines = (Array.isArray(operand) ? operand : []).map(String)
  return (
    <Field label="Values, one on each line" error={error}>
      {field => <Lines {...field} lines={lines} onChange={next => onChange(put(value, 'value', next))} />}
    </Field>
  )
}

interface LinesProps {
  lines: readonly string[]
  onChange(lines: string[]): void
}

/** An empty line stands in the text while it is typed, and not in the list. */
export const Lines = ({ lines, onChange, ...field }: LinesProps) => {
  const [text, setText] = useState<string>()
  const listed = (text ?? '').split('\n').filter(line => line.trim() !== '')
  const shown = text !== undefined && String(listed) === String(lines) ? text : lines.join('\n')
  return (
    <textarea
      {...field}
      rows={3}
      spellcheck={false}
      value={shown}
      onInput={event => {
        const typed = event.currentTarget.value
        setText(typed)
        onChange(typed.split('\n').filter(line => line.trim() !== ''))
      }}
    />
  )
}

const inspecting = (condition: JsonObject): JsonObject => ({
  ...put(condition, 'value', undefined),
  operator: INSPECT,
  operatorParameters: [EMPTY_CONDITION],
})

/** The value follows the operator: a list with some, one text with others, none with `Inspect`. */
const withOperator = (condition: JsonObject, operator: string): JsonObject => {
  if (operator === INSPECT) return inspecting(condition)
  const { value } = condition
  const texts = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  const operand = takesList(operator) ? texts : (texts[0] ?? '')
  return { ...put(condition, 'operatorParameters', undefined), operator, value: operand }
}

const operatorOptions = (current: string, level: number, attribute: Attribute | undefined) => {
  const fitting = [
    ...operatorsFor(attribute, COMPARING),
    ...(level < 3 && attribute?.type === undefined ? [INSPECT] : []),
  ]
  const all = fitting.includes(current) ? fitting : [current, ...fitting]
  return all.map(value => ({ value, label: value === INSPECT ? 'Inspect (look inside)' : value || 'choose one' }))
}

const FORMS = ['hex', 'num', 'dec', 'scaled', 'type'].map(value => ({ value, label: 'A form of the value' }))

const namesFor = (level: number, inside: readonly string[], known: Known) => {
  if (level === 1) return known.attributes.map(({ name, meaning }) => ({ value: name, label: meaning }))
  if (inside[0] !== 'args') return []
  return level === 2 ? known.arguments.map(({ name, type }) => ({ value: name, label: type })) : FORMS
}
