import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type {
  BudgetPeriod,
  EndpointBudget,
  Filter,
  ListedEndpoint,
  NetworkStatus,
  RateSample,
  ScopeCoverage,
  ScopeFilling,
} from '../../api/wire.ts'
import { Link } from '../../browser/router.tsx'
import { Chart, formatSignificant } from '../../parts/chart.tsx'
import { dateOf, visibleText } from '../../parts/format.ts'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { dim, Facts, Hash, NetworkContext as InNetwork, say, Time } from '../../parts/text.tsx'
import { OverTime } from '../things/over-time.tsx'

/** Text and tone of each state. */
const STATE_TEXTS: Record<string, readonly [text: string, tone: string]> = {
  following: ['Follows the head', 'good'],
  filling: ['Reads older blocks', 'good'],
  serving: ['Answers from what is stored; no node brings new blocks', ''],
  stored: ['Answers from what is stored', ''],
  waiting: ['Waits', 'warn'],
  restarting: ['Will start again', 'bad'],
  stopped: ['Stopped', 'bad'],
}

const MAX_ERROR_LENGTH = 500

export const Network = ({ status, samples }: { status: NetworkStatus; samples: readonly RateSample[] }) => {
  const { network, state, endpoints } = status
  const [text, tone] = STATE_TEXTS[state] ?? [state, '']
  return (
    <section class="card network" aria-label={network}>
      <h2>
        <Link to={`/explore?network=${encodeURIComponent(network)}`}>{network}</Link>{' '}
        <span class={`state ${tone}`}>{text}</span>
      </h2>
      <Troubles status={status} />
      {(status.ranges.length > 0 || !status.coverage) && <RangeBar ranges={status.ranges} head={status.head} />}
      <Scopes status={status} />
      <Facts of={networkFacts(status)} />
      <Rates samples={samples} />
      {endpoints.length > 0 && (
        <PlainTable label={`Nodes of ${network}`} columns={NODES} rows={endpoints} keyOf={({ url }) => url} />
      )}
      {status.ranges.length > 0 && <BlocksOverTime network={network} />}
      <Budgets network={network} endpoints={endpoints} />
    </section>
  )
}

/** Asked for when it is opened, as it counts all blocks. */
const BlocksOverTime = ({ network }: { network: string }) => {
  const [isOpen, setOpen] = useState(false)
  const all = { match_all: {} }
  const size = { at: 'size.value', aggs: { size: { avg: { field: 'size.num' } } } }
  return (
    <InNetwork.Provider value={network}>
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>Blocks over time</summary>
        {isOpen && (
          <div class="dashboard">
            <OverTime title="Transactions" kinds={['tx']} query={all} />
            <OverTime title="Mean size of a block, in bytes" kinds={['block']} query={all} measure={size} />
          </div>
        )}
      </details>
    </InNetwork.Provider>
  )
}

const RATES: readonly [title: string, read: (sample: RateSample) => number | null][] = [
  ['Blocks behind the head', it => it.lag],
  ['Blocks per second', it => it.blocksPerSecond],
  ['Events per second', it => it.eventsPerSecond],
]

const Rates = ({ samples }: { samples: readonly RateSample[] }) => {
  const charts = useMemo(() => {
    const times = samples.map(({ at }) => dateOf(at).getTime() / 1_000)
    return RATES.flatMap(([title, read]) => {
      const values = samples.map(read)
      const known = values.filter(it => it !== null)
      if (known.length < 2) return []
      const label = `${title}: now ${formatSignificant(known.at(-1)!)}, at most ${formatSignificant(Math.max(...known))}`
      return [{ label, series: { times, lines: [{ name: title, values }], hasGaps: true } }]
    })
  }, [samples])
  return (
    <div class="dashboard">
      {charts.map(it => (
        <Chart key={it.series.lines[0]!.name} {...it} height={100} />
      ))}
    </div>
  )
}

const Notice = ({ children }: { children: ComponentChildren }) => <p class="notice">{children}</p>

/** Why the network is incomplete or late, and what is done about it. */
const Troubles = ({ status }: { status: NetworkStatus }) => {
  const { network, error, waiting, restarts, redecoding, store, logLoss, missing, shipping, moving } = status
  return (
    <>
      {waiting && (
        <Notice>
          Waits for {visibleText(waiting.for)}, since <Time value={waiting.since} />
          {waiting.until !== undefined && ', until '}
          {waiting.until !== undefined && <Time value={waiting.until} brief />}.
        </Notice>
      )}
      {error !== null && !waiting && <p class="fault">{visibleText(error)}</p>}
      {missing && (
        <Notice>
          No node has the blocks {missing.ranges.map(({ from, to }) => `${from} to ${to}`).join(', ')}, since{' '}
          <Time value={missing.since} /> ({visibleText(missing.why).slice(0, MAX_ERROR_LENGTH)}): {missing.remedy}.
        </Notice>
      )}
      {store === 'damaged' && (
        <p class="fault">
          The store is damaged and is not searched. Stop the server and restore a backup; without one,{' '}
          <code>chainsieve salvage {network}</code> keeps what can be read.
        </p>
      )}
      {logLoss && (
        <Notice>
          At the start, the write-ahead log was damaged or missing:{' '}
          {logLoss.blocks === null ? 'some blocks' : `${logLoss.blocks.toLocaleString()} blocks`} are indexed again.
          Check the disk.
        </Notice>
      )}
      {restarts && (
        <Notice>
          Ended by itself {restarts.count === 1 ? 'once' : `${restarts.count.toLocaleString()} times`}, last{' '}
          <Time value={restarts.endedAt} />: {visibleText(restarts.error)}
        </Notice>
      )}
      {shipping && shipping.trouble !== null && (
        <Notice>
          Documents do not {moving?.to === 'sqlite' ? 'come back into the file' : 'go to the cluster'}
          {shipping.troubleSince !== null && ' since '}
          {shipping.troubleSince !== null && <Time value={shipping.troubleSince} />}: {visibleText(shipping.trouble)}
        </Notice>
      )}
      {redecoding && (
        <p role="status">
          Decodes stored blocks again by the ABI {visibleText(redecoding.abi)}: {redecoding.blocksLeft.toLocaleString()}{' '}
          blocks are left. <Link to="/abis">Show the progress</Link>
        </p>
      )}
    </>
  )
}

const networkFacts = (status: NetworkStatus) => {
  const { head, lag, lastBlock, blockTime, blocksPerSecond, eventsPerSecond, secondsLeft } = status
  return {
    'Head of the chain': head?.toLocaleString(),
    'Blocks behind the head': lag?.toLocaleString(),
    'Newest block': lastBlock && say`${lastBlock.number.toLocaleString()}, ${<Time value={lastBlock.time} />}`,
    Received: lastBlock?.receivedAt && <Time value={lastBlock.receivedAt} />,
    'A block takes': blockTime !== null && `${formatSignificant(blockTime)} s`,
    'Blocks per second': blocksPerSecond !== null && formatSignificant(blocksPerSecond),
    'Events per second': eventsPerSecond !== null && formatSignificant(eventsPerSecond),
    ...storeFacts(status),
    'Time left': secondsLeft !== null && showDuration(secondsLeft),
  }
}

/** Location of documents and progress of moves. */
const storeFacts = ({ cluster, shipping, moving }: NetworkStatus) => {
  const isInCluster = moving ? moving.to === 'sqlite' : cluster !== undefined || shipping !== undefined
  const left = shipping?.blocksLeft ?? 0
  const indices = cluster?.indices ? `: ${visibleText(cluster.indices)}` : ''
  return {
    Documents: isInCluster ? `In the cluster${indices}` : 'In the file',
    Cluster: cluster && [cluster.state, cluster.version].filter(text => text !== null).join(', '),
    Moving: moving && `${moveProgress(moving)} % ${moving.to === 'sqlite' ? 'back into the file' : 'to the cluster'}`,
    'Not in the cluster yet': !moving && left > 0 && `${left.toLocaleString()} block${left === 1 ? '' : 's'}`,
  }
}

/** Copying and verifying are one half each. */
const moveProgress = ({ blocks, shipped, verified }: NonNullable<NetworkStatus['moving']>): number =>
  Math.min(100, Math.floor((50 * (shipped + verified)) / Math.max(1, blocks)))

const NODES: readonly Column<ListedEndpoint>[] = [
  { title: 'Node', cell: ({ url }) => visibleText(url) },
  {
    title: 'State',
    cell: ({ failingSince, slow, otherBranch }) =>
      failingSince !== undefined ? (
        <span class="bad">{say`failing since ${<Time value={failingSince} />}`}</span>
      ) : otherBranch ? (
        <span class="bad" title={`Its block ${otherBranch.number} is ${visibleText(otherBranch.hash)}`}>
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
    cell: ({ responseMs }) =>
      responseMs && (
        <span title={`95 of 100 within ${responseMs.p95.toLocaleString()} ms`}>
          {responseMs.median.toLocaleString()} ms
        </span>
      ),
  },
  { title: 'Requests', align: 'right', cell: ({ requests }) => requests.toLocaleString() },
  { title: 'Errors', align: 'right', cell: ({ errors }) => errors.toLocaleString() },
  {
    title: 'Last error',
    cell: ({ lastError, lastErrorAt }) =>
      lastError !== null &&
      say`${visibleText(lastError).slice(0, MAX_ERROR_LENGTH)} ${lastErrorAt !== null && <Time value={lastErrorAt} />}`,
  },
]

const showDuration = (seconds: number): string => {
  const rounded = Math.round(seconds)
  if (rounded < 60) return `${rounded} s`
  if (rounded < 3_600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`
  const hours = Math.floor(rounded / 3_600)
  if (hours < 48) return `${hours} h ${Math.floor((rounded % 3_600) / 60)} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

interface BlockSpan {
  from: number
  to: number
}

interface RangeBarProps {
  /** Stored blocks, ascending and inclusive. */
  ranges: readonly BlockSpan[]
  head: number | null
  /** Scanned rather than stored. */
  scoped?: boolean
  /** Range of the bar; default: first stored block to head. */
  whole?: BlockSpan
}

const BAR_WIDTH = 1_000
const MAX_NAMED_GAPS = 8

/** A bar of stored and missing blocks. */
const RangeBar = ({ ranges, head, scoped = false, whole }: RangeBarProps) => {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (!first || !last) return <p class="dim">No block is {scoped ? 'searched' : 'stored'} yet.</p>
  const all = whole ?? { from: first.from, to: Math.max(last.to, head ?? 0) }
  const gaps = gapsBetween(ranges)
  const held = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const text = `Blocks ${showRange({ from: first.from, to: last.to })} ${scoped ? 'were searched' : 'are stored'}: ${held.toLocaleString()}`
  return (
    <div class="range-bar">
      <svg
        viewBox={`0 0 ${BAR_WIDTH} 14`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${text}. ${showGaps(gaps)}`}
      >
        <rect class="missing" x="0" y="0" width={BAR_WIDTH} height="14" />
        <rect class="held" y="0" height="14" {...spanOf({ from: first.from, to: last.to }, all)} />
        {drawn(gaps, all).map(({ x, width }) => (
          <rect key={x} class="gap" y="0" height="14" x={x} width={width} />
        ))}
      </svg>
      <p>
        {text}. <span class={gaps.length === 0 ? 'dim' : 'warn'}>{showGaps(gaps)}</span>
      </p>
    </div>
  )
}

const gapsBetween = (ranges: readonly BlockSpan[]): BlockSpan[] =>
  ranges.slice(1).map(({ from }, i) => ({ from: ranges[i]!.to + 1, to: from - 1 }))

const spanOf = ({ from, to }: BlockSpan, all: BlockSpan) => {
  const scale = BAR_WIDTH / (all.to - all.from + 1)
  return { x: (from - all.from) * scale, width: (to - from + 1) * scale }
}

/** Even small gaps are visible; overlapping ones are merged. */
const drawn = (gaps: readonly BlockSpan[], all: BlockSpan): { x: number; width: number }[] => {
  const places: { x: number; width: number }[] = []
  for (const gap of gaps) {
    const { x, width } = spanOf(gap, all)
    const [start, end] = [Math.floor(x), Math.max(Math.ceil(x + width), Math.floor(x) + 2)]
    const before = places.at(-1)
    if (before && start <= before.x + before.width) before.width = Math.max(before.width, end - before.x)
    else places.push({ x: start, width: end - start })
  }
  return places
}

const showGaps = (gaps: readonly BlockSpan[]): string => {
  if (gaps.length === 0) return 'No block is missing between them.'
  const more =
    gaps.length > MAX_NAMED_GAPS ? ` and ${(gaps.length - MAX_NAMED_GAPS).toLocaleString()} further gaps` : ''
  return `Missing: ${gaps.slice(0, MAX_NAMED_GAPS).map(showRange).join(', ')}${more}.`
}

const showRange = ({ from, to }: BlockSpan): string =>
  from === to ? from.toLocaleString() : `${from.toLocaleString()}–${to.toLocaleString()}`

/** Coverage of scopes, stored and in progress. */
const Scopes = ({ status: { network, coverage = [], filling } }: { status: NetworkStatus }) => {
  const looked = [...coverage.flatMap(({ ranges }) => ranges), ...(filling ? [filling] : [])]
  const whole = {
    from: Math.min(...looked.map(({ from }) => from)),
    to: Math.max(...looked.map(({ to }) => to)),
  }
  const columns: Column<ScopeCoverage>[] = [
    { title: 'Contracts', cell: contractsOf },
    { title: 'Events', cell: eventsOf },
    { title: 'Blocks', cell: ({ ranges }) => <RangeBar ranges={ranges} head={null} scoped whole={whole} /> },
  ]
  return (
    <InNetwork.Provider value={network}>
      {filling && <Filling filling={filling} />}
      {coverage.length > 0 && (
        <PlainTable
          label={`Scopes of ${network}`}
          columns={columns}
          rows={coverage}
          keyOf={one => coverage.indexOf(one)}
        />
      )}
    </InNetwork.Provider>
  )
}

const Filling = ({ filling }: { filling: ScopeFilling }) => {
  const { from, to, next } = filling
  const [left, total] = [Math.max(0, to - next + 1), to - from + 1]
  return (
    <p role="status">
      Looks for {eventsOf(filling)} of {contractsOf(filling)} in blocks {from.toLocaleString()}–{to.toLocaleString()}:{' '}
      {left.toLocaleString()} of {total.toLocaleString()} are left.
    </p>
  )
}

const contractsOf = ({ addresses, addressCount }: Filter) =>
  addressCount === 0 ? 'any contract' : <Hashes values={addresses} count={addressCount} kind="address" />

const eventsOf = ({ topics, topicCount, transactions }: Filter) => {
  if (transactions) return 'transactions'
  return topicCount === 0 ? 'all logs' : <Hashes values={topics} count={topicCount} />
}

/** The first values and the number of others. */
const Hashes = ({ values, count, kind }: { values: readonly string[]; count: number; kind?: 'address' }) => (
  <span class="hashes">
    {values.slice(0, MAX_FILTER_VALUES).map(value => (
      <Hash key={value} value={value} kind={kind} />
    ))}
    {count > MAX_FILTER_VALUES && <span class="dim">and {(count - MAX_FILTER_VALUES).toLocaleString()} more</span>}
  </span>
)

const MAX_FILTER_VALUES = 3

type BudgetRow = EndpointBudget & { url: string }

/** Remaining budgets of nodes. */
const Budgets = ({ network, endpoints }: { network: string; endpoints: readonly ListedEndpoint[] }) => {
  const rows = endpoints.flatMap(({ url, budget }): BudgetRow[] => (budget ? [{ url, ...budget }] : []))
  if (rows.length === 0) return null
  return <PlainTable label={`Budgets of ${network}`} columns={BUDGETS} rows={rows} keyOf={({ url }) => url} />
}

const BUDGETS: readonly Column<BudgetRow>[] = [
  { title: 'Budget of', cell: ({ url }) => visibleText(url) },
  { title: 'Left today', cell: ({ url, day }) => <BudgetLeft of={`${url} today`} period={day} /> },
  { title: 'Left this month', cell: ({ url, month }) => <BudgetLeft of={`${url} this month`} period={month} /> },
  { title: 'At most', cell: ({ rate }) => (rate === undefined ? 'any rate' : visibleText(rate)) },
  { title: 'Prices', cell: ({ costs }) => (costs === 'calls' ? 'one credit a call' : visibleText(costs)) },
  { title: 'Spent since start', align: 'right', cell: ({ spent }) => spent.toLocaleString() },
]

const BudgetLeft = ({ of, period }: { of: string; period: BudgetPeriod | undefined }) => {
  if (!period) return <span class="dim">not limited</span>
  const { left, limit, endsAt } = period
  const share = limit > 0 ? left / limit : 0
  return (
    <>
      <span class="share" title={`used: ${period.used.toLocaleString()}`}>
        <meter
          aria-label={`Left of the budget of ${visibleText(of)}`}
          value={share}
          min={0}
          max={1}
          low={KEPT_FOR_HEAD}
        />
        <span class={share < KEPT_FOR_HEAD ? 'warn' : ''}>
          {left.toLocaleString()} of {limit.toLocaleString()}
        </span>
      </span>
      {dim`until ${<Time value={endsAt} brief />}`}
    </>
  )
}

/** Back-fills wait below this share of a budget. */
const KEPT_FOR_HEAD = 0.1
