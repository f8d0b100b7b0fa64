import { useEffect, useRef, useState } from 'preact/hooks'
import { useAsk, useGet, useSettled } from '../../api/ask.ts'
import { type Json, type JsonObject, listAt, stringifyJson, textAt } from '../../api/json.ts'
import type { Kind, WatchLists } from '../../api/wire.ts'
import { Button, CheckField, Field, SelectField, TextField } from '../../parts/controls.tsx'
import { IconButton } from '../../parts/menu.tsx'
import { useKnown } from '../../parts/names.ts'
import { NetworkContext } from '../../parts/text.tsx'
import {
  type Attribute,
  attributeOperators,
  type DeclaredArgument,
  getArguments,
  getAttributes,
  suggestValues,
} from './api.ts'
import {
  hasLogic,
  listNamed,
  offersFor,
  plainName,
  type RuleLine,
  roleOf,
  takesList,
  toRuleLines,
  toTargetMap,
  withOperator,
} from './condition-rows.ts'
import {
  EMPTY_CONDITION,
  type FaultAt,
  hasArguments,
  isWholeAddress,
  OPERATOR_PHRASES,
  putConfig,
  ruleNetwork,
  targetKind,
  targetOf,
  withMember,
} from './model.ts'

interface ConditionsProps {
  draft: JsonObject
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** Fields of the chosen kind, and arguments of the chosen event or method. */
interface KnownFields {
  attributes: readonly Attribute[]
  arguments: readonly DeclaredArgument[]
}

/** The conditions, one in each line. */
export const Conditions = ({ draft, faultAt, onChange }: ConditionsProps) => {
  const box = useRef<HTMLDivElement>(null)
  const network = ruleNetwork(draft)
  const kind = targetKind(targetOf(draft)) ?? 'tx'
  const conditions = listAt(draft, 'config.targetMap')
  // Answers for another kind stay until the next ones come.
  const attributes = useAsk(`attributes ${network} ${kind}`, signal =>
    getAttributes(network, kind, signal).then(list => ({ kind, list })),
  )
  const plain = conditions.filter(it => listAt(it, 'operatorParameters').length === 0)
  const settled = useSettled(stringifyJson(plain), 400)
  const key = hasArguments(targetOf(draft)) ? `arguments ${network} ${kind} ${settled}` : undefined
  const declared = useAsk(key, signal => getArguments(network, kind, plain, signal).then(list => ({ kind, list })))
  const known = {
    attributes: attributes.data?.kind === kind ? attributes.data.list : [],
    arguments: declared.data?.kind === kind ? declared.data.list : [],
  }
  const rows = toRuleLines(conditions)
  const set = (next: readonly RuleLine[]) => onChange(putConfig(draft, 'targetMap', toTargetMap(next)))

  // A name may be typed before it is known to be an argument's.
  const resolved = known.attributes.length > 0 ? rows.map(row => asArgument(row, known)) : rows
  useEffect(() => {
    if (resolved.some((row, i) => row !== rows[i])) set(resolved)
  })
  const names = [...known.attributes, ...known.arguments].map(({ name }) => name)
  const add = (condition: JsonObject) => () => {
    onChange(putConfig(draft, 'targetMap', [...conditions, condition]))
    // Its suggestions listen a moment after it is drawn.
    setTimeout(() => {
      const inputs = box.current?.querySelectorAll<HTMLElement>('.condition:last-of-type :is(input, textarea)')
      inputs?.item(condition.name === '' ? 0 : 1)?.focus()
    }, 100)
  }
  const contract = rows.find(row => roleOf(row) === (kind === 'event' ? 'contract' : 'receiver'))?.rest.value
  const fault = faultAt('config.targetMap')
  return (
    <NetworkContext.Provider value={network}>
      <section aria-label="Conditions">
        <h2>Conditions, which must all hold</h2>
        {fault !== undefined && <p class="fault">{fault}</p>}
        <div class="conditions" ref={box}>
          {rows.map((row, i) => (
            <ConditionLine
              key={i}
              {...{ row, known, kind, network, faultAt }}
              label={`condition ${i + 1}`}
              contract={typeof contract === 'string' && isWholeAddress(contract) ? contract : ''}
              onChange={next => set(rows.with(i, { ...row, ...next }))}
              onRemove={() => set(rows.toSpliced(i, 1))}
            />
          ))}
        </div>
        <p class="line">
          {offersFor(names, rows).map(({ label, ...condition }) => (
            <Button key={label} label={`+ ${label}`} onClick={add({ ...condition, value: '' })} />
          ))}
          <Button label="+ Another condition" onClick={add(EMPTY_CONDITION)} />
        </p>
      </section>
    </NetworkContext.Provider>
  )
}

/** Integers of tokens are compared in units, as people write them. */
const asArgument = (row: RuleLine, known: KnownFields): RuleLine => {
  const [name] = row.names
  const argument = row.names.length === 1 ? known.arguments.find(it => it.name === name) : undefined
  if (!argument || known.attributes.some(it => it.name === name)) return row
  const units = argument.isScaled ? { useScaledValue: true } : {}
  return { ...row, names: ['args', argument.name], rest: { ...row.rest, ...units } }
}

interface ConditionProps {
  label: string
  row: RuleLine
  known: KnownFields
  kind: Kind
  network: string
  /** The token whose units count, if there is one. */
  contract: string
  faultAt: FaultAt
  onChange(row: Pick<RuleLine, 'names' | 'rest'>): void
  onRemove(): void
}

const ConditionLine = ({ label, row, known, kind, network, contract, faultAt, onChange, onRemove }: ConditionProps) => {
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
  const values = useAsk(key, signal => suggestValues(network, kind, takesAddress ? sought : attribute, signal))
  const address = useKnown(isWholeAddress(text) ? text : '')
  const token = useKnown(contract)
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

/** An argument by its name alone, unless a field has the same name. */
const fieldText = (names: readonly string[], known: KnownFields): string => {
  const plain = plainName(names)
  const isOwn = names.length > 1 && known.arguments.some(({ name }) => name === names[1])
  return isOwn && !known.attributes.some(({ name }) => name === plain) ? plain : names.join('.')
}

const namesOfTyped = (typed: string, known: KnownFields): string[] => {
  if (!typed.startsWith('args.')) return [typed]
  const inner = typed.slice('args.'.length)
  return ['args', ...(known.arguments.some(({ name }) => name === inner) ? [inner] : inner.split('.'))]
}

const fieldChoices = ({ attributes, arguments: all }: KnownFields) => {
  const taken = new Set(attributes.map(({ name }) => name))
  return [
    ...all.map(({ name, type }) => ({ value: taken.has(name) ? `args.${name}` : name, kind: `argument, ${type}` })),
    ...attributes.filter(({ name }) => name !== 'args').map(({ name, meaning }) => ({ value: name, kind: meaning })),
  ]
}

const operatorOptions = (current: string, type: string | undefined) => {
  const fitting = attributeOperators(type, Object.keys(OPERATOR_PHRASES))
  const all = fitting.includes(current) ? fitting : [current, ...fitting]
  const phrases: Record<string, string> = OPERATOR_PHRASES
  return all.map(value => ({ value, label: phrases[value] ?? (value || 'choose one') }))
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
