import type { StoredAlert } from '../alerts/alert.ts'
import { alertId } from '../alerts/book.ts'
import type { Config } from '../config/index.ts'
import { createGuard } from '../delivery/guard.ts'
import type { AlertRecord } from '../delivery/messages.ts'
import { readSource } from '../delivery/payload.ts'
import type { Delivery } from '../delivery/service.ts'
import type { AlertingService, Simulation, SimulationRange } from '../http/alerting/service.ts'
import type { Range } from '../ingest/messages.ts'
import type { Indexing } from '../ingest/network.ts'
import { refuse } from '../lib/errors.ts'
import { TARGET_KINDS } from '../rules/attributes.ts'
import { lower, neverMatches } from '../rules/lower.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import { searchOf } from '../rules/search.ts'
import type { Pool } from '../search/pool.ts'

export interface AlertingOptions {
  config: Config
  networks(): readonly string[]
  indexings: readonly Indexing[]
  pool: Pool
  delivery: Delivery
}

/** What the routes of alert rules ask for, of the threads that search, index and deliver. */
export const createAlerting = (options: AlertingOptions): AlertingService => {
  const { config, networks, indexings, pool, delivery } = options
  const guard = createGuard(config.allowTarget)

  const top = async (network: string): Promise<number | null> => {
    const stored = (await pool.ranges(network)).at(-1)?.to
    const head = indexings.find(it => it.network === network)?.report().head
    if (stored === undefined && (head === null || head === undefined)) return null
    return Math.max(stored ?? -1, head ?? -1)
  }

  return {
    idle(rule) {
      const { network, startBlock, enabled, input } = rule
      if (!networks().includes(network))
        return `${network} is neither stored nor configured here: the rule matches as soon as it is`
      if (TARGET_KINDS[input.config.targetType] === undefined)
        return `entities of the target type ${input.config.targetType} are not indexed yet: the rule matches as soon as they are`
      if (!enabled) return 'it is paused: "enabled": true has it go on'
      if (startBlock === null)
        return 'the head of its network is not known yet: it begins with the first block that is followed there, or with "startBlock"'
      return undefined
    },

    warnings: input => [...conditionWarnings(input), ...actionWarnings(input, config)],

    async startBlockOf(network) {
      const known = await top(network)
      return known === null ? null : known + 1
    },

    refusedHost: guard.refusedHost,

    async triggerCounts(rules) {
      return delivery.counts(rules.map(({ id }) => id))
    },

    simulate: (rule, range, signal) => simulate(options, rule, range, signal),

    async test(rule, id, signal) {
      const alert = await alertFor(options, rule, id, signal)
      const deliveries = await delivery.testFire(rule, alert, signal)
      return { entity: alert.entity, deliveries }
    },

    async alerts(rule, { size, before, state }) {
      const page = { size, before: before === undefined ? undefined : Number(before), state }
      const records = await delivery.alerts(rule.network, rule.id, page)
      return { alerts: records.map(showAlert), next: records.length < size ? null : String(records.at(-1)!.n) }
    },

    async redeliver(rule, which) {
      return { redelivered: await delivery.redeliver({ rule: rule.id, ...which }) }
    },
  }
}

const networkOf = ({ technology, blockchain, network }: RuleInput): string => `${technology}/${blockchain}/${network}`

const conditionWarnings = ({ config }: RuleInput): string[] => {
  const kind = TARGET_KINDS[config.targetType]
  return kind === undefined ? [] : (lower(config) ?? []).flatMap(condition => neverMatches(kind, condition) ?? [])
}

const actionWarnings = ({ config: { alerts } }: RuleInput, { smtp }: Config): string[] =>
  smtp === undefined && alerts.some(({ type }) => type === 'Email')
    ? ['Emails are undeliverable: no mail server is configured here (smtp).']
    : []

/** Times are ISO 8601, as in a rule and in what receivers get. */
const showAlert = ({ alert: { source: _, ...alert }, deliveries }: AlertRecord) => ({
  ...alert,
  receivedAt: iso(alert.receivedAt),
  changedAt: iso(alert.changedAt),
  deliveries: deliveries.map(({ createdAt, deliveredAt, nextAt, attempts, ...delivery }) => ({
    ...delivery,
    createdAt: iso(createdAt),
    deliveredAt: iso(deliveredAt),
    nextAt: iso(nextAt),
    attempts: attempts.map(({ at, nextAt, ...attempt }) => ({ ...attempt, at: iso(at), nextAt: iso(nextAt) })),
  })),
})

const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString())

const HITS = 10

/** What the rule would have found in what is stored. */
const simulate = async (
  { pool, networks }: AlertingOptions,
  rule: RuleInput,
  { fromBlock, toBlock, size = HITS }: SimulationRange,
  signal: AbortSignal,
): Promise<Simulation> => {
  const network = networkOf(rule)
  if (!networks().includes(network))
    throw refuse(
      'index_not_found_exception',
      `${network} is neither stored nor configured here: there is nothing to look through.`,
    )
  const ranges = await pool.ranges(network)
  const from = fromBlock ?? ranges[0]?.from ?? 0
  const to = toBlock ?? ranges.at(-1)?.to ?? 0
  const request = searchOf(rule.config, { from, to, order: 'desc', size })
  if (request === undefined)
    throw refuse(
      'illegal_argument_exception',
      `Entities of the target type ${rule.config.targetType} are not indexed yet: there is nothing to look through.`,
    )
  const holes = holesIn(ranges, from, to)
  const whole = { fromBlock: from, toBlock: to, complete: holes.length === 0, holes }
  if (ranges.length === 0) return { total: 0, ...whole, hits: [] }
  const { status, body } = await pool.request({ network, request, signal })
  const text = Buffer.from(body as Uint8Array).toString()
  if (status !== 200) throw new Error(`the search of a rule was answered ${status}: ${text}`)
  const { hits } = readSource(text) as unknown as { hits: { total: number; hits: unknown[] } }
  return { total: hits.total, ...whole, hits: hits.hits }
}

/** Blocks of a range that are not held. */
const holesIn = (ranges: readonly Range[], from: number, to: number): Range[] => {
  const holes: Range[] = []
  let next = from
  for (const range of ranges) {
    if (range.to < next) continue
    if (range.from > to) break
    if (range.from > next) holes.push({ from: next, to: range.from - 1 })
    next = range.to + 1
  }
  if (next <= to) holes.push({ from: next, to })
  return holes
}

interface Hit {
  _id: string
  _routing?: string
  _type: StoredAlert['entity']['_type']
  _source: Record<string, unknown>
}

/** The alert that a stored document would be: of that id, or the newest one that the rule finds. */
const alertFor = async (
  options: AlertingOptions,
  rule: StoredRule,
  id: string | undefined,
  signal: AbortSignal,
): Promise<StoredAlert> => {
  const { input, network } = rule
  const kind = TARGET_KINDS[input.config.targetType]
  const hit =
    id === undefined || kind === undefined
      ? ((await simulate(options, input, { size: 1 }, signal)).hits[0] as Hit | undefined)
      : await documentOf(options, network, kind, id, signal)
  if (hit === undefined)
    throw refuse(
      'resource_not_found_exception',
      id === undefined
        ? 'Nothing that is stored matches this rule: name a document to test it with, as {"_id": "…"}.'
        : `There is no ${kind} ${id} in ${network}.`,
    )
  const { blockNumber, number, blockHash, hash } = hit._source as Record<string, { num: number } & string>
  const entity = { _id: hit._id, _type: hit._type }
  const hashOfBlock = String(blockHash ?? hash)
  return {
    id: alertId({ rule: rule.id, revision: rule.matching, blockHash: hashOfBlock, entity }, 'test'),
    rule: rule.id,
    revision: rule.matching,
    targetType: input.config.targetType,
    confirmations: input.maxConfirmationCount,
    block: (blockNumber ?? number)!.num,
    blockHash: hashOfBlock,
    entity,
    source: JSON.stringify(hit._source),
    receivedAt: Date.now(),
    state: 'confirmed',
    changedAt: Date.now(),
  }
}

const documentOf = async (
  { pool, networks }: AlertingOptions,
  network: string,
  kind: Hit['_type'],
  id: string,
  signal: AbortSignal,
): Promise<Hit | undefined> => {
  if (!networks().includes(network)) return undefined
  const { status, body } = await pool.get({ network, entity: kind, id, signal })
  return status === 200 ? (readSource(Buffer.from(body as Uint8Array).toString()) as unknown as Hit) : undefined
}
