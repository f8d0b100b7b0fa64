import type { OutboxEntry, StoredAlert } from '../../alerts/alert.ts'
import { actionsOf, type StoredRule } from '../../rules/rule.ts'
import { createAlertDeliveries } from './alert-deliveries.ts'
import { atomically, type Db } from './file.ts'
import { type ExpandOptions, type Expansion, type RuleOf, ruleIds } from './new-deliveries.ts'
import { createForget, FORGOTTEN, type Forgotten } from './retention.ts'

export interface OutboxOrigin {
  network: string
  /** Identity of the store file: a new file restarts entry numbers. */
  identity: string
}

/** An account whose outbox entries above `n` are not processed yet. */
interface Backlog {
  account: number
  n: number
}

const KEPT_TESTS = 100

/**
 * Turns outbox entries into deliveries, idempotently: the cursor moves in the same transaction, so
 * a crash neither loses nor duplicates one.
 */
export const createFanOut = (db: Db) => {
  const readCursor = db.prepare<[string], number>('SELECT n FROM cursor WHERE store = ?').pluck()
  const moveCursor = db.prepare(
    'INSERT INTO cursor (store, network, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n',
  )
  const moveBack = db.prepare('UPDATE cursor SET n = ? WHERE store = ? AND n > ?')
  const backlogs = db.prepare<[string], Backlog>('SELECT account, n FROM backlog WHERE store = ? ORDER BY account')
  const leave = db.prepare(
    'INSERT INTO backlog (store, account, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n',
  )
  const endBacklog = db.prepare('DELETE FROM backlog WHERE store = ? AND account = ?')
  const endBacklogs = db.prepare('DELETE FROM backlog WHERE store = ? AND n >= ?')
  const accountOfAlert = db
    .prepare<[string, string], number>('SELECT account FROM delivery WHERE alert = ? AND network = ? LIMIT 1')
    .pluck()
  const lastTest = db
    .prepare<[string, string], number>(
      `SELECT coalesce(max(round), 0) FROM delivery WHERE network = ? AND alert = ? AND type = 'alert.test'`,
    )
    .pluck()
  const oldTests = db.prepare<[number], Forgotten>(
    `SELECT ${FORGOTTEN} FROM delivery WHERE rule = ? AND type = 'alert.test' ORDER BY id DESC LIMIT -1 OFFSET ${KEPT_TESTS}`,
  )
  const forget = createForget(db)
  const { start, receiverOf, keepMessage, addDelivery } = createAlertDeliveries(db)

  /** Undefined if the rule is gone and the alert never led to a delivery. */
  const accountOf = ({ network }: OutboxOrigin, { rule, id }: StoredAlert, ruleOf: RuleOf): number | undefined =>
    ruleOf(rule)?.account ?? accountOfAlert.get(id, network)

  const begin = ({ network }: OutboxOrigin, ruleOf: RuleOf, options: ExpandOptions) => {
    const { expansion, tell, tellAgain, retract } = start(network, ruleOf, options)
    const take = ({ type, alert, repeat }: OutboxEntry) => {
      if (type === 'retracted') retract(alert)
      else if (type === 'repeated') tellAgain(alert, repeat!)
      else if (type === 'reopened') tell(alert, 'alert.confirmed', true)
      else tell(alert, `alert.${type}`)
    }
    return { expansion, take }
  }

  return {
    /** Last entry that was processed or left to an account's backlog. */
    cursor: ({ identity }: OutboxOrigin): number => readCursor.get(identity) ?? 0,

    backlogs: ({ identity }: OutboxOrigin): Backlog[] => backlogs.all(identity),

    /** Moves the cursor back to `last`, the end of a restored outbox; returns whether it moved. */
    rewind: ({ identity }: OutboxOrigin, last: number): boolean =>
      atomically(db, () => {
        endBacklogs.run(identity, last)
        return moveBack.run(last, identity, last).changes > 0
      }),

    /**
     * Creates deliveries of outbox entries and moves the cursor, in one transaction. Entries below
     * the cursor have no effect. An account with more than `share` entries gets a backlog, so it
     * does not delay the others.
     */
    expand: (
      origin: OutboxOrigin,
      entries: readonly OutboxEntry[],
      findRule: RuleOf,
      options: ExpandOptions & { share?: number },
    ): Expansion =>
      atomically(db, () => {
        const { identity, network } = origin
        const { share = Number.POSITIVE_INFINITY } = options
        const ruleOf = memoizeRule(findRule)
        const { expansion, take } = begin(origin, ruleOf, options)
        const behind = new Set(backlogs.all(identity).map(({ account }) => account))
        const taken = new Map<number, number>()
        let cursor = readCursor.get(identity) ?? 0
        for (const entry of entries) {
          if (entry.n <= cursor) continue
          const account = accountOf(origin, entry.alert, ruleOf)
          if (account !== undefined && !behind.has(account)) {
            const count = (taken.get(account) ?? 0) + 1
            taken.set(account, count)
            if (count > share) {
              leave.run(identity, account, cursor)
              behind.add(account)
            } else take(entry)
          }
          cursor = entry.n
        }
        moveCursor.run(identity, network, cursor)
        return expansion
      }),

    /** Processes entries of an account's backlog, which ends once they reach the cursor. */
    catchUp: (
      origin: OutboxOrigin,
      { account, n }: Backlog,
      entries: readonly OutboxEntry[],
      findRule: RuleOf,
      options: ExpandOptions,
    ): Expansion =>
      atomically(db, () => {
        const { identity } = origin
        const ruleOf = memoizeRule(findRule)
        const { expansion, take } = begin(origin, ruleOf, options)
        const cursor = readCursor.get(identity) ?? 0
        const left = entries.filter(entry => entry.n > n && entry.n <= cursor)
        for (const entry of left) if (accountOf(origin, entry.alert, ruleOf) === account) take(entry)
        const last = left.at(-1)?.n ?? cursor
        if (last >= cursor) endBacklog.run(identity, account)
        else leave.run(identity, account, last)
        return expansion
      }),

    /** Stores a test delivery; returns its id, for its attempt. */
    addTest: (rule: StoredRule, alert: StoredAlert, place: number, { channels, now }: ExpandOptions): number =>
      atomically(db, () => {
        const { id: receiver, destination } = receiverOf(actionsOf(rule.input)[place]!, channels)
        forget(oldTests.all(rule.id))
        const added = addDelivery.run({
          ...{ network: rule.network, alert: alert.id, round: lastTest.get(rule.network, alert.id)! + 1 },
          ...{ type: 'alert.test', action: place, original: 0, ...ruleIds(rule), receiver, destination },
          message: keepMessage(rule.network, rule, alert),
          // Never queued, so it is sent only once.
          ...{
            state: 'dead',
            nextAt: now,
            now,
            receivedAt: alert.receivedAt,
            changedAt: now,
            settledAt: now,
            retracted: 0,
          },
          error: 'the test is running, or was interrupted',
          ...{ groupKey: null, groupSize: null, repeat: null },
        })
        return Number(added.lastInsertRowid)
      }),
  }
}

const memoizeRule = <K, V>(find: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>()
  return key => {
    if (!known.has(key)) known.set(key, find(key))
    return known.get(key)!
  }
}
