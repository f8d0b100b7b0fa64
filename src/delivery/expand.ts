import { createHash } from 'node:crypto'
import type { OutboxEntry, StoredAlert } from '../alerts/alert.ts'
import type { Action, StoredRule } from '../rules/rule.ts'
import type { Channel, Message, MessageType } from './channel.ts'
import type { Db } from './file.ts'

/** Channels by the type of an action. */
export interface ChannelOf {
  of(action: Pick<Action, 'type'>): Channel
}

/** Where outbox entries come from. */
export interface Origin {
  network: string
  /** Of the store file: entries of one that was made anew are numbered from the beginning. */
  identity: string
}

export interface Expansion {
  /** When something is due first, by destination. */
  due: Map<string, number>
  /** Deliveries that are dead from the beginning, by channel. */
  dead: Map<string, number>
  cancelled: Map<string, number>
}

export interface ExpandOptions {
  channels: ChannelOf
  /** How long messages of a channel that combines them wait for others, in milliseconds. */
  digestMs: number
  now: number
}

export interface Expander {
  /** Number of the last entry that was taken over. */
  cursor(origin: Origin): number
  /** The outbox holds nothing above `last`, and counts on from there: what comes next is not taken over yet. Returns whether that is news. */
  rewind(origin: Origin, last: number): boolean
  /**
   * Makes deliveries of outbox entries, in one transaction with the cursor; entries that were taken over before change nothing.
   * `ruleOf` gives rules as they are now, paused ones too.
   */
  expand(
    origin: Origin,
    entries: readonly OutboxEntry[],
    ruleOf: (id: number) => StoredRule | undefined,
    options: ExpandOptions,
  ): Expansion
  /** Keeps the one attempt of a test, whatever became of it; returns the delivery's number, for the attempt to be noted. */
  addTest(rule: StoredRule, alert: StoredAlert, place: number, options: ExpandOptions): number
}

/** What of a message is the same for all states of its alert. */
export type MessageHead = Pick<Message, 'rule' | 'targetType' | 'confirmations' | 'entity'>

interface Row {
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
}

export const createExpander = (db: Db): Expander => {
  const readCursor = db.prepare<[string], number>('SELECT n FROM cursor WHERE store = ?').pluck()
  const moveCursor = db.prepare(
    'INSERT INTO cursor (store, network, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n',
  )
  const moveBack = db.prepare('UPDATE cursor SET n = ? WHERE store = ? AND n > ?')
  const rowsOf = db.prepare<[string, string], Row>(
    `SELECT d.id, d.round, d.type, d.state, d.action, d.rule, d.revision, d.account, d.receiver, d.destination, d.message,
       r.target, r.channel, d.begun_at, d.retracted
     FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.network = ? AND d.alert = ? AND d.type <> 'alert.test' ORDER BY d.id`,
  )
  const addReceiver = db
    .prepare<[string, string, string, string, string], number>(
      `INSERT INTO receiver (action, channel, destination, target, shown) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (action) DO UPDATE SET destination = excluded.destination, shown = excluded.shown RETURNING id`,
    )
    .pluck()
  const addMessage = db.prepare('INSERT INTO message (network, alert, head, source) VALUES (?, ?, ?, ?)')
  const addDelivery = db.prepare(
    `INSERT INTO delivery (network, alert, round, type, action, original, rule, revision, account, receiver, destination, message,
       state, next_at, created_at, queued_at, received_at, changed_at, settled_at, retracted, last_error)
     VALUES (@network, @alert, @round, @type, @action, @original, @rule, @revision, @account, @receiver, @destination, @message,
       @state, @nextAt, @now, @now, @receivedAt, @changedAt, @settledAt, @retracted, @error)`,
  )
  const isDisabled = db.prepare<[number, string], { revision: number; at: number }>(
    'SELECT revision, at FROM disabled WHERE rule = ? AND destination = ?',
  )
  const enable = db.prepare('DELETE FROM disabled WHERE rule = ? AND destination = ?')
  const digestAt = db
    .prepare<[number, number, number], number | null>(
      `SELECT min(next_at) FROM delivery WHERE state = 'queued' AND rule = ? AND receiver = ? AND begun_at IS NULL AND next_at > ?`,
    )
    .pluck()
  const cancel = db.prepare(`UPDATE delivery SET state = 'cancelled', settled_at = ?, last_error = ? WHERE id = ?`)
  const overtake = db.prepare('UPDATE delivery SET overtaken = 1 WHERE id = ?')
  const endRound = db.prepare(
    `UPDATE delivery SET overtaken = 1, retracted = 1 WHERE network = ? AND alert = ? AND round = ? AND type <> 'alert.test'`,
  )
  const neverLeft = db
    .prepare<[number], number>(`SELECT count(*) > 0 AND sum(outcome <> 'refused') = 0 FROM attempt WHERE delivery = ?`)
    .pluck()
  const count = db.prepare(
    'INSERT INTO rule_count (rule, triggered) VALUES (?, 1) ON CONFLICT DO UPDATE SET triggered = triggered + 1',
  )
  const lastTest = db
    .prepare<[string, string], number>(
      `SELECT coalesce(max(round), 0) FROM delivery WHERE network = ? AND alert = ? AND type = 'alert.test'`,
    )
    .pluck()

  const receiverOf = (action: Action, channels: ChannelOf) => {
    const channel = channels.of(action)
    const destination = channel.destination(action)
    const id = addReceiver.get(
      JSON.stringify(action),
      action.type,
      destination,
      hashOf([action.type, action.parameters]),
      channel.shown(action),
    )!
    return { id, destination, combines: channel.combines === true }
  }

  const addHead = (network: string, rule: StoredRule, alert: StoredAlert): number =>
    Number(addMessage.run(network, alert.id, JSON.stringify(headOf(rule, alert)), alert.source).lastInsertRowid)

  /** Why nothing goes to a receiver, undefined where it is not disabled for the rule as it is. */
  const disabledBy = (rule: number, revision: number | undefined, destination: string): string | undefined => {
    const found = isDisabled.get(rule, destination)
    if (!found) return undefined
    if (revision === undefined || found.revision === revision) return disabledError(found.at)
    enable.run(rule, destination)
    return undefined
  }

  const startExpansion = (network: string, ruleOf: (id: number) => StoredRule | undefined, options: ExpandOptions) => {
    const { channels, digestMs, now } = options
    const expansion: Expansion = { due: new Map(), dead: new Map(), cancelled: new Map() }

    const add = (
      alert: StoredAlert,
      to: Pick<Row, 'rule' | 'revision' | 'account' | 'receiver' | 'destination' | 'message' | 'action' | 'channel'>,
      told: { type: MessageType; round: number; original: number; nextAt: number; disabled: string | undefined },
    ) => {
      const { type, round, original, nextAt, disabled } = told
      addDelivery.run({
        network,
        alert: alert.id,
        round,
        type,
        action: to.action,
        original,
        rule: to.rule,
        revision: to.revision,
        account: to.account,
        receiver: to.receiver,
        destination: to.destination,
        message: to.message,
        state: disabled === undefined ? 'queued' : 'dead',
        nextAt,
        now,
        receivedAt: alert.receivedAt,
        changedAt: alert.changedAt,
        settledAt: disabled === undefined ? null : now,
        retracted: type === 'alert.retracted' ? 1 : 0,
        error: disabled ?? null,
      })
      if (disabled !== undefined) return increase(expansion.dead, to.channel)
      expansion.due.set(to.destination, Math.min(nextAt, expansion.due.get(to.destination) ?? nextAt))
    }

    const withdraw = (row: Row, why: string) => {
      cancel.run(now, why, row.id)
      increase(expansion.cancelled, row.channel)
    }

    const tell = (alert: StoredAlert, type: 'alert.pending' | 'alert.confirmed') => {
      const known = rowsOf.all(network, alert.id)
      const last = known.at(-1)
      const round = last === undefined ? 1 : Math.max(...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      const isOver = current.some(it => it.retracted === 1)
      // Already told, by a store that was made anew.
      if (!isOver && current.some(it => it.type === type || it.type === 'alert.confirmed')) return
      for (const row of known) {
        overtake.run(row.id)
        if (row.state === 'queued') withdraw(row, `overtaken by ${type}`)
      }
      const rule = ruleOf(alert.rule)
      if (!rule) return
      const message = addHead(network, rule, alert)
      for (const [place, action] of rule.input.config.alerts.entries()) {
        const receiver = receiverOf(action, channels)
        const waits = receiver.combines && digestMs > 0
        add(
          alert,
          {
            rule: rule.id,
            revision: rule.revision,
            account: rule.account,
            receiver: receiver.id,
            destination: receiver.destination,
            message,
            action: place,
            channel: action.type,
          },
          {
            type,
            round: isOver ? round + 1 : round,
            original: 0,
            nextAt: waits ? (digestAt.get(rule.id, receiver.id, now) ?? now + digestMs) : now,
            disabled: disabledBy(rule.id, rule.revision, receiver.destination),
          },
        )
      }
      if (type === 'alert.confirmed') count.run(rule.id)
    }

    /** Whoever may have got it is told; whoever cannot have got it is not. */
    const retract = (alert: StoredAlert) => {
      const known = rowsOf.all(network, alert.id)
      const round = Math.max(0, ...known.map(it => it.round))
      const current = known.filter(it => it.round === round)
      if (current.some(it => it.retracted === 1)) return
      const reached = new Map<string, Row>()
      for (const row of current) {
        if (row.begun_at !== null && neverLeft.get(row.id) !== 1) reached.set(row.target, row)
        if (row.state === 'queued' || (row.state === 'dead' && row.begun_at === null))
          withdraw(row, 'the alert was retracted')
      }
      endRound.run(network, alert.id, round)
      const revision = ruleOf(alert.rule)?.revision
      for (const row of reached.values()) {
        const waits = channels.of({ type: row.channel }).combines === true && digestMs > 0
        add(alert, row, {
          type: 'alert.retracted',
          round,
          original: row.id,
          nextAt: waits ? (digestAt.get(row.rule, row.receiver, now) ?? now + digestMs) : now,
          disabled: disabledBy(row.rule, revision, row.destination),
        })
      }
    }

    return { expansion, tell, retract }
  }

  return {
    cursor: ({ identity }) => readCursor.get(identity) ?? 0,
    rewind: ({ identity }, last) => moveBack.run(last, identity, last).changes > 0,

    expand: (origin, entries, ruleOf, options) =>
      db
        .transaction(() => {
          const { expansion, tell, retract } = startExpansion(origin.network, remember(ruleOf), options)
          let cursor = readCursor.get(origin.identity) ?? 0
          for (const { n, type, alert } of entries) {
            if (n <= cursor) continue
            cursor = n
            if (type === 'retracted') retract(alert)
            else tell(alert, `alert.${type}`)
          }
          moveCursor.run(origin.identity, origin.network, cursor)
          return expansion
        })
        .immediate(),

    addTest: (rule, alert, place, { channels, now }) =>
      db
        .transaction(() => {
          const action = rule.input.config.alerts[place]!
          const receiver = receiverOf(action, channels)
          return Number(
            addDelivery.run({
              network: rule.network,
              alert: alert.id,
              round: lastTest.get(rule.network, alert.id)! + 1,
              type: 'alert.test',
              action: place,
              original: 0,
              rule: rule.id,
              revision: rule.revision,
              account: rule.account,
              receiver: receiver.id,
              destination: receiver.destination,
              message: addHead(rule.network, rule, alert),
              // Never queued, so that nobody sends it a second time.
              state: 'dead',
              nextAt: now,
              now,
              receivedAt: alert.receivedAt,
              changedAt: now,
              settledAt: now,
              retracted: 0,
              error: 'the test is under way, or was broken off',
            }).lastInsertRowid,
          )
        })
        .immediate(),
  }
}

export const headOf = (rule: StoredRule, alert: StoredAlert): MessageHead => ({
  rule: { id: rule.id, name: rule.input.name, version: rule.input.version ?? null },
  targetType: alert.targetType,
  confirmations: alert.confirmations,
  entity: { ...alert.entity, blockNumber: alert.block },
})

export const disabledError = (at: number): string =>
  `disabled by 410: the receiver answered at ${new Date(at).toISOString()} that it wants nothing any more; changing the rule or asking for redelivery enables it`

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)

const increase = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

const remember = <K, V>(find: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>()
  return key => {
    if (!known.has(key)) known.set(key, find(key))
    return known.get(key)!
  }
}
