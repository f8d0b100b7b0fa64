import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { readBlockRow } from '../../src/engine/documents/records/block.ts'
import { newStarts, startsIn } from '../../src/engine/documents/records/rows.ts'
import { unpackAbi } from '../../src/engine/forms/abi-words.ts'
import { createListBuilder, readOrdinals } from '../../src/engine/index/ordinals.ts'
import { readPointColumn } from '../../src/engine/index/points.ts'
import { decodeSegmentHeader, encodeSegmentHeader } from '../../src/engine/index/segment.ts'
import { byKind, RECORD_KINDS } from '../../src/mapping/index.ts'

const refusal = { next: 'stop', code: 'store_damaged', message: /chainsieve verify names the file/ }
const address = (id: number) => id.toString(16).padStart(40, '0')

/** Reads what is damaged: it comes to something, or is refused as damaged, soon. */
const holds = (read: () => unknown) => {
  try {
    read()
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'store_damaged', String(error))
  }
}

describe('what no store was ever written', () => {
  it('is refused, whatever bytes there are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(2 ** 31), (bytes, count) => {
        const buffer = Buffer.from(bytes)
        holds(() => unpackAbi(buffer, address))
        holds(() => startsIn(buffer, 'log', 0, newStarts()))
        holds(() => readBlockRow(0, [buffer, 0, buffer, buffer]))
        holds(() => readOrdinals(buffer, count))
        holds(() => readPointColumn(2, buffer, buffer))
        holds(() => decodeSegmentHeader(0, buffer))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is refused where it ends too early', () => {
    // A varint without an end, a word that is cut, a control byte that none writes.
    for (const bytes of [[64, 0x80], [65, 0xff], [32, 1], [99], [67, 1]])
      assert.throws(() => unpackAbi(Buffer.from(bytes), address), refusal)
    const list = createListBuilder()
    for (const ordinal of [1, 200, 40_000]) list.add(ordinal)
    assert.deepEqual([...readOrdinals(list.view(), 3)], [1, 200, 40_000])
    assert.throws(() => readOrdinals(list.view().subarray(0, 4), 3), refusal)
    assert.throws(() => readOrdinals(list.view(), 2 ** 32 - 1), refusal)
  })

  it('is refused where it says that it is huge', () => {
    const large = zstdCompressSync(Buffer.alloc(300 << 20), { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
    assert.throws(() => unpackAbi(Buffer.concat([Buffer.of(66), large]), address), refusal)
    const times = Float64Array.of(1, 2)
    const ends = Uint32Array.of(1, 2)
    const header = Buffer.from(
      encodeSegmentHeader({ times, numbers: undefined, ends: byKind(RECORD_KINDS, () => ends), partials: new Map() }),
    )
    assert.equal(decodeSegmentHeader(5, header).last, 6)
    for (const at of [0, 4]) {
      const wrong = Buffer.from(header)
      wrong.writeUInt32LE(4_000_000_000, at)
      assert.throws(() => decodeSegmentHeader(5, wrong), refusal)
    }
  })
})
