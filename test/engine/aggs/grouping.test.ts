import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Batch, batchOf } from '../../../src/engine/aggs/batch.ts'
import { groupByValue } from '../../../src/engine/aggs/group-by.ts'
import { type Codes, countCodes } from '../../../src/engine/aggs/values.ts'
import {
  collected,
  complement,
  listed,
  type OrdinalSet,
  run,
  toArray,
} from '../../../src/engine/query/match/ordinal-set.ts'
import { randomFrom } from '../../support/random.ts'

const random = randomFrom(5)
const SIZE = 5_003
const CODES = 40

const sets: OrdinalSet[] = [
  run(0, SIZE),
  run(7, SIZE - 9),
  run(0, 100),
  ...[0.01, 0.3, 0.9, 0.999].flatMap(share => {
    const picked = Uint32Array.from({ length: SIZE }, (_, i) => i).filter(() => random() < share)
    return [collected(picked, SIZE), complement(listed(picked), SIZE)]
  }),
]

const columnOf = (Type: Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor): Codes =>
  new Type(Array.from({ length: SIZE }, () => Math.floor(random() ** 3 * CODES)))

const naive = (column: Codes, batch: Batch): number[] => {
  const counts = Array.from({ length: CODES }, () => 0)
  for (let i = 0; i < batch.count; i++) counts[column[batch.list ? batch.list[i]! : batch.from + i]!]!++
  return counts
}

it('codes are counted as one by one, in sets of each form, at first and again', () => {
  for (const Type of [Uint8Array, Uint16Array, Uint32Array]) {
    const column = columnOf(Type)
    for (const set of [...sets, ...sets]) {
      const batch = batchOf(set)
      assert.deepEqual([...countCodes(column, batch, CODES)], naive(column, batch), set.form)
    }
  }
})

it('documents are grouped by keys that several codes share, in several buckets, with and without them', () => {
  const column = columnOf(Uint16Array)
  const keys = Float64Array.from({ length: CODES }, (_, code) => (code === 3 ? Number.NaN : code % 11))
  for (const set of sets)
    for (const runs of [undefined, 4]) {
      const one = batchOf(set)
      const ends = runs && Uint32Array.from({ length: runs }, (_, i) => Math.floor((one.count * (i + 1)) / runs))
      const batch: Batch = { ...one, ...(ends && { runs: ends, buckets: runs, owners: ownersIn(ends) }) }
      const expected = new Map<string, number>()
      for (const [i, ordinal] of toArray(set).entries()) {
        const key = keys[column[ordinal]!]!
        if (!Number.isNaN(key)) {
          const name = `${batch.owners ? batch.owners[i] : 0} ${key}`
          expected.set(name, (expected.get(name) ?? 0) + 1)
        }
      }
      for (const wantsInner of [false, true]) {
        const found = { form: 'few', at: column, keys, distinct: false } as const
        const { rows, inner } = groupByValue(found, batch, wantsInner)
        const counts = Array.from(rows.keys, (key, i) => [`${rows.owners[i]} ${key}`, rows.counts[i]] as const)
        assert.deepEqual(new Map(counts), expected)
        if (!inner) continue
        const inRows = Array.from(rows.keys, () => 0)
        for (let i = 0; i < inner.count; i++) {
          const row: number = inner.owners ? inner.owners[i]! : 0
          assert.equal(keys[column[inner.list ? inner.list[i]! : inner.from + i]!], rows.keys[row])
          inRows[row]!++
        }
        assert.deepEqual(inRows, [...rows.counts])
      }
    }
})

const ownersIn = (ends: Uint32Array): Uint32Array =>
  Uint32Array.from({ length: ends.at(-1)! }, (_, i) => ends.findIndex(end => i < end))
