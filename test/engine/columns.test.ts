import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { copyValues, decodeColumn, encodeColumn, MISSING, valueAt } from '../../src/engine/index/column-codec.ts'
import { integerOfWire } from '../../src/engine/index/field-index.ts'
import { COLUMN_FIELDS } from '../../src/engine/index/terms.ts'
import { checkColumns } from '../support/columns.ts'
import { events, neighbours, using } from '../support/contents.ts'
import { oddBlocks } from '../support/odd.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

/** Values as columns have them: of few bits or many, some missing, some the same. */
const arbitraryValues = fc
  .record({
    some: fc.array(
      fc.oneof(
        fc.constant(MISSING),
        fc.nat(3),
        fc.nat(300),
        fc.nat(70_000),
        fc.nat(),
        fc.maxSafeNat(),
        fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 256),
        fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.floor),
      ),
      { maxLength: 12 },
    ),
    base: fc.constantFrom(0, 1000, 2 ** 40),
    times: fc.constantFrom(1, 1, 3, 400),
  })
  .map(({ some, base, times }) => {
    const values = some.map(value => (value === MISSING ? value : value + base))
    return Float64Array.from(Array.from({ length: times }, () => values).flat())
  })

describe('a column', () => {
  it('is read as it was written, in as few bytes as its values need', () => {
    const widths = new Set<number>()
    fc.assert(
      fc.property(arbitraryValues, fc.boolean(), (values, full) => {
        const encoded = encodeColumn(values, { full })
        const present = values.filter(value => value !== MISSING)
        if (present.length === 0) return assert.equal(encoded, undefined)
        const { least, greatest, data } = encoded!
        assert.deepEqual(
          [least, greatest],
          [present.reduce((a, b) => Math.min(a, b)), present.reduce((a, b) => Math.max(a, b))],
        )
        // As SQLite hands it over, at any place of a larger buffer.
        const blob = Buffer.concat([Buffer.alloc(3), data]).subarray(3)
        const column = decodeColumn(blob, 'a column')
        assert.deepEqual(
          Float64Array.from(values, (_, i) => valueAt(column, i)),
          values,
        )
        const copied = new Float64Array(values.length + 2)
        copyValues(column, copied, 1)
        assert.deepEqual(copied.slice(1, -1), values)
        assert.ok(column.bytes <= values.length * 8 + 8)
        widths.add(column.width * 2 + Number(column.dictionary !== undefined))
      }),
      { numRuns: 1000, seed: 1 },
    )
    // Each width, and a dictionary with places of one byte.
    assert.deepEqual(
      [...widths].sort((a, b) => a - b),
      [0, 2, 3, 4, 8, 16],
    )
  })

  it('with few values of a wide range has a dictionary, and one of a full segment is compressed', () => {
    const values = Float64Array.from({ length: 80_000 }, (_, i) => (i % 7 === 0 ? MISSING : 1e9 + (i % 300) * 1e7))
    const plain = encodeColumn(values, { full: false })!.data
    assert.ok(plain.length < 80_000 * 2 + 300 * 8 + 100, `${plain.length}`)
    assert.ok(encodeColumn(values, { full: true })!.data.length < plain.length / 4)
  })

  it('that is damaged anywhere says which one it is', () => {
    const values = Float64Array.from({ length: 2000 }, (_, i) => (i % 5) * 1e6)
    for (const full of [false, true]) {
      const { data } = encodeColumn(values, { full })!
      for (let at = 0; at < data.length; at += at < 40 ? 1 : 97) {
        const damaged = Buffer.from(data)
        damaged[at]! ^= 4
        assert.throws(
          () => decodeColumn(damaged, 'the column of tx.gas'),
          /the column of tx\.gas does not match its checksum/,
        )
      }
      assert.throws(
        () => decodeColumn(Buffer.from(data).subarray(0, 10), 'the column of tx.gas'),
        /the column of tx\.gas/,
      )
    }
  })

  it('orders integers as they are, whatever their size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(600), (large, small) => {
        const value = large >> BigInt(small % 256)
        assert.equal(integerOfWire(`0x${value.toString(16)}`), Number(value))
      }),
    )
    assert.deepEqual(['0x', '0x0', '0x00ff', 7, null, undefined].map(integerOfWire), [0, 0, 255, 7, MISSING, MISSING])
  })
})

describe('columns of a store', () => {
  it('have numbers of their own, which never change', () => {
    const numbers = COLUMN_FIELDS.map(({ kind, field, number }) => `${number} ${kind}.${field}`)
    assert.equal(new Set(COLUMN_FIELDS.map(({ number }) => number)).size, COLUMN_FIELDS.length)
    assert.deepEqual(
      numbers.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
      [
        '1 block.miner',
        '2 block.size',
        '3 block.gasLimit',
        '4 block.gasUsed',
        '5 block.baseFeePerGas',
        '6 block.blobGasUsed',
        '10 tx.from',
        '11 tx.to',
        '12 tx.method',
        '13 tx.type',
        '14 tx.status',
        '15 tx.nonce',
        '16 tx.gas',
        '17 tx.gasPrice',
        '18 tx.gasUsed',
        '19 tx.value',
        '20 tx.contractAddress',
        '21 tx.cumulativeGasUsed',
        '22 tx.maxFeePerGas',
        '23 tx.maxPriorityFeePerGas',
        '24 tx.effectiveGasPrice',
        '25 tx.error',
        '26 tx.revertReason',
        '27 tx.revertName',
        '28 tx.revertAddress',
        '30 log.address',
        '31 log.signature',
        '32 log.transactionIndex',
        '40 trace.type',
        '41 trace.callType',
        '42 trace.action.from',
        '43 trace.action.to',
        '44 trace.result.gasUsed',
        '45 trace.error',
        '46 trace.transactionPosition',
        '47 trace.revertReason',
        '48 trace.revertName',
        '50 call.from',
        '51 call.to',
        '52 call.selector',
        '53 call.transactionIndex',
        '54 call.callType',
        '55 call.reverted',
        '56 call.depth',
        '57 call.value',
        '58 call.revertReason',
        '59 call.revertName',
      ],
    )
  })

  it('tell what the documents do, however segments were merged and cut', () => {
    const blocks = neighbours(30)
    const store = createTestStore([], { run: [1, 1, 2, 1, 3, 1, 1, 5], events })
    using([store], () => {
      store.add(blocks)
      checkColumns(store)
      for (const to of [127, 118, 101]) {
        store.rollback(to)
        checkColumns(store)
      }
      store.add(blocks.slice(2))
      checkColumns(store)
    })
  })

  it('hold odd values, and those of logs that the dictionary of signatures has no room for', () => {
    const store = createTestStore([...oddBlocks(40, 100), ...generatedBlocks(3, 1, 140)], {
      run: 4,
      events,
      listedSignatures: 3,
    })
    using([store], () => checkColumns(store))
  })
})
