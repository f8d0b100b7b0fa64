import type { StoredAlert } from '../../alerts/alert.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { type Grouping, groupingOf } from '../../rules/notify/group.ts'
import { type Action, actionsOf, type StoredRule } from '../../rules/rule.ts'
import type { ChannelOf, MessageType } from '../channels/channel.ts'
import type { Lane } from '../scheduler.ts'
import type { Db } from './file.ts'
import { createMessages } from './messages.ts'

/** The current rule, paused or not. */
export type RuleOf = (id: number) => StoredRule | undefined

/** Whether its owner paused it. An unreadable rule counts as not paused. */
export const isPaused = ({ enabled, unfit }: StoredRule): boolean => !enabled && unfit === undefined

export interface Expansion {
  /** The earliest due time of each lane. */
  due: (Lane & { at: number })[]
  /** Deliveries that are dead at once, by channel. */
  dead: Map<string, number>
  cancelled: Map<string, number>
}

export interface ExpandOptions {
  channels: ChannelOf
  /** Time in ms during which combinable messages are collected. */
  digestMs: number
  now: number
  limits?: Limits
}

interface AlertDeliveryRow {
  id: number
  round: number
  type: MessageType
  state: string
  action: number
  rule: number
  revision: number
  account: number
  receiver: number
  destination: string
  message: number
  target: string
  channel: Action['type']
  begun_at: number | null
  retracted: number
  group_key: string | null
  group_size: number | null
}

type DeliveryTarget = Pick<
  AlertDeliveryRow,
  'rule' | 'revision' | 'account' | 'receiver' | 'destination' | 'message' | 'action' | 'channel'
>

/** Creates deliveries of alerts. Every function runs within a transaction. */
export const createAlertDeliveries = (db: Db) => {
  const limitOf = createBacklogLimit(db)
  const sending = createSendTimes(db)
  const disabledBy = createDisabledCheck(db)
  const { receiverOf, keepMessage } = createMessages(db)
  const rowsOf = db.prepare<[string, string], AlertDeliveryRow>(
    `SELECT d.id, d.round, d.type, d.state, d.action, d.rule, d.revision, d.account, d.receiver, d.destination, d.message,
       r.target, r.channel, d.begun_at, d.retracted, d.group_key, d.group_size
     FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.network = ? AND d.alert = ? AND d.type <> 'alert.test' ORDER BY d.id`,
  )
  const addDelivery = db.prepare(
    `INSERT INTO delivery (network, alert, round, type, action, original, rule, revision, account, receiver, destination, message,
       state, next_at, created_at, queued_at, received_at, changed_at, settled_at, retracted, last_error, group_key, group_size)
     VALUES (@network, @alert, @round, @type, @action, @original, @rule, @revision, @account, @receiver, @destination, @message,
       @state, @nextAt, @now, @now, @receivedAt, @changedAt, @settledAt, @retracted, @error, @groupKey, @groupSize)`,
  )
  const cancel = db.prepare(`UPDATE delivery SET state = 'cancelled', settled_at = ?, last_error = ? WHERE id = ?`)
  const overtake = db.prepare('UPDATE delivery SET overtaken = 1 WHERE id = ?')
  const endRound = db.prepare(
    `UPDATE delivery SET overtaken = 1, retracted = 1 WHERE network = ? AND alert = ? AND round = ? AND type <> 'alert.test'`,
  )
  const neverLeft = db
    .prepare<[number], number>(`SELECT count(*) > 0 AND sum(outcome <> 'refused') = 0 FROM attempt WHERE delivery = ?`)
    .pluck()
  const mayHaveArrived = ({ id, begun_at }: AlertDeliveryRow) => begun_at !== null && neverLeft.get(id) !== 1
  const count = db.prepare(
    'INSERT INTO rule_count (rule, triggered) VALUES (?, 1) ON CONFLICT DO UPDATE SET triggered = triggered + 1',
  )

  const start = (network: string, ruleOf: RuleOf, options: ExpandOptions) => {
    const { channels, digestMs, now } = options
    const expansion: Expansion = { due: [], dead: new Map(), cancelled: new Map() }
    const lanes = new Map<string, Expansion['due'][number]>()
    const refuse = limitOf(now, options.limits)

    const offer = ({ account, destination }: Lane, at: number) => {
      const key = `${account} ${destination}`
      const known = lanes.get(key)
      if (known) known.at = Math.min(known.at, at)
      else {
        const lane = { account, destination, at }
        lanes.set(key, lane)
        expansion.due.push(lane)
      }
    }

    const add = (
      alert: StoredAlert,
      to: DeliveryTarget,
      rest: Pick<AlertDeliveryRow, 'type' | 'round'> & { original: number; waits: boolean; grouping?: Grouping },
    ) => {
      const { channel, ...row } = to
      const { waits, grouping, ...told } = rest
      const rule = ruleOf(to.rule)
      const { nextAt, isFull } = grouping
        ? sending.inGroup(to, grouping, now)
        : { nextAt: waits ? sending.inDigest(to, digestMs, now) : now, isFull: false }
      // Retractions are sent however long the queue is, and for paused rules as well.
      const isNew = told.original === 0
      const disabled = disabledBy(to.rule, rule?.revision, to.destination)
      const cancelled = isNew && rule && isPaused(rule) ? PAUSED : undefined
      const dead = cancelled ?? disabled ?? (isNew ? refuse(to) : undefined)
      const state = dead === undefined ? 'queued' : cancelled === undefined ? 'dead' : 'cancelled'
      addDelivery.run({
        ...{ network, alert: alert.id, ...row, ...told, state, nextAt, now },
        ...{ receivedAt: alert.receivedAt, changedAt: alert.changedAt },
        ...{ settledAt: dead === undefined ? null : now, retracted: told.type === 'alert.retracted' ? 1 : 0 },
        error: dead ?? null,
        ...{ groupKey: grouping?.key ?? null, groupSize: grouping?.size ?? null },
      })
      if (isFull) sending.sendGroup(to, grouping!, now)
      if (state === 'queued') offer(to, nextAt)
      else increase(expansion[state], channel)
    }

    const withdraw = (row: AlertDeliveryRow, why: string) => {
      cancel.run(now, why, row.id)
      increase(expansion.cancelled, row.channel)
    }

    const tell = (alert: StoredAlert, type: ToldType, isAgain = false) => {
      const known = rowsOf.all(network, alert.id)
      const last = known.at(-1)
      const round = last === undefined ? 1 : Math.max(...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      const isOver = isAgain || current.some(it => it.retracted === 1)
      // Already notified: happens after the store was replaced.
      if (!isOver && current.some(it => TOLD.indexOf(it.type) >= TOLD.indexOf(type))) return
      for (const row of known) {
        overtake.run(row.id)
        if (row.state === 'queued') withdraw(row, `overtaken by ${type}`)
      }
      const rule = ruleOf(alert.rule)
      if (!rule) return
      const message = keepMessage(network, rule, alert)
      const next = isOver ? round + 1 : round
      const told = new Map(
        current.flatMap(row => (row.state === 'queued' || mayHaveArrived(row) ? [[row.receiver, row.id]] : [])),
      )
      for (const [place, action] of actionsOf(rule.input).entries()) {
        const { id, destination, combines } = receiverOf(action, channels)
        // Only who was or would have been told of it learns that it is over, whatever the rule is now.
        const original = type === 'alert.resolved' ? told.get(id) : 0
        if (original === undefined) continue
        const to = { receiver: id, destination, message, action: place, channel: action.type }
        const group = channels.of(action).groups(action) ? rule.input.config.notify?.group : undefined
        const grouping = groupingOf(group, { network, ...alert })
        add(
          alert,
          { ...ruleIds(rule), ...to },
          { type, round: next, original, waits: combines, ...(grouping && { grouping }) },
        )
      }
      if (type === 'alert.confirmed' && !isAgain) count.run(rule.id)
    }

    /** Notifies only receivers that may have got the alert. */
    const retract = (alert: StoredAlert) => {
      const known = rowsOf.all(network, alert.id)
      const round = Math.max(0, ...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      if (current.some(it => it.retracted === 1)) return
      const reached = new Map<string, AlertDeliveryRow>()
      for (const row of current) {
        if (mayHaveArrived(row)) reached.set(row.target, row)
        if (row.state === 'queued' || (row.state === 'dead' && row.begun_at === null))
          withdraw(row, 'the alert was retracted')
      }
      endRound.run(network, alert.id, round)
      for (const reachedRow of reached.values()) {
        const { id, rule, revision, account, receiver, destination, message, action, channel } = reachedRow
        const { group_key: key, group_size: size } = reachedRow
        const waitMs = (ruleOf(rule)?.input.config.notify?.group?.wait.seconds ?? 0) * 1_000
        const grouping = key !== null && size !== null ? { key, size, waitMs } : undefined
        const to = { rule, revision, account, receiver, destination, message, action, channel }
        const waits = channels.of({ type: channel }).combines === true
        add(alert, to, { type: 'alert.retracted', round, original: id, waits, ...(grouping && { grouping }) })
      }
    }

    return { expansion, tell, retract }
  }

  return { start, receiverOf, keepMessage, addDelivery }
}

/** When messages that wait for others of their rule and receiver are sent. */
const createSendTimes = (db: Db) => {
  const joinable = db.prepare<[number, number, string, number], { count: number; at: number | null }>(
    `SELECT count(*) AS count, min(next_at) AS at FROM delivery INDEXED BY delivery_group
     WHERE state = 'queued' AND rule = ? AND receiver = ? AND group_key = ? AND group_id IS NULL
       AND begun_at IS NULL AND next_at > ?`,
  )
  const hurry = db.prepare(
    `UPDATE delivery SET next_at = @now WHERE state = 'queued' AND rule = @rule AND receiver = @receiver AND group_key = @key
       AND group_id IS NULL AND begun_at IS NULL AND next_at > @now`,
  )
  const digestAt = db
    .prepare<[number, number, number], number | null>(
      `SELECT min(next_at) FROM delivery WHERE state = 'queued' AND rule = ? AND receiver = ? AND begun_at IS NULL AND next_at > ?`,
    )
    .pluck()
  type Receiver = Pick<DeliveryTarget, 'rule' | 'receiver'>
  return {
    /** `isFull`: with one more, the group waits no longer. */
    inGroup({ rule, receiver }: Receiver, { key, size, waitMs }: Grouping, now: number) {
      const waiting = joinable.get(rule, receiver, key, now)!
      const isFull = waiting.count + 1 >= size
      return { nextAt: isFull ? now : (waiting.at ?? now + waitMs), isFull }
    },
    inDigest: ({ rule, receiver }: Receiver, digestMs: number, now: number): number =>
      digestMs > 0 ? (digestAt.get(rule, receiver, now) ?? now + digestMs) : now,
    sendGroup: ({ rule, receiver }: Receiver, { key }: Grouping, now: number) =>
      void hurry.run({ now, rule, receiver, key }),
  }
}

const createDisabledCheck = (db: Db) => {
  const isDisabled = db.prepare<[number, string], { revision: number; at: number }>(
    'SELECT revision, at FROM disabled WHERE rule = ? AND destination = ?',
  )
  const enable = db.prepare('DELETE FROM disabled WHERE rule = ? AND destination = ?')
  /** Why the receiver is disabled for the rule; undefined if it is not. A changed rule enables it. */
  return (rule: number, revision: number | undefined, destination: string): string | undefined => {
    const found = isDisabled.get(rule, destination)
    if (!found) return undefined
    if (revision === undefined || found.revision === revision) return disabledError(found.at)
    enable.run(rule, destination)
    return undefined
  }
}

type ToldType = 'alert.pending' | 'alert.confirmed' | 'alert.resolved'
/** In their order. */
const TOLD: readonly MessageType[] = ['alert.pending', 'alert.confirmed', 'alert.resolved'] satisfies ToldType[]

export const ruleIds = ({ id, revision, account }: StoredRule) => ({ rule: id, revision, account })

export const PAUSED = 'its rule was paused'

export const disabledError = (at: number): string =>
  `disabled by 410: the receiver answered at ${new Date(at).toISOString()} that it wants no more messages; to enable it, change the rule or ask for redelivery`

const increase = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** One destination may fill a tenth of the account's limit, so a dead one leaves room. */
const LANE_SHARE = 10
const COUNT_EVERY_MS = 1_000
/** Checks whether an account's queue is full, by counts that are up to a second old. */
const createBacklogLimit = (db: Db) => {
  const queuedOf = db
    .prepare<[number], number>(`SELECT count(*) FROM delivery WHERE state = 'queued' AND account = ?`)
    .pluck()
  const inLane = db
    .prepare<[number, string], number>(
      `SELECT count(*) FROM delivery WHERE state = 'queued' AND account = ? AND destination = ?`,
    )
    .pluck()
  let countedAt = Number.NEGATIVE_INFINITY
  const accounts = new Map<number, number>()
  const lanes = new Map<string, number>()
  const countIn = ({ account, destination }: Lane): number => {
    const key = `${account} ${destination}`
    const count = lanes.get(key) ?? inLane.get(account, destination)!
    lanes.set(key, count + 1)
    return count
  }
  return (now: number, limits: Limits = DEFAULT_LIMITS) => {
    const most = limits.queuedDeliveries
    if (Math.abs(now - countedAt) >= COUNT_EVERY_MS) {
      countedAt = now
      accounts.clear()
      lanes.clear()
    }
    /** Why one more cannot be queued; undefined if it can. */
    return (lane: Lane): string | undefined => {
      const queued = accounts.get(lane.account) ?? queuedOf.get(lane.account)!
      if (queued >= most && countIn(lane) >= most / LANE_SHARE) return overLimit('queuedDeliveries', limits).message
      accounts.set(lane.account, queued + 1)
      return undefined
    }
  }
}
