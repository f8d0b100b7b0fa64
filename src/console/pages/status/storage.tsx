import { ask } from '../../api/client.ts'
import { getStatus } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import { useLive } from '../../api/use-live.ts'
import { showBytes } from '../../parts/bytes.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { SelectField } from '../../parts/field.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Time } from '../../parts/time.tsx'
import { useQueryState } from '../../shell/router.tsx'
import type { StorageAnswer } from './wire.ts'

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
