import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { RawBlock } from '../../src/chain/wire.ts'
import { readPointColumn } from '../../src/engine/index/points.ts'
import {
  argumentOf,
  fieldId,
  fieldOfTerm,
  HASHED,
  logTerms,
  POSTINGS_FIELDS,
  signatureOfLogField,
  UNDECODED,
} from '../../src/engine/index/terms.ts'
import { endOrdinal, positionOfOrdinal } from '../../src/engine/query/fields/ordinals.ts'
import type { ReadHeader } from '../../src/engine/reader.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { type CountedKind, KINDS, type Kind, RECORD_KINDS } from '../../src/mapping/index.ts'
import type { Node } from '../../src/query/ast.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { checkColumns } from './columns.ts'
import { oddBlocks, oddEvents } from './odd.ts'
import { arbitraryQuery } from './queries.ts'
import { stringifyLossless } from './scenarios.ts'
import { demoBlocks, demoEvents, excerptOf, type TestStore } from './store.ts'

export const events = [...oddEvents, ...demoEvents()]
export const numberOf = ({ block }: RawBlock) => Number(block.number)

/** Odd and real blocks with an excerpt in between, all neighbours, few enough to be read again and again. */
export const neighbours = (count: number): RawBlock[] => {
  const demo = demoBlocks()
    .filter(({ block }) => block.transactions.length > 0 && block.transactions.length < 8)
    .slice(0, 12)
  const odd = oddBlocks(count)
  return odd.map((raw, i) => {
    const real = i % 4 === 1 ? demo[(i >> 2) % demo.length] : undefined
    if (!real) return i % 4 === 2 ? excerptOf(raw, index => index % 2 === 1) : raw
    const copy = structuredClone(real)
    copy.block.number = raw.block.number
    // No block and no transaction is in a chain twice.
    const salt = i.toString(16).padStart(2, '0')
    copy.block.hash = `0x${salt}${copy.block.hash.slice(4)}`
    copy.block.transactions.forEach((tx, place) => {
      tx.hash = `0x${salt}${tx.hash.slice(4)}`
      copy.receipts[place]!.transactionHash = tx.hash
    })
    return copy
  })
}

const NAMES = new Set(
  [
    ['tx', 'method'],
    ['tx', 'revertName'],
    ['trace', 'error'],
    ['trace', 'revertName'],
    ['call', 'revertName'],
  ].map(([kind, field]) => fieldId(kind as CountedKind, field!)),
)

/** All that a store holds, in terms that do not depend on the order in which it came by it. */
export const contentsOf = (store: TestStore) => {
  const { reader, db } = store
  return store.read(() => {
    const headers = new Map<number, ReadHeader>(reader.segments().map(segment => [segment.id, reader.header(segment)]))
    const role = (field: number): string => {
      const own = POSTINGS_FIELDS.find(({ id }) => id === field)
      if (own) return `${own.kind}.${own.field}`
      if (field === UNDECODED) return 'undecoded'
      const [first, last] = logTerms(0)
      if (field >= first && field <= last) return `log of ${reader.signature(signatureOfLogField(field)).key}`
      const { signature, slot } = argumentOf(field)
      return `argument ${slot} of ${reader.signature(signature).key}`
    }
    const numbered = (field: number) =>
      POSTINGS_FIELDS.find(({ id }) => id === field)?.kind ?? (/ of call\//.test(role(field)) ? 'call' : 'log')
    const value = (term: number, field: number): string | number => {
      const number = (term - field) / 2 ** 22
      if (number >= HASHED) return number
      if (number === 0) return 0
      return NAMES.has(field) ? reader.name(number) : reader.addressDigits(number)
    }
    const posts = reader.segments().flatMap(({ id }) => reader.termsBetween(id, 0, Number.MAX_SAFE_INTEGER))
    const index = posts.flatMap(posting => {
      const { segment, term, fingerprint } = posting
      const field = fieldOfTerm(term)
      const key = `${role(field)} ${value(term, field)} ${fingerprint}`
      return Array.from(
        reader.ordinals(posting),
        ordinal => `${key} ${positionOfOrdinal(headers.get(segment)!, numbered(field), ordinal)}`,
      )
    })
    const nums = db.prepare('SELECT segment, field, n, vals, ords FROM num').raw().all() as [
      number,
      number,
      number,
      Buffer,
      Buffer,
    ][]
    const numbers = nums.flatMap(([segment, field, n, vals, ords]) => {
      if (!headers.has(segment)) return []
      const { values, ordinals } = readPointColumn(field, vals, ords)
      assert.equal(values.length, n)
      assert.ok(
        values.every((value, i) => i === 0 || values[i - 1]! <= value),
        'a column of numbers ascends',
      )
      const key = `${field % 2 ? 'scaled' : 'integers'} ${role(Math.floor(field / 2))}`
      return Array.from(
        ordinals,
        (ordinal, i) =>
          `${key} ${values[i]} ${positionOfOrdinal(headers.get(segment)!, / of call\//.test(key) ? 'call' : 'log', ordinal)}`,
      )
    })
    return {
      index: index.sort(),
      numbers: numbers.sort(),
      rows: RECORD_KINDS.map(table => db.prepare(`SELECT pos FROM ${table}`).pluck().all()),
      blocks: db.prepare('SELECT number, hash, time, hashes, ends FROM block').all(),
    }
  })
}

export const documentsOf = (store: TestStore) => Object.fromEntries(KINDS.map(kind => [kind, store.all(kind)]))

/** Segments do not overlap, and tell the truth about the rows. */
export const checkSegments = (store: TestStore) => {
  const positions = new Map(KINDS.map(kind => [kind, store.positions(kind)]))
  store.read(() => {
    const { reader, db } = store
    let last = -1
    for (const segment of reader.segments()) {
      assert.ok(segment.first > last && segment.last >= segment.first, `segment ${segment.first} behind ${last}`)
      last = segment.last
      const header = reader.header(segment)
      assert.deepEqual(
        [header.first, header.last, header.times.length],
        [segment.first, segment.last, segment.last - segment.first + 1],
      )
      const isIn = (position: number) => blockOf(position) >= segment.first && blockOf(position) <= segment.last
      const count = (kind: Kind) => positions.get(kind)!.filter(isIn).length
      assert.equal(segment.events, count('event'))
      const index = header.times.length - 1
      for (const kind of RECORD_KINDS)
        assert.deepEqual([segment[kind], endOrdinal(header, kind, index)], [count(kind), count(kind)], kind)
      assert.equal(count('block'), index + 1)
      const times = db.prepare('SELECT time FROM block WHERE number BETWEEN ? AND ? ORDER BY number').pluck()
      assert.deepEqual([...header.times], times.all(segment.first, segment.last))
    }
  })
}

const NOW = Date.UTC(2025, 0, 1, 1)
export const queriesOn = (store: TestStore, count: number): [Kind, Node][] =>
  KINDS.flatMap(kind =>
    fc
      .sample(arbitraryQuery(kind, store.all(kind).slice(0, 60)), { numRuns: count, seed: 5 })
      .map((query): [Kind, Node] => [kind, parseSearch(stringifyLossless({ query }), [kind], NOW).parts[0]!.query]),
  )

export const assertSame = (store: TestStore, other: TestStore, queries: [Kind, Node][] = []) => {
  checkSegments(store)
  checkColumns(store)
  assert.deepStrictEqual(contentsOf(store), contentsOf(other))
  assert.deepStrictEqual(documentsOf(store), documentsOf(other))
  for (const [kind, node] of queries) {
    const [a, b] = [store.evaluate(kind, node), other.evaluate(kind, node)]
    assert.deepStrictEqual([a.positions, a.counted], [b.positions, b.counted])
  }
}

export const using = (stores: TestStore[], work: () => void) => {
  try {
    work()
  } finally {
    for (const store of stores) store.close()
  }
}
