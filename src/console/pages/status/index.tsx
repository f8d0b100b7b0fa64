import { useAsk, useLive } from '../../api/ask.ts'
import { ask } from '../../api/client.ts'
import { getStatus } from '../../api/index.ts'
import { Busy, Empty, Fault, NeedsScope } from '../../parts/answer.tsx'
import { SelectField, Tabs } from '../../parts/controls.tsx'
import { plain, showBytes } from '../../parts/format.ts'
import { PlainTable } from '../../parts/table.tsx'
import { Command, Time } from '../../parts/text.tsx'
import { Link, setQuery, useQueryState } from '../../shell/router.tsx'
import { Deliveries } from './deliveries.tsx'
import { Network } from './network.tsx'
import type { Rates, Status as StatusAnswer, StorageAnswer } from './wire.ts'

const VIEWS = [
  { name: 'networks', title: 'Networks' },
  { name: 'deliveries', title: 'Deliveries' },
  { name: 'storage', title: 'Disk' },
] as const

/** How the service is. */
const Status = () => {
  const [asked] = useQueryState('view', 'networks')
  const view = VIEWS.find(({ name }) => name === asked)?.name ?? 'networks'
  return (
    <>
      <h1>Status</h1>
      <Tabs label="Parts of the service" tabs={VIEWS} current={view} onChange={name => setQuery(onlyView(name))}>
        {view === 'networks' && <Networks />}
        {view === 'deliveries' && (
          <NeedsScope scope="rules" to="see the deliveries of your rules">
            <Deliveries />
          </NeedsScope>
        )}
        {view === 'storage' && (
          <NeedsScope scope="admin" to="see what takes room on the disk">
            <Storage />
          </NeedsScope>
        )}
      </Tabs>
    </>
  )
}

export default Status

/** What one view puts into the address means nothing to another. */
const onlyView = (view: string) => ({ view: view === 'networks' ? '' : view, channel: '', target: '', state: '' })

const STATUS_MS = 2_000
const RATES_MS = 10_000
const START = 'chainsieve serve --network ethereum/ethereum/mainnet --rpc URL --from latest-1000'.split(' ')

export const Networks = () => {
  const status = useLive('status', signal => ask<StatusAnswer>('status', { signal }), STATUS_MS)
  const rates = useLive('rates', signal => ask<Rates>('status/rates', { signal }), RATES_MS)
  const { data } = status
  if (status.error !== undefined && !data)
    return <Fault title="The status cannot be read" error={status.error} again={status.again} />
  if (!data) return <Busy label="Reading the status" />
  const { networks, reasons = [], warnings = [], deliveries, readers } = data
  return (
    <>
      {status.error !== undefined && <Fault title="What is shown is old" error={status.error} again={status.again} />}
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
          {plain(reason)}
          {since !== undefined && (
            <>
              {' '}
              Since <Time value={since} />.
            </>
          )}
        </p>
      ))}
      {deliveries && deliveries.state !== 'delivering' && (
        <p class="notice">
          Deliveries: {deliveries.state}. {plain(deliveries.error ?? '')}
        </p>
      )}
      {networks.length === 0 && (
        <Empty title="There is no network yet">
          <p>Start the server with a node, or import blocks:</p>
          <Command parts={START} />
        </Empty>
      )}
      {networks.map(network => (
        <Network
          key={network.network}
          status={network}
          samples={rates.data?.networks.find(it => it.network === network.network)?.samples ?? []}
        />
      ))}
      <p class="dim">
        Chainsieve {data.version}
        {readers && `. Threads for searches: ${readers.busy} of ${readers.most} busy, ${readers.waiting} searches wait`}
        .
      </p>
    </>
  )
}

const [MEASURING_MS, MEASURED_MS] = [1_000, 60_000]

/** What takes how much room. */
export const Storage = () => {
  const status = useAsk('status', getStatus)
  const networks = status.data?.networks.map(({ network }) => network) ?? []
  const [asked, choose] = useQueryState('network')
  const network = asked || networks[0]
  if (status.error !== undefined && !status.data) return <Fault error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which networks there are" />
  if (network === undefined) return <Empty title="There is no network yet" />
  return (
    <>
      <SelectField
        label="Network"
        value={network}
        options={[...new Set([network, ...networks])].sort().map(value => ({ value, label: value }))}
        onChange={choose}
      />
      <OfNetwork key={network} network={network} />
    </>
  )
}

const OfNetwork = ({ network }: { network: string }) => {
  const question = (signal: AbortSignal) =>
    ask<StorageAnswer>(`status/storage?network=${encodeURIComponent(network)}`, { signal })
  const { data, error, again } = useLive(network, question, ({ state }) =>
    state === 'measuring' ? MEASURING_MS : MEASURED_MS,
  )
  if (error !== undefined) return <Fault title="The disk cannot be measured" error={error} again={again} />
  if (!data) return <Busy label="Asking what takes room" />
  const { storage, measuredAt } = data
  const parts = storage?.parts.toSorted((a, b) => b.bytes - a.bytes) ?? []
  return (
    <>
      {data.state === 'measuring' && <Busy label="Reading every page of the store, which may take minutes" />}
      {data.error !== null && <Fault title="The store cannot be measured" error={new Error(data.error)} />}
      {storage && (
        <>
          <p>
            <strong>{showBytes(storage.bytes)}</strong> in the store, {showBytes(storage.free)} of them free for new
            blocks; {showBytes(storage.log)} in its log.{' '}
            {measuredAt !== null && (
              <span class="dim">
                Measured <Time value={measuredAt} />, at most every ten minutes.
              </span>
            )}
          </p>
          <PlainTable
            label="Tables"
            columns={[
              { title: 'Table', cell: ({ part }) => <code>{part}</code> },
              { title: 'Part of', cell: ({ what }) => what },
              { title: 'Size', align: 'right', cell: ({ bytes }) => showBytes(bytes) },
              { title: 'Share', cell: ({ part, share }) => <Share of={part} share={share} /> },
              { title: 'Rows', align: 'right', cell: ({ rows }) => rows?.toLocaleString() ?? '' },
            ]}
            rows={parts}
            keyOf={({ part }) => part}
          />
        </>
      )}
    </>
  )
}

const Share = ({ of, share }: { of: string; share: number }) => (
  <span class="share">
    <meter aria-label={`Share of ${of}`} value={share} min={0} max={100} />
    {share.toFixed(1)} %
  </span>
)
