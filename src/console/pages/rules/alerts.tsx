import { getStatus } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Hash } from '../../parts/hash.tsx'
import { Busy } from '../../parts/progress.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { useKey } from '../../shell/keys.ts'
import { Link, setQuery, useQueryState } from '../../shell/router.tsx'
import { getAlerts } from './api.ts'
import { DeliveryView } from './delivery.tsx'
import { useEvery, usePages } from './hooks.ts'
import { type Alert, type AlertState, networkOf, type Rule } from './wire.ts'

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
        {opened && <Opened alert={opened} rule={rule} again={pages.again} />}
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

const Opened = ({ alert, rule, again }: { alert: Alert; rule: Rule; again(): void }) => {
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
