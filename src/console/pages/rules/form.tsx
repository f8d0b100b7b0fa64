import { useState } from 'preact/hooks'
import { useAsk, useGet, useSettled } from '../../api/ask.ts'
import { searchDocuments } from '../../api/client.ts'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  listAt,
  member,
  stringifyJson,
  textAt,
  valueAt,
} from '../../api/json.ts'
import type { Kind, SearchHit, Status } from '../../api/wire.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Button, CheckField, Field, SelectField, TextField } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { Text } from '../../parts/text.tsx'
import {
  type Attribute,
  attributeOperators,
  type DeclaredArgument,
  getArguments,
  getAttributes,
  getValues,
} from './api.ts'
import {
  COMPARING,
  EMPTY_ARGUMENT,
  EMPTY_CONDITION,
  emptyAction,
  type FaultAt,
  hasArguments,
  INSPECT,
  MOST_LEVELS,
  membersFor,
  payloadOf,
  putConfig,
  RECEIVER_TYPES,
  receiverParameters,
  ruleNetwork,
  TARGETS,
  takesList,
  targetKind,
  targetOf,
  toggleWay,
  type Way,
  wayKey,
  waysOf,
  withMember,
} from './model.ts'

interface FormProps {
  draft: JsonObject
  /** Newest document that the rule matches. */
  example: SearchHit | undefined
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

export const RuleForm = ({ draft, example, faultAt, onChange }: FormProps) => {
  const status = useGet<Status>('status')
  const network = ruleNetwork(draft)
  const networks = (status.data?.networks ?? []).map(it => it.network)
  const target = targetOf(draft)
  const targets = TARGETS.map(({ type, label }) => ({ value: type, label }))
  const set = (name: string, value: Json | undefined) => onChange(withMember(draft, name, value))
  const setNetwork = (next: string) => {
    const [technology = '', blockchain = '', name = ''] = next.split('/')
    onChange({ ...draft, technology, blockchain, network: name })
  }
  const text = (name: string, label: string, empty?: '') => (
    <TextField
      label={label}
      value={textAt(draft, name) ?? ''}
      error={faultAt(name)}
      onInput={value => set(name, value === '' ? empty : value)}
    />
  )
  /** An integer; invalid text is kept for the server to refuse. */
  const number = (name: string, label: string, hint: string, empty?: '') => (
    <TextField
      {...{ label, hint, error: faultAt(name), value: String(draft[name] ?? '') }}
      onInput={value => set(name, value === '' ? empty : /^\d{1,15}$/.test(value) ? Number(value) : value)}
    />
  )
  return (
    <>
      {text('name', 'Name', '')}
      <div class="line">
        <SelectField
          label="Network"
          value={network}
          options={networkOptions(networks, network)}
          error={faultAt('network') ?? faultAt('technology') ?? faultAt('blockchain')}
          onChange={setNetwork}
        />
        <SelectField
          label="Looks at"
          value={target}
          options={targets.some(({ value }) => value === target) ? targets : [...targets, target]}
          error={faultAt('config.targetType')}
          onChange={value => onChange(putConfig(draft, 'targetType', value))}
        />
      </div>
      <Conditions draft={draft} faultAt={faultAt} onChange={onChange} />
      {number('maxConfirmationCount', 'Confirmations', CONFIRMATIONS, '')}
      <Receivers draft={draft} example={example} faultAt={faultAt} onChange={onChange} />
      <section aria-label="Further settings">
        <h2>Further settings</h2>
        <CheckField
          label="Also notify while an alert is pending"
          checked={(draft.notifyPending ?? draft.sendPendingAlerts) === true}
          onChange={checked => onChange(withPending(draft, checked))}
        />
        {number('startBlock', 'Start block', START_BLOCK)}
        {text('description', 'Description')}
      </section>
    </>
  )
}

const withPending = (draft: JsonObject, checked: boolean): JsonObject =>
  withMember(withMember(draft, 'sendPendingAlerts', undefined), 'notifyPending', checked || undefined)

const CONFIRMATIONS =
  'How many blocks must follow the block of a match before the rule fires. With 0 it fires at once. Or safe or finalized, as nodes report it.'
const START_BLOCK =
  'The first block to look at; empty for the next one. If you change it, the rule looks at the blocks from there on again, and fires again.'

const ALL_NETWORKS = '*/*/*'

const networkOptions = (networks: readonly string[], current: string) =>
  [...new Set([current, ...networks, ...(networks.length > 1 ? [ALL_NETWORKS] : [])])].map(value => ({
    ...{ value, label: value === ALL_NETWORKS ? 'All networks' : value },
  }))

interface ListSectionProps {
  title: string
  /** Shared by all conditions. */
  says: string
  fault: string | undefined
  children: preact.ComponentChildren
}

const ListSection = ({ title, says, fault, children }: ListSectionProps) => (
  <section aria-label={title}>
    <h2>{title}</h2>
    <p class="dim">{says}</p>
    {fault !== undefined && <p class="fault">{fault}</p>}
    {children}
  </section>
)

/** A list element that the form cannot show. */
const Odd = ({ label, onRemove }: { label: string; onRemove(): void }) => (
  <p class="notice">
    {label} is not an object: correct it as JSON. <Button label="Remove" onClick={onRemove} />
  </p>
)

interface FormContext {
  network: string
  kind: Kind
  targetType: string
  attributes: readonly Attribute[]
  arguments: readonly DeclaredArgument[]
}

const Conditions = ({ draft, faultAt, onChange }: Omit<FormProps, 'example'>) => {
  const targetType = targetOf(draft)
  const kind = targetKind(targetType) ?? 'tx'
  const network = ruleNetwork(draft)
  const conditions = listAt(draft, 'config.targetMap')
  const attributes = useAsk(`attributes ${network} ${kind}`, signal => getAttributes(network, kind, signal))
  const plainOnes = useSettled(
    stringifyJson(conditions.filter(it => listAt(it, 'operatorParameters').length === 0)),
    400,
  )
  const argumentsKey = hasArguments(targetType) ? `arguments ${network} ${kind} ${plainOnes}` : undefined
  const known: FormContext = {
    ...{ network, kind, targetType },
    attributes: attributes.data ?? [],
    arguments: useAsk(argumentsKey, signal => getArguments(network, kind, conditions, signal)).data ?? [],
  }
  const set = (next: Json[]) => onChange(putConfig(draft, 'targetMap', next))
  const add = (condition: JsonObject) => () => set([...conditions, condition])
  return (
    <ListSection title="Conditions" says="All of them must hold." fault={faultAt('config.targetMap')}>
      {conditions.map((condition, i) => (
        <ConditionForm
          key={i}
          {...{ known, faultAt, level: 1, inside: [], value: condition }}
          label={`Condition ${i + 1}`}
          path={`config.targetMap[${i}]`}
          onChange={next => set(conditions.with(i, next))}
          onRemove={() => set(conditions.toSpliced(i, 1))}
        />
      ))}
      <p class="line">
        <Button label="Add a condition" onClick={add(EMPTY_CONDITION)} />
        {hasArguments(targetType) && <Button label="Add a condition on arguments" onClick={add(EMPTY_ARGUMENT)} />}
      </p>
    </ListSection>
  )
}

interface ConditionProps {
  label: string
  value: Json
  path: string
  level: number
  /** Names of enclosing conditions. */
  inside: readonly string[]
  known: FormContext
  faultAt: FaultAt
  onChange(value: Json): void
  onRemove(): void
}

const ConditionForm = (props: ConditionProps) => {
  const { label, value, path, level, inside, known, faultAt, onChange, onRemove } = props
  const [name, operator] = [textAt(value, 'name') ?? '', textAt(value, 'operator') ?? '']
  const isArguments = (it: string) => level === 1 && it === 'args' && hasArguments(known.targetType)
  const isArgument = level === 2 && inside[0] === 'args'
  const attribute = level === 1 ? known.attributes.find(it => it.name === name) : undefined
  if (!isJsonObject(value)) return <Odd label={label} onRemove={onRemove} />
  const setName = (next: string) => {
    const renamed = withMember(value, 'name', next)
    onChange(isArguments(next) && operator !== INSPECT ? inspecting(renamed) : renamed)
  }
  return (
    <fieldset class="condition" data-level={level}>
      <legend>{label}</legend>
      <div class="line">
        <TextField
          label={level === 1 ? 'Field' : isArgument ? 'Argument' : 'Part'}
          value={name}
          suggestions={namesFor(level, inside, known)}
          hint={attribute?.meaning}
          error={faultAt(`${path}.name`)}
          onInput={setName}
        />
        {!isArguments(name) && (
          <SelectField
            label="Operator"
            value={operator}
            options={operatorOptions(operator, level, attribute)}
            error={faultAt(`${path}.operator`)}
            onChange={next => onChange(withOperator(value, next))}
          />
        )}
        {operator !== INSPECT && <Operand {...props} {...{ value, attribute, operator }} />}
        <Button class="quiet" label="Remove" name={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
      </div>
      {isArgument && (
        <CheckField
          label="In units of the token, with its decimals"
          checked={value.useScaledValue === true}
          onChange={checked => onChange(withMember(value, 'useScaledValue', checked || undefined))}
        />
      )}
      {operator === INSPECT && <Inner {...props} name={name} />}
    </fieldset>
  )
}

const Inner = ({ value, name, path, level, inside, onChange, ...rest }: ConditionProps & { name: string }) => {
  const parameters = listAt(value, 'operatorParameters')
  const set = (next: Json[]) => onChange(withMember(value, 'operatorParameters', next))
  return (
    <div class="inner">
      {parameters.map((parameter, i) => (
        <ConditionForm
          key={i}
          {...rest}
          label={`Condition ${i + 1} on ${name.slice(0, 40) || 'what is inspected'}`}
          value={parameter}
          path={`${path}.operatorParameters[${i}]`}
          level={level === 1 ? 2 : 3}
          inside={[...inside, name]}
          onChange={next => set(parameters.with(i, next))}
          onRemove={() => set(parameters.toSpliced(i, 1))}
        />
      ))}
      <Button
        label={name === 'args' ? 'Add a condition on an argument' : 'Add a condition inside'}
        onClick={() => set([...parameters, EMPTY_CONDITION])}
      />
    </div>
  )
}

type OperandProps = ConditionProps & { operator: string; attribute: Attribute | undefined }

const Operand = ({ value, path, level, known, faultAt, onChange, operator, attribute }: OperandProps) => {
  const [focused, setFocused] = useState(false)
  const { network, kind } = known
  const key = focused && attribute && level === 1 ? `values ${network} ${kind} ${attribute.field}` : undefined
  const values = useAsk(key, signal => getValues(network, kind, attribute!, signal))
  const operand = member(value, 'value')
  const error = faultAt(`${path}.value`, { inside: true })
  const set = (next: Json) => onChange(withMember(value, 'value', next))
  return takesList(operator) ? (
    <LinesField label="Values, one on each line" error={error} value={operand} onChange={set} />
  ) : (
    <TextField
      label="Value"
      value={operand === undefined ? '' : String(operand)}
      suggestions={(values.data ?? []).map(value => ({ value }))}
      error={error}
      onInput={set}
      onFocus={() => setFocused(true)}
    />
  )
}

interface LinesProps {
  label: string
  error: string | undefined
  value: Json | undefined
  onChange(lines: string[]): void
}

/** A list, one element per line; empty lines are not elements. */
const LinesField = ({ label, error, value, onChange }: LinesProps) => {
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

const inspecting = (condition: JsonObject): JsonObject => ({
  ...withMember(condition, 'value', undefined),
  operator: INSPECT,
  operatorParameters: [EMPTY_CONDITION],
})

/** Converts the value for the operator: list, text or none. */
const withOperator = (condition: JsonObject, operator: string): JsonObject => {
  if (operator === INSPECT) return inspecting(condition)
  const { value } = condition
  const texts = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  const operand = takesList(operator) ? texts : (texts[0] ?? '')
  return { ...withMember(condition, 'operatorParameters', undefined), operator, value: operand }
}

const operatorOptions = (current: string, level: number, attribute: Attribute | undefined) => {
  const inspects = level < 3 && attribute?.type === undefined ? [INSPECT] : []
  const fitting = [...attributeOperators(attribute, COMPARING), ...inspects]
  const all = fitting.includes(current) ? fitting : [current, ...fitting]
  return all.map(value => ({ value, label: value === INSPECT ? 'Inspect (look inside)' : value || 'choose one' }))
}

const VALUE_FORMS = ['hex', 'num', 'dec', 'scaled', 'type'].map(value => ({ value, label: 'A form of the value' }))

const namesFor = (level: number, inside: readonly string[], known: FormContext) => {
  if (level === 1) return known.attributes.map(({ name, meaning }) => ({ value: name, label: meaning }))
  if (inside[0] !== 'args') return []
  return level === 2 ? known.arguments.map(({ name, type }) => ({ value: name, label: type })) : VALUE_FORMS
}

/** Receivers and payloads. */
const Receivers = ({ draft, example, faultAt, onChange }: FormProps) => {
  const actions = listAt(draft, 'config.alerts')
  const set = (next: Json[]) => onChange(putConfig(draft, 'alerts', next))
  return (
    <ListSection title="Receivers" says="Each gets every alert." fault={faultAt('config.alerts')}>
      {actions.map((action, i) => (
        <ReceiverForm
          key={i}
          {...{ draft, action, example, faultAt }}
          at={i}
          onChange={next => set(actions.with(i, next))}
          onRemove={() => set(actions.toSpliced(i, 1))}
        />
      ))}
      <Button label="Add a receiver" onClick={() => set([...actions, emptyAction()])} />
    </ListSection>
  )
}

interface ReceiverProps extends FormProps {
  at: number
  action: Json
  onRemove(): void
}

const ReceiverForm = ({ at: place, draft, action, example, faultAt, onChange, onRemove }: ReceiverProps) => {
  const [picking, setPicking] = useState(false)
  const path = `config.alerts[${place}]`
  const type = textAt(action, 'type') ?? ''
  const label = `Receiver ${place + 1}`
  const chosen = waysOf(member(action, 'payload'))
  const payloadFault = faultAt(`${path}.payload`, { inside: true })
  if (!isJsonObject(action)) return <Odd label={label} onRemove={onRemove} />
  return (
    <fieldset class="condition">
      <legend>{label}</legend>
      <div class="line">
        <SelectField
          label="Channel"
          value={type}
          options={RECEIVER_TYPES.includes(type) ? RECEIVER_TYPES : [type, ...RECEIVER_TYPES]}
          error={faultAt(`${path}.type`)}
          onChange={next => onChange({ ...action, parameters: emptyAction(next).parameters!, type: next })}
        />
        <Button class="quiet" label="Remove" name={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
      </div>
      {receiverParameters(type).map(([name, { holds, ...about }]) => {
        const value = valueAt(action, `parameters.${name}`)
        const error = faultAt(`${path}.parameters.${name}`, { inside: holds === 'addresses' })
        const set = (next: Json) =>
          onChange(withMember(action, 'parameters', withMember(action.parameters, name, next)))
        const field = { label: about.label, hint: about.hint, error }
        return holds === 'addresses' ? (
          <LinesField key={name} {...field} value={value} onChange={set} />
        ) : (
          <TextField key={name} {...field} value={typeof value === 'string' ? value : ''} onInput={set} />
        )
      })}
      <p class="line">
        <span>
          {chosen.length === 0
            ? 'The whole document is sent.'
            : `Sends ${chosen.map(way => way.join('.')).join(', ')}.`}
        </span>
        <Button
          label={picking ? 'Hide the fields' : 'Choose fields from a document'}
          expanded={picking}
          onClick={() => setPicking(!picking)}
        />
      </p>
      {payloadFault !== undefined && <p class="fault">{payloadFault}</p>}
      {picking && (
        <PayloadPicker label={`Fields for ${label.toLowerCase()}`} {...{ draft, action, example, onChange }} />
      )}
    </fieldset>
  )
}

type PickerProps = Pick<ReceiverProps, 'draft' | 'action' | 'example' | 'onChange'> & { label: string }

/** Chooses the payload by ticking fields of a real document. */
const PayloadPicker = ({ draft, action, example, label, onChange }: PickerProps) => {
  const network = ruleNetwork(draft)
  const kind = targetKind(targetOf(draft)) ?? 'tx'
  const isFitting = example?._type === kind
  const newest = useAsk(isFitting ? undefined : `newest ${network} ${kind}`, signal =>
    searchDocuments(network, [kind], { size: 1, sort: [{ _shard_doc: 'desc' }] }, signal),
  )
  const hit = isFitting ? example : newest.data?.hits.hits[0]
  const ways = waysOf(member(action, 'payload'))
  const onToggle = (way: Way, on: boolean) => {
    const next = toggleWay(ways, way, on)
    onChange(withMember(action, 'payload', next.length === 0 ? undefined : payloadOf(next)))
  }
  if (newest.error !== undefined && !isFitting) return <Fault error={newest.error} again={newest.again} />
  if (!hit) return newest.busy ? <Busy label="Reading a document" /> : <p>No document is stored yet.</p>
  const lost = ways.filter(way => !isIn(hit._source, way))
  return (
    <fieldset class="payload">
      <legend>{label}</legend>
      <p class="dim">
        {isFitting ? 'Of the newest document that the rule would have found.' : 'Of the newest document of this kind.'}{' '}
        {ways.length === 0 ? 'Nothing is chosen: the whole document is sent.' : `${ways.length} chosen.`}
      </p>
      <Members value={hit._source} way={[]} chosen={new Set(ways.map(wayKey))} onToggle={onToggle} />
      {lost.length > 0 && (
        <>
          <p>Also chosen, and not in this document:</p>
          <ul>
            {lost.map(way => (
              <li key={wayKey(way)}>
                <CheckField
                  label={<Text value={way.join('.')} most={100} brief />}
                  checked
                  onChange={() => onToggle(way, false)}
                />
              </li>
            ))}
          </ul>
        </>
      )}
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
      const isChosen = chosen.has(wayKey(own))
      const isOpen = !isChosen && own.length < MOST_LEVELS && membersFor(inner).length > 0
      const label = (
        <>
          <Text value={name} most={60} brief />
          {!isOpen && (
            <span class="dim">
              <Text value={typeof inner === 'string' ? inner : stringifyJson(inner)} most={60} brief />
            </span>
          )}
        </>
      )
      return (
        <li key={name}>
          <CheckField
            label={label}
            name={visibleText(own.join('.')).slice(0, 200)}
            checked={isChosen}
            onChange={checked => onToggle(own, checked)}
          />
          {isOpen && <Members value={inner} way={own} chosen={chosen} onToggle={onToggle} />}
        </li>
      )
    })}
  </ul>
)

const isIn = (value: Json, [name, ...rest]: Way): boolean => {
  if (name === undefined) return true
  const found = membersFor(value).find(([own]) => own === name)
  return found !== undefined && isIn(found[1], rest)
}
