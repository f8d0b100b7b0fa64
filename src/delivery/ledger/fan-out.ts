import type { OutboxEntry, StoredAlert } from '../../alerts/alert.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { createAlertDeliveries, type ExpandOptions, type Expansion, type RuleOf, ruleIds } from './alert-deliveries.ts'
import { atomically, type Db } from './file.ts'
import { createForget, FORGOTTEN, type Forgotten } from './retention.ts'

/** The source of outbox entries. */
export interface Origin {
  network: string
  /** Identifies the store file: a new file numbers its entries from the beginning. */
  identity: string
}

/** An account that is behind: its entries above `n` are not taken over yet. */
export interface Backlog {
  account: number
  n: number
}

/** Tests of one rule that are kept. */
const KEPT_TESTS = 100

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

  /** Undefined if the rule is gone and the alert never led to a delivery: there is nothing to do. */
  const accountOf = ({ network }: Origin, { rule, id }: StoredAlert, ruleOf: RuleOf): number | undefined =>
    ruleOf(rule)?.account ?? accountOfAlert.get(id, network)

  const begin = ({ network }: Origin, ruleOf: RuleOf, options: ExpandOptions) => {
    const { expansion, tell, retract } = start(network, ruleOf, options)
    const take = ({ type, alert }: OutboxEntry) => {
      if (type === 'retracted') retract(alert)
      else tell(alert, `alert.${type}`)
    }
    return { expansion, take }
  }

  return {
    /** Number of the last entry that was taken over, or left to an account's backlog. */
    cursor: ({ identity }: Origin): number => readCursor.get(identity) ?? 0,

    /** Accounts that are behind. */
    backlogs: ({ identity }: Origin): Backlog[] => backlogs.all(identity),

    /** The outbox holds nothing above `last`, and counts on from there: what comes next is not taken over yet. Returns whether that is news. */
    rewind: ({ identity }: Origin, last: number): boolean =>
      atomically(db, () => {
        endBacklogs.run(identity, last)
        return moveBack.run(last, identity, last).changes > 0
      }),

    /**
     * Makes deliveries of outbox entries, in one transaction with the cursor; entries that were taken over before change nothing.
     * Of an account that has more than `share` of them, the others are left to its backlog, so that nobody waits behind them.
     */
    expand: (
      origin: Origin,
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

    /** Makes deliveries of entries that were left to an account's backlog, which ends where these do not reach up to the cursor. */
    catchUp: (
      origin: Origin,
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

    /** Keeps the one attempt of a test, whatever became of it; returns the delivery's number, for the attempt to be noted. */
    addTest: (rule: StoredRule, alert: StoredAlert, place: number, { channels, now }: ExpandOptions): number =>
      atomically(db, () => {
        const { id: receiver, destination } = receiverOf(rule.input.config.alerts[place]!, channels)
        forget(oldTests.all(rule.id))
        const added = addDelivery.run({
          ...{ network: rule.network, alert: alert.id, round: lastTest.get(rule.network, alert.id)! + 1 },
          ...{ type: 'alert.test', action: place, original: 0, ...ruleIds(rule), receiver, destination },
          message: keepMessage(rule.network, rule, alert),
          // Never queued, so that nobody sends it a second time.
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
