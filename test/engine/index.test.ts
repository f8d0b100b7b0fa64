import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createListBuilder, readOrdinals } from '../../src/engine/index/ordinals.ts'
import { columnsOfNumbers, createNumbersBuilder } from '../../src/engine/index/points.ts'
import { decodeSegmentHeader, encodeSegmentHeader, type SegmentHeader } from '../../src/engine/index/segment.ts'
import {
  argumentField,
  argumentOf,
  argumentTerms,
  fieldOfTerm,
  HASHED,
  integersField,
  logField,
  logTerms,
  OVERFLOW_SLOT,
  POSTINGS_FIELDS,
  SIGNATURES,
  scaledField,
  signatureOfLogField,
  termOf,
  UNDECODED,
} from '../../src/engine/index/terms.ts'
import { ordinalOfPosition, positionOfOrdinal } from '../../src/engine/query/fields/ordinals.ts'
import { blockOf, positionOf } from '../../src/engine/schema.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'

const listOf = (ordinals: readonly number[]) => {
  const list = createListBuilder()
  for (const ordinal of ordinals) list.add(ordinal)
  return list
}

describe('ordinals', () => {
  it('are read as they were written', () => {
    const ascending = fc
      .uniqueArray(fc.oneof(fc.nat(200), fc.nat(2 ** 28)), { minLength: 1, maxLength: 60 })
      .map(list => list.sort((a, b) => a - b))
    fc.assert(
      fc.property(ascending, ordinals => {
        assert.deepEqual([...readOrdinals(listOf(ordinals).view(), ordinals.length)], ordinals)
      }),
    )
  })

  it('are put together from lists whose ordinals are moved', () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 20 })), {
      minLength: 1,
      maxLength: 40,
    })
    fc.assert(
      fc.property(fc.array(gaps, { minLength: 1, maxLength: 5 }), parts => {
        const list = createListBuilder()
        const due: number[] = []
        let offset = 0
        for (const gaps of parts) {
          let sum = -1
          const ordinals = gaps.map(gap => {
            sum += gap
            return sum
          })
          if (ordinals.length === 1) list.add(offset + ordinals[0]!)
          else {
            const bytes = createByteWriter(2)
            bytes.hex('ffff')
            bytes.bytes(listOf(ordinals).view())
            list.append(bytes.view(), 2, bytes.length, ordinals.length, offset)
          }
          due.push(...ordinals.map(ordinal => ordinal + offset))
          offset += sum + 1
        }
        assert.deepEqual([list.count, list.last], [due.length, due.at(-1)])
        assert.deepEqual([...readOrdinals(list.view(), list.count)], due)
      }),
    )
  })
})

describe('columns of numbers', () => {
  it('ascend exactly, and keep the order of the chain among equal ones', () => {
    const long = fc.oneof(
      fc.bigInt(-3n, 3n),
      fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), -(2n ** 63n) + 1n),
    )
    const double = fc.oneof(fc.constantFrom(0, 1e-18, 1.5, -1e300, 1e300), fc.double({ noNaN: true }))
    const entry = fc.oneof(
      fc.tuple(fc.constantFrom(0, 4), long),
      fc.tuple(
        fc.constantFrom(1, 2 ** 23 - 1),
        double.map(value => value + 0),
      ),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 80 }), entries => {
        const builder = createNumbersBuilder()
        for (const [ordinal, [field, value]] of entries.entries()) builder.add(field, value, ordinal)
        const due = [...Map.groupBy(entries.entries(), ([, [field]]) => field)]
          .sort(([a], [b]) => a - b)
          .map(([field, list]) => {
            const sorted = list.sort(([i, [, a]], [j, [, b]]) => (a < b ? -1 : a > b ? 1 : i - j))
            return { field, values: sorted.map(([, [, value]]) => value), ordinals: sorted.map(([i]) => i) }
          })
        const found = columnsOfNumbers(builder.finish()).map(({ field, values, ordinals }) => ({
          field,
          values: [...(values as Iterable<bigint | number>)],
          ordinals: [...ordinals],
        }))
        assert.deepEqual(found, due)
      }),
    )
  })

  it('grow beyond what they began with', () => {
    const builder = createNumbersBuilder()
    for (let i = 0; i < 5000; i++) {
      builder.add(2, BigInt(5000 - i), i)
      builder.add(3, i / 2, i)
    }
    const [integers, doubles] = columnsOfNumbers(builder.finish())
    assert.deepEqual([integers!.values[0], integers!.ordinals[0], integers!.values.length], [1n, 4999, 5000])
    assert.deepEqual([doubles!.values[4999], doubles!.ordinals[4999]], [2499.5, 4999])
  })
})

/** Headers of blocks that are whole or excerpts, with the places of their documents. */
const header = fc
  .array(
    fc.record({
      time: fc.nat(2 ** 33),
      partial: fc.boolean(),
      txs: fc.uniqueArray(fc.nat(30), { maxLength: 5 }),
      logs: fc.uniqueArray(fc.nat(300), { maxLength: 8 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map(blocks => {
    const partials: SegmentHeader['partials'] = new Map()
    const ends = (list: 'txs' | 'logs') => {
      let sum = 0
      return Uint32Array.from(blocks, block => {
        sum += block[list].length
        return sum
      })
    }
    const sorted = (list: number[]) => Uint32Array.from(list).sort()
    for (const [i, { partial, txs, logs }] of blocks.entries())
      if (partial) partials.set(i, { txs: sorted(txs), logs: sorted(logs) })
    const result: SegmentHeader = {
      first: 1000,
      last: 1000 + blocks.length - 1,
      numbers: undefined,
      times: Float64Array.from(blocks, ({ time }) => time),
      ends: {
        tx: ends('txs'),
        log: ends('logs'),
        trace: Uint32Array.from(blocks, (_, i) => i),
        call: Uint32Array.from(blocks, (_, i) => 2 * i),
      },
      partials,
    }
    return result
  })

describe('a segment’s header', () => {
  it('is read as it was written, wherever its bytes lie', () => {
    fc.assert(
      fc.property(header, fc.nat(7), (one, shift) => {
        const bytes = encodeSegmentHeader(one)
        const shifted = Buffer.alloc(bytes.length + shift)
        shifted.set(bytes, shift)
        assert.deepEqual(decodeSegmentHeader(1000, shifted.subarray(shift)), one)
      }),
    )
  })

  it('turns ordinals into positions and back; places that hold nothing into the next ordinal', () => {
    fc.assert(
      fc.property(header, one => {
        const read = { ...one, positions: () => new Float64Array() }
        for (const numbered of ['block', 'tx', 'log'] as const) {
          const size = numbered === 'block' ? one.times.length : one.ends[numbered].at(-1)!
          const positions = Array.from({ length: size }, (_, ordinal) => positionOfOrdinal(read, numbered, ordinal))
          assert.deepEqual(
            positions.map(position => ordinalOfPosition(read, numbered, position)),
            [...positions.keys()],
          )
          assert.deepEqual(
            positions,
            positions.toSorted((a, b) => a - b),
          )
          if (numbered === 'block') continue
          for (let block = one.first; block <= one.last; block++)
            for (const place of [0, 1, 2, 299, 5000]) {
              const next = positions.findIndex(position => position >= positionOf(block, place))
              const due = next >= 0 ? next : size
              assert.equal(ordinalOfPosition(read, numbered, positionOf(block, place)), due)
            }
          assert.ok(positions.every(position => blockOf(position) >= one.first))
        }
      }),
    )
  })
})

describe('terms', () => {
  it('keep fields apart, and stay exact', () => {
    const last = SIGNATURES - 1
    const fields = [
      UNDECODED,
      ...POSTINGS_FIELDS.map(({ id }) => id),
      ...[1, 2, last].flatMap(id => [logField(id), ...[0, 1, OVERFLOW_SLOT].map(slot => argumentField(id, slot))]),
    ]
    assert.equal(new Set(fields).size, fields.length)
    for (const field of fields)
      for (const value of [0, 1, HASHED - 1, HASHED, HASHED + 2 ** 30 - 1]) {
        const term = termOf(value, field)
        assert.ok(Number.isSafeInteger(term))
        assert.deepEqual([fieldOfTerm(term), (term - field) / 2 ** 22], [field, value])
      }
    for (const id of [1, 2, last]) {
      assert.equal(signatureOfLogField(logField(id)), id)
      for (const slot of [0, 3, OVERFLOW_SLOT])
        assert.deepEqual(argumentOf(argumentField(id, slot)), { signature: id, slot })
      const within = ([from, to]: [number, number], field: number) => termOf(9, field) >= from && termOf(9, field) <= to
      assert.deepEqual([within(logTerms(9), logField(id)), within(argumentTerms(9), logField(id))], [true, false])
      const argument = argumentField(id, OVERFLOW_SLOT)
      assert.deepEqual([within(logTerms(9), argument), within(argumentTerms(9), argument)], [false, true])
      assert.deepEqual([integersField(id, 1) % 2, scaledField(id, 1)], [0, integersField(id, 1) + 1])
    }
  })
})
