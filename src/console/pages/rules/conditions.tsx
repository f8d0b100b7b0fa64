import { useEffect, useRef, useState } from 'preact/hooks'
import { useAsk, useGet } from '../../api/ask.ts'
import { type Json, type JsonObject, listAt, ownEntry, textAt } from '../../api/json.ts'
import type { WatchLists } from '../../api/wire.ts'
import { Button, CheckField, Field, type Option, SelectField, TextField } from '../../parts/controls.tsx'
import { IconButton } from '../../parts/menu.tsx'
import { useKnown } from '../../parts/names.ts'
import { attributeOperators, suggestValues } from './api.ts'
import {
  hasLogic,
  isComplete,
  listNamed,
  offersFor,
  type RuleLine,
  takesList,
  toRuleLines,
  toTargetMap,
  withOperator,
} from './condition-rows.ts'
import { asArgument, fieldChoices, fieldText, type KnownFields, namesOfTyped } from './known-fields.ts'
import {
  EMPTY_CONDITION,
  type FaultAt,
  firstCondition,
  isWholeAddress,
  OPERATOR_PHRASES,
  TARGETS,
  targetOf,
  withConfig,
  withMember,
} from './model.ts'

export interface ConditionsProps {
  draft: JsonObject
  known: KnownFields
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** What another part of the rule looks for, as a rule of its own, so that it has the same fields. */
export const partAsRule = (
  { draft, faultAt }: Pick<ConditionsProps, 'draft' | 'faultAt'>,
  { config, place, at }: { config: JsonObject; place: string; at: string },
): Pick<ConditionsProps, 'draft' | 'faultAt'> => ({
  draft: { ...draft, config },
  faultAt: (path, options) => faultAt(path.replace(place, at), options),
})

interface TargetProps extends Pick<ConditionsProps, 'draft' | 'faultAt'> {
  types?: readonly Option[]
  onChange(type: string): void
}

/** What kind of thing is looked at. */
export const TargetField = ({ draft, faultAt, types = ALL_TARGETS, onChange }: TargetProps) => {
  const target = targetOf(draft)
  return (
    <SelectField
      label="Looks at"
      value={target}
      options={types.some(({ value }) => value === target) ? types : [...types, { value: target, label: target }]}
      error={faultAt('config.targetType')}
      onChange={onChange}
    />
  )
}

const ALL_TARGETS = TARGETS.map(({ type, label }) => ({ value: type, label }))

/** Conditions that are begun stay. */
export const withTarget = (rule: JsonObject, type: string): JsonObject => {
  const isBegun = toRuleLines(listAt(rule, 'config.targetMap')).some(isComplete)
  const next = withConfig(rule, 'targetType', type)
  return isBegun ? next : withConfig(next, 'targetMap', [firstCondition(type)])
}

/** The conditions, one in each line. */
export const Conditions = ({ draft, known, faultAt, onChange }: ConditionsProps) => {
  const box = useRef<HTMLDivElement>(null)
  const conditions = listAt(draft, 'config.targetMap')
  const rows = toRuleLines(conditions)
  const set = (next: readonly RuleLine[]) => onChange(withConfig(draft, 'targetMap', toTargetMap(next)))

  // A name may be typed before it is known to be an argument's.
  const resolved = known.attributes.length > 0 ? rows.map(row => asArgument(row, known)) : rows
  useEffect(() => {
    if (resolved.some((row, i) => row !== rows[i])) set(resolved)
  })
  const names = [...known.attributes, ...known.arguments].map(({ name }) => name)
  const add = (condition: JsonObject) => () => {
    onChange(withConfig(draft, 'targetMap', [...conditions, condition]))
    // Its suggestions listen a moment after it is drawn.
    setTimeout(() => {
      const inputs = box.current?.querySelectorAll<HTMLElement>('.condition:last-of-type :is(input, textarea)')
      inputs?.item(condition.name === '' ? 0 : 1)?.focus()
    }, 100)
  }
  const fault = faultAt('config.targetMap')
  return (
    <>
      {fault !== undefined && <p class="fault">{fault}</p>}
      <div class="conditions" ref={box}>
        {rows.map((row, i) => (
          <ConditionLine
            key={i}
            {...{ row, known, faultAt }}
            label={`condition ${i + 1}`}
            onChange={next => set(rows.with(i, { ...row, ...next }))}
            onRemove={() => set(rows.toSpliced(i, 1))}
          />
        ))}
      </div>
      <p class="line">
        {offersFor(known.kind === undefined ? [] : names, rows).map(({ label, ...condition }) => (
          <Button key={label} label={`+ ${label}`} onClick={add({ ...condition, value: '' })} />
        ))}
        <Button label="+ Another condition" onClick={add(EMPTY_CONDITION)} />
      </p>
    </>
  )
}

interface ConditionProps {
  label: string
  row: RuleLine
  known: KnownFields
  faultAt: FaultAt
  onChange(row: Pick<RuleLine, 'names' | 'rest'>): void
  onRemove(): void
}

const ConditionLine = ({ label, row, known, faultAt, onChange, onRemove }: ConditionProps) => {
  const { network, kind } = known
  const { names, rest, path, odd } = row
  const [focused, setFocused] = useState(false)
  const isArgument = names[0] === 'args' && names.length > 1
  const attribute = names.length === 1 ? known.attributes.find(it => it.name === names[0]) : undefined
  const argument = isArgument ? known.arguments.find(it => it.name === names[1]) : undefined
  const text = String((listNamed(rest) === undefined && rest.value) || '')
  const takesAddress =
    argument?.type === 'address' || /(^|\.)(address|from|to|creator|miner|author)$/i.test(names.at(-1) ?? '')
  const sought = takesAddress ? soughtName(text) : ''
  const key = focused ? `values ${network} ${kind} ${names} ${takesAddress} ${sought}` : undefined
  const values = useAsk(key, signal => suggestValues(network, kind ?? 'tx', takesAddress ? sought : attribute, signal))
  const address = useKnown(isWholeAddress(text) ? text : '')
  const token = useKnown(known.contract)
  const operator = textAt(rest, 'operator') ?? ''
  if (odd !== undefined) return <Odd label={label} logic={hasLogic([odd])} onRemove={onRemove} />
  const error = faultAt(`${path}.value`, { inside: true })
  const setValue = (value: Json) => onChange({ names, rest: { ...rest, value } })
  return (
    <fieldset class="condition" aria-label={label}>
      <TextField
        label="Field"
        value={fieldText(names, known)}
        suggestions={fieldChoices(known)}
        error={faultAt(`${path}.name`)}
        onInput={typed =>
          onChange({ names: namesOfTyped(typed, known), rest: withMember(rest, 'useScaledValue', undefined) })
        }
      />
      <SelectField
        label="Operator"
        value={operator}
        options={operatorOptions(operator, argument?.type ?? attribute?.type)}
        error={faultAt(`${path}.operator`)}
        onChange={next => onChange({ names, rest: withOperator(rest, next) })}
      />
      <div>
        {takesList(operator) && <WatchListField list={listNamed(rest)} error={error} onChange={setValue} />}
        {listNamed(rest) !== undefined ? null : takesList(operator) ? (
          <LinesField label="Values, one on each line" error={error} value={rest.value} onChange={setValue} />
        ) : (
          <TextField
            label="Value"
            value={text}
            suggestions={values.data ?? []}
            hint={address?.symbol ?? address?.name ?? (text === '' ? attribute?.meaning : undefined)}
            error={error}
            onInput={setValue}
            onFocus={() => setFocused(true)}
          />
        )}
        {isArgument && (argument?.isScaled || rest.useScaledValue === true) && (
          <CheckField
            label={`In units of ${token?.symbol ?? 'the token'}`}
            checked={rest.useScaledValue === true}
            onChange={checked => onChange({ names, rest: withMember(rest, 'useScaledValue', checked || undefined) })}
          />
        )}
      </div>
      <IconButton icon="close" label={`Remove ${label}`} onClick={onRemove} />
    </fieldset>
  )
}

interface WatchListFieldProps {
  list: string | undefined
  error: string | undefined
  onChange(value: Json): void
}

/** Offers the watch lists of the account in the place of values. */
const WatchListField = ({ list, error, onChange }: WatchListFieldProps) => {
  const names = useGet<WatchLists>('alerting/lists/').data?.lists.map(({ name }) => name) ?? []
  if (list === undefined && names.length === 0) return null
  const known = list === undefined || names.includes(list) ? names : [list, ...names]
  return (
    <SelectField
      label="Values from"
      value={list ?? ''}
      options={[{ value: '', label: 'here' }, ...known.map(value => ({ value, label: `the list ${value}` }))]}
      error={list === undefined ? undefined : error}
      onChange={name => onChange(name === '' ? [] : { list: name })}
    />
  )
}

/** A list element that the form cannot show. */
export const Odd = ({ label, logic = false, onRemove }: { label: string; logic?: boolean; onRemove(): void }) => (
  <p class="notice">
    This {label}{' '}
    {logic
      ? 'has alternatives, exceptions or conditions on one element: change it as JSON.'
      : 'is not an object: correct it as JSON.'}{' '}
    <Button label="Remove" onClick={onRemove} />
  </p>
)

/** What is complete needs no suggestion. */
const soughtName = (text: string) => (isWholeAddress(text) ? '' : text.trim())

const operatorOptions = (current: string, type: string | undefined) => {
  const fitting = attributeOperators(type, Object.keys(OPERATOR_PHRASES))
  const all = fitting.includes(current) ? fitting : [current, ...fitting]
  return all.map(value => ({ value, label: ownEntry(OPERATOR_PHRASES, value) ?? (value || 'choose one') }))
}

interface LinesProps {
  label: string
  error: string | undefined
  value: Json | undefined
  onChange(lines: string[]): void
}

/** A list, one element per line; empty lines are not elements. */
export const LinesField = ({ label, error, value, onChange }: LinesProps) => {
  const [text, setText] = useState<string>()
  const lines = (Array.isArray(value) ? value : []).map(String)
  const listed = (typed: string) => typed.split('\n').filter(line => line.trim() !== '')
  const shown = text !== undefined && String(listed(text)) === String(lines) ? text : lines.join('\n')
  const onInput = (typed: string) => {
    setText(typed)
    onChange(listed(typed))
  }
  return (
    <Field label={label} error={error}>
      {control => (
        <textarea
          {...control}
          rows={3}
          spellcheck={false}
          value={shown}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
