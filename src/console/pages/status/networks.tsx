import { ask } from '../../api/client.ts'
import { useLive } from '../../api/use-live.ts'
import { Command } from '../../parts/command.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Time } from '../../parts/time.tsx'
import { plain } from '../../parts/visible.ts'
import { Link } from '../../shell/router.tsx'
import { Network } from './network.tsx'
import type { FullStatus, Rates } from './wire.ts'

const STATUS_MS = 2_000
const RATES_MS = 10_000
const START = 'chainsieve serve --network ethereum/ethereum/mainnet --rpc URL --from latest-1000'.split(' ')

export const Networks = () => {
  const status = useLive('status', signal => ask<FullStatus>('status', { signal }), STATUS_MS)
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
