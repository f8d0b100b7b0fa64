import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keccak256 } from 'viem'
import { checkBlock } from '../../src/chain/check/check-block.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { RECORD_COLUMNS } from '../../src/engine/documents/columns.ts'
import { fieldsOf, type Kind, MAPPING } from '../../src/mapping/index.ts'
import {
  arbitrumBlock,
  avalancheBlock,
  bnbBlock,
  celoBlock,
  opBlock,
  unknownBlock,
  zkBlock,
} from '../support/chains.ts'
import { eraBlock, gnosisBlock, lineaBlock, priorityBlock, scrollBlock } from '../support/more-chains.ts'
import { bloomOf } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

type Source = Record<string, unknown>

const quantity = (num: number) => ({ num, raw: `0x${num.toString(16)}` })
const amount = (num: number) => ({
  num,
  coin: num / 1e18,
  padded: `0x${num.toString(16).padStart(64, '0')}`,
  raw: `0x${num.toString(16)}`,
})

/** What a store shows of a block that was checked, by kind. */
const shown = (raw: RawBlock, bloom = true): Record<'block' | 'tx' | 'log', Source[]> => {
  const block = structuredClone(raw)
  checkBlock(block, { bloom, excerpts: true })
  const store = createTestStore([block])
  try {
    const of = (kind: Kind) => store.all(kind).map(({ _source }) => _source)
    return { block: of('block'), tx: of('tx'), log: of('log') }
  } finally {
    store.close()
  }
}

/** Without what every chain has. */
const own = (kind: 'block' | 'tx', source: Source): Source => {
  const all = MAPPING[kind].fields
  return Object.fromEntries(
    Object.entries(source).filter(([name]) => {
      const field = all[name]!
      return name === 'type' || 'rare' in field || field.origin === 'rest'
    }),
  )
}

const ALL = [
  ...[opBlock, arbitrumBlock, zkBlock, avalancheBlock, bnbBlock, celoBlock],
  ...[eraBlock, priorityBlock, gnosisBlock, lineaBlock, scrollBlock],
]

/** What is shown under another name, or as documents of their own. */
const ELSEWHERE = new Set(['transactions', 'logs', 'transactionHash', 'transactionCount'])

describe('blocks of other chains', () => {
  it('of the OP stack keep what deposits and receipts tell', () => {
    const { block, tx } = shown(opBlock)
    assert.deepStrictEqual(own('block', block[0]!), {})
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0x7e),
      sourceHash: '0x5a1b66228a26547e2ce6fe1aa734d2c34e062e42ccd5710463e6987890f1ad5d',
      mint: amount(0),
      depositReceiptVersion: quantity(1),
      depositNonce: quantity(0x111),
      l1Fee: amount(0),
      l1GasUsed: quantity(0x13c4),
      l1GasPrice: quantity(0x75d3f8610),
      l1FeeScalar: '0.684',
    })
  })

  it('of Avalanche keep the data of atomic transactions', () => {
    const { block } = shown(avalancheBlock)
    assert.deepStrictEqual(own('block', block[0]!), {
      blockGasCost: quantity(0),
      extDataGasUsed: quantity(0),
      extDataHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
      extra: { blockExtraData: '0x' },
    })
  })

  it('of BNB chain pass with logs of its own transactions, which have no block hash', () => {
    const { log, tx } = shown(bnbBlock)
    assert.deepStrictEqual(
      [tx[0]!.gas, log[0]!.blockHash],
      [{ num: 2n ** 63n - 1n, raw: '0x7fffffffffffffff' }, bnbBlock.block.hash],
    )
    const other = structuredClone(bnbBlock)
    other.receipts[0]!.logs[0]!.blockHash = `0x${'ab'.repeat(32)}`
    assert.throws(() => shown(other), { code: 'block_inconsistent' })
  })

  it('of Celo keep the token that the fee is paid in', () => {
    const { tx } = shown(celoBlock)
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0x7b),
      l1Fee: amount(0),
      l1GasUsed: quantity(0x697),
      l1GasPrice: quantity(0x22654238),
      l1BaseFeeScalar: quantity(0),
      l1BlobBaseFee: quantity(0x760c6b),
      l1BlobBaseFeeScalar: quantity(0),
      feeCurrency: '0x2F25deB3848C207fc8E0c34035B3Ba7fC157602B',
      baseFee: quantity(0x1adff4f03),
    })
  })

  it('lose no member: each is a field, or in extra', () => {
    for (const raw of ALL) {
      const { block, tx } = shown(raw, false)
      const lost = (members: object, source: Source) =>
        Object.entries(members)
          .filter(([name, value]) => value !== null && !(name in source) && !(name in ((source.extra ?? {}) as object)))
          .map(([name]) => name)
      const all = [
        ...lost(raw.block, { ...block[0]!, nonce: block[0]!.miningNonce }),
        ...raw.block.transactions.flatMap((it, i) => lost({ ...it, ...raw.receipts[i] }, tx[i]!)),
      ]
      assert.deepStrictEqual(
        [...new Set(all)].filter(name => !ELSEWHERE.has(name)),
        [],
        `chain ${raw.chainId}`,
      )
    }
  })

  it('of Arbitrum keep the block of the parent chain, sends and gas for data', () => {
    const { block, tx } = shown(arbitrumBlock)
    assert.deepStrictEqual(own('block', block[0]!), {
      l1BlockNumber: quantity(0x15b88c4),
      sendCount: quantity(0x23fb9),
      sendRoot: '0xc55914e90e13cba05a84efc4b7f1e7c44897f9437ed4fbac55ae8d602d4d3240',
    })
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0x6a),
      gasUsedForL1: quantity(0),
      l1BlockNumber: quantity(0x15b88c4),
      timeboosted: false,
    })
  })

  it('of zkSync keep batches, though their blooms are zeros', () => {
    assert.throws(() => shown(zkBlock), { code: 'block_inconsistent' })
    const { block, tx, log } = shown(zkBlock, false)
    assert.deepStrictEqual(own('block', block[0]!), {
      l1BatchNumber: quantity(0x1d4f2),
      l1BatchTimestamp: quantity(0x64c5a2c5),
      extra: { sealFields: [] },
    })
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0),
      l1BatchNumber: quantity(0x1d4f2),
      l1BatchTxIndex: quantity(0x5f),
      extra: { l2ToL1Logs: [] },
    })
    assert.equal(log.length, 3)
  })

  it('of zkSync have types of their own, of users and from the parent chain', () => {
    const { tx, log } = shown(eraBlock, false)
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0x71),
      l1BatchNumber: quantity(0x239),
      l1BatchTxIndex: quantity(0x154),
      extra: { l2ToL1Logs: [] },
    })
    assert.deepStrictEqual([tx[0]!.gasUsed, log.length], [quantity(0x318fd7), 11])
    const { block, tx: first } = shown(priorityBlock)
    assert.deepStrictEqual(own('block', block[0]!).l1BatchTimestamp, quantity(0x63eb991e))
    assert.deepStrictEqual(own('tx', first[0]!), {
      type: quantity(0xff),
      l1BatchNumber: quantity(1),
      l1BatchTxIndex: quantity(0),
      extra: { l2ToL1Logs: (priorityBlock.receipts[0] as unknown as Source).l2ToL1Logs },
    })
  })

  it('of Gnosis keep what OpenEthereum tells of a transaction', () => {
    const [{ raw, ...wire }] = gnosisBlock.block.transactions as unknown as [Source]
    assert.equal(keccak256(raw as `0x${string}`), wire.hash)
    assert.equal(bloomOf(gnosisBlock.receipts), gnosisBlock.receipts[0]!.logsBloom)
    const { tx, log } = shown(gnosisBlock)
    assert.deepStrictEqual(own('tx', tx[0]!), {
      type: quantity(0),
      extra: { raw, standardV: '0x1' },
    })
    assert.equal(tx[0]!.publicKey, wire.publicKey)
    assert.equal(log.length, 13)
  })

  it('of Linea and Scroll are those of Ethereum', () => {
    for (const raw of [lineaBlock, scrollBlock]) {
      const { block, tx, log } = shown(raw)
      assert.deepStrictEqual(own('block', block[0]!), {})
      assert.deepStrictEqual(own('tx', tx[0]!), { type: quantity(2) })
      assert.equal(log.length, raw.receipts[0]!.logs.length)
    }
  })

  it('keep members that nobody knows, values of another form, and what a receipt tells otherwise', () => {
    const { block, tx } = shown(unknownBlock())
    assert.deepStrictEqual(block[0]!.extra, {
      sendCount: 'many',
      proofs: [{ by: 'A', of: { depth: 3 } }, { by: 'B' }],
    })
    assert.equal(
      JSON.stringify(tx[0]!.extra),
      '{"ticketId":"0x1234","yieldMode":"claimable","__proto__":{"polluted":"yes"},"constructor":"made",' +
        '"shares":{"node":"7","user":"Ü"},"receipt":{"type":"0x69","yieldMode":"void","mint":"0x6"}}',
    )
    assert.deepStrictEqual(tx[0]!.mint, amount(5))
    assert.equal(({} as Source).polluted, undefined)
  })

  it('are refused where unknown members are too deep or too large', () => {
    const deep = structuredClone(arbitrumBlock)
    let inner: unknown = 1
    for (let i = 0; i < 10_000; i++) inner = [inner]
    deep.block.nested = inner
    assert.throws(() => checkBlock(deep, { excerpts: true }), {
      code: 'block_inconsistent',
      message: /block 350791066: nested has more than 32 levels/,
    })
    const large = structuredClone(arbitrumBlock)
    large.receipts[0]!.proof = 'f'.repeat(1_000_001)
    assert.throws(() => checkBlock(large, { excerpts: true }), {
      code: 'block_inconsistent',
      message: /receipts\[0\] has too much that is not known/,
    })
  })
})

it('records of stores of before can be read: fields of chains take one of the bits that were spare', () => {
  // Bits were kept for 22 and 35 fields, in whole bytes.
  assert.deepEqual([RECORD_COLUMNS.block.length, RECORD_COLUMNS.block.at(-1)!.field], [23, 'extra'])
  assert.deepEqual([RECORD_COLUMNS.tx.length, RECORD_COLUMNS.tx.at(-1)!.field], [36, 'extra'])
})

it('fields of chains have numbers of their own', () => {
  for (const kind of ['block', 'tx'] as const) {
    const numbers = fieldsOf(kind).flatMap(({ field }) => field.rare ?? [])
    assert.equal(new Set(numbers).size, numbers.length)
    assert.ok(numbers.every(number => number > 0))
  }
})
