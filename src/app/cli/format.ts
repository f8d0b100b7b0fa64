import type { Reason } from '../../ingest/status/readiness.ts'
import type { DeliveryHealth, LastBlock, NetworkState, ServerStatus } from '../../ingest/status/status.ts'
import { formatSeconds } from '../../lib/progress.ts'
import type { Range } from '../../lib/ranges.ts'
import type { RestartStatus } from '../../lib/restarts.ts'
import type { Summary } from '../jobs.ts'

export const formatTable = (head: string[], rows: string[][]): string => {
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

export const formatTime = (at: number | null): string =>
  at === null ? '-' : new Date(at).toISOString().replace(/\.\d+/, '')

/** Sanitises foreign text for a terminal: one line, no control characters, no bidi marks. */
export const formatText = (text: string, most = 200): string => {
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim()
  return plain.length > most ? `${plain.slice(0, most - 1).toWellFormed()}…` : plain
}

/** Blocks that a run added, and the gaps between stored blocks. */
export const formatSummary = (network: string, summary: Summary, json: boolean): string => {
  const { failure: _, ...done } = summary
  const holes = holesOf(done.held)
  if (json) return JSON.stringify({ network, ...done, holes })
  const { blocks, logs, events, added, missing, unread } = done
  return [
    `${network}: added ${formatCount(blocks, 'block')} with ${formatCount(logs, 'log')} and ${formatCount(events, 'event')}.`,
    `Added: ${formatRanges(added)}`,
    `Holes: ${formatRanges(holes)}`,
    ...(missing.length > 0 ? [`Missing: ${formatRanges(missing)}`] : []),
    ...unread.map(({ file, begun }) => `Missing: ${begun ? 'the rest' : 'all'} of ${file}`),
  ].join('\n')
}

const holesOf = (held: Range[]): Range[] =>
  held.slice(1).map((range, i) => ({ from: held[i]!.to + 1, to: range.from - 1 }))

export const formatStatus = ({ networks, deliveries, reasons, warnings = [], silent }: ServerStatus): string =>
  [
    ...(reasons
      ? [formatReady(reasons, deliveries?.failing ?? [])]
      : [silent ? SILENT : 'No server runs on this folder. It stores:']),
    ...warnings.map(({ type, since, reason }) => `Warning: ${type} since ${since}: ${reason}`),
    ...(networks.length === 0 ? ['No network is configured or stored.'] : networks.map(formatNetwork)),
    ...(deliveries ? formatDeliveries(deliveries) : []),
  ].join('\n\n')

const SILENT = 'A server runs on this folder, but has not published its status yet. It stores:'

const formatReady = (reasons: readonly Reason[], failing: DeliveryHealth['failing']): string =>
  reasons.length === 0
    ? failing.length === 0
      ? 'The server is ready.'
      : `The server is ready, but ${formatFailing(failing)}.`
    : formatRows(
        failing.length === 0 ? 'The server is not ready' : `The server is not ready, and ${formatFailing(failing)}`,
        reasons.map(({ type, network, since, reason }): [string, string] => [
          network ?? '',
          `${type}${since === undefined ? '' : ` since ${since}`}: ${reason}`,
        ]),
      )

const formatFailing = (failing: DeliveryHealth['failing']): string => {
  const [first] = failing
  const one = `a receiver of alerts has accepted nothing since ${first!.since}`
  return failing.length === 1
    ? one
    : `${formatNumber(failing.length)} receivers of alerts fail, the first since ${first!.since}`
}

/** Empty if all deliveries work. */
const formatDeliveries = ({ error, restarts, failing }: DeliveryHealth): string[] => {
  const rows: [string, string][] = restarts ? [['failed', formatRestarts(restarts)]] : []
  if (error !== null) rows.push(['error', error])
  for (const { target, rule, since, error } of failing)
    rows.push(['failing', `since ${since}: ${formatText(target)} of rule ${rule}: ${formatText(error)}`])
  return rows.length === 0 ? [] : [formatRows('deliveries', rows)]
}

const formatRestarts = ({ count: times, endedAt, nextAt }: RestartStatus): string =>
  `${formatCount(times, 'time')}, last at ${endedAt}${nextAt ? `, is started again at ${nextAt}` : ''}`

const formatNetwork = (status: NetworkState): string => {
  const { network, state, ranges, head, lag, blocksPerSecond, eventsPerSecond, secondsLeft, error, endpoints } = status
  const { redecoding, waiting, restarts, lastBlock, headAge, finality, moving, shipping } = status
  const rows: [string, string][] = [
    ['state', state],
    ['blocks', formatRanges(ranges)],
    ['holes', formatRanges(holesOf(ranges))],
    ...(status.coverage ?? []).map((one): [string, string] => ['scope', formatScope(one)]),
  ]
  if (status.filling) rows.push(['fills', formatFilling(status.filling)])
  if (status.missing) rows.push(['missing', formatMissing(status.missing)])
  if (lastBlock) rows.push(['last', formatLast(lastBlock, headAge)])
  if (head !== null)
    rows.push([
      'head',
      `${head}${lag === null ? '' : lag === 0 ? ', reached' : `, ${formatCount(lag, 'block')} behind`}`,
    ])
  if (finality) rows.push(['final', formatFinality(finality)])
  if (blocksPerSecond !== null) {
    const left = secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`
    rows.push([
      'speed',
      `${formatNumber(blocksPerSecond)} blocks/s, ${formatNumber(eventsPerSecond ?? 0)} events/s${left}`,
    ])
  }
  for (const endpoint of endpoints) {
    const { url, requests, errors, lastError, lastErrorAt, budget } = endpoint
    const last = lastError === null ? '' : `, the last at ${lastErrorAt}: ${lastError}`
    const [asked, failed] = [formatCount(requests, 'request'), formatCount(errors, 'error')]
    rows.push(['node', `${url}: ${asked}${formatAnswering(endpoint)}, ${failed}${last}`])
    if (budget) rows.push(['budget', `${url}: ${formatBudget(budget)}`])
  }
  if (status.cluster) rows.push(['cluster', formatCluster(status.cluster)])
  if (shipping && (shipping.blocksLeft > 0 || shipping.trouble !== null)) rows.push(['ships', formatShipping(shipping)])
  if (moving) rows.push(['moving', formatMoving(moving)])
  if (redecoding)
    rows.push(['anew', `decoded by ${redecoding.abi}, ${formatCount(redecoding.blocksLeft, 'block')} left`])
  if (waiting) rows.push(['waits', `since ${waiting.since}${untilOf(waiting)} for ${waiting.for}`])
  else if (error !== null) rows.push(['error', error])
  if (restarts) rows.push(['failed', formatRestarts(restarts)])
  if (status.logLoss) rows.push(['lost', formatLoss(status.logLoss)])
  return formatRows(network, rows)
}

const formatLoss = ({ transactions, blocks }: NonNullable<NetworkState['logLoss']>): string =>
  `at the start, its log was ${transactions > 0 ? `damaged, with ${formatCount(transactions, 'transaction')} behind the damage` : 'missing'}: ` +
  `${blocks === null ? 'blocks' : formatCount(blocks, 'block')} to index again`

const millisecondsOf = ({ median, p95 }: { median: number; p95: number }): string =>
  `${formatNumber(median)} ms (median; p95 ${formatNumber(p95)} ms)`

const formatMissing = ({ ranges, why, remedy }: NonNullable<NetworkState['missing']>): string =>
  `no node has ${formatRanges(ranges)} (${formatText(why)}): ${remedy}`

/** Current state of a node. */
const formatAnswering = ({
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

const formatShipping = ({ blocksLeft, trouble, troubleSince }: NonNullable<NetworkState['shipping']>): string =>
  `${formatCount(blocksLeft, 'block')} not in the cluster yet${trouble === null ? '' : `: since ${troubleSince} ${trouble}`}`

/** Shipping is the first half of the progress, verification the second. */
const formatMoving = ({ to, blocks, shipped, verified }: NonNullable<NetworkState['moving']>): string => {
  const percent = Math.min(100, Math.floor((50 * (shipped + verified)) / Math.max(1, blocks)))
  const place = to === 'sqlite' ? 'file' : 'cluster'
  return `${percent} %, ${formatNumber(shipped)} of ${formatCount(blocks, 'block')} in the ${place}, ${formatNumber(verified)} verified`
}

const formatCluster = ({
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
    ...(error === null ? [version ?? 'version unknown', formatCount(nodes ?? 0, 'node')] : [formatText(error)]),
    ...(watermark === null ? [] : [`a disk over the watermark ${watermark}`]),
    ...(lost.length === 0 ? [] : [`${formatCount(lost.length, 'index', 'indices')} lost: ${formatText(lost[0]!)}`]),
  ].join(', ')

const untilOf = ({ until }: { until?: string }): string => (until === undefined ? '' : ` until ${until}`)

const formatBudget = ({
  day,
  month,
  rate,
  costs,
}: NonNullable<NetworkState['endpoints'][number]['budget']>): string => {
  const unit = costs === 'calls' ? 'calls' : 'credits'
  const left = (period: NonNullable<typeof day>, when: string) =>
    `${formatNumber(period.left)} of ${formatNumber(period.limit)} ${unit} left ${when}`
  return [
    ...(day ? [left(day, 'today')] : []),
    ...(month ? [left(month, 'this month')] : []),
    ...(rate === undefined ? [] : [`at most ${rate}`]),
    ...(costs === 'calls' ? [] : [`at the prices of ${costs}`]),
  ].join(', ')
}

const formatFinality = ({ safe, finalized, depth }: NonNullable<NetworkState['finality']>): string => {
  if (safe === null && finalized === null) return `${depth} blocks deep: nodes do not report it`
  const show = (number: number | null) => number ?? `${depth} blocks deep`
  return `${show(finalized)}, safe ${show(safe)}`
}

type ScopeStatus = NonNullable<NetworkState['coverage']>[number]

const formatScope = (scope: ScopeStatus): string => `${formatFilter(scope)}: ${formatRanges(scope.ranges)}`

const formatFilling = ({ from, to, next, ...filter }: NonNullable<NetworkState['filling']>): string =>
  `${formatFilter(filter)}: ${from}-${to}, ${formatCount(Math.max(0, to - next + 1), 'block')} left`

const formatFilter = ({ addresses, addressCount, topicCount, transactions }: Omit<ScopeStatus, 'ranges'>): string => {
  const ofContracts =
    addressCount === 0 ? 'any contract' : addressCount === 1 ? addresses[0]! : formatCount(addressCount, 'contract')
  const what = transactions ? 'transactions' : topicCount === 0 ? 'all logs' : formatCount(topicCount, 'event')
  return `${what} of ${ofContracts}`
}

const formatLast = ({ number, time }: LastBlock, age: number | null): string =>
  `${number} of ${formatTime(Date.parse(time))}${age === null ? '' : `, ${formatSeconds(age)} ago`}`

const formatRows = (title: string, rows: [string, string][]): string =>
  [title, ...rows.map(([name, value]) => `  ${name.padEnd(7)} ${value}`)].join('\n')

const MAX_RANGES = 20

export const formatSize = (bytes: number): string => {
  const unit = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${BYTE_UNITS[unit]}`
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** `17000000-17000999 (1,000 blocks), 17173049 (1 block)`; of many ranges only the last. */
export const formatRanges = (ranges: Range[]): string => {
  if (ranges.length === 0) return 'none'
  const shown = ranges.slice(-MAX_RANGES).map(({ from, to }) => {
    const size = formatCount(to - from + 1, 'block')
    return from === to ? `${from} (${size})` : `${from}-${to} (${size})`
  })
  const hidden = ranges.length - shown.length
  return hidden === 0 ? shown.join(', ') : `${formatNumber(hidden)} older ones, ${shown.join(', ')}`
}

export const formatCount = (n: number, one: string, many = `${one}s`) => `${formatNumber(n)} ${n === 1 ? one : many}`

const formatNumber = (n: number) => n.toLocaleString('en', { maximumFractionDigits: n < 10 ? 1 : 0 })
