import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkBlock, checkLink, refOf } from '../../src/chain/check/check-block.ts'
import type { RawBlock, RpcLog } from '../../src/chain/wire.ts'
import { logsBloomOf } from '../../src/lib/bloom.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { bloomOf, gunzipLines, hasMainnet, mainnetPack, makeChain } from '../support/pack.ts'

const good = (): RawBlock => makeChain({ from: 5, blocks: 1, txs: 3, logs: 3 })[0]!

/** Keccak digests of the generator's texts, cut to their beginnings in messages below. */
const anyHash = /0x[0-9a-f]{40,64}/g

/** What `checkBlock` says of a block that was tampered with, with every hash replaced by `#`. */
const faultOf = (tamper: (raw: RawBlock) => void, options = {}): string | undefined => {
  const raw = good()
  tamper(raw)
  try {
    checkBlock(raw, options)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ChainsieveError, String(error))
    assert.equal(error.next, 'retry')
    assert.equal(error.code, 'block_inconsistent')
    return error.message.replaceAll(anyHash, '#')
  }
}

const other = `0x${'ab'.repeat(32)}`
const logs = (raw: RawBlock): RpcLog[] => raw.receipts.flatMap(it => it.logs)

test('a consistent block passes', () => {
  assert.equal(
    faultOf(() => {}),
    undefined,
  )
  for (const raw of makeChain({ blocks: 3, txs: 0 })) checkBlock(raw)
})

test('quantities with leading zeros and addresses in capitals pass', () => {
  assert.equal(
    faultOf(raw => {
      raw.receipts[1]!.transactionIndex = '0x01'
      raw.receipts[1]!.blockNumber = '0x05'
      raw.receipts[1]!.logs[0]!.logIndex = '0x03'
      raw.receipts[1]!.logs[0]!.address = `0x${raw.receipts[1]!.logs[0]!.address.slice(2).toUpperCase()}`
    }),
    undefined,
  )
})

test('every lie about a block is named', () => {
  const lies: Record<string, (raw: RawBlock) => void> = {
    'the block is null': raw => Object.assign(raw, { block: null }),
    'the block has no usable number: null': raw => Object.assign(raw.block, { number: null }),
    'the block has no usable number: 0x80000000': raw => Object.assign(raw.block, { number: '0x80000000' }),
    'block 5 has a malformed hash: null': raw => Object.assign(raw.block, { hash: null }),
    'block 5 has a malformed parentHash: 0x12': raw => Object.assign(raw.block, { parentHash: '0x12' }),
    'block 5 has a malformed timestamp: now': raw => Object.assign(raw.block, { timestamp: 'now' }),
    'block 5: transactions is nothing, not a list': raw => Object.assign(raw.block, { transactions: undefined }),
    'block 5 has only the hashes of its transactions, not the transactions': raw =>
      Object.assign(raw.block, { transactions: raw.block.transactions.map(it => it.hash) }),
    'block 5: receipts is null, not a list': raw => Object.assign(raw, { receipts: null }),
    'block 5 has 3 transactions but 2 receipts': raw => raw.receipts.pop(),
    'block 5: receipts[1] is null, not an object': raw => Object.assign(raw.receipts, { 1: null }),
    'block 5: transactions[1].hash is 0x1, not a hash (0x and 64 hex digits in lower case)': raw =>
      Object.assign(raw.block.transactions[1]!, { hash: '0x1' }),
    'block 5 has transaction index 0x2 at place 0': raw => raw.block.transactions.reverse(),
    'block 5 #: transaction 2 says block 0x5 #': raw => Object.assign(raw.block.transactions[2]!, { blockHash: other }),
    'block 5 #: receipt 0 is of block 0x5 #': raw =>
      Object.assign(raw, { receipts: makeChain({ from: 5, blocks: 1, txs: 3, logs: 3, salt: 'fork' })[0]!.receipts }),
    'block 5 #: receipt 0 is of block 0x6 #': raw => Object.assign(raw.receipts[0]!, { blockNumber: '0x6' }),
    'block 5: receipt 0 is of transaction 0x2 #, not #': raw => raw.receipts.reverse(),
    'block 5: receipts[1].logs is null, not a list': raw => Object.assign(raw.receipts[1]!, { logs: null }),
    'block 5: log 4 (of transaction 1) is of block 0x5 #, not #': raw =>
      Object.assign(logs(raw)[4]!, { blockHash: other }),
    'block 5: log 4 (of transaction 1) is of transaction 0x1 #, not 1 #': raw =>
      Object.assign(logs(raw)[4]!, { transactionHash: other }),
    'block 5: log 4 (of transaction 1) is marked as removed': raw => Object.assign(logs(raw)[4]!, { removed: true }),
    'block 5: log 3 (of transaction 1) has index 0x4 instead of 3': raw => raw.receipts[1]!.logs.shift(),
    'block 5: its logs bloom has more logs than the 6 received: some are missing': raw => {
      raw.receipts[2]!.logs = []
    },
    'block 5: log 3 (of transaction 1) has index 0x0 instead of 3': raw => {
      for (const receipt of raw.receipts) for (const [i, log] of receipt.logs.entries()) log.logIndex = `0x${i}`
    },
    'block 5: its logs bloom does not cover its 9 logs: they belong to another block': raw => {
      logs(raw)[8]!.address = `0x${'cd'.repeat(20)}`
    },
    'block 5 has 9 logs but an empty logs bloom. If this chain does not fill its blooms, set skip-bloom for this network':
      raw => {
        raw.block.logsBloom = `0x${'0'.repeat(512)}`
      },
    'block 5 has no logs bloom: null': raw => Object.assign(raw.block, { logsBloom: null }),
    [`block 5: logsBloom is 0x${'g'.repeat(75)}..., not hex of up to 256 bytes`]: raw => {
      raw.block.logsBloom = `0x${'g'.repeat(512)}`
    },
    'block 5: the logs bloom of receipt 1 does not match its 3 logs': raw => {
      raw.receipts[1]!.logsBloom = `0x${'0'.repeat(512)}`
    },
    'block 5: receipts[0].logs[0].address is 0x1234, not an address (0x and 40 hex digits)': raw => {
      logs(raw)[0]!.address = '0x1234'
    },
    [`block 5: receipts[0].logs[0].address is 0x${'zz'.repeat(20)}, not an address (0x and 40 hex digits)`]: raw => {
      logs(raw)[0]!.address = `0x${'zz'.repeat(20)}`
    },
    'block 5: receipts[0].logs[0].topics has 5 items, more than 4': raw => {
      logs(raw)[0]!.topics = Array(5).fill(other)
    },
    'block 5: receipts[0].logs[1].topics[0] is 0x01, not 32 bytes of hex (0x and 64 digits)': raw => {
      logs(raw)[1]!.topics = ['0x01']
    },
    'block 5: receipts[0].logs[0].data is 0x1, not whole bytes of hex': raw => {
      logs(raw)[0]!.data = '0x1'
    },
    'block 5: receipts[0].logs[1] is null, not an object': raw => Object.assign(raw.receipts[0]!.logs, { 1: null }),
  }
  for (const [message, tamper] of Object.entries(lies)) assert.equal(faultOf(tamper), message)
})

test('members that nothing relates to others are checked, too, and named by their path', () => {
  const long = `0x${'00'.repeat(20_000_000)}`
  type Lie = [name: string, of: (raw: RawBlock) => object, members: Record<string, unknown>, message: string]
  const lies: Lie[] = [
    ['no input', raw => raw.block.transactions[1]!, { input: undefined }, 'transactions[1].input is nothing'],
    ['input', raw => raw.block.transactions[1]!, { input: 'abc' }, 'transactions[1].input is abc'],
    ['half a byte', raw => raw.block.transactions[1]!, { input: '0xfff' }, 'transactions[1].input is 0xfff'],
    ['no sender', raw => raw.block.transactions[0]!, { from: undefined }, 'transactions[0].from is nothing'],
    ['sender', raw => raw.block.transactions[0]!, { from: `0x${'a'.repeat(80)}` }, 'transactions[0].from is #aaa'],
    ['receiver', raw => raw.block.transactions[0]!, { to: {} }, 'transactions[0].to is {}'],
    ['amount', raw => raw.block.transactions[0]!, { value: '-0x1' }, 'transactions[0].value is -0x1'],
    ['gas', raw => raw.block.transactions[0]!, { gas: true }, 'transactions[0].gas is true'],
    ['list', raw => raw.block.transactions[0]!, { accessList: {} }, 'transactions[0].accessList is {}'],
    ['item', raw => raw.block.transactions[0]!, { accessList: [null] }, 'transactions[0].accessList[0] is null'],
    ['miner', raw => raw.block, { miner: '' }, 'miner is "", not an address'],
    ['withdrawals', raw => raw.block, { withdrawals: { a: [] } }, 'withdrawals is an object of 1 members, not a list'],
    ['extraData', raw => raw.block, { extraData: long }, 'extraData is too long. A block has more than 256kB'],
    ['a year beyond dates', raw => raw.block, { timestamp: '0x7dba8218001' }, 'block 5 has a malformed timestamp'],
    ['created', raw => raw.receipts[2]!, { contractAddress: '0x' }, 'receipts[2].contractAddress is 0x,'],
    ...[1, 5, 'abc', '0x01', '0x2'].map((status): Lie => {
      const name = `receipts[2].status is ${status}`
      return [name, raw => raw.receipts[2]!, { status }, name]
    }),
  ]
  for (const [name, of, members, message] of lies) {
    const told = faultOf(raw => Object.assign(of(raw), members))
    assert.ok(told?.includes(message), `${name}: ${told}`)
  }
})

test('what older and other chains leave out or write in their own way passes', () => {
  const forms: ((raw: RawBlock) => object)[] = [
    raw => Object.assign(raw.receipts[0]!, { status: true }),
    raw => Object.assign(raw.receipts[0]!, { status: undefined, root: `0x${'cd'.repeat(32)}` }),
    raw => Object.assign(raw.receipts[0]!, { status: null, logsBloom: null, effectiveGasPrice: null }),
    raw => Object.assign(raw.block.transactions[0]!, { to: undefined, gas: 21_000, nonce: '0x', value: '0x00' }),
    raw => Object.assign(raw.block.transactions[0]!, { type: '0x7e', mint: '0x0', sourceHash: '0x12', v: null }),
    raw => Object.assign(raw.block, { miner: null, nonce: '0x0', uncles: null, l1BlockNumber: '0x1', size: 700 }),
    raw => Object.assign(raw.block, { extraData: `0x${'AB'.repeat(8_000)}`, withdrawals: [] }),
  ]
  for (const form of forms)
    assert.equal(
      faultOf(raw => form(raw)),
      undefined,
      String(form),
    )
})

test('a network can do without blooms', () => {
  const empty = (raw: RawBlock) => Object.assign(raw.block, { logsBloom: `0x${'0'.repeat(512)}` })
  assert.equal(faultOf(empty, { bloom: false }), undefined)
})

test('an excerpt passes only where excerpts may come', () => {
  const excerpt = (raw: RawBlock) => {
    raw.block.transactionCount = 3
    raw.block.transactions.splice(1, 1)
    raw.receipts.splice(1, 1)
  }
  assert.equal(faultOf(excerpt, { excerpts: true }), undefined)
  assert.equal(faultOf(excerpt), 'block 5 has transaction index 0x2 at place 1')
  const beyond = (raw: RawBlock) => {
    excerpt(raw)
    raw.block.transactions[1]!.transactionIndex = '0x3'
  }
  assert.equal(faultOf(beyond, { excerpts: true }), 'block 5 has transaction index 0x3 at place 1')
})

test('links', () => {
  const [first, second, third] = makeChain({ from: 7, blocks: 3 }) as [RawBlock, RawBlock, RawBlock]
  checkLink(refOf(first.block), second.block)
  assert.throws(() => checkLink(refOf(first.block), third.block), { next: 'retry', code: 'block_unlinked' })
  assert.throws(() => checkLink({ number: 7, hash: other }, second.block), {
    message: `block 8 ${second.block.hash} names ${first.block.hash} as its parent, but block 7 is ${other}`,
  })
})

test('real mainnet blocks pass, and their blooms are exactly those of their logs', { skip: !hasMainnet }, () => {
  const raws = gunzipLines(readFileSync(mainnetPack)).map(line => JSON.parse(line) as RawBlock)
  for (const raw of raws) checkBlock(raw, { excerpts: true })
  const whole = raws.filter(raw => raw.block.transactionCount === undefined)
  assert.equal(whole.length, 3)
  for (const raw of whole) {
    checkBlock(raw)
    assert.equal(raw.block.logsBloom, bloomOf(raw.receipts))
    assert.equal(raw.block.logsBloom, logsBloomOf(raw.receipts.flatMap(it => it.logs)))
    for (const receipt of raw.receipts) {
      const last = receipt.logs.pop()
      if (last === undefined) continue
      assert.throws(() => checkBlock(raw), { code: 'block_inconsistent' })
      receipt.logs.push(last)
    }
  }
})
