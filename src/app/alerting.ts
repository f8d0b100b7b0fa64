import type { StoredAlert } from '../alerts/alert.ts'
import { alertId } from '../alerts/alert-store.ts'
import type { Config } from '../config/index.ts'
import type { AlertMessage } from '../delivery/channels/channel.ts'
import { preview } from '../delivery/channels/index.ts'
import { failingOf, sayFailing } from '../delivery/failing-receivers.ts'
import type { DestinationInfo } from '../delivery/ledger/listing.ts'
import { messageHead, saidBy } from '../delivery/ledger/messages.ts'
import type { DeliveryInfo, DeliveryRecord } from '../delivery/ledger/records.ts'
import { createLinks, linkSettings } from '../delivery/links.ts'
import type { RuleSeries } from '../delivery/series.ts'
import type { DeliveryThread } from '../delivery/service.ts'
import { createGuard } from '../delivery/ssrf-guard.ts'
import type { AlertRecord, FailingReceiver } from '../delivery/thread-messages.ts'
import type { AlertingService, AlertPage, AlertsRequest } from '../http/alerting/service.ts'
import { finalityTrouble } from '../ingest/finality.ts'
import type { Indexing } from '../ingest/network.ts'
import { ChainsieveError, refuse } from '../lib/errors.ts'
import { mapInTurns } from '../lib/scheduling/event-loop.ts'
import { overLimit } from '../limits/index.ts'
import { loadLists } from '../rules/followed-lists.ts'
import type { FindList } from '../rules/lower.ts'
import { readSource } from '../rules/notify/values.ts'
import { actionsOf, covers, isWide, kindOfTarget, networkOf, type RuleInput, type StoredRule } from '../rules/rule.ts'
import { documentBlock } from '../rules/search.ts'
import type { Rules } from '../rules/store.ts'
import { asAlerted } from '../rules/windows/steps.ts'
import { networkIndex } from '../search/index-names.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'
import { idleReason, networkWarnings, warningsOf } from './advice.ts'
import { serverPastState } from './past-state.ts'
import { simulate } from './simulate.ts'
import { createOwnAbis } from './stores.ts'

interface AlertingOptions {
  config: Config
  networks(): readonly string[]
  indexings: readonly Indexing[]
  pool: Pool
  delivery: DeliveryThread
  rules: Pick<Rules, 'lists'>
}

/** Serves the routes of alert rules from the search, indexing and delivery threads. */
export const createAlerting = (options: AlertingOptions): AlertingService => {
  const { config, networks, indexings, pool, delivery } = options
  const guard = createGuard(config.allowTarget)
  const links = createLinks(linkSettings(config))
  const abis = createOwnAbis(config.data)
  const advice = remembering(({ input }) => warningsOf(input, config, abis))

  const top = async (network: string): Promise<number | null> => {
    const stored = (await pool.ranges(network)).at(-1)?.to
    const head = indexings.find(it => it.network === network)?.report().head
    if (stored === undefined && (head === null || head === undefined)) return null
    return Math.max(stored ?? -1, head ?? -1)
  }

  const reportsOf = (rule: StoredRule) =>
    indexings.filter(({ network }) => covers(rule.network, network)).map(it => it.report())

  /** A rule on several networks lacks traces only if all of them lack them. */
  const idle = (rule: StoredRule) => {
    const traces = reportsOf(rule).map(({ withoutTraces }) => withoutTraces)
    return idleReason(rule, networks(), traces.every(it => it !== null) ? (traces[0] ?? null) : null)
  }

  return {
    idle,

    warnings(rule) {
      const { id, account } = rule
      const { maxConfirmationCount } = rule.input
      const troubles = reportsOf(rule).flatMap(report => [
        report.troubles.get(id),
        report.accountTroubles.get(account),
        finalityTrouble(maxConfirmationCount, report.finality),
      ])
      const failing = failingOf(rule, delivery.status().failing).map(it => `${sayFailing(it)}.`)
      const others = [...networkWarnings(rule.input, networks()), ...advice(rule)]
      // Several networks may have the same one.
      return [...failing, ...new Set(troubles.filter(it => it !== undefined)), ...others]
    },

    failing: rule => failingOf(rule, delivery.status().failing),

    async startBlockOf(network) {
      const known = await top(network)
      return known === null ? null : known + 1
    },

    refusedHost: guard.refusedHost,
    abis,

    async triggerCounts(rules) {
      return delivery.counts(rules)
    },

    async simulate(rule, range, asking) {
      const pastState = serverPastState(config, indexings)
      const means = { ...(await searchFor(options, asking.account, rule)), pastState }
      const found = await simulate(means, rule, range, asking)
      return { ...found, warnings: [...(found.warnings ?? []), ...warningsOf(rule, config, abis)] }
    },

    async test(rule, id, signal) {
      const { network, alert } = await alertFor(await searchFor(options, rule.account, rule.input), rule, id, signal)
      const deliveries = await delivery.testFire({ ...rule, network }, alert, signal)
      return { entity: alert.entity, deliveries }
    },

    async preview(input, id, { account, signal }) {
      const rule = { id: UNSAVED, matching: 0, network: networkOf(input), input }
      const { network, alert } = await alertFor(await searchFor(options, account, input), rule, id, signal)
      const message: AlertMessage = {
        ...{ id: alert.id, type: 'alert.confirmed', network, timestamp: Date.now(), rule: saidBy(rule) },
        ...messageHead(alert),
        source: readSource(alert.source),
      }
      const messages = actionsOf(input).map((action, place) => ({
        ...{ action: place, type: action.type },
        ...preview(action, message, links),
      }))
      return { entity: alert.entity, messages }
    },

    async alerts(rule, { size, before, state }) {
      const networksOf = networks().filter(network => covers(rule.network, network))
      if (isWide(rule.network)) return alertsOfSeveral(delivery, rule, networksOf, { size, before, state })
      const page = { size, before: pageAt(before), state }
      const records = await delivery.alerts(rule.network, rule.id, page)
      return { alerts: records.map(alertAnswer), next: records.length < size ? null : String(records.at(-1)!.n) }
    },

    cancel: ({ id }, why, since) =>
      delivery.cancel(id, why, since).catch(error => {
        if (error instanceof ChainsieveError) return null
        throw error
      }),

    async redeliver(rule, which) {
      return { redelivered: await delivery.redeliver({ rule: rule.id, ...which }) }
    },

    async deliveries(filter) {
      const { deliveries, next } = await delivery.page(filter)
      return { deliveries: deliveries.map(deliveryAnswer), next: next === null ? null : String(next) }
    },

    async delivery(account, id) {
      const found = await delivery.delivery(account, id)
      return found && wholeDeliveryAnswer(found)
    },

    async destinations(account) {
      const { destinations, complete } = await delivery.destinations(account)
      const failing = new Map(
        delivery
          .status()
          .failing.filter(it => it.account === account)
          .map(it => [keyOfReceiver(it), it]),
      )
      return { complete, destinations: await mapInTurns(destinations, it => destinationAnswer(it, failing)) }
    },

    async redeliverAll(account, which) {
      return { redelivered: await delivery.redeliver({ account, ...which }) }
    },

    async series(rules, { starts, intervalMs }) {
      const asked = rules.map(({ id, network }) => ({ id, networks: networks().filter(one => covers(network, one)) }))
      const each = asked.flatMap(({ id, networks }) => networks.map(network => ({ id, network })))
      if (each.length * starts.length > config.limits.series) throw overLimit('series', config.limits)
      const counted = await delivery.series({ rules: each, starts, intervalMs, now: Date.now() })
      const found = Map.groupBy(counted.rules, ({ rule }) => rule)
      return {
        from: iso(starts[0]!),
        to: iso(starts.at(-1)! + intervalMs),
        intervalMs,
        complete: counted.complete,
        rules: await mapInTurns(rules, rule => {
          const { counts, last24h, last } = addedUp(found.get(rule.id) ?? [], starts.length)
          return {
            ...{ id: rule.id, name: rule.input.name, enabled: rule.enabled, idle: idle(rule) ?? null },
            ...{ counts, total: counts.reduce((sum, count) => sum + count, 0), last24h },
            lastAlert: last && { ...last, receivedAt: iso(last.receivedAt), changedAt: iso(last.changedAt) },
          }
        }),
      }
    },
  }
}

const addedUp = (each: readonly RuleSeries[], parts: number): Omit<RuleSeries, 'rule'> => ({
  counts: Array.from({ length: parts }, (_, i) => each.reduce((sum, { counts }) => sum + counts[i]!, 0)),
  last24h: each.reduce((sum, { last24h }) => sum + last24h, 0),
  last: each.reduce<RuleSeries['last']>(
    (newest, { last }) => (last && (!newest || last.receivedAt > newest.receivedAt) ? last : newest),
    null,
  ),
})

/** Merges alerts of networks by block arrival, newest first. `before`: a cursor per network. */
export const alertsOfSeveral = async (
  delivery: Pick<DeliveryThread, 'alerts'>,
  rule: StoredRule,
  networks: readonly string[],
  { size, before, state }: AlertsRequest,
): Promise<AlertPage> => {
  const places = readPlaces(before)
  const each = await Promise.all(
    networks.map(async network => {
      const page = { size, before: places.get(network), state }
      return (await delivery.alerts(network, rule.id, page)).map(record => ({ network, record }))
    }),
  )
  const shown = newestOf(each, size)
  for (const { network, record } of shown) places.set(network, record.n)
  return {
    alerts: shown.map(({ network, record }) => ({ network, ...alertAnswer(record) })),
    next: shown.length < size ? null : [...places].map(([network, n]) => `${network}:${n}`).join(','),
  }
}

interface Listed {
  network: string
  record: AlertRecord
}

/** Keeps the order within a network, since its cursor continues by it. */
const newestOf = (each: readonly (readonly Listed[])[], size: number): Listed[] => {
  const lists = each.map(list => [...list])
  const shown: Listed[] = []
  while (shown.length < size) {
    const [first] = lists
      .filter(list => list.length > 0)
      .sort(([a], [b]) => b!.record.alert.receivedAt - a!.record.alert.receivedAt)
    if (!first) break
    shown.push(first.shift()!)
  }
  return shown
}

const readPlaces = (before: string | undefined): Map<string, number> =>
  new Map(
    (before ?? '')
      .split(',')
      .filter(place => place !== '')
      .map(place => {
        const at = place.lastIndexOf(':')
        return [place.slice(0, at), pageAt(place.slice(at + 1))!]
      }),
  )

const MAX_KEPT = 20_000

/** Caches warnings per rule revision: lists are polled, and checking every value is slow. */
const remembering = (of: (rule: StoredRule) => string[]): ((rule: StoredRule) => string[]) => {
  const known = new Map<number, { revision: number; warnings: string[] }>()
  return rule => {
    const { id, revision } = rule
    const before = known.get(id)
    if (before?.revision === revision) return before.warnings
    const warnings = of(rule)
    known.delete(id)
    known.set(id, { revision, warnings })
    if (known.size > MAX_KEPT) known.delete(known.keys().next().value!)
    return warnings
  }
}

const pageAt = (before: string | undefined): number | undefined => {
  if (before === undefined) return undefined
  if (/^\d{1,15}$/.test(before)) return Number(before)
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [before] must be the "next" of the page before, not ${JSON.stringify(before)}.`,
  )
}

/** Times are ISO 8601, as in a rule and in what receivers get. */
const alertAnswer = ({ alert: { source: _, ...alert }, deliveries }: AlertRecord) => ({
  ...alert,
  receivedAt: iso(alert.receivedAt),
  changedAt: iso(alert.changedAt),
  deliveries: deliveries.map(wholeDeliveryAnswer),
})

const deliveryAnswer = ({ createdAt, deliveredAt, nextAt, silence, ...delivery }: DeliveryInfo) => ({
  ...delivery,
  ...(silence !== null && { silence }),
  createdAt: iso(createdAt),
  deliveredAt: isoOrNull(deliveredAt),
  nextAt: isoOrNull(nextAt),
})

const wholeDeliveryAnswer = ({ attempts, ...delivery }: DeliveryRecord) => ({
  ...deliveryAnswer(delivery),
  attempts: attempts.map(({ at, nextAt, ...attempt }) => ({ ...attempt, at: iso(at), nextAt: isoOrNull(nextAt) })),
})

const keyOfReceiver = ({ channel, target }: Pick<FailingReceiver, 'channel' | 'target'>) =>
  JSON.stringify([channel, target])

const destinationAnswer = (
  { nextAt, ...destination }: DestinationInfo,
  failing: ReadonlyMap<string, FailingReceiver>,
) => {
  const trouble = failing.get(keyOfReceiver(destination))
  if (!trouble) return { ...destination, nextAt: isoOrNull(nextAt), failing: null }
  const { since, at, error, status } = trouble
  return { ...destination, nextAt: isoOrNull(nextAt), failing: { since, at, error, status } }
}

const iso = (time: number): string => new Date(time).toISOString()
const isoOrNull = (time: number | null): string | null => (time === null ? null : iso(time))

interface AlertHit {
  _index: string
  _id: string
  _routing?: string
  _type: StoredAlert['entity']['_type']
  _source: Record<string, unknown>
}

const UNSAVED = 0

/** To search for matches of a rule, with the watch lists of its account as they are now. */
const searchFor = async (
  { networks, pool, rules, config: { limits } }: AlertingOptions,
  account: number,
  { config }: RuleInput,
) => ({
  ...{ networks, pool, limits },
  lists: await loadLists(rules.lists, account, config),
})

const NOT_STORED =
  'A State rule reads a node at new blocks, and nothing of that is stored: it has no document to test it with.'

/** The alert for a stored document: by id, or the newest match of the rule. */
export const alertFor = async (
  options: Pick<AlertingOptions, 'networks' | 'pool'> & { lists: FindList },
  rule: Pick<StoredRule, 'id' | 'matching' | 'network' | 'input'>,
  id: string | undefined,
  signal: AbortSignal,
): Promise<{ network: string; alert: StoredAlert }> => {
  const { input } = rule
  if (input.config.targetType === 'State') throw refuse('illegal_argument_exception', NOT_STORED)
  const alerted = asAlerted(input)
  const { targetType } = alerted.config
  const kind = kindOfTarget(targetType)
  const among = options.networks().filter(network => covers(rule.network, network))
  const hit =
    id === undefined
      ? ((await simulate({ ...options, limits: undefined }, alerted, { size: 1 }, { account: NO_ACCOUNT, signal }))
          .hits[0] as AlertHit | undefined)
      : await documentOf(options.pool, among, { kind, id }, signal)
  if (hit === undefined)
    throw refuse(
      'resource_not_found_exception',
      id === undefined
        ? 'No stored document matches this rule: name one to test it with, as {"_id": "…"}.'
        : `There is no ${kind} ${id} in ${rule.network}.`,
    )
  const { number, hash } = documentBlock(hit)
  const entity = { _id: hit._id, _type: hit._type }
  const network = among.find(one => hit._index === `${networkIndex(one)}-${hit._type}`) ?? rule.network
  const match = { rule: rule.id, revision: rule.matching, blockHash: hash, entity }
  const alert: StoredAlert = {
    id: alertId({ ...match, ...(isWide(rule.network) && { network }) }, 'test'),
    rule: rule.id,
    revision: rule.matching,
    targetType,
    confirmations: input.maxConfirmationCount,
    block: number,
    blockHash: hash,
    entity,
    source: JSON.stringify(hit._source),
    receivedAt: Date.now(),
    state: 'confirmed',
    changedAt: Date.now(),
  }
  return { network, alert }
}

/** Document from the first network that has it. */
const documentOf = async (
  pool: Pick<Pool, 'get'>,
  networks: readonly string[],
  { kind, id }: { kind: AlertHit['_type']; id: string },
  signal: AbortSignal,
): Promise<AlertHit | undefined> => {
  for (const network of networks) {
    const { status, body } = await pool.get({ network, entity: kind, id, account: NO_ACCOUNT, signal })
    if (status === 200) return readSource(Buffer.from(body as Uint8Array).toString()) as unknown as AlertHit
  }
  return undefined
}
