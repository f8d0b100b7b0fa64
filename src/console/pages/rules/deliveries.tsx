import { useAsk } from '../../api/use-ask.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { SelectField } from '../../parts/field.tsx'
import { Busy } from '../../parts/progress.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { useKey } from '../../shell/keys.ts'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import { getDeliveries, getDelivery } from './api.ts'
import { DeliveryView, sendDeadOf } from './delivery.tsx'
import { useEvery, usePages } from './hooks.ts'
import type { Delivery, Rule } from './wire.ts'

const REFRESH_MS = 3_000
const STATES = ['', 'queued', 'waiting', 'retried', 'delivered', 'dead', 'cancelled']
const LABELS = new Map([
  ['', 'all'],
  ['waiting', 'queued, not tried yet'],
  ['retried', 'queued after a failure'],
])
const OPTIONS = STATES.map(value => ({ value, label: LABELS.get(value) ?? value }))

/** Every delivery of a rule. */
export const Deliveries = ({ rule }: { rule: Rule }) => {
  const [typed, setState] = useQueryState('state')
  const state = STATES.includes(typed) ? typed : ''
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
        <SelectField label="State" value={state} options={OPTIONS} onChange={value => setState(value)} />
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
            columns={COLUMNS}
            rows={pages.rows}
            keyOf={({ id }) => String(id)}
            open={open}
            onOpen={({ id }) => setQuery({ open: String(id) }, { replace: open !== '' })}
            onEnd={pages.askMore}
          />
        )}
        {/^\d+$/.test(open) && <Opened id={Number(open)} again={pages.again} />}
      </div>
    </>
  )
}

const COLUMNS: readonly Column<Delivery>[] = [
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

const Opened = ({ id, again }: { id: number; again(): void }) => {
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
