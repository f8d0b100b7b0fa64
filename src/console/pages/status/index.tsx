import { useLive } from '../../api/ask.ts'
import type { RatesAnswer, Status, StorageAnswer } from '../../api/wire.ts'
import { Link, setQuery, useQueryState } from '../../browser/router.tsx'
import { Await, Busy, Fault, NeedsScope } from '../../parts/answer.tsx'
import { InChosenNetwork, NoNetwork } from '../../parts/chosen-network.tsx'
import { formatBytes, visibleText } from '../../parts/format.ts'
import { Tabs } from '../../parts/menu.tsx'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { PageHead, say, Time } from '../../parts/text.tsx'
import { Network } from './network.tsx'
import { ReceiversTab } from './receivers.tsx'

const STATUS_VIEWS = [
  { name: 'networks', title: 'Networks', show: () => <Networks /> },
  {
    name: 'deliveries',
    title: 'Deliveries',
    show: () => (
      <NeedsScope scope="rules" to="see the deliveries of your rules">
        <ReceiversTab />
      </NeedsScope>
    ),
  },
  {
    name: 'storage',
    title: 'Disk',
    show: () => (
      <NeedsScope scope="admin" to="see what takes room on the disk">
        <InChosenNetwork>{network => <NetworkSection key={network} network={network} />}</InChosenNetwork>
      </NeedsScope>
    ),
  },
]

export default () => {
  const [view] = useQueryState('view', 'networks')
  // Query parameters belong to one view.
  const choose = (name: string) =>
    setQuery({ view: name === 'networks' ? '' : name, channel: '', target: '', state: '', open: '' })
  return (
    <>
      <PageHead title="Status" />
      <Tabs label="Parts of the service" tabs={STATUS_VIEWS} current={view} onChange={choose} />
    </>
  )
}

const PAGE_REFRESH_MS = 2_000
const RATES_MS = 10_000

const Networks = () => {
  const status = useLive<Status>('status', PAGE_REFRESH_MS)
  const rates = useLive<RatesAnswer>('status/rates', RATES_MS)
  const failed = status.data ? 'What is shown is old' : 'The status cannot be read'
  return (
    <Await asked={status} failed={failed} busy="Reading the status">
      {({ networks, reasons = [], warnings = [], deliveries, readers, version }) => (
        <>
          {deliveries && deliveries.failing.length > 0 && (
            <p class="fault">
              {deliveries.failing.length === 1
                ? 'A receiver of your alerts is'
                : `${deliveries.failing.length.toLocaleString()} receivers of your alerts are`}{' '}
              failing since <Time value={deliveries.failing[0]!.since} />.{' '}
              <Link to="/status?view=deliveries">Show the receivers</Link>
            </p>
          )}
          {reasons.length === 0 && <p class="good">The server is ready.</p>}
          {[...reasons, ...warnings].map(({ type, network, since, reason }) => (
            <p key={`${type} ${network}`} class="notice">
              {network !== undefined && <strong>{network}: </strong>}
              {visibleText(reason)}
              {since !== undefined && say` Since ${<Time value={since} />}.`}
            </p>
          ))}
          {deliveries && deliveries.state !== 'delivering' && (
            <p class="notice">{`Deliveries: ${deliveries.state}. ${visibleText(deliveries.error ?? '')}`}</p>
          )}
          {networks.length === 0 && <NoNetwork />}
          {networks.map(network => (
            <Network
              key={network.network}
              status={network}
              samples={rates.data?.networks.find(it => it.network === network.network)?.samples ?? []}
            />
          ))}
          <p class="dim">
            Chainsieve {version}
            {readers &&
              `. Threads for searches: ${readers.busy} of ${readers.most} busy, ${readers.waiting} searches wait`}
            .
          </p>
        </>
      )}
    </Await>
  )
}

const [MEASURING_MS, MEASURED_MS] = [1_000, 60_000]

const NetworkSection = ({ network }: { network: string }) => {
  const asked = useLive<StorageAnswer>(`status/storage?network=${encodeURIComponent(network)}`, ({ state }) =>
    state === 'measuring' ? MEASURING_MS : MEASURED_MS,
  )
  if (asked.error !== undefined)
    return <Fault title="The disk cannot be measured" error={asked.error} again={asked.again} />
  return (
    <Await asked={asked} busy="Asking what takes room">
      {({ storage, measuredAt, state, error }) => (
        <>
          {state === 'measuring' && <Busy label="Reading every page of the store, which may take minutes" />}
          {error !== null && <Fault title="The store cannot be measured" error={error} />}
          {storage && (
            <>
              <p>
                <strong>{formatBytes(storage.bytes)}</strong> in the store, {formatBytes(storage.free)} of them free for
                new blocks; {formatBytes(storage.log)} in its log.{' '}
                {measuredAt !== null && (
                  <span class="dim">
                    Measured <Time value={measuredAt} />, at most every ten minutes.
                  </span>
                )}
              </p>
              <PlainTable
                label="Tables"
                columns={TABLES}
                rows={storage.parts.toSorted((a, b) => b.bytes - a.bytes)}
                keyOf={({ part }) => part}
              />
            </>
          )}
        </>
      )}
    </Await>
  )
}

type StoragePart = NonNullable<StorageAnswer['storage']>['parts'][number]

const TABLES: readonly Column<StoragePart>[] = [
  { title: 'Table', cell: ({ part }) => <code>{part}</code> },
  { title: 'Part of', cell: ({ what }) => what },
  { title: 'Size', align: 'right', cell: ({ bytes }) => formatBytes(bytes) },
  {
    title: 'Share',
    cell: ({ part, share }) => (
      <span class="share">
        <meter aria-label={`Share of ${part}`} value={share} min={0} max={100} />
        {share.toFixed(1)} %
      </span>
    ),
  },
  { title: 'Rows', align: 'right', cell: ({ rows }) => rows?.toLocaleString() ?? '' },
]
