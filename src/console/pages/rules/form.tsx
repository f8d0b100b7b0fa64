import { useState } from 'preact/hooks'
import { useAsk, useSettled } from '../../api/ask.ts'
import { getStatus, search } from '../../api/index.ts'
import { at, isObject, type Json, type JsonObject, member, textAt, toJson } from '../../api/json.ts'
import type { Hit, Kind } from '../../api/wire.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { CheckField, Field, SelectField, SuggestedField, TextField } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { Text } from '../../parts/text.tsx'
import { type Argument, type Attribute, getArguments, getAttributes, getValues, operatorsFor } from './api.ts'
import {
  CHANNELS,
  COMPARING,
  EMPTY_ARGUMENT,
  EMPTY_CONDITION,
  emptyAction,
  type FaultAt,
  hasArguments,
  INSPECT,
  keyOf,
  kindOf,
  listAt,
  MOST_LEVELS,
  membersFor,
  payloadOf,
  put,
  putConfig,
  TARGETS,
  takesList,
  targetOf,
  toggle,
  type Way,
  waysOf,
} from './model.ts'
import { networkOf } from './wire.ts'

interface FormProps {
  draft: JsonObject
  example: Hit | undefined
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** All of a rule as fields. */
export const RuleForm = ({ draft, example, faultAt, onChange }: FormProps) => {
  const set = (name: string, value: JsonObject[string] | undefined) => onChange(put(draft, name, value))
  const status = useAsk('status', getStatus)
  const network = networkOf(draft)
  const networks = (status.data?.networks ?? []).map(it => it.network)
  const target = targetOf(draft)
  const setNetwork = (next: string) => {
    const [technology = '', blockchain = '', name = ''] = next.split('/')
    onChange({ ...draft, technology, blockchain, network: name })
  }
  return (
    <>
      <TextField
        label="Name"
        value={textAt(draft, 'name') ?? ''}
        error={faultAt('name')}
        onInput={value => set('name', value)}
      />
      <div class="line">
        <SelectField
          label="Network"
          value={network}
          options={optionsOf(networks, network)}
          error={faultAt('network') ?? faultAt('technology') ?? faultAt('blockchain')}
          onChange={setNetwork}
        />
        <SelectField
          label="Looks at"
          value={target}
          options={[
            ...TARGETS.map(({ type, label }) => ({ value: type, label })),
            ...(TARGETS.some(({ type }) => type === target) ? [] : [{ value: target, label: target }]),
          ]}
          error={faultAt('config.targetType')}
          onChange={value => onChange(putConfig(draft, 'targetType', value))}
        />
      </div>
      <Conditions draft={draft} faultAt={faultAt} onChange={onChange} />
      <NumberField
        label="Confirmations"
        hint="How many blocks must follow the block of a match before the rule fires. With 0 it fires at once. Or safe or finalized, as nodes tell."
        value={draft.maxConfirmationCount}
        error={faultAt('maxConfirmationCount')}
        onChange={value => set('maxConfirmationCount', value ?? '')}
      />
      <Channels draft={draft} example={example} faultAt={faultAt} onChange={onChange} />
      <section aria-label="Further settings">
        <h2>Further settings</h2>
        <CheckField
          label="Also notify while an alert is pending"
          checked={draft.notifyPending === true}
          onChange={checked => set('notifyPending', checked || undefined)}
        />
        <NumberField
          label="Start block"
          hint="The first block to look at; empty for the next one. If you change it, the rule looks at the blocks from there on again, and fires again."
          value={draft.startBlock}
          error={faultAt('startBlock')}
          onChange={value => set('startBlock', value)}
        />
        <TextField
          label="Description"
          value={textAt(draft, 'description') ?? ''}
          error={faultAt('description')}
          onInput={value => set('description', value === '' ? undefined : value)}
        />
      </section>
    </>
  )
}

const ALL = '*/*/*'

const optionsOf = (networks: readonly string[], current: string) =>
  [...new Set([current, ...networks, ...(networks.length > 1 ? [ALL] : [])])].map(value => ({
    value,
    label: value === ALL ? 'All networks' : value,
  }))

interface NumberProps {
  label: string
  hint: string
  value: unknown
  error: string | undefined
  onChange(value: number | string | undefined): void
}

/** An integer; text that is none stays as it was typed, and the server says what is wrong with it. */
const NumberField = ({ value, onChange, ...rest }: NumberProps) => (
  <TextField
    {...rest}
    value={value === null || value === undefined ? '' : String(value)}
    onInput={text => onChange(text === '' ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : text)}
  />
)

interface ConditionsProps {
  draft: JsonObject
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** All conditions of a rule, with the names that they may have. */
export const Conditions = ({ draft, faultAt, onChange }: ConditionsProps) => {
  const targetType = targetOf(draft)
  const kind = kindOf(targetType) ?? 'tx'
  const network = networkOf(draft)
  const conditions = listAt(draft, 'config.targetMap')
  const attributes = useAsk(`attributes ${network} ${kind}`, signal => getAttributes(network, kind, signal))
  const plain = useSettled(toJson(conditions.filter(it => listAt(it, 'operatorParameters').length === 0)), 400)
  const argumentsKey = hasArguments(targetType) ? `arguments ${network} ${kind} ${plain}` : undefined
  const known: Known = {
    ...{ network, kind, targetType },
    attributes: attributes.data ?? [],
    arguments: useAsk(argumentsKey, signal => getArguments(network, kind, conditions, signal)).data ?? [],
  }
  const set = (next: Json[]) => onChange(putConfig(draft, 'targetMap', next))
  const fault = faultAt('config.targetMap')
  return (
    <section aria-label="Conditions">
      <h2>Conditions</h2>
      <p class="dim">All of them must hold.</p>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {conditions.map((condition, i) => (
        <ConditionForm
          key={i}
          label={`Condition ${i + 1}`}
          value={condition}
          path={`config.targetMap[${i}]`}
          level={1}
          inside={[]}
          known={known}
          faultAt={faultAt}
          onChange={next => set(conditions.with(i, next))}
          onRemove={() => set(conditions.toSpliced(i, 1))}
        />
      ))}
      <p class="line">
        <button type="button" onClick={() => set([...conditions, EMPTY_CONDITION])}>
          Add a condition
        </button>
        {hasArguments(targetType) && (
          <button type="button" onClick={() => set([...conditions, EMPTY_ARGUMENT])}>
            Add a condition on arguments
          </button>
        )}
      </p>
    </section>
  )
}

export interface Known {
  network: string
  kind: Kind
  targetType: string
  attributes: readonly Attribute[]
  arguments: readonly Argument[]
}

interface ConditionProps {
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
export const ConditionForm = (props: ConditionProps) => {
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

const Odd = ({ label, onRemove }: Pick<ConditionProps, 'label' | 'onRemove'>) => (
  <p class="note">
    {label} is not an object: correct it as JSON.{' '}
    <button type="button" onClick={onRemove}>
      Remove
    </button>
  </p>
)

const Inner = ({ value, name, path, level, inside, known, faultAt, onChange }: ConditionProps & { name: string }) => {
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
}: ConditionProps & { operator: string; attribute: Attribute | undefined }) => {
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

interface ChannelsProps {
  draft: JsonObject
  example: Hit | undefined
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** Whom the rule notifies, and of what. */
export const Channels = ({ draft, example, faultAt, onChange }: ChannelsProps) => {
  const actions = listAt(draft, 'config.alerts')
  const set = (next: Json[]) => onChange(putConfig(draft, 'alerts', next))
  const fault = faultAt('config.alerts')
  return (
    <section aria-label="Receivers">
      <h2>Receivers</h2>
      <p class="dim">Each gets every alert.</p>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {actions.map((action, i) => (
        <Channel
          key={i}
          at={i}
          draft={draft}
          action={action}
          example={example}
          faultAt={faultAt}
          onChange={next => set(actions.with(i, next))}
          onRemove={() => set(actions.toSpliced(i, 1))}
        />
      ))}
      <button type="button" onClick={() => set([...actions, emptyAction('Webhook (POST)')])}>
        Add a receiver
      </button>
    </section>
  )
}

interface ChannelProps {
  at: number
  draft: JsonObject
  action: Json
  example: Hit | undefined
  faultAt: FaultAt
  onChange(action: Json): void
  onRemove(): void
}

const Channel = ({ at: place, draft, action, example, faultAt, onChange, onRemove }: ChannelProps) => {
  const [picking, setPicking] = useState(false)
  const path = `config.alerts[${place}]`
  const type = textAt(action, 'type') ?? ''
  const chosen = waysOf(member(action, 'payload'))
  const payloadFault = faultAt(`${path}.payload`, { inside: true })
  if (!isObject(action))
    return (
      <p class="note">
        Receiver {place + 1} is not an object: correct it as JSON.{' '}
        <button type="button" onClick={onRemove}>
          Remove
        </button>
      </p>
    )
  return (
    <fieldset class="condition">
      <legend>Receiver {place + 1}</legend>
      <div class="line">
        <SelectField
          label="Channel"
          value={type}
          options={(CHANNELS.includes(type) ? CHANNELS : [type, ...CHANNELS]).map(value => ({ value, label: value }))}
          error={faultAt(`${path}.type`)}
          onChange={next => onChange({ ...action, parameters: emptyAction(next).parameters!, type: next })}
        />
        <button type="button" class="quiet" aria-label={`Remove receiver ${place + 1}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      <Parameters path={path} action={action} faultAt={faultAt} onChange={onChange} />
      <p class="line">
        <span>
          {chosen.length === 0
            ? 'The whole document is sent.'
            : `Sends ${chosen.map(way => way.join('.')).join(', ')}.`}
        </span>
        <button type="button" aria-expanded={picking} onClick={() => setPicking(!picking)}>
          {picking ? 'Hide the fields' : 'Choose fields from a document'}
        </button>
      </p>
      {payloadFault !== undefined && <p class="fault">{payloadFault}</p>}
      {picking && (
        <PayloadPicker
          label={`Fields for receiver ${place + 1}`}
          draft={draft}
          action={action}
          example={example}
          onChange={onChange}
        />
      )}
    </fieldset>
  )
}

type ParametersProps = Pick<ChannelProps, 'faultAt'> & {
  path: string
  action: JsonObject
  onChange(action: Json): void
}

const URL_HINT =
  'A name in braces, such as {hash} or {blockNumber}, is replaced by the value of the document, in path and query.'

const Parameters = ({ path, action, faultAt, onChange }: ParametersProps) => {
  const { parameters } = action
  const set = (name: string, value: Json) => onChange(put(action, 'parameters', put(parameters, name, value)))
  const text = (name: string) => {
    const value = at(parameters, name)
    return typeof value === 'string' ? value : ''
  }
  const field = (name: string, label: string, hint?: string) => (
    <TextField
      label={label}
      value={text(name)}
      {...(hint !== undefined && { hint })}
      error={faultAt(`${path}.parameters.${name}`)}
      onInput={value => set(name, value)}
    />
  )
  switch (action.type) {
    case 'Email':
      return (
        <Field label="Recipients, one on each line" error={faultAt(`${path}.parameters.recipients`, { inside: true })}>
          {control => (
            <Lines
              {...control}
              lines={listAt(parameters, 'recipients').map(String)}
              onChange={lines => set('recipients', lines)}
            />
          )}
        </Field>
      )
    case 'Chat':
      return (
        <>
          {field('url', 'URL of the incoming webhook')}
          {field('text', 'Text that begins each message')}
          {field('channel', 'Channel')}
          {field('username', 'Name of the sender')}
        </>
      )
    default:
      return field('url', 'URL', URL_HINT)
  }
}

interface PickerProps {
  draft: JsonObject
  action: Json
  /** The newest document that the rule would have found. */
  example: Hit | undefined
  label: string
  onChange(action: Json): void
}

/** Chooses what is sent by ticking fields of a real document. */
export const PayloadPicker = ({ draft, action, example, label, onChange }: PickerProps) => {
  const network = networkOf(draft)
  const kind = kindOf(targetOf(draft)) ?? 'tx'
  const isFitting = example?._type === kind
  const newest = useAsk(isFitting ? undefined : `newest ${network} ${kind}`, signal =>
    search(network, [kind], { size: 1, sort: [{ _shard_doc: 'desc' }] }, signal),
  )
  const hit = isFitting ? example : newest.data?.hits.hits[0]
  const ways = waysOf(member(action, 'payload'))
  const set = (next: readonly Way[]) =>
    onChange(put(action, 'payload', next.length === 0 ? undefined : payloadOf(next)))

  if (newest.error !== undefined && !isFitting) return <Fault error={newest.error} again={newest.again} />
  if (!hit) return newest.busy ? <Busy label="Reading a document" /> : <p>No document is stored yet.</p>
  return (
    <fieldset class="payload">
      <legend>{label}</legend>
      <p class="dim">
        {isFitting ? 'Of the newest document that the rule would have found.' : 'Of the newest document of this kind.'}{' '}
        {ways.length === 0 ? 'Nothing is chosen: the whole document is sent.' : `${ways.length} chosen.`}
      </p>
      <Members
        value={hit._source}
        way={[]}
        chosen={new Set(ways.map(keyOf))}
        onToggle={(way, on) => set(toggle(ways, way, on))}
      />
      <Lost ways={ways} source={hit._source} onToggle={way => set(toggle(ways, way, false))} />
    </fieldset>
  )
}

interface TreeProps {
  value: Json
  way: Way
  chosen: ReadonlySet<string>
  onToggle(way: Way, chosen: boolean): void
}

const Members = ({ value, way, chosen, onToggle }: TreeProps) => (
  <ul>
    {membersFor(value).map(([name, inner]) => {
      const own = [...way, name]
      const isChosen = chosen.has(keyOf(own))
      const isOpen = !isChosen && own.length < MOST_LEVELS && membersFor(inner).length > 0
      return (
        <li key={name}>
          <label class="check">
            <input
              type="checkbox"
              aria-label={plain(own.join('.')).slice(0, 200)}
              checked={isChosen}
              onChange={event => onToggle(own, event.currentTarget.checked)}
            />
            <Text value={name} most={60} brief />
            {!isOpen && (
              <span class="dim">
                <Text value={typeof inner === 'string' ? inner : toJson(inner)} most={60} brief />
              </span>
            )}
          </label>
          {isOpen && <Members value={inner} way={own} chosen={chosen} onToggle={onToggle} />}
        </li>
      )
    })}
  </ul>
)

/** Fields that are chosen, and which this document does not have. */
const Lost = ({ ways, source, onToggle }: { ways: readonly Way[]; source: Json; onToggle(way: Way): void }) => {
  const lost = ways.filter(way => !isIn(source, way))
  if (lost.length === 0) return null
  return (
    <>
      <p>Also chosen, and not in this document:</p>
      <ul>
        {lost.map(way => (
          <li key={keyOf(way)}>
            <label class="check">
              <input type="checkbox" checked onChange={() => onToggle(way)} />
              <Text value={way.join('.')} most={100} brief />
            </label>
          </li>
        ))}
      </ul>
    </>
  )
}

const isIn = (value: Json, [name, ...rest]: Way): boolean => {
  if (name === undefined) return true
  const found = membersFor(value).find(([own]) => own === name)
  return found !== undefined && isIn(found[1], rest)
}
