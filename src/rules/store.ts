import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Actor, createTrail, thisUser } from '../accounts/audit.ts'
import { ACCOUNTS_FILE, connectAccounts, createSynced, syncLog } from '../accounts/file.ts'
import { messageOf } from '../lib/errors.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { createLists } from './list-store.ts'
import { covers, isWide, networkOf, type RuleInput, type StoredRule } from './rule.ts'
import { createSilences } from './silences/store.ts'

interface RuleExchange {
  before?: readonly RuleInput[]
  after?: readonly RuleInput[]
}

/** Throws if the account has no room for a change. A change that makes less always passes. */
export const checkRuleQuota = (
  rules: Pick<Rules, 'sizeOf'>,
  account: number,
  { before = [], after = [] }: RuleExchange,
  limits: Limits,
) => {
  const more = after.length - before.length
  const longer = rulesBytes(after) - rulesBytes(before)
  if (more <= 0 && longer <= 0) return
  const has = rules.sizeOf(account)
  if (more > 0 && has.rules + more > limits.rules) throw overLimit('rules', limits)
  if (longer > 0 && has.bytes + longer > limits.ruleBytes) throw overLimit('ruleBytes', limits)
}

const rulesBytes = (inputs: readonly RuleInput[]): number =>
  inputs.reduce((sum, input) => sum + Buffer.byteLength(JSON.stringify(input)), 0)

export { networkOf } from './rule.ts'

interface RuleChanges {
  /** For the next call. */
  seq: number
  changed: StoredRule[]
  removed: number[]
}

export interface NewRule {
  input: RuleInput
  startBlock: number | null
}

interface RuleUpdate {
  ifRevision?: number | undefined
  startBlock?: number | null | undefined
  by?: Actor | undefined
}

export type Rules = ReturnType<typeof openRules>

const createRuleReading = (db: ReturnType<typeof connectAccounts>, limits: Limits) => {
  // An oversized rule, of another version, would fill the memory.
  const select = `SELECT id, account, revision, matching, enabled, network, start_block AS startBlock,
    iif(octet_length(input) <= ${limits.rule}, input, NULL) AS input,
    created_at AS createdAt, updated_at AS updatedAt FROM rules`
  const byAccount = db.prepare<[number], RuleRow>(`${select} WHERE account = ? ORDER BY id`)
  const idsOf = db
    .prepare<[number, number, number], number>('SELECT id FROM rules WHERE account = ? AND id > ? ORDER BY id LIMIT ?')
    .pluck()
  const allIds = db.prepare<[number, number], number>('SELECT id FROM rules WHERE id > ? ORDER BY id LIMIT ?').pluck()
  const size = db.prepare<[number], { rules: number; bytes: number }>(
    'SELECT count(*) AS rules, ifnull(sum(octet_length(input)), 0) AS bytes FROM rules WHERE account = ?',
  )
  const byId = db.prepare<[number], RuleRow>(`${select} WHERE id = ?`)
  const revision = db.prepare<[number], number>('SELECT revision FROM rules WHERE id = ?').pluck()
  // One look-up for each name, however many rules have it.
  const namesIn = (table: 'rules' | 'rules_gone') =>
    db
      .prepare<[], string>(
        `WITH RECURSIVE name (it) AS (SELECT min(network) FROM ${table} UNION ALL
           SELECT (SELECT min(network) FROM ${table} WHERE network > it) FROM name WHERE it IS NOT NULL)
         SELECT it FROM name WHERE it IS NOT NULL`,
      )
      .pluck()
  const networks = namesIn('rules')
  const left = namesIn('rules_gone')
  const networkById = db.prepare<[number], string>('SELECT network FROM rules WHERE id = ?').pluck()
  const everything = db.prepare<[], RuleRow>(`${select} ORDER BY id`)
  const changedSince = db.prepare<[string, number], RuleRow>(`${select} WHERE network = ? AND seq > ? ORDER BY seq`)
  const goneSince = db
    .prepare<[string, number], number>('SELECT rule FROM rules_gone WHERE network = ? AND seq > ? ORDER BY seq')
    .pluck()
  const lastSeq = db.prepare<[], number>('SELECT last FROM rule_changes').pluck()

  const toRule = (row: RuleRow): StoredRule => readRow(row, limits)

  /** The network, and the patterns that cover it. */
  const namesFor = (network: string, known: Pick<typeof networks, 'all'>): string[] => [
    network,
    ...known.all().filter(name => isWide(name) && covers(name, network)),
  ]

  /** A rule may leave a pattern for another one that covers the network, too. */
  const stillCovers = (id: number, network: string): boolean => {
    const now = networkById.get(id)
    return now !== undefined && covers(now, network)
  }

  const find = (id: number) => {
    const row = byId.get(id)
    return row && toRule(row)
  }
  const get = (account: number, id: number) => {
    const rule = find(id)
    return rule?.account === account ? rule : undefined
  }

  return {
    list: (account: number): StoredRule[] => byAccount.all(account).map(toRule),
    /** Ascending, of an account or of all; for pages, only ids above `after`. */
    ids: (
      account: number | undefined,
      { after, size }: { after: number; size: number } = { after: 0, size: -1 },
    ): number[] => (account === undefined ? allIds.all(after, size) : idsOf.all(account, after, size)),
    sizeOf: (account: number): { rules: number; bytes: number } => size.get(account)!,
    /** Undefined if the rule is another account's. */
    get,
    /** Finds a rule of any account. */
    find,
    /** Cheaper than to read the rule. */
    revisionOf: (id: number): number | undefined => revision.get(id),

    /**
     * Changes of a network's rules, also of those of several networks, after `since`; 0 for all
     * rules, paused ones too.
     */
    changes: (network: string, since: number): RuleChanges =>
      db.transaction(() => ({
        seq: lastSeq.get()!,
        changed: namesFor(network, networks).flatMap(name => changedSince.all(name, since).map(toRule)),
        removed: namesFor(network, left)
          .flatMap(name => goneSince.all(name, since))
          .filter(id => !stillCovers(id, network)),
      }))(),

    all: (): StoredRule[] => everything.all().map(toRule),
    /** Networks that have rules, and patterns of several. */
    networks: (): string[] => networks.all(),
  }
}

const prepareRuleWrites = (db: ReturnType<typeof connectAccounts>) => {
  const nextSeq = db.prepare<[], number>('UPDATE rule_changes SET last = last + 1 RETURNING last').pluck()
  const insert = db.prepare(
    `INSERT INTO rules (account, revision, matching, enabled, network, start_block, input, created_at, updated_at, seq)
     VALUES (@account, @revision, @matching, @enabled, @network, @startBlock, @input, @createdAt, @updatedAt, @seq)`,
  )
  const replace = db.prepare(
    `UPDATE rules SET revision = @revision, matching = @matching, enabled = @enabled, network = @network,
       start_block = @startBlock, input = @input, updated_at = @updatedAt, seq = @seq WHERE id = @id`,
  )
  const start = db.prepare('UPDATE rules SET start_block = ?, seq = ? WHERE id = ? AND start_block IS NULL')
  const enabled = db.prepare<[number], number>('SELECT enabled FROM rules WHERE id = ?').pluck()
  const drop = db.prepare('DELETE FROM rules WHERE id = ?')
  const leave = db.prepare('INSERT OR REPLACE INTO rules_gone (network, rule, seq) VALUES (?, ?, ?)')
  const enter = db.prepare('DELETE FROM rules_gone WHERE network = ? AND rule = ?')
  return { nextSeq, insert, replace, start, enabled, drop, leave, enter }
}

/** Several processes and threads may open the rules at once. `native`: path of SQLite's binding. */
export const openRules = (
  folder: string,
  {
    native,
    now = Date.now,
    limits = DEFAULT_LIMITS,
  }: { native?: string; now?: () => number; limits?: Limits | undefined } = {},
) => {
  // The disk may be slow: commits do not wait for it, `synced` does.
  const db = connectAccounts(folder, native, { lasting: false })
  const reading = createRuleReading(db, limits)
  const { find, get } = reading
  const { nextSeq, insert, replace, start, enabled, drop, leave, enter } = prepareRuleWrites(db)
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const trail = createTrail(db, now)
  let written = 0

  // A nested transaction is a part of the outer one.
  const write = <T>(work: () => T): T => {
    const result = db.transaction(work).immediate()
    written++
    return result
  }

  const silences = createSilences(db, { write, trail, now, limits })
  const lists = createLists(db, { write, nextSeq: () => nextSeq.get()!, trail, now, limits })

  const createAll = (account: number, list: readonly NewRule[], by: Actor = thisUser()): StoredRule[] =>
    write(() => {
      const at = now()
      // One number for all: they are one change.
      const seq = nextSeq.get()!
      return list.map(({ input, startBlock }) => {
        const rule: Omit<StoredRule, 'id'> = {
          account,
          revision: 1,
          matching: 1,
          enabled: input.enabled ?? true,
          network: networkOf(input),
          startBlock,
          input,
          createdAt: at,
          updatedAt: at,
        }
        const { lastInsertRowid } = insert.run({ ...toRow(rule), seq })
        const id = Number(lastInsertRowid)
        lists.noteUses(account, id, input, true)
        trail.record(by, actOn('create', id, input))
        return { id, ...rule }
      })
    })

  return {
    ...reading,
    /** Watch lists. */
    lists,
    silences,
    /**
     * `input` is valid. A null `startBlock` is fixed by `fixStart`. `by` names who did it in the
     * audit trail; by default the user of the command line.
     */
    create: (account: number, input: RuleInput, startBlock: number | null, by?: Actor): StoredRule =>
      createAll(account, [{ input, startBlock }], by)[0]!,
    createAll,

    /**
     * Replaces a rule by a whole valid `input`, unless it is no longer of `ifRevision`. Without
     * `startBlock`, that stays.
     */
    update: (
      account: number,
      id: number,
      input: RuleInput,
      { ifRevision, startBlock, by = thisUser() }: RuleUpdate = {},
    ): StoredRule | 'absent' | 'changed' =>
      write(() => {
        const found = get(account, id)
        if (!found) return 'absent'
        const { unfit: _, ...before } = found
        if (ifRevision !== undefined && before.revision !== ifRevision) return 'changed'
        const rule: StoredRule = {
          ...before,
          revision: before.revision + 1,
          enabled: input.enabled ?? enabled.get(id) === 1,
          network: networkOf(input),
          startBlock: startBlock === undefined ? before.startBlock : startBlock,
          input,
          // A clock that was set back makes no change older.
          updatedAt: Math.max(now(), before.updatedAt),
        }
        if (!matchesSame(before, rule)) rule.matching++
        const seq = nextSeq.get()!
        replace.run({ ...toRow(rule), id, seq })
        lists.noteUses(account, id, input, false)
        if (rule.network !== before.network) {
          leave.run(before.network, id, seq)
          enter.run(rule.network, id)
        }
        trail.record(by, actOn('update', id, input))
        return rule
      }),

    remove: (
      account: number,
      id: number,
      ifRevision?: number,
      by: Actor = thisUser(),
    ): 'removed' | 'absent' | 'changed' =>
      write(() => {
        const rule = get(account, id)
        if (!rule) return 'absent'
        if (ifRevision !== undefined && rule.revision !== ifRevision) return 'changed'
        drop.run(id)
        lists.dropUses(id)
        leave.run(rule.network, id, nextSeq.get())
        trail.record(by, actOn('delete', id, rule.input))
        return 'removed'
      }),

    /** Records another action on rules in the audit trail. */
    note: (by: Actor, id: number | null, action: string, detail?: Readonly<Record<string, unknown>>) =>
      write(() => trail.record(by, { action, ...(id !== null && { target: String(id) }), ...(detail && { detail }) })),

    fixStart: (id: number, startBlock: number) =>
      write(() => {
        if (find(id)?.startBlock === null) start.run(startBlock, nextSeq.get(), id)
      }),

    /** Changes with each write to the accounts file by any process: the sum of two counters. */
    version: (): number => dataVersion.get()! + written,

    /** Runs all writes of `work` in one transaction, which is far faster. */
    together: write,
    /** Resolves when all earlier commits would survive a power cut. */
    synced: createSynced(syncLog(join(folder, ACCOUNTS_FILE))),
    close: () => void db.close(),
  }
}

const actOn = (change: string, id: number, { name, enabled }: RuleInput) => ({
  ...{ action: `rule ${change}`, target: String(id) },
  detail: { name, ...(enabled === false && { enabled }) },
})

interface RuleRow extends Omit<StoredRule, 'enabled' | 'input' | 'unfit'> {
  enabled: number
  /** Null if it is too large. */
  input: string | null
}

/** Pauses a rule that cannot be read, without affecting others. */
const readRow = (row: RuleRow, limits: Limits): StoredRule => {
  if (row.input === null) return unfitRule(row, overLimit('rule', limits).message)
  try {
    return { ...row, enabled: row.enabled === 1, input: JSON.parse(row.input) as RuleInput }
  } catch (error) {
    return unfitRule(row, `The stored rule is damaged: ${messageOf(error)}.`)
  }
}

const unfitRule = (row: RuleRow, why: string): StoredRule => {
  const [technology = '', blockchain = '', network = ''] = row.network.split('/')
  const config: RuleInput['config'] = { targetType: 'Block', targetMap: [], alerts: [] }
  return {
    ...row,
    enabled: false,
    input: { name: '', maxConfirmationCount: 0, technology, blockchain, network, config },
    unfit: `${why} The rule is not matched: rewrite it, or delete it.`,
  }
}

const toRow = (rule: Omit<StoredRule, 'id' | 'unfit'>) => ({
  ...rule,
  enabled: Number(rule.enabled),
  input: JSON.stringify(rule.input),
})

/** Whether both find the same entities and give their alerts the same ids. */
const matchesSame = (a: StoredRule, b: StoredRule): boolean =>
  a.network === b.network &&
  a.startBlock === b.startBlock &&
  a.input.maxConfirmationCount === b.input.maxConfirmationCount &&
  a.input.config.targetType === b.input.config.targetType &&
  isDeepStrictEqual(a.input.config.targetMap, b.input.config.targetMap) &&
  isDeepStrictEqual(a.input.config.read, b.input.config.read) &&
  isDeepStrictEqual(a.input.config.notify?.quiet, b.input.config.notify?.quiet) &&
  isDeepStrictEqual(a.input.config.when, b.input.config.when)
