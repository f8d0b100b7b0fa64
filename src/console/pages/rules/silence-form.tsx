import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useGet } from '../../api/ask.ts'
import { callApi } from '../../api/client.ts'
import type { Rule, Silence, Status } from '../../api/wire.ts'
import { announce } from '../../parts/announce.ts'
import { Fault } from '../../parts/answer.tsx'
import { Button, DateTimeField, Dialog, Form, SelectField, TextField } from '../../parts/controls.tsx'
import { countText, shortHex } from '../../parts/format.ts'
import { IconButton } from '../../parts/menu.tsx'
import { Text } from '../../parts/text.tsx'
import { faultsOf } from './api.ts'
import { faultAt, isWholeAddress, nameOfRule, RECEIVER_TYPES } from './model.ts'

type SilenceMatching = Silence['matcher']

/** A silence to begin with. */
export interface SilenceDraft {
  matcher: SilenceMatching
  /** Epoch milliseconds; default: now. */
  from?: number
  to?: number
  reason?: string
  /** The silence to change. */
  id?: number
}

const SILENCES = 'alerting/silences'
export const silencePath = (id: number) => `${SILENCES}/${id}`

const SILENCE_SPANS = [
  ...(
    [
      ['1', '1 hour'],
      ['8', '8 hours'],
      ['24', '1 day'],
      ['72', '3 days'],
      ['168', '7 days'],
    ] as const
  ).map(([value, label]) => ({ value, label })),
  { value: '', label: 'until a time' },
]
const MS_OF_HOUR = 3_600_000

/** A field of the document, or a property of the rule. */
interface WantedValue {
  of: 'fields' | 'labels'
  name: string
  value: string
}

interface SilenceDialogProps {
  draft: SilenceDraft
  /** To choose from. */
  rules?: readonly Rule[]
  /** Names of those in the draft, where there is no choice. */
  named?: readonly Rule[]
  onClose(): void
  done(silence: Silence): void
}

/** Makes or changes a silence. */
export const SilenceDialog = ({ draft, rules = [], named = rules, onClose, done }: SilenceDialogProps) => {
  const { id } = draft
  const [chosen, setChosen] = useState(draft.matcher.rules ?? [])
  const [network, setNetwork] = useState(draft.matcher.network ?? '')
  const [channel, setChannel] = useState(draft.matcher.channel ?? '')
  const [wanted, setWanted] = useState(() => wantedValues(draft.matcher))
  const [span, setSpan] = useState(draft.to === undefined ? '1' : '')
  const [from, setFrom] = useState(draft.from)
  const [to, setTo] = useState(draft.to)
  const [reason, setReason] = useState(draft.reason ?? '')
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const status = useGet<Status>('status')
  const networks = (status.data?.networks ?? []).map(it => it.network)
  const matcher = matcherFrom({ rules: chosen, network, channel, wanted })
  const faults = faultsOf(error)
  const at = faultAt(faults)
  const end = span === '' ? to : (from ?? Date.now()) + Number(span) * MS_OF_HOUR

  const submit = async () => {
    if (busy) return
    setBusy(true)
    const iso = (time: number | undefined) => time !== undefined && new Date(time).toISOString()
    const times = { ...(from !== undefined && { from: iso(from) }), ...(end !== undefined && { to: iso(end) }) }
    try {
      const body = { matcher, reason, ...times }
      const [path, method] = id === undefined ? [SILENCES, 'POST' as const] : [silencePath(id), 'PUT' as const]
      const silence = await callApi<Silence>(path, { method, body })
      announce(id === undefined ? 'Created the silence.' : 'Changed the silence.')
      onClose()
      done(silence)
    } catch (error) {
      setError(error)
      setBusy(false)
    }
  }
  const others = rules.filter(({ id }) => !chosen.includes(id))
  return (
    <Dialog title={id === undefined ? 'Create a silence' : `Change silence ${id}`} onClose={onClose}>
      <Form onSubmit={submit}>
        {rules.length > 0 && (
          <SelectField
            label="Rules"
            value=""
            options={[
              { value: '', label: chosen.length === 0 ? 'all rules' : 'add another one' },
              ...others.map(rule => ({ value: String(rule.id), label: nameOfRule(rule) })),
            ]}
            error={at('matcher.rules', { inside: true })}
            onChange={id => setChosen([...chosen, Number(id)])}
          />
        )}
        {rules.length > 0 && chosen.length > 0 && (
          <ul class="plain chosen">
            {chosen.map(id => (
              <li key={id}>
                <Text value={ruleNamed(rules, id)} most={60} brief />
                <IconButton
                  icon="close"
                  label={`Leave out ${ruleNamed(rules, id).slice(0, 60)}`}
                  onClick={() => setChosen(chosen.filter(it => it !== id))}
                />
              </li>
            ))}
          </ul>
        )}
        <div class="pair">
          <SelectField
            label="For"
            value={span}
            options={SILENCE_SPANS}
            error={span === '' ? undefined : at('to')}
            onChange={next => {
              if (next === '') setTo(end)
              setSpan(next)
            }}
          />
          <DateTimeField label="From, or now" value={from} error={at('from')} onInput={setFrom} />
        </div>
        {span === '' && <DateTimeField label="Until" value={to} error={at('to')} onInput={setTo} />}
        <TextField label="Reason" value={reason} error={at('reason')} onInput={setReason} />
        <details class="hit" open={network !== '' || channel !== '' || wanted.length > 0}>
          <summary>Only some of their alerts</summary>
          <div class="pair">
            <SelectField
              label="Network"
              value={network}
              options={anyOption('all networks', network, networks)}
              error={at('matcher.network')}
              onChange={setNetwork}
            />
            <SelectField
              label="Receivers"
              value={channel}
              options={anyOption('all kinds', channel, RECEIVER_TYPES)}
              error={at('matcher.channel')}
              onChange={setChannel}
            />
          </div>
          {wanted.map((it, i) => (
            <WantedLine
              key={i}
              {...{ wanted: it, label: `condition ${i + 1}` }}
              error={at(`matcher.${it.of}.${it.name}`) ?? at(`matcher.${it.of}`)}
              onChange={next => setWanted(wanted.with(i, next))}
              onRemove={() => setWanted(wanted.toSpliced(i, 1))}
            />
          ))}
          <p class="line">
            <Button
              label="+ A value that they have"
              onClick={() => setWanted([...wanted, { of: 'fields', name: '', value: '' }])}
            />
          </p>
        </details>
        <p class="notice">
          Not sent meanwhile: <SilencedText matcher={matcher} rules={named} whole />.
        </p>
        {error !== undefined && faults.length === 0 && <Fault error={error} />}
        <p class="actions">
          <button type="submit" class="main" disabled={busy || reason.trim() === '' || end === undefined}>
            {id === undefined ? 'Create the silence' : 'Change the silence'}
          </button>
        </p>
      </Form>
    </Dialog>
  )
}

const anyOption = (label: string, value: string, known: readonly string[]) => [
  { value: '', label },
  ...new Set([...(value === '' ? [] : [value]), ...known]),
]

const WANTED_OF = [
  { value: 'fields', label: 'document' },
  { value: 'labels', label: 'rule' },
]

interface WantedProps {
  label: string
  wanted: WantedValue
  error: string | undefined
  onChange(wanted: WantedValue): void
  onRemove(): void
}

const WantedLine = ({ label, wanted, error, onChange, onRemove }: WantedProps) => (
  <fieldset class="condition wanted" aria-label={label}>
    <SelectField
      label="Of the"
      value={wanted.of}
      options={WANTED_OF}
      onChange={of => onChange({ ...wanted, of: of === 'labels' ? 'labels' : 'fields' })}
    />
    <TextField
      label="Name"
      placeholder={wanted.of === 'labels' ? 'team' : 'address'}
      value={wanted.name}
      onInput={name => onChange({ ...wanted, name })}
    />
    <TextField label="Value" value={wanted.value} error={error} onInput={value => onChange({ ...wanted, value })} />
    <IconButton icon="close" label={`Remove ${label}`} onClick={onRemove} />
  </fieldset>
)

const WANTED = ['fields', 'labels'] as const

const wantedValues = (matcher: SilenceMatching): WantedValue[] =>
  WANTED.flatMap(of => Object.entries(matcher[of] ?? {}).map(([name, value]) => ({ of, name, value })))

/** All alerts where nothing is named. */
const matcherFrom = (of: {
  rules: number[]
  network: string
  channel: string
  wanted: WantedValue[]
}): SilenceMatching => {
  const { rules, network, channel, wanted } = of
  const matcher: SilenceMatching = {
    ...(rules.length > 0 && { rules }),
    ...(network !== '' && { network }),
    ...(channel !== '' && { channel }),
  }
  for (const { of, name, value } of wanted) if (name !== '') matcher[of] = { ...matcher[of], [name]: value }
  return Object.keys(matcher).length === 0 ? { network: '*/*/*' } : matcher
}

const ruleNamed = (rules: readonly Pick<Rule, 'id' | 'name'>[], id: number): string =>
  nameOfRule(rules.find(it => it.id === id) ?? { id, name: '' })

interface SilencedProps {
  matcher: SilenceMatching
  /** By whose names it says them. */
  rules: readonly Pick<Rule, 'id' | 'name'>[]
  /** Names all rules, and whole values. */
  whole?: boolean
}

/** What a silence is about, in words. */
export const SilencedText = ({ matcher, rules, whole = false }: SilencedProps) => {
  const { rules: ids = [], network, channel, labels = {}, fields = {} } = matcher
  const named = whole ? ids : ids.slice(0, 2)
  const short = (value: string) => (isWholeAddress(value) && !whole ? shortHex(value) : value)
  const pairs = (of: Record<string, string>): ComponentChildren =>
    Object.entries(of).map(([name, value], i) => (
      <span key={name}>
        {i > 0 && ' and '}
        <Text value={name} most={60} brief /> <Text value={short(value)} most={80} brief />
      </span>
    ))
  return (
    <>
      {ids.length > 0 ? 'alerts of ' : Object.keys(labels).length > 0 ? 'alerts of rules' : 'all alerts'}
      {named.map((id, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <Text value={ruleNamed(rules, id)} most={40} brief />
        </span>
      ))}
      {ids.length > named.length && ` and ${countText(ids.length - named.length, 'more rule')}`}
      {Object.keys(labels).length > 0 && <> with {pairs(labels)}</>}
      {Object.keys(fields).length > 0 && <>, whose {pairs(fields)}</>}
      {network !== undefined && network !== '*/*/*' && (
        <>
          , on <Text value={network} most={80} brief />
        </>
      )}
      {channel !== undefined && `, to ${channel}`}
    </>
  )
}
