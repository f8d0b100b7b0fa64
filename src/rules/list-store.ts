import { randomInt } from 'node:crypto'
import type Database from 'better-sqlite3'
import { type Actor, type Trail, thisUser } from '../accounts/audit.ts'
import { refuse } from '../lib/errors.ts'
import { createPauses } from '../lib/scheduling/event-loop.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { shortenText } from '../query/json.ts'
import {
  addPacked,
  canonicalValue,
  createValueList,
  packValue,
  unpackValue,
  type ValueList,
} from '../query/value-list.ts'
import { listsIn, type RuleInput } from './rule.ts'

/** A watch list of an account: values that rules compare with, which change without the rules. */
export interface StoredList {
  id: number
  account: number
  name: string
  /** Number of values. */
  size: number
  /** Grows with each change. */
  revision: number
  createdAt: number
  updatedAt: number
  /** Its last change, counted as those of rules. */
  seq: number
  /** Changes before this one are no longer known one by one. */
  wholeSeq: number
}

interface LoadedList {
  list: StoredList
  values: ValueList
}

export type Lists = ReturnType<typeof createLists>

interface ListStoreOptions {
  write<T>(work: () => T): T
  nextSeq(): number
  trail: Trail
  now(): number
  limits: Limits
}

/** Values that one transaction writes: larger changes are made in several, so that nobody waits for long. */
const LIST_PIECE = 2_000
/** Changes of one list that readers can follow one by one. Behind more of them they read it anew. */
const MAX_KNOWN_CHANGES = 50_000
/** Rules that are named as users of a list. */
const MAX_USERS = 100
/** Values that the audit trail names. */
const MAX_NAMED_VALUES = 10
/** Of a replacement that a crash broke off, so long nothing is removed. */
const STAGED_MS = 3_600_000

const LIST_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const unknownList = (name: string) =>
  refuse(
    'resource_not_found_exception',
    `This account has no list ${JSON.stringify(name)}: its lists are at /alerting/lists/.`,
  )

export const checkListName = (name: string): void => {
  if (!LIST_NAME.test(name))
    throw refuse(
      'validation_exception',
      `A list has a name of 1 to 64 letters, digits, "_", "." and "-", which begins with a letter or digit, not ${shortenText(JSON.stringify(name))}.`,
    )
}

/** Why a list cannot be deleted. */
export const listInUse = (name: string, users: readonly { id: number; name: string }[]): string => {
  const named = users.slice(0, MAX_NAMED_USERS).map(rule => `${rule.id} (${shortenText(rule.name)})`)
  const more = users.length > named.length ? ' and more' : ''
  return `The list ${name} is used by ${users.length === 1 ? 'rule' : 'rules'} ${named.join(', ')}${more}: change or delete them first.`
}

const MAX_NAMED_USERS = 10

/** What lists have now. */
const createListReading = (db: Database.Database) => {
  const select = `SELECT id, account, name, size, revision, created_at AS createdAt, updated_at AS updatedAt, seq,
    whole_seq AS wholeSeq FROM lists`
  const byAccount = db.prepare<[number], StoredList>(`${select} WHERE account = ? AND name IS NOT NULL ORDER BY name`)
  const byName = db.prepare<[number, string], StoredList>(`${select} WHERE account = ? AND name = ?`)
  const valuesOf = db
    .prepare<[number, Buffer, number], Buffer>(
      'SELECT value FROM list_values WHERE list = ? AND value > ? ORDER BY value LIMIT ?',
    )
    .pluck()
  const allValues = db.prepare<[number], Buffer>('SELECT value FROM list_values WHERE list = ?').pluck()
  const holds = db.prepare<[number, Buffer]>('SELECT 1 FROM list_values WHERE list = ? AND value = ?')
  const changed = db.prepare<[number, number], { value: Buffer; added: number }>(
    'SELECT value, added FROM list_changes WHERE list = ? AND seq > ? ORDER BY seq',
  )
  const users = db.prepare<[number], { id: number; name: string }>(
    `SELECT rules.id, rules.input ->> '$.name' AS name FROM rule_lists JOIN rules ON rules.id = rule_lists.rule
     WHERE rule_lists.list = ? ORDER BY rules.id LIMIT ${MAX_USERS}`,
  )

  const get = (account: number, name: string) => byName.get(account, name)
  const emptyList = ({ account, name, size }: StoredList, packed?: Iterable<Buffer>) =>
    createValueList(listId(account, name), packed, { expected: size, seed: randomInt(2 ** 31) })

  return {
    all: (account: number): StoredList[] => byAccount.all(account),
    get,
    /** Rules that use the list. */
    usersOf: ({ id }: Pick<StoredList, 'id'>): { id: number; name: string }[] => users.all(id),
    /** In a fixed order, after that value. */
    values: ({ id }: Pick<StoredList, 'id'>, { after, size }: { after?: string | undefined; size: number }): string[] =>
      valuesOf.all(id, after === undefined ? Buffer.alloc(0) : packValue(canonicalValue(after)), size).map(unpackValue),
    has: ({ id }: Pick<StoredList, 'id'>, value: string): boolean =>
      holds.get(id, packValue(canonicalValue(value))) !== undefined,

    /** All values of a list as they are now; undefined without it. */
    load: (account: number, name: string): LoadedList | undefined =>
      db.transaction(() => {
        const list = get(account, name)
        return list && { list, values: emptyList(list, allValues.iterate(list.id)) }
      })(),
    /** As `load`, some values at a time. */
    async loadInTurns(account: number, name: string): Promise<LoadedList | undefined> {
      const pause = createPauses()
      for (;;) {
        const list = get(account, name)
        if (!list) return undefined
        const values = emptyList(list)
        let last: Buffer | undefined = Buffer.alloc(0)
        while (last) {
          const piece: Buffer[] = valuesOf.all(list.id, last, LIST_PIECE)
          for (const value of piece) addPacked(values, value)
          last = piece.at(-1)
          await pause()
        }
        // A list that was replaced meanwhile is gone.
        if (get(account, name)?.id === list.id) return { list, values }
      }
    },
    changesSince: ({ id }: Pick<StoredList, 'id'>, seq: number): { value: Buffer; added: boolean }[] =>
      changed.all(id, seq).map(({ value, added }) => ({ value, added: added === 1 })),
  }
}

const createListStatements = (db: Database.Database) => ({
  sizes: db.prepare<[number], { lists: number; size: number }>(
    'SELECT count(*) AS lists, ifnull(sum(size), 0) AS size FROM lists WHERE account = ? AND name IS NOT NULL',
  ),
  insert: db.prepare(
    `INSERT INTO lists (account, name, size, revision, created_at, updated_at, seq, whole_seq)
     VALUES (@account, NULL, 0, 1, @at, @at, 0, 0)`,
  ),
  put: db.prepare<[number, Buffer]>('INSERT OR IGNORE INTO list_values (list, value) VALUES (?, ?)'),
  take: db.prepare<[number, Buffer]>('DELETE FROM list_values WHERE list = ? AND value = ?'),
  note: db.prepare('INSERT OR REPLACE INTO list_changes (list, seq, value, added) VALUES (?, ?, ?, ?)'),
  known: db.prepare<[number], number>('SELECT count(*) FROM list_changes WHERE list = ?').pluck(),
  forget: db.prepare<[number]>('DELETE FROM list_changes WHERE list = ?'),
  set: db.prepare(
    `UPDATE lists SET name = @name, size = @size, revision = @revision, created_at = @createdAt,
       updated_at = @updatedAt, seq = @seq, whole_seq = @wholeSeq WHERE id = @id`,
  ),
  unname: db.prepare<[number]>('UPDATE lists SET name = NULL, created_at = 0 WHERE id = ?'),
  moveUses: db.prepare<[number, number]>('UPDATE rule_lists SET list = ? WHERE list = ?'),
  leftOver: db.prepare<[number], number>('SELECT id FROM lists WHERE name IS NULL AND created_at < ?').pluck(),
  dropSome: db.prepare<[number, number, number]>(
    `DELETE FROM list_values WHERE list = ? AND value IN (SELECT value FROM list_values WHERE list = ? LIMIT ?)`,
  ),
  drop: db.prepare<[number]>('DELETE FROM lists WHERE id = ?'),
  use: db.prepare<[number, number]>('INSERT INTO rule_lists (list, rule) VALUES (?, ?)'),
  leave: db.prepare<[number]>('DELETE FROM rule_lists WHERE rule = ?'),
})

export const createLists = (db: Database.Database, { write, nextSeq, trail, now, limits }: ListStoreOptions) => {
  const reading = createListReading(db)
  const { get, usersOf } = reading
  const { sizes, insert, put, take, note, known, forget, set, unname, moveUses, leftOver, dropSome, drop, use, leave } =
    createListStatements(db)

  const existing = (account: number, name: string): StoredList => {
    const list = get(account, name)
    if (!list) throw unknownList(name)
    return list
  }

  const checkRoom = (account: number, before: number, after: number) => {
    if (after <= before) return
    if (after > limits.listValues) throw overLimit('listValues', limits)
    if (sizes.get(account)!.size - before + after > limits.listValuesByAccount)
      throw overLimit('listValuesByAccount', limits)
  }

  const actOn = (change: string, name: string, detail: object, values: readonly string[] = []) => ({
    action: `list ${change}`,
    target: name,
    detail: { ...detail, ...(values.length > 0 && values.length <= MAX_NAMED_VALUES && { values }) },
  })

  /** Removes the values of lists that are gone, some at a time. */
  const clear = async () => {
    const pause = createPauses()
    for (const id of leftOver.all(now() - STAGED_MS)) {
      while (write(() => dropSome.run(id, id, LIST_PIECE).changes) > 0) await pause()
      write(() => {
        forget.run(id)
        drop.run(id)
      })
    }
  }

  /** Adds or removes some values in one transaction. */
  const changePiece = (account: number, name: string, values: readonly string[], added: boolean, by: Actor) =>
    write(() => {
      const list = existing(account, name)
      const seq = nextSeq()
      const moved = values.filter(value => (added ? put : take).run(list.id, packValue(value)).changes > 0)
      if (moved.length === 0) return 0
      const size = list.size + (added ? moved.length : -moved.length)
      checkRoom(account, list.size, size)
      const isKnown = known.get(list.id)! + moved.length <= MAX_KNOWN_CHANGES
      if (isKnown) for (const value of moved) note.run(list.id, seq, packValue(value), Number(added))
      else forget.run(list.id)
      const updatedAt = Math.max(now(), list.updatedAt)
      const wholeSeq = isKnown ? list.wholeSeq : seq
      set.run({ ...list, size, revision: list.revision + 1, updatedAt, seq, wholeSeq })
      trail.record(by, actOn(added ? 'add' : 'remove', name, { count: moved.length, size }, moved))
      return moved.length
    })

  return {
    ...reading,

    /** Creates the list, or puts other values in the place of all it has. Values are canonical. */
    async replace(account: number, name: string, values: readonly string[], by: Actor = thisUser()) {
      if (values.length > limits.listValues) throw overLimit('listValues', limits)
      const staged = Number(write(() => insert.run({ account, at: now() })).lastInsertRowid)
      const size = await sumInPieces(values, piece =>
        write(() => piece.reduce((sum, value) => sum + put.run(staged, packValue(value)).changes, 0)),
      )
      const made = write(() => {
        const before = get(account, name)
        if (!before && sizes.get(account)!.lists >= limits.lists) throw overLimit('lists', limits)
        checkRoom(account, before?.size ?? 0, size)
        if (before) {
          unname.run(before.id)
          moveUses.run(staged, before.id)
        }
        const [seq, updatedAt] = [nextSeq(), Math.max(now(), before?.updatedAt ?? 0)]
        const createdAt = before?.createdAt ?? updatedAt
        set.run({
          id: staged,
          name,
          size,
          revision: (before?.revision ?? 0) + 1,
          createdAt,
          updatedAt,
          seq,
          wholeSeq: seq,
        })
        trail.record(by, actOn(before ? 'replace' : 'create', name, { size, ...(before && { before: before.size }) }))
        return { list: existing(account, name), created: !before }
      })
      await clear()
      return made
    },

    /** Adds or removes canonical values; returns how many were new, or were there. */
    async change(
      account: number,
      name: string,
      values: readonly string[],
      { added, by = thisUser() }: { added: boolean; by?: Actor },
    ): Promise<{ list: StoredList; count: number }> {
      const count = await sumInPieces(values, piece => changePiece(account, name, piece, added, by))
      return { list: existing(account, name), count }
    },

    /** Unless rules use it. */
    async remove(account: number, name: string, by: Actor = thisUser()): Promise<{ id: number; name: string }[]> {
      const inUse = write(() => {
        const list = existing(account, name)
        const using = usersOf(list)
        if (using.length > 0) return using
        unname.run(list.id)
        nextSeq()
        trail.record(by, actOn('delete', name, { size: list.size }))
        return []
      })
      if (inUse.length === 0) await clear()
      return inUse
    },

    /** In the transaction that writes the rule. */
    noteUses(account: number, rule: number, { config }: RuleInput, isNew: boolean): void {
      if (!isNew) leave.run(rule)
      for (const name of listsIn(config)) {
        const list = get(account, name)
        if (!list) throw unknownList(name)
        use.run(list.id, rule)
      }
    },
    dropUses: (rule: number): void => void leave.run(rule),
  }
}

/** Writes values some at a time; returns how many were written. */
const sumInPieces = async (values: readonly string[], write: (piece: readonly string[]) => number) => {
  const pause = createPauses()
  let sum = 0
  for (let at = 0; at < values.length; at += LIST_PIECE) {
    sum += write(values.slice(at, at + LIST_PIECE))
    await pause()
  }
  return sum
}

/** Names a list among all accounts. */
export const listId = (account: number, name: string): string => `${account}/${name}`
