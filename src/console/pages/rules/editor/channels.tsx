import { useState } from 'preact/hooks'
import { at, isObject, type Json, type JsonObject, member, textAt } from '../../../api/json.ts'
import type { Hit } from '../../../api/wire.ts'
import { Field, SelectField, TextField } from '../../../parts/field.tsx'
import { CHANNELS, emptyAction, listAt, put, putConfig } from '../model.ts'
import { Lines } from './condition.tsx'
import { waysOf } from './payload.ts'
import { PayloadPicker } from './payload-picker.tsx'
import type { FaultAt } from './places.ts'

interface Props {
  draft: JsonObject
  example: Hit | undefined
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** Whom the rule notifies, and of what. */
export const Channels = ({ draft, example, faultAt, onChange }: Props) => {
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
