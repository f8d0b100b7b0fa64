import type { Reason } from '../../ingest/status/readiness.ts'
import type { DeliveryHealth, LastBlock, NetworkState, ServerStatus } from '../../ingest/status/status.ts'
import { formatSeconds } from '../../lib/progress.ts'
import type { Range } from '../../lib/ranges.ts'
import type { RestartStatus } from '../../lib/restarts.ts'
import type { Summary } from '../jobs.ts'

export const showTable = (head: string[], rows: string[][]): string => {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  return lines
    .map(line =>
      line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const showTime = (at: number | null): string =>
  at === null ? '-' : new Date(at).toISOString().replace(/\.\d+/, '')

/**
 * What others wrote, a chain or a receiver, on one line, and without what would have a terminal do something: control characters, and those
 * that turn the direction of writing.
 */
export const showText = (text: string, most = 200): string => {
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim()
  return plain.length > most ? `${plain.slice(0, most - 1).toWellFormed()}…` : plain
}

/** The blocks that a run added, and the holes between the blocks that are now stored. */
export const showSummary = (network: string, summary: Summary, json: boolean): string => {
  const { failure: _, ...done } = summary
  const holes = holesOf(done.held)
  if (json) return JSON.stringify({ network, ...done, holes })
  const { blocks, logs, events, added, missing, unread } = done
  return [
    `${network}: added ${showCount(blocks, 'block')} with ${showCount(logs, 'log')} and ${showCount(events, 'event')}.`,
    `Added: ${showRanges(added)}`,
    `Holes: ${showRanges(holes)}`,
    ...(missing.length > 0 ? [`Missing: ${showRanges(missing)}`] : []),
    ...unread.map(({ file, begun }) => `Missing: ${begun ? 'the rest' : 'all'} of ${file}`),
  ].join('\n')
}

const holesOf = (held: Range[]): Range[] =>
  held.slice(1).map((range, i) => ({ from: held[i]!.to + 1, to: range.from - 1 }))

export const showStatus = ({ networks, deliveries, reasons, warnings = [], silent }: ServerStatus): string =>
  [
    ...(reasons
      ? [showReady(reasons, deliveries?.failing ?? [])]
      : [silent ? SILENT : 'No server runs on this folder. It stores:']),
    ...warnings.map(({ type, since, reason }) => `Warning: ${type} since ${since}: ${reason}`),
    ...(networks.length === 0 ? ['No network is configured or stored.'] : networks.map(showNetwork)),
    ...(deliveries ? showDeliveries(deliveries) : []),
  ].join('\n\n')

const SILENT = 'A server runs on this folder, but has not published its status yet. It stores:'

/** Problems come first. */
const showReady = (reasons: readonly Reason[], failing: DeliveryHealth['failing']): string =>
  reasons.length === 0
    ? failing.length === 0
      ? 'The server is ready.'
      : `The server is ready, but ${showFailing(failing)}.`
    : showRows(
        failing.length === 0 ? 'The server is not ready' : `The server is not ready, and ${showFailing(failing)}`,
        reasons.map(({ type, network, since, reason }): [string, string] => [
          network ?? '',
          `${type}${since === undefined ? '' : ` since ${since}`}: ${reason}`,
        ]),
      )

const showFailing = (failing: DeliveryHealth['failing']): string => {
  const [first] = failing
  const one = `a receiver of alerts has accepted nothing since ${first!.since}`
  return failing.length === 1
    ? one
    : `${showNumber(failing.length)} receivers of alerts fail, the first since ${first!.since}`
}

/** Nothing where all is well. */
const showDeliveries = ({ error, restarts, failing }: DeliveryHealth): string[] => {
  const rows: [string, string][] = restarts ? [['failed', showRestarts(restarts)]] : []
  if (error !== null) rows.push(['error', error])
  for (const { target, rule, since, error } of failing)
    rows.push(['failing', `since ${since}: ${showText(target)} of rule ${rule}: ${showText(error)}`])
  return rows.length === 0 ? [] : [showRows('deliveries', rows)]
}

const showRestarts = ({ count: times, endedAt, nextAt }: RestartStatus): string =>
  `${showCount(times, 'time')}, last at ${endedAt}${nextAt ? `, is started again at ${nextAt}` : ''}`

const showNetwork = (status: NetworkState): string => {
  const { network, state, ranges, head, lag, blocksPerSecond, eventsPerSecond, secondsLeft, error, endpoints } = status
  const { redecoding, waiting, restarts, lastBlock, headAge, finality, moving, shipping } = status
  const rows: [string, string][] = [
    ['state', state],
    ['blocks', showRanges(ranges)],
    ['holes', showRanges(holesOf(ranges))],
    ...(status.coverage ?? []).map((one): [string, string] => ['scope', showScope(one)]),
  ]
  if (status.filling) rows.push(['fills', showFilling(status.filling)])
  if (status.missing) rows.push(['missing', showMissing(status.missing)])
  if (lastBlock) rows.push(['last', showLast(lastBlock, headAge)])
  if (head !== null)
    rows.push(['head', `${head}${lag === null ? '' : lag === 0 ? ', reached' : `, ${showCount(lag, 'block')} behind`}`])
  if (finality) rows.push(['final', showFinality(finality)])
  if (blocksPerSecond !== null) {
    const left = secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`
    rows.push(['speed', `${showNumber(blocksPerSecond)} blocks/s, ${showNumber(eventsPerSecond ?? 0)} events/s${left}`])
  }
  for (const endpoint of endpoints) {
    const { url, requests, errors, lastError, lastErrorAt, budget } = endpoint
    const last = lastError === null ? '' : `, the last at ${lastErrorAt}: ${lastError}`
    const [asked, failed] = [showCount(requests, 'request'), showCount(errors, 'error')]
    rows.push(['node', `${url}: ${asked}${showAnswering(endpoint)}, ${failed}${last}`])
    if (budget) rows.push(['budget', `${url}: ${showBudget(budget)}`])
  }
  if (status.cluster) rows.push(['cluster', showCluster(status.cluster)])
  if (shipping && (shipping.blocksLeft > 0 || shipping.trouble !== null)) rows.push(['ships', showShipping(shipping)])
  if (moving) rows.push(['moving', showMoving(moving)])
  if (redecoding) rows.push(['anew', `decoded by ${redecoding.abi}, ${showCount(redecoding.blocksLeft, 'block')} left`])
  if (waiting) rows.push(['waits', `since ${waiting.since}${untilOf(waiting)} for ${waiting.for}`])
  else if (error !== null) rows.push(['error', error])
  if (restarts) rows.push(['failed', showRestarts(restarts)])
  if (status.logLoss) rows.push(['lost', showLoss(status.logLoss)])
  return showRows(network, rows)
}

const showLoss = ({ transactions, blocks }: NonNullable<NetworkState['logLoss']>): string =>
  `at the start, its log was ${transactions > 0 ? `damaged, with ${showCount(transactions, 'transaction')} behind the damage` : 'missing'}: ` +
  `${blocks === null ? 'blocks' : showCount(blocks, 'block')} to index again`

const millisecondsOf = ({ median, p95 }: { median: number; p95: number }): string =>
  `${showNumber(median)} ms (median; p95 ${showNumber(p95)} ms)`

const showMissing = ({ ranges, why, remedy }: NonNullable<NetworkState['missing']>): string =>
  `no node has ${showRanges(ranges)} (${showText(why)}): ${remedy}`

/** The node's present state. */
const showAnswering = ({
  failingSince,
  responseMs,
  slow,
  lastError,
  otherBranch,
}: NetworkState['endpoints'][number]): string => {
  if (failingSince !== undefined) return `, fails since ${failingSince}`
  if (otherBranch)
    return `, is on another branch since ${otherBranch.since} (block ${otherBranch.number} is ${otherBranch.hash})`
  const now = lastError === null ? '' : ' now'
  if (responseMs) return `, ${slow ? 'slow: ' : ''}answers${now} in ${millisecondsOf(responseMs)}`
  return now && ', answers now'
}

const showShipping = ({ blocksLeft, trouble, troubleSince }: NonNullable<NetworkState['shipping']>): string =>
  `${showCount(blocksLeft, 'block')} not in the cluster yet${trouble === null ? '' : `: since ${troubleSince} ${trouble}`}`

/** Moving is one half, comparing the other. */
const showMoving = ({ to, blocks, shipped, verified }: NonNullable<NetworkState['moving']>): string => {
  const percent = Math.min(100, Math.floor((50 * (shipped + verified)) / Math.max(1, blocks)))
  const place = to === 'sqlite' ? 'file' : 'cluster'
  return `${percent} %, ${showNumber(shipped)} of ${showCount(blocks, 'block')} in the ${place}, ${showNumber(verified)} verified`
}

const showCluster = ({
  state,
  since,
  error,
  version,
  nodes,
  watermark,
  lost = [],
}: NonNullable<NetworkState['cluster']>): string =>
  [
    `${state} since ${since}`,
    ...(error === null ? [version ?? 'version unknown', showCount(nodes ?? 0, 'node')] : [showText(error)]),
    ...(watermark === null ? [] : [`a disk over the watermark ${watermark}`]),
    ...(lost.length === 0 ? [] : [`${showCount(lost.length, 'index', 'indices')} lost: ${showText(lost[0]!)}`]),
  ].join(', ')

const untilOf = ({ until }: { until?: string }): string => (until === undefined ? '' : ` until ${until}`)

const showBudget = ({ day, month, rate, costs }: NonNullable<NetworkState['endpoints'][number]['budget']>): string => {
  const unit = costs === 'calls' ? 'calls' : 'credits'
  const left = (period: NonNullable<typeof day>, when: string) =>
    `${showNumber(period.left)} of ${showNumber(period.limit)} ${unit} left ${when}`
  return [
    ...(day ? [left(day, 'today')] : []),
    ...(month ? [left(month, 'this month')] : []),
    ...(rate === undefined ? [] : [`at most ${rate}`]),
    ...(costs === 'calls' ? [] : [`at the prices of ${costs}`]),
  ].join(', ')
}

const showFinality = ({ safe, finalized, depth }: NonNullable<NetworkState['finality']>): string => {
  if (safe === null && finalized === null) return `${depth} blocks deep: nodes do not tell`
  const show = (number: number | null) => number ?? `${depth} blocks deep`
  return `${show(finalized)}, safe ${show(safe)}`
}

type ScopeStatus = NonNullable<NetworkState['coverage']>[number]

const showScope = (scope: ScopeStatus): string => `${showFilter(scope)}: ${showRanges(scope.ranges)}`

const showFilling = ({ from, to, next, ...filter }: NonNullable<NetworkState['filling']>): string =>
  `${showFilter(filter)}: ${from}-${to}, ${showCount(Math.max(0, to - next + 1), 'block')} left`

const showFilter = ({ addresses, addressCount, topicCount, transactions }: Omit<ScopeStatus, 'ranges'>): string => {
  const ofContracts =
    addressCount === 0 ? 'any contract' : addressCount === 1 ? addresses[0]! : showCount(addressCount, 'contract')
  const what = transactions ? 'transactions' : topicCount === 0 ? 'all logs' : showCount(topicCount, 'event')
  return `${what} of ${ofContracts}`
}

const showLast = ({ number, time }: LastBlock, age: number | null): string =>
  `${number} of ${showTime(Date.parse(time))}${age === null ? '' : `, ${formatSeconds(age)} ago`}`

const showRows = (title: string, rows: [string, string][]): string =>
  [title, ...rows.map(([name, value]) => `  ${name.padEnd(7)} ${value}`)].join('\n')

const MAX_RANGES = 20

export const showBytes = (bytes: number): string => {
  const unit = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${BYTE_UNITS[unit]}`
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** `17000000-17000999 (1,000 blocks), 17173049 (1 block)`; of many the last ones. */
export const showRanges = (ranges: Range[]): string => {
  if (ranges.length === 0) return 'none'
  const shown = ranges.slice(-MAX_RANGES).map(({ from, to }) => {
    const size = showCount(to - from + 1, 'block')
    return from === to ? `${from} (${size})` : `${from}-${to} (${size})`
  })
  const hidden = ranges.length - shown.length
  return hidden === 0 ? shown.join(', ') : `${showNumber(hidden)} older ones, ${shown.join(', ')}`
}

export const showCount = (n: number, one: string, many = `${one}s`) => `${showNumber(n)} ${n === 1 ? one : many}`

const showNumber = (n: number) => n.toLocaleString('en', { maximumFractionDigits: n < 10 ? 1 : 0 })
