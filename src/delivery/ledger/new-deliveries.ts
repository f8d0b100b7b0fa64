import type { StoredAlert } from '../../alerts/alert.ts'
import type { Limits } from '../../limits/index.ts'
import { type Grouping, groupingOf } from '../../rules/notify/group.ts'
import { type Action, actionsOf, type StoredRule } from '../../rules/rule.ts'
import type { ChannelOf, MessageType } from '../channels/channel.ts'
import type { Lane } from '../scheduler.ts'
import { createBacklogLimit } from './backlog-limit.ts'
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

export interface DeliveryTarget {
  rule: number
  revision: number
  account: number
  receiver: number
  destination: string
  message: number
  /** Place of the action in the rule's list of alerts. */
  action: number
  channel: Action['type']
}

/** What a delivery tells, and which one it follows; 0: none. */
export interface DeliveryParts {
  type: MessageType
  round: number
  original: number
  repeat?: number
}

/** Adds deliveries: what is queued, and what is dead or cancelled at once. Every function runs within a transaction. */
export const createNewDeliveries = (db: Db) => {
  const limitOf = createBacklogLimit(db)
  const sending = createSendTimes(db)
  const disabledBy = createDisabledCheck(db)
  const { receiverOf, keepMessage } = createMessages(db)
  const addDelivery = db.prepare(
    `INSERT INTO delivery (network, alert, round, type, action, original, rule, revision, account, receiver, destination, message,
       state, next_at, created_at, queued_at, received_at, changed_at, settled_at, retracted, last_error, group_key, group_size, repeat)
     VALUES (@network, @alert, @round, @type, @action, @original, @rule, @revision, @account, @receiver, @destination, @message,
       @state, @nextAt, @now, @now, @receivedAt, @changedAt, @settledAt, @retracted, @error, @groupKey, @groupSize, @repeat)`,
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
      rest: DeliveryParts & { waits: boolean; grouping?: Grouping },
    ) => {
      const { channel, ...row } = to
      const { waits, grouping, repeat = null, ...told } = rest
      const rule = ruleOf(to.rule)
      const { nextAt, isFull } = grouping
        ? sending.inGroup(to, grouping, now)
        : { nextAt: waits ? sending.inDigest(to, digestMs, now) : now, isFull: false }
      // Retractions are sent however long the queue is, and for paused rules as well.
      const isNew = told.type !== 'alert.retracted' && told.type !== 'alert.resolved'
      const disabled = disabledBy(to.rule, rule?.revision, to.destination)
      const cancelled = isNew && rule && isPaused(rule) ? PAUSED : undefined
      const dead = cancelled ?? disabled ?? (isNew ? refuse(to) : undefined)
      const state = dead === undefined ? 'queued' : cancelled === undefined ? 'dead' : 'cancelled'
      addDelivery.run({
        ...{ network, alert: alert.id, ...row, ...told, state, nextAt, now },
        ...{ receivedAt: alert.receivedAt, changedAt: alert.changedAt },
        ...{ settledAt: dead === undefined ? null : now, retracted: told.type === 'alert.retracted' ? 1 : 0 },
        error: dead ?? null,
        ...{ groupKey: grouping?.key ?? null, groupSize: grouping?.size ?? null, repeat },
      })
      if (isFull) sending.sendGroup(to, grouping!, now)
      if (state === 'queued') offer(to, nextAt)
      else increase(expansion[state], channel)
    }

    /** Adds a message to the receivers of the rule for which there is something to tell. */
    const send = (alert: StoredAlert, rule: StoredRule, partsFor: (receiver: number) => DeliveryParts | undefined) => {
      let message: number | undefined
      for (const [place, action] of actionsOf(rule.input).entries()) {
        const { id, destination, combines } = receiverOf(action, channels)
        const parts = partsFor(id)
        if (parts === undefined) continue
        message ??= keepMessage(network, rule, alert)
        const to = { receiver: id, destination, message, action: place, channel: action.type }
        const group = channels.of(action).groups(action) ? rule.input.config.notify?.group : undefined
        const grouping = groupingOf(group, { network, ...alert })
        add(alert, { ...ruleIds(rule), ...to }, { ...parts, waits: combines, ...(grouping && { grouping }) })
      }
    }

    return { expansion, add, send }
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

export const ruleIds = ({ id, revision, account }: StoredRule) => ({ rule: id, revision, account })

export const PAUSED = 'its rule was paused'

export const disabledError = (at: number): string =>
  `disabled by 410: the receiver answered at ${new Date(at).toISOString()} that it wants no more messages; to enable it, change the rule or ask for redelivery`

export const increase = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
