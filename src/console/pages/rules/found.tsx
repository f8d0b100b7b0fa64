import { useState } from 'preact/hooks'
import { useAsk, useEvery, usePages } from '../../api/ask.ts'
import { getStatus } from '../../api/index.ts'
import type { Alert, AlertState, Attempt, Delivery, Rule } from '../../api/wire.ts'
import { Await, Empty } from '../../parts/answer.tsx'
import { Aside, Button, type Option, SelectField } from '../../parts/controls.tsx'
import { count, plain } from '../../parts/format.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { dim, Hash, say, Text, Time } from '../../parts/text.tsx'
import { Link, setQuery, useQueryState } from '../../shell/router.tsx'
import { getAlerts, getDeliveries, getDelivery, redeliver } from './api.ts'
import { networkOf } from './model.ts'

const REFRESH_MS = 3_000

/** Rows of a rule that are in one state or in any, the newest first; one of them is open. */
const useRows = <Row,>(
  rule: Rule,
  options: readonly Option[],
  ask: (
    state: string,
    before: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ rows: Row[]; next: string | null }>,
) => {
  const [typed, setState] = useQueryState('state')
  const state = options.find(({ value }) => value === typed)?.value ?? ''
  const [open] = useQueryState('open')
  const pages = usePages(`${rule.id} ${state}`, (before: string | undefined, signal) => ask(state, before, signal))
  useEvery(REFRESH_MS, () => {
    if (pages.isFirst) pages.again()
  })
  return {
    ...{ pages, open, state },
    asked: { ...pages, error: pages.error ?? pages.moreError },
    choice: <SelectField label="State" value={state} options={options} onChange={setState} />,
    onOpen: ({ id }: { id: string | number }) => setQuery({ open: String(id) }, { replace: open !== '' }),
  }
}

const ALERT_STATES = ['', 'pending', 'confirmed', 'retracted', 'withdrawn'].map(value => ({
  ...{ value, label: value || 'all' },
}))

/** What a rule found, and what became of each. */
export const Alerts = ({ rule }: { rule: Rule }) => {
  const { pages, open, state, asked, choice, onOpen } = useRows(rule, ALERT_STATES, async (state, before, signal) => {
    const { alerts, next } = await getAlerts(rule.id, { state, before }, signal)
    return { rows: alerts, next }
  })
  const opened = pages.rows.find(({ id }) => id === open)
  return (
    <>
      <div class="line">{choice}</div>
      <Await asked={asked} failed="The alerts cannot be read" busy="Reading the alerts" />
      {pages.data && pages.rows.length === 0 && (
        <Empty title={state === '' ? 'The rule has found nothing yet' : 'No alert is in this state'}>
          <p>A rule looks at the blocks that come. Give it an earlier start block to look back into stored blocks.</p>
        </Empty>
      )}
      <div class="found">
        {pages.rows.length > 0 && (
          <Table
            {...{ label: 'Alerts', columns: ALERTS, rows: pages.rows, open, onOpen }}
            keyOf={({ id }) => String(id)}
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

const ALERTS: readonly Column<Alert>[] = [
  { title: 'State', width: '11ch', cell: ({ state }) => <span class={toneOf(state)}>{state}</span> },
  { title: 'Block', width: '10ch', align: 'right', cell: ({ block }) => String(block) },
  { title: 'Found', width: '20ch', cell: ({ entity }) => <Hash value={entity._id} brief /> },
  { title: 'Received', width: '20ch', cell: it => <Time value={it.receivedAt} brief /> },
  { title: 'Changed', width: '20ch', cell: it => <Time value={it.changedAt} brief /> },
  { title: 'Deliveries', width: 'minmax(16ch, 1fr)', cell: it => sumOf(it) },
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

const close = () => setQuery({ open: '' })

const OpenAlert = ({ alert, rule, again }: { alert: Alert; rule: Rule; again(): void }) => {
  const { _type, _id } = alert.entity
  const network = alert.network ?? networkOf(rule)
  const where = new URLSearchParams({ network, kinds: _type, open: `${_type} ${_id}` })
  const title = say`${_type} ${<Hash value={_id} network={network} kind={_type === 'tx' ? 'tx' : undefined} />}`
  return (
    <Aside what="alert" title={title} onClose={close}>
      <Life alert={alert} network={network} />
      <p>
        <Link to={`/explore?${where}`}>Show the document in Explore</Link>
      </p>
      <p class="dim">{say`Alert ${<Text value={alert.id} />}`}</p>
      <h3>Deliveries</h3>
      {alert.deliveries.length === 0 && <p>Nothing was to be sent so far.</p>}
      {alert.deliveries.map(delivery => (
        <DeliveryView key={delivery.id} delivery={delivery} again={again} />
      ))}
    </Aside>
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
      <li>{say`Found in block ${block.toLocaleString()}, which was received ${<Time value={receivedAt} />}`}</li>
      {state === 'pending' ? (
        <li>{waitsFor(confirmations, head === undefined ? undefined : Math.max(head - block, 0))}</li>
      ) : (
        <li class={toneOf(state)}>
          {state[0]!.toUpperCase() + state.slice(1)} <Time value={changedAt} />
          {ENDS[state]}
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

const ENDS: Record<Exclude<AlertState, 'pending'>, string> = {
  confirmed: ': its block is deep enough, and receivers are notified.',
  retracted: ': its block was reorganised away after it had fired, and receivers are told.',
  withdrawn: ': its block was reorganised away before it fired, so that it never fires.',
}

const DELIVERY_STATES = [
  { value: '', label: 'all' },
  { value: 'queued', label: 'queued' },
  { value: 'waiting', label: 'queued, not tried yet' },
  { value: 'retried', label: 'queued after a failure' },
  ...['delivered', 'dead', 'cancelled'].map(value => ({ value, label: value })),
]

/** Every delivery of a rule. */
export const Deliveries = ({ rule }: { rule: Rule }) => {
  const ask = async (state: string, before: string | undefined, signal: AbortSignal) => {
    const { deliveries, next } = await getDeliveries({ rule: String(rule.id), state, size: '100', before }, signal)
    return { rows: deliveries, next }
  }
  const { pages, open, state, asked, choice, onOpen } = useRows(rule, DELIVERY_STATES, ask)
  const isEmpty = pages.data !== undefined && pages.rows.length === 0
  return (
    <>
      <div class="line">
        {choice}
        <Button label="Send all dead again" onClick={() => sendDeadOf(rule.id).then(pages.again)} />
      </div>
      <Await asked={asked} failed="The deliveries cannot be read" busy="Reading the deliveries" />
      {isEmpty && pages.isWhole && (
        <Empty title={state === '' ? 'Nothing was to be sent so far' : 'No delivery is in this state'} />
      )}
      {isEmpty && !pages.isWhole && <Button label="Look further back" onClick={pages.askMore} />}
      <div class="found">
        {pages.rows.length > 0 && (
          <Table
            {...{ label: 'Deliveries', columns: DELIVERIES, rows: pages.rows, open, onOpen }}
            keyOf={({ id }) => String(id)}
            onEnd={pages.askMore}
          />
        )}
        {/^\d+$/.test(open) && <OpenDelivery id={Number(open)} again={pages.again} />}
      </div>
    </>
  )
}

const DELIVERIES: readonly Column<Delivery>[] = [
  { title: 'State', width: '10ch', cell: ({ state }) => <span class={toneOf(state)}>{state}</span> },
  { title: 'Type', width: '16ch', cell: ({ type }) => type },
  { title: 'Receiver', width: 'minmax(20ch, 1fr)', cell: it => <Text value={it.target} brief /> },
  { title: 'Tries', width: '6ch', align: 'right', cell: ({ tries }) => String(tries) },
  { title: 'Created', width: '20ch', cell: it => <Time value={it.createdAt} brief /> },
  {
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
  const both = () => {
    asked.again()
    again()
  }
  return (
    <Aside what="delivery" title={`Delivery ${id}`} onClose={close}>
      <Await asked={asked}>{delivery => <DeliveryView delivery={delivery} again={both} />}</Await>
    </Aside>
  )
}

/** A delivery with every attempt, which can be sent again. */
const DeliveryView = ({ delivery, again }: { delivery: Delivery; again(): void }) => {
  const { id, type, channel, target, state, tries, lastError, nextAt, attempts = [] } = delivery
  const [busy, setBusy] = useState(false)
  const send = async () => {
    const text = `The message goes to ${plain(target)} once more. What is sent cannot be taken back.`
    setBusy(true)
    if (await sendAgain({ delivery: id }, { title: 'Send the delivery again?', text, action: 'Send again' })) again()
    setBusy(false)
  }
  // Tests and what was cancelled are never sent again.
  const canRepeat = type !== 'alert.test' && state !== 'cancelled' && (state !== 'queued' || tries > 0)
  return (
    <article class="delivery" aria-label={`Delivery ${id}`}>
      <p>{say`${<strong>{state}</strong>}: ${type} by ${channel} to ${<Text value={target} />}`}</p>
      {state === 'queued' && nextAt !== null && <p class="dim">{say`Next attempt: ${<Time value={nextAt} due />}`}</p>}
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
      {canRepeat && <Button label="Send again" disabled={busy} onClick={send} />}
    </article>
  )
}

const AttemptView = ({ attempt: { at, outcome, status, error, head, latencyMs, nextAt } }: { attempt: Attempt }) => (
  <li>
    <Time value={at} brief />: {outcome}
    {status !== null && `, HTTP ${status}`}, {latencyMs?.toLocaleString()} ms
    {error !== null && ', '}
    {error !== null && (
      <span class="bad">
        <Text value={error} />
      </span>
    )}
    {head && ', answered: '}
    {head && (
      <q class="head">
        <Text value={head} />
      </q>
    )}
    {nextAt !== null && dim` Next attempt due ${<Time value={nextAt} brief />}`}
  </li>
)

const sendAgain = (what: Parameters<typeof redeliver>[0], question: Parameters<typeof redeliver>[1]) =>
  redeliver(what, question, redelivered =>
    redelivered === 0
      ? 'There is nothing to send again.'
      : `Sending ${count(redelivered, 'delivery', 'deliveries')} again.`,
  )

/** All dead deliveries of a rule, once the user is sure. */
export const sendDeadOf = (rule: number) => {
  const text = 'Every dead delivery of this rule is sent once more. What is sent cannot be taken back.'
  const question = { title: 'Send all dead deliveries again?', text, action: 'Send all again' }
  return sendAgain({ rule, dead: true }, question)
}
