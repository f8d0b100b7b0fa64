import { useState } from 'preact/hooks'
import { useAsk, useEvery, usePages } from '../../api/ask.ts'
import { messageOf } from '../../api/client.ts'
import { getStatus } from '../../api/index.ts'
import { Busy, Empty, Fault } from '../../parts/answer.tsx'
import { announce, confirm, SelectField } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import { useKey } from '../../shell/keys.ts'
import { Link, setQuery, useQueryState } from '../../shell/router.tsx'
import { getAlerts, getDeliveries, getDelivery, redeliver } from './api.ts'
import { type Alert, type AlertState, type Attempt, type Delivery, networkOf, type Rule } from './wire.ts'

const REFRESH_MS = 3_000
const STATES: readonly (AlertState | '')[] = ['', 'pending', 'confirmed', 'retracted', 'withdrawn']
const OPTIONS = STATES.map(value => ({ value, label: value === '' ? 'all' : value }))

/** What a rule found, and what became of each. */
export const Alerts = ({ rule }: { rule: Rule }) => {
  const [typed, setState] = useQueryState('state')
  const state = STATES.find(it => it === typed) ?? ''
  const [open] = useQueryState('open')
  const pages = usePages(`alerts ${rule.id} ${state}`, async (before, signal) => {
    const { alerts, next } = await getAlerts(rule.id, state, before, signal)
    return { rows: alerts, next }
  })
  useEvery(REFRESH_MS, () => {
    if (pages.isFirst) pages.again()
  })
  const opened = pages.rows.find(({ id }) => id === open)
  return (
    <>
      <div class="line">
        <SelectField label="State" value={state} options={OPTIONS} onChange={value => setState(value)} />
      </div>
      {pages.error !== undefined && <Fault title="The alerts cannot be read" error={pages.error} again={pages.again} />}
      {!pages.asked && pages.error === undefined && <Busy label="Reading the alerts" />}
      {pages.asked && pages.rows.length === 0 && (
        <Empty title={state === '' ? 'The rule has found nothing yet' : 'No alert is in this state'}>
          <p>A rule looks at the blocks that come. Give it an earlier start block to look back into stored blocks.</p>
        </Empty>
      )}
      <div class="found">
        {pages.rows.length > 0 && (
          <Table
            label="Alerts"
            columns={COLUMNS}
            rows={pages.rows}
            keyOf={({ id }) => id}
            open={open}
            onOpen={({ id }) => setQuery({ open: id }, { replace: open !== '' })}
            onEnd={pages.askMore}
          />
        )}
        {opened && <OpenAlert alert={opened} rule={rule} again={pages.again} />}
      </div>
    </>
  )
}

const toneOf = (state: string) =>
  state === 'confirmed' || state === 'delivered' ? 'good' : state === 'retracted' || state === 'dead' ? 'bad' : 'dim'

const COLUMNS: readonly Column<Alert>[] = [
  { name: 'state', title: 'State', width: '11ch', cell: ({ state }) => <span class={toneOf(state)}>{state}</span> },
  { name: 'block', title: 'Block', width: '10ch', align: 'right', cell: ({ block }) => String(block) },
  { name: 'what', title: 'Found', width: '20ch', cell: ({ entity }) => <Hash value={entity._id} brief /> },
  { name: 'received', title: 'Received', width: '20ch', cell: it => <Time value={it.receivedAt} brief /> },
  { name: 'changed', title: 'Changed', width: '20ch', cell: it => <Time value={it.changedAt} brief /> },
  { name: 'deliveries', title: 'Deliveries', width: 'minmax(16ch, 1fr)', cell: it => sumOf(it) },
]

/** Such as `2 delivered, 1 dead`. */
const sumOf = ({ deliveries }: Alert) => {
  const counts = new Map<string, number>()
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count], i) => (
    <span key={state}>
      {i > 0 && ', '}
      <span class={state === 'dead' ? 'bad' : ''}>{`${count} ${state}`}</span>
    </span>
  ))
}

const OpenAlert = ({ alert, rule, again }: { alert: Alert; rule: Rule; again(): void }) => {
  const close = () => setQuery({ open: '' })
  useKey('Escape', 'Closes the alert', close)
  const { _type, _id } = alert.entity
  const network = alert.network ?? networkOf(rule)
  const where = new URLSearchParams({ network, kinds: _type, open: `${_type} ${_id}` })
  return (
    <aside class="opened" aria-label="The open alert">
      <header>
        <h2>
          {_type} <Hash value={_id} {...(_type === 'tx' ? { kind: 'tx', network } : {})} />
        </h2>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </header>
      <Life alert={alert} network={network} />
      <p>
        <Link to={`/explore?${where}`}>Show the document in Explore</Link>
      </p>
      <p class="dim">
        Alert <Text value={alert.id} />
      </p>
      <h3>Deliveries</h3>
      {alert.deliveries.length === 0 && <p>Nothing was to be sent so far.</p>}
      {alert.deliveries.map(delivery => (
        <DeliveryView key={delivery.id} delivery={delivery} again={again} />
      ))}
    </aside>
  )
}

/** From the match to where the alert is now. */
const Life = ({ alert, network }: { alert: Alert; network: string }) => {
  const { state, block, confirmations, receivedAt, changedAt } = alert
  const status = useAsk(state === 'pending' ? `status ${block}` : undefined, getStatus)
  useEvery(REFRESH_MS, status.again)
  const head = status.data?.networks.find(it => it.network === network)?.lastBlock?.number
  return (
    <ol class="life" aria-label="The life of the alert">
      <li>
        Found in block {block.toLocaleString()}, which was received <Time value={receivedAt} />
      </li>
      {state === 'pending' ? (
        <li>{waitsFor(confirmations, head === undefined ? undefined : Math.max(head - block, 0))}</li>
      ) : (
        <li class={toneOf(state)}>
          {state[0]!.toUpperCase() + state.slice(1)} <Time value={changedAt} />
          {ENDS.get(state)}
        </li>
      )}
    </ol>
  )
}

const waitsFor = (confirmations: Alert['confirmations'], above: number | undefined): string => {
  if (typeof confirmations === 'string') return `Pending: it fires once its block is ${confirmations}`
  const come = above === undefined ? '' : `, of which ${Math.min(above, confirmations).toLocaleString()} have come`
  return `Pending: it fires ${confirmations.toLocaleString()} blocks later${come}`
}

const ENDS: ReadonlyMap<AlertState, string> = new Map([
  ['confirmed', ': its block is deep enough, and receivers are notified.'],
  ['retracted', ': its block was reorganised away after it had fired, and receivers are told.'],
  ['withdrawn', ': its block was reorganised away before it fired, so that it never fires.'],
])

const DELIVERY_STATES = ['', 'queued', 'waiting', 'retried', 'delivered', 'dead', 'cancelled']
const LABELS = new Map([
  ['', 'all'],
  ['waiting', 'queued, not tried yet'],
  ['retried', 'queued after a failure'],
])
const DELIVERY_OPTIONS = DELIVERY_STATES.map(value => ({ value, label: LABELS.get(value) ?? value }))

/** Every delivery of a rule. */
export const Deliveries = ({ rule }: { rule: Rule }) => {
  const [typed, setState] = useQueryState('state')
  const state = DELIVERY_STATES.includes(typed) ? typed : ''
  const [open] = useQueryState('open')
  const pages = usePages(`deliveries ${rule.id} ${state}`, async (before, signal) => {
    const { deliveries, next } = await getDeliveries({ rule: String(rule.id), state, size: '100', before }, signal)
    return { rows: deliveries, next }
  })
  useEvery(REFRESH_MS, () => {
    if (pages.isFirst) pages.again()
  })
  return (
    <>
      <div class="line">
        <SelectField label="State" value={state} options={DELIVERY_OPTIONS} onChange={value => setState(value)} />
        <button type="button" onClick={() => void sendDeadOf(rule.id).then(pages.again)}>
          Send all dead again
        </button>
      </div>
      {pages.error !== undefined && (
        <Fault title="The deliveries cannot be read" error={pages.error} again={pages.again} />
      )}
      {!pages.asked && pages.error === undefined && <Busy label="Reading the deliveries" />}
      {pages.asked && pages.rows.length === 0 && pages.isWhole && (
        <Empty title={state === '' ? 'Nothing was to be sent so far' : 'No delivery is in this state'} />
      )}
      {pages.rows.length === 0 && !pages.isWhole && (
        <button type="button" onClick={pages.askMore}>
          Look further back
        </button>
      )}
      <div class="found">
        {pages.rows.length > 0 && (
          <Table
            label="Deliveries"
            columns={DELIVERY_COLUMNS}
            rows={pages.rows}
            keyOf={({ id }) => String(id)}
            open={open}
            onOpen={({ id }) => setQuery({ open: String(id) }, { replace: open !== '' })}
            onEnd={pages.askMore}
          />
        )}
        {/^\d+$/.test(open) && <OpenDelivery id={Number(open)} again={pages.again} />}
      </div>
    </>
  )
}

const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'state',
    title: 'State',
    width: '10ch',
    cell: ({ state }) => <span class={state === 'dead' ? 'bad' : state === 'delivered' ? 'good' : 'dim'}>{state}</span>,
  },
  { name: 'type', title: 'Type', width: '16ch', cell: ({ type }) => type },
  { name: 'target', title: 'Receiver', width: 'minmax(20ch, 1fr)', cell: it => <Text value={it.target} brief /> },
  { name: 'tries', title: 'Tries', width: '6ch', align: 'right', cell: ({ tries }) => String(tries) },
  { name: 'created', title: 'Created', width: '20ch', cell: it => <Time value={it.createdAt} brief /> },
  {
    name: 'last',
    title: 'Last answer',
    width: 'minmax(16ch, 1fr)',
    cell: ({ lastStatus, lastError }) => (
      <>
        {lastStatus !== null && `HTTP ${lastStatus} `}
        {lastError !== null && <Text value={lastError} brief />}
      </>
    ),
  },
]

const OpenDelivery = ({ id, again }: { id: number; again(): void }) => {
  const asked = useAsk(`delivery ${id}`, signal => getDelivery(id, signal))
  useEvery(REFRESH_MS, asked.again)
  const close = () => setQuery({ open: '' })
  useKey('Escape', 'Closes the delivery', close)
  return (
    <aside class="opened" aria-label="The open delivery">
      <header>
        <h2>Delivery {id}</h2>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </header>
      {asked.error !== undefined && <Fault error={asked.error} again={asked.again} />}
      {asked.data && (
        <DeliveryView
          delivery={asked.data}
          again={() => {
            asked.again()
            again()
          }}
        />
      )}
    </aside>
  )
}

/** A delivery with every attempt, which can be sent again. */
export const DeliveryView = ({ delivery, again }: { delivery: Delivery; again(): void }) => {
  const { id, type, channel, target, state, lastError, nextAt, attempts = [] } = delivery
  return (
    <article class="delivery" aria-label={`Delivery ${id}`}>
      <p>
        <strong>{state}</strong>: {type} by {channel} to <Text value={target} />
      </p>
      {state === 'queued' && nextAt !== null && (
        <p class="dim">
          Next attempt: <Time value={nextAt} due />
        </p>
      )}
      {attempts.length === 0 && lastError !== null && (
        <p class="bad">
          <Text value={lastError} />
        </p>
      )}
      {attempts.length > 0 && (
        <ol class="attempts" aria-label="Attempts">
          {attempts.map(attempt => (
            <AttemptView key={attempt.n} attempt={attempt} />
          ))}
        </ol>
      )}
      {canRepeat(delivery) && <Again delivery={delivery} again={again} />}
    </article>
  )
}

/** Tests and what was cancelled are never sent again. */
const canRepeat = ({ state, type, tries }: Delivery) =>
  type !== 'alert.test' && state !== 'cancelled' && (state !== 'queued' || tries > 0)

const AttemptView = ({ attempt: { at, outcome, status, error, head, latencyMs, nextAt } }: { attempt: Attempt }) => (
  <li>
    <Time value={at} brief />: {outcome}
    {status !== null && `, HTTP ${status}`}, {latencyMs.toLocaleString()} ms
    {error !== null && (
      <>
        {', '}
        <span class="bad">
          <Text value={error} />
        </span>
      </>
    )}
    {head !== null && head !== '' && (
      <>
        , answered:{' '}
        <q class="head">
          <Text value={head} />
        </q>
      </>
    )}
    {nextAt !== null && (
      <span class="dim">
        {' '}
        Next attempt due <Time value={nextAt} brief />
      </span>
    )}
  </li>
)

const Again = ({ delivery: { id, target }, again }: { delivery: Delivery; again(): void }) => {
  const [busy, setBusy] = useState(false)
  const send = async () => {
    const text = `The message goes to ${plain(target)} once more. What is sent cannot be taken back.`
    if (!(await confirm({ title: 'Send the delivery again?', text, action: 'Send again' }))) return
    setBusy(true)
    await sendAgain({ delivery: id })
    setBusy(false)
    again()
  }
  return (
    <button type="button" disabled={busy} onClick={() => void send()}>
      Send again
    </button>
  )
}

export const sendAgain = async (which: Parameters<typeof redeliver>[0]) => {
  try {
    const { redelivered } = await redeliver(which)
    const what = redelivered === 1 ? '1 delivery' : `${redelivered.toLocaleString()} deliveries`
    announce(redelivered === 0 ? 'There is nothing to send again.' : `Sending ${what} again.`)
  } catch (error) {
    announce(plain(messageOf(error)), 'error')
  }
}

/** All dead deliveries of a rule, once the user is sure. */
export const sendDeadOf = async (rule: number) => {
  const text = 'Every dead delivery of this rule is sent once more. What is sent cannot be taken back.'
  if (await confirm({ title: 'Send all dead deliveries again?', text, action: 'Send all again' }))
    await sendAgain({ rule, dead: true })
}
