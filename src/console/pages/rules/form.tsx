import { useState } from 'preact/hooks'
import type { Parameter } from '../../../rules/channels.ts'
import { useAsk, useGet } from '../../api/ask.ts'
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
import type { SearchHit, Status } from '../../api/wire.ts'
import { Busy, Fault } from '../../parts/answer.tsx'
import { Button, CheckField, SelectField, TextField } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { IconButton } from '../../parts/menu.tsx'
import { NetworkContext, say, Text } from '../../parts/text.tsx'
import { Conditions, LinesField, Odd, TargetField, withTarget } from './conditions.tsx'
import { useKnownFields } from './known-fields.ts'
import {
  emptyAction,
  type FaultAt,
  hasBody,
  MOST_LEVELS,
  membersFor,
  numberOrText,
  payloadOf,
  RECEIVER_TYPES,
  receiverParameters,
  ruleNetwork,
  targetKind,
  targetOf,
  toggleWay,
  type Way,
  wayKey,
  waysOf,
  withConfig,
  withMember,
} from './model.ts'
import { Notify } from './notify.tsx'
import { FIRST_READ, firstOfReading, ReadingForm, ReadingWindows } from './reading.tsx'
import { untouchedOf } from './untouched.ts'
import { Windows, withoutWindows } from './windows.tsx'

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
  const set = (name: string, value: Json | undefined) => onChange(withMember(draft, name, value))
  const setNetwork = (next: string) => {
    const [technology = '', blockchain = '', name = ''] = next.split('/')
    onChange({ ...draft, technology, blockchain, network: name })
  }
  const isOfState = targetOf(draft) === 'State'
  const setTarget = (type: string) => {
    if (type !== 'State' && !isOfState) return onChange(withTarget(draft, type))
    const { read: _, ...config } = withoutWindows(draft).config as JsonObject
    if (type !== 'State') return onChange(withTarget({ ...draft, config: { ...config, targetMap: [] } }, type))
    const reads = { targetType: type, targetMap: [firstOfReading(false)], read: FIRST_READ }
    onChange({ ...draft, config: { ...config, ...reads } })
  }
  const known = useKnownFields(draft)
  const shared = { draft, known, faultAt, onChange }
  const untouched = untouchedOf(draft)
  const text = (name: string, label: string, empty?: '') => (
    <TextField
      label={label}
      value={textAt(draft, name) ?? ''}
      error={faultAt(name)}
      onInput={value => set(name, value === '' ? empty : value)}
    />
  )
  const number = (name: string, label: string, hint: string, empty?: '') => (
    <TextField
      {...{ label, hint, error: faultAt(name), value: String(draft[name] ?? '') }}
      onInput={value => set(name, value === '' ? empty : numberOrText(value))}
    />
  )
  return (
    <NetworkContext.Provider value={network}>
      {untouched.length > 0 && (
        <p class="notice">
          The form has no place for {say`${<Text value={untouched.join(', ')} most={200} brief />}`}. It keeps{' '}
          {untouched.length === 1 ? 'it' : 'them'} as written: change {untouched.length === 1 ? 'it' : 'them'} as JSON.
        </p>
      )}
      {text('name', 'Name', '')}
      <div class="pair">
        <SelectField
          label="Network"
          value={network}
          options={networkOptions(networks, network)}
          error={faultAt('network') ?? faultAt('technology') ?? faultAt('blockchain')}
          onChange={setNetwork}
        />
        <TargetField {...{ draft, faultAt }} onChange={setTarget} />
      </div>
      {isOfState && <ReadingForm {...{ draft, faultAt, onChange }} />}
      <section aria-label="Conditions">
        <h2>Conditions, which must all hold</h2>
        <Conditions {...shared} />
      </section>
      {isOfState ? <ReadingWindows {...shared} /> : <Windows {...shared} />}
      <Receivers {...{ draft, example, faultAt, onChange }} />
      <section aria-label="When it notifies">
        <h2>When it notifies</h2>
        <div class="pair">
          {number('maxConfirmationCount', 'Confirmations', CONFIRMATIONS, '')}
          {number('startBlock', 'Start block', START_BLOCK)}
        </div>
        <CheckField
          label="Also notify while an alert is pending"
          checked={(draft.notifyPending ?? draft.sendPendingAlerts) === true}
          onChange={checked => onChange(withPending(draft, checked))}
        />
        <Notify {...shared} />
        {text('description', 'Description')}
      </section>
    </NetworkContext.Provider>
  )
}

const withPending = (draft: JsonObject, checked: boolean): JsonObject =>
  withMember(withMember(draft, 'sendPendingAlerts', undefined), 'notifyPending', checked || undefined)

const CONFIRMATIONS =
  'Blocks that must follow the block of a match. With 0 it fires at once. Or safe or finalized, as nodes report it.'
const START_BLOCK =
  'The first block to look at; empty for the next one. If you change it, the rule fires again for the blocks from there on.'

const ALL_NETWORKS = '*/*/*'

const networkOptions = (networks: readonly string[], current: string) =>
  [...new Set([current, ...networks, ...(networks.length > 1 ? [ALL_NETWORKS] : [])])].map(value => ({
    ...{ value, label: value === ALL_NETWORKS ? 'All networks' : value },
  }))

/** Receivers and payloads. */
const Receivers = ({ draft, example, faultAt, onChange }: FormProps) => {
  const actions = listAt(draft, 'config.alerts')
  const set = (next: Json[]) => onChange(withConfig(draft, 'alerts', next))
  const fault = faultAt('config.alerts')
  return (
    <section aria-label="Receivers">
      <h2>Receivers, which each get every alert</h2>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {actions.map((action, i) => (
        <ReceiverForm
          key={i}
          {...{ draft, action, example, faultAt }}
          at={i}
          onChange={next => set(actions.with(i, next))}
          onRemove={() => set(actions.toSpliced(i, 1))}
        />
      ))}
      <p class="line">
        <Button label="+ Another receiver" onClick={() => set([...actions, emptyAction()])} />
      </p>
    </section>
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
  const label = `receiver ${place + 1}`
  const chosen = waysOf(member(action, 'payload'))
  const payloadFault = faultAt(`${path}.payload`, { inside: true })
  if (!isJsonObject(action)) return <Odd {...{ label, onRemove }} />
  return (
    <fieldset class="receiver" aria-label={label}>
      <div class="channel">
        <SelectField
          label="Channel"
          value={type}
          options={RECEIVER_TYPES.includes(type) ? RECEIVER_TYPES : [type, ...RECEIVER_TYPES]}
          error={faultAt(`${path}.type`)}
          onChange={next => onChange({ ...action, parameters: emptyAction(next).parameters!, type: next })}
        />
        <IconButton icon="close" label={`Remove ${label}`} onClick={onRemove} />
      </div>
      {receiverParameters(type).map(([name, parameter]) => (
        <ParameterField
          key={name}
          parameter={parameter}
          value={valueAt(action, `parameters.${name}`)}
          error={faultAt(`${path}.parameters.${name}`, { inside: parameter.holds === 'addresses' })}
          onChange={next => onChange(withMember(action, 'parameters', withMember(action.parameters, name, next)))}
        />
      ))}
      {(hasBody(type) || action.message !== undefined) && (
        <TextField
          label="Message (optional)"
          hint="{args.to|short}, {args.value|units} and {transactionHash|explorer} are replaced by values of the document."
          error={faultAt(`${path}.message`)}
          value={textAt(action, 'message') ?? ''}
          onInput={value => onChange(withMember(action, 'message', value === '' ? undefined : value))}
        />
      )}
      <p class="line payload-line">
        <span class="dim">
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
      {picking && <PayloadPicker label={`Fields for ${label}`} {...{ draft, action, example, onChange }} />}
    </fieldset>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  value: Json | undefined
  error: string | undefined
  onChange(value: Json | undefined): void
}

const ParameterField = ({ parameter, value, error, onChange }: ParameterFieldProps) => {
  const { holds, hint, optional, choices } = parameter
  const text = typeof value === 'string' ? value : ''
  const field = { label: optional ? `${parameter.label} (optional)` : parameter.label, hint, error }
  const set = (next: string) => onChange(optional && next === '' ? undefined : next)
  if (holds === 'addresses') return <LinesField {...field} value={value} onChange={onChange} />
  if (choices) {
    const options = [{ value: '', label: 'default' }, ...choices]
    return <SelectField {...field} value={text} options={options} onChange={set} />
  }
  return <TextField {...field} type={holds === 'key' ? 'password' : 'text'} value={text} onInput={set} />
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
