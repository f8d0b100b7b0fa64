import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { before, test } from 'node:test'
import fc from 'fast-check'
import {
  chainIdOfFiles,
  findBlockFiles,
  parseBlockLine,
  parserReady,
  readBlockLines,
} from '../../src/chain/files/block-files.ts'
import { decodeTransaction } from '../../src/chain/files/era1/block.ts'
import { unpackFrames } from '../../src/chain/files/era1/snappy.ts'
import type { PackOptions } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { crc32c } from '../../src/lib/hash.ts'
import { decodeRlpList, rlpList } from '../../src/lib/rlp.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { entry, era1Of, framesOf, toEra1, toOldBlocks } from '../support/era1.ts'
import { tempFolder } from '../support/pack.ts'
import { demoBlocks } from '../support/store.ts'

const demo = demoBlocks()
const firstOf = (type: string) => demo.findIndex(({ block }) => block.transactions.some(tx => tx.type === type))
/** A few of all types, and of some without transactions. */
const some = demo.slice(firstOf('0x4') - 2, firstOf('0x4') + 3)

before(() => parserReady('era1'))

const readAll = async (path: string, options: PackOptions = {}) => {
  const blocks: RawBlock[] = []
  for (const file of await findBlockFiles([path]))
    for await (const line of readBlockLines(file, options)) blocks.push(parseBlockLine(line, options))
  return blocks
}

/** What a node said, but for what it does not take from the block. */
const expected = ({ chainId, block, receipts }: RawBlock) => ({
  ...(block.transactions.some(tx => tx.chainId !== undefined) && { chainId }),
  block: { ...block, size: sizeOf(block), transactions: block.transactions.map(without('blockTimestamp')) },
  receipts: receipts.map(receipt => ({
    ...without('blockTimestamp', 'blobGasPrice', 'blobGasUsed')(receipt),
    logs: receipt.logs.map(without('blockTimestamp')),
  })),
})

/** anvil does not count the list of withdrawals, which is empty: one byte. */
const sizeOf = ({ size, withdrawals }: RawBlock['block']) =>
  `0x${(Number(size) + (withdrawals === undefined ? 0 : 1)).toString(16)}`

const without =
  (...names: string[]) =>
  (value: object) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

test('blocks with transactions of all types are those that a node told', async t => {
  const put = await tempFolder(t)
  for (const blocks of [demo.slice(0, 12), some]) {
    const path = await put('any', era1Of(blocks.map(toEra1), Number(blocks[0]!.block.number)))
    assert.deepEqual(await readAll(path), blocks.map(expected))
  }
})

test('transactions with blobs, and their senders', () => {
  // anvil counts the blobs themselves into the transactions root of their blocks.
  const raw = demo[firstOf('0x3')]!
  const [transactions] = decodeRlpList(Buffer.from(toEra1(raw).body.slice(2), 'hex'))
  assert.deepEqual(
    rlpList(transactions).map(item => decodeTransaction(item, BigInt(raw.block.baseFeePerGas as string)).members),
    raw.block.transactions.map(without('blockTimestamp', 'blockHash', 'blockNumber', 'transactionIndex')),
  )
})

test('before Byzantium receipts have roots of states, and uncles and difficulties count', async t => {
  const put = await tempFolder(t)
  const old = toOldBlocks(demo.slice(0, 30))
  const found = await readAll(await put('old', era1Of(old, 0)))
  assert.deepEqual(
    found.map(({ block }) => block.totalDifficulty),
    old.map(({ totalDifficulty }) => `0x${totalDifficulty.toString(16)}`),
  )
  const receipts = found.flatMap(it => it.receipts)
  assert.ok(receipts.length > 5)
  for (const { root, status } of receipts) assert.deepEqual([root, status], [`0x${'5a'.repeat(32)}`, undefined])
  for (const { block } of found.slice(1)) assert.equal(block.baseFeePerGas, undefined)
})

test('the first transaction of mainnet', () => {
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  const { members } = decodeTransaction(
    [
      ...[bytes(''), bytes('2d79883d2000'), bytes('5208'), bytes('5df9b87991262f6ba471f09758cde1c0fc1de734')],
      ...[bytes('7a69'), bytes(''), bytes('1c')],
      bytes('88ff6cf0fefd94db46111149ae4bfc179e9b94721fffd821d38d16464b3f71d0'),
      bytes('45e0aff800961cfce805daef7016b9b675c137a6a41a548f7b60a3484c06a33a'),
    ],
    0n,
  )
  assert.equal(members.hash, '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060')
  assert.equal(members.from, '0xa1e4380a3b1f749673e270229993ee55f35663b4')
})

test('everything wrong with a file is refused before the first block, with the file and the place', async t => {
  const put = await tempFolder(t)
  const parts = demo.slice(3, 7).map(toEra1)
  const good = era1Of(parts, 3)
  const faultOf = async (content: Uint8Array, options?: PackOptions) => {
    const path = await put('bad.era1', content)
    const error = await readAll(path, options).then(
      () => undefined,
      (it: unknown) => it,
    )
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', `${(error as Error | undefined)?.stack}`)
    return error.message.replaceAll(path, '@').replace(/[0-9a-f]{64}/g, '…')
  }
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(good)
    change(bytes)
    return bytes
  }
  const withPart = (at: number, part: Partial<(typeof parts)[0]>) =>
    era1Of(parts.with(at, { ...parts[at]!, ...part }), 3)
  const whole = 'Download the file again'
  assert.match(await faultOf(good.subarray(0, 12)), /^@: it has only 12 bytes\. Download/)
  assert.match(
    await faultOf(good.subarray(0, 2000)),
    /^@: it is cut off: the entry at byte \d+ has \d+ bytes, of which \d+ are there\. /,
  )
  assert.match(
    await faultOf(good.subarray(0, good.length - 8 - 16 - 4 * 8)),
    /^@: it is cut off: the index of its blocks is missing\. Download the file again$/,
  )
  assert.equal(await faultOf(Buffer.from('hello era1')), `@: it does not begin as an era1 file does. ${whole}`)
  assert.match(await faultOf(changed(bytes => bytes.fill(7, 60, 70))), /^@: a Snappy frame /)
  assert.equal(await faultOf(era1Of([parts[0]!, parts[2]!], 3)), `@: block 5 follows block 3. ${whole}`)
  assert.equal(
    await faultOf(withPart(2, { totalDifficulty: 9n })),
    `@: the total difficulty of block 5 is 9, not 0. ${whole}`,
  )
  assert.equal(
    await faultOf(changed(bytes => bytes.writeUInt8(1, bytes.length - 8 - 4 * 8 - 8 - 8 - 1))),
    `@: its accumulator is …, but that of its headers is …. ${whole}`,
  )
  assert.equal(
    await faultOf(changed(bytes => bytes.writeUInt8(9, bytes.length - 8 - 4 * 8 - 8))),
    `@: its index is of 4 blocks from 9 on, but it has 4. ${whole}`,
  )
  assert.equal(
    await faultOf(changed(bytes => bytes.writeInt8(1, bytes.length - 16))),
    `@: its index names another place for block 6. ${whole}`,
  )
  assert.equal(
    await faultOf(withPart(1, { body: parts[2]!.body })),
    `@, block 4: its transactionsRoot is 0x…, but that of what it holds is 0x…. ${whole}`,
  )
  assert.match(
    await faultOf(withPart(1, { receipts: parts[2]!.receipts })),
    /^@, block 4: (its receiptsRoot is 0x…, but that of what it holds is 0x…|it has \d+ transactions but \d+ receipts)\. /,
  )
  assert.match(
    await faultOf(good, { limits: { ...DEFAULT_LIMITS, packLine: 1000 } }),
    /^@, block 3 has more than 1kB of JSON\. A line holds one block/,
  )
  const erae = Buffer.concat([
    entry(0x3265, Buffer.alloc(0)),
    entry(3, framesOf(Buffer.from(parts[0]!.header.slice(2), 'hex'))),
    entry(0x3267, Buffer.alloc(64)),
  ])
  assert.match(await faultOf(erae), /^@: block 3 lacks an entry of type 4\. /)
  assert.equal(
    await faultOf(good, { chainId: 10 }),
    '@, block 3: its transactions are of chain 31337, but the network holds chain 10. Import it into a network of its own',
  )
  assert.match(
    await faultOf(era1Of(demo.slice(0, 2).map(toEra1), 0), { chainId: 1 }),
    /^@, block 0: this is 0x…, but chain 1 begins with 0x…\. /,
  )
})

test('checksums.txt, with names and as geth writes it', async t => {
  const put = await tempFolder(t)
  const good = era1Of(demo.slice(0, 3).map(toEra1), 0)
  const sum = createHash('sha256').update(good).digest('hex')
  const other = 'ab'.repeat(32)
  const path = await put('demo-00000-aabbccdd.era1', good)
  for (const [list, passes] of [
    [`${sum}  demo-00000-aabbccdd.era1\n`, true],
    [`0x${other}\n0x${sum}`, true],
    [`${other}  demo-00000-aabbccdd.era1\n${sum}`, false],
    [`0x${other}\n`, false],
    [`${sum}  demo-00001-aabbccdd.era1\n`, false],
  ] as const) {
    await put('checksums.txt', list)
    if (passes) assert.equal((await readAll(path)).length, 3)
    else await assert.rejects(readAll(path), { next: 'refuse', code: 'era1_checksum' }, list)
  }
})

test('a folder is all of its files in their order, and stored blocks are left out', async t => {
  const put = await tempFolder(t)
  const parts = demo.slice(0, 9).map(toEra1)
  await put('net-00001-00000000.era1', era1Of(parts.slice(4), 4))
  const first = await put('net-00000-00000000.era1', era1Of(parts.slice(0, 4), 0))
  const numbers = async (options?: PackOptions) =>
    (await readAll(dirname(first), options)).map(({ block }) => Number(block.number))
  assert.deepEqual(await numbers(), [0, 1, 2, 3, 4, 5, 6, 7, 8])
  const stored = (held: readonly number[]) => (number: number) =>
    held.includes(number) ? { number, hash: demo[number]!.block.hash } : undefined
  assert.deepEqual(await numbers({ stored: stored([2, 3, 5]) }), [0, 1, 4, 6, 7, 8])
  assert.deepEqual(await numbers({ stored: stored([0, 1, 2, 3, 5]) }), [4, 6, 7, 8])
  const signal = new AbortController().signal
  assert.equal(await chainIdOfFiles(await findBlockFiles([dirname(first)]), { signal }), 31_337)
})

test('CRC-32C of the usual text', () => assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283))
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.constantFrom('abc', 'abcd', '0000000000', 'x'), { maxLength: 400 })
    .map(parts => Buffer.from(parts.join(''))),
  fc.integer({ min: 60_000, max: 200_000 }).map(size => Buffer.alloc(size, 'some text that comes again ')),
)
test('frames are unpacked to what was packed', () => {
  fc.assert(
    fc.property(content, bytes => {
      assert.ok(unpackFrames(framesOf(bytes), 1 << 20).equals(bytes))
    }),
    { numRuns: 200, seed: 1 },
  )
})
test('damaged frames are a RangeError, or leave the content as it is', () => {
  fc.assert(
    fc.property(content, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (bytes, place, change, cut) => {
      const frames = framesOf(bytes)
      const at = place % frames.length
      const damaged = cut ? frames.subarray(0, at) : Buffer.from(frames)
      if (!cut) damaged[at]! ^= change
      let found: Buffer
      try {
        found = unpackFrames(damaged, 1 << 20)
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
        return
      }
      // A file may end between two frames, and frames of types that readers may not know are passed over.
      assert.ok(bytes.length === 0 || found.length < bytes.length || found.equals(bytes))
    }),
    { numRuns: 300, seed: 2 },
  )
})
test('no more is unpacked than allowed', () => {
  assert.throws(() => unpackFrames(framesOf(Buffer.alloc(200_000)), 100_000), /it has more than 100000 bytes/)
})
