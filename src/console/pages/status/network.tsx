import type { ComponentChildren } from 'preact'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Spark, showNumber } from '../../parts/spark.tsx'
import { Time } from '../../parts/time.tsx'
import { plain } from '../../parts/visible.ts'
import { Link } from '../../shell/router.tsx'
import { Budgets } from './budgets.tsx'
import { PlaceTrouble, placeOf } from './place.tsx'
import { RangeBar } from './range-bar.tsx'
import { Scopes } from './scopes.tsx'
import type { Endpoint, FullNetwork, RateSample } from './wire.ts'

/** What each state means. */
const STATES: ReadonlyMap<string, { text: string; class: string }> = new Map([
  ['following', { text: 'Follows the head', class: 'good' }],
  ['filling', { text: 'Reads older blocks', class: 'good' }],
  ['serving', { text: 'Answers from what is stored; no node brings new blocks', class: '' }],
  ['stored', { text: 'Answers from what is stored', class: '' }],
  ['waiting', { text: 'Waits', class: 'warn' }],
  ['restarting', { text: 'Will start again', class: 'bad' }],
  ['stopped', { text: 'Stopped', class: 'bad' }],
])

export const Network = ({ status, samples }: { status: FullNetwork; samples: readonly RateSample[] }) => {
  const { network, state, error, waiting, restarts, redecoding, store, logLoss } = status
  const shown = STATES.get(state) ?? { text: state, class: '' }
  return (
    <section class="network" aria-label={network}>
      <h2>
        <Link to={`/explore?network=${encodeURIComponent(network)}`}>{network}</Link>{' '}
        <span class={`state ${shown.class}`}>{shown.text}</span>
      </h2>
      {waiting && (
        <p class="notice">
          Waits for {plain(waiting.for)}, since <Time value={waiting.since} />
          {waiting.until !== undefined && (
            <>
              , until <Time value={waiting.until} brief />
            </>
          )}
          .
        </p>
      )}
      {error !== null && !waiting && <p class="fault">{plain(error)}</p>}
      {status.missing && (
        <p class="notice">
          No node has the blocks {status.missing.ranges.map(({ from, to }) => `${from} to ${to}`).join(', ')}, since{' '}
          <Time value={status.missing.since} /> ({plain(status.missing.why).slice(0, LONGEST)}): {status.missing.remedy}
          .
        </p>
      )}
      {store === 'damaged' && (
        <p class="fault">
          The store is damaged and is not searched. Stop the server and restore a backup; without one,{' '}
          <code>chainsieve salvage {network}</code> keeps what can be read.
        </p>
      )}
      {logLoss && (
        <p class="notice">
          At the start, the write-ahead log was damaged or missing:{' '}
          {logLoss.blocks === null ? 'some blocks' : `${logLoss.blocks.toLocaleString()} blocks`} are indexed again.
          Check the disk.
        </p>
      )}
      {restarts && (
        <p class="notice">
          Ended by itself {restarts.count === 1 ? 'once' : `${restarts.count.toLocaleString()} times`}, last{' '}
          <Time value={restarts.endedAt} />: {plain(restarts.error)}
        </p>
      )}
      <PlaceTrouble {...status} />
      {redecoding && (
        <p role="status">
          Decodes stored blocks again by the ABI {plain(redecoding.abi)}: {redecoding.blocksLeft.toLocaleString()}{' '}
          blocks are left. <Link to="/abis">Show the progress</Link>
        </p>
      )}
      {(status.ranges.length > 0 || !status.coverage) && <RangeBar ranges={status.ranges} head={status.head} />}
      <Scopes status={status} />
      <Facts status={status} />
      <div class="sparks">
        <Spark title="Blocks per second" values={samples.map(({ blocksPerSecond }) => blocksPerSecond)} />
        <Spark title="Events per second" values={samples.map(({ eventsPerSecond }) => eventsPerSecond)} />
        <Spark title="Blocks behind the head" values={samples.map(({ lag }) => lag)} />
      </div>
      {status.endpoints.length > 0 && (
        <PlainTable label={`Nodes of ${network}`} columns={NODES} rows={status.endpoints} keyOf={({ url }) => url} />
      )}
      <Budgets network={network} endpoints={status.endpoints} />
    </section>
  )
}

const Facts = ({ status }: { status: FullNetwork }) => {
  const { head, lag, lastBlock, blockTime, blocksPerSecond, eventsPerSecond, secondsLeft } = status
  const facts: [string, ComponentChildren][] = [
    ['Head of the chain', head?.toLocaleString()],
    ['Blocks behind the head', lag?.toLocaleString()],
    ['Newest block', lastBlock?.number.toLocaleString()],
    ['Its time', lastBlock && <Time value={lastBlock.time} />],
    ['Received', lastBlock?.receivedAt && <Time value={lastBlock.receivedAt} />],
    ['A block takes', blockTime !== null && `${showNumber(blockTime)} s`],
    ['Blocks per second', blocksPerSecond !== null && showNumber(blocksPerSecond)],
    ['Events per second', eventsPerSecond !== null && showNumber(eventsPerSecond)],
    ...placeOf(status),
    ['Time left', secondsLeft !== null && showDuration(secondsLeft)],
  ]
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

const NODES = [
  { title: 'Node', cell: ({ url }: Endpoint) => plain(url) },
  {
    title: 'State',
    cell: ({ failingSince, slow, otherBranch }: Endpoint) =>
      failingSince !== undefined ? (
        <span class="bad">
          fails since <Time value={failingSince} />
        </span>
      ) : otherBranch ? (
        <span class="bad" title={`Its block ${otherBranch.number} is ${plain(otherBranch.hash)}`}>
          on another branch since <Time value={otherBranch.since} />
        </span>
      ) : slow ? (
        <span class="warn">answers slowly</span>
      ) : (
        <span class="good">answers</span>
      ),
  },
  {
    title: 'Answers in',
    align: 'right',
    cell: ({ responseMs }: Endpoint) =>
      responseMs && (
        <span title={`95 of 100 within ${responseMs.p95.toLocaleString()} ms`}>
          {responseMs.median.toLocaleString()} ms
        </span>
      ),
  },
  { title: 'Requests', align: 'right', cell: ({ requests }: Endpoint) => requests.toLocaleString() },
  { title: 'Errors', align: 'right', cell: ({ errors }: Endpoint) => errors.toLocaleString() },
  {
    title: 'Last error',
    cell: ({ lastError, lastErrorAt }: Endpoint) =>
      lastError !== null && (
        <>
          {plain(lastError).slice(0, LONGEST)} {lastErrorAt !== null && <Time value={lastErrorAt} />}
        </>
      ),
  },
] as const

const LONGEST = 500

export const showDuration = (seconds: number): string => {
  const rounded = Math.round(seconds)
  if (rounded < 60) return `${rounded} s`
  if (rounded < 3_600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`
  const hours = Math.floor(rounded / 3_600)
  if (hours < 48) return `${hours} h ${Math.floor((rounded % 3_600) / 60)} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}
