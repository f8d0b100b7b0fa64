import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chainIdOfFiles, findBlockFiles, parseBlockLine, readBlockLines } from '../../src/chain/files/block-files.ts'
import { unpackLz4 } from '../../src/chain/files/cryo/rows.ts'
import type { PackOptions } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { type CryoOptions, parquetOf, tablesOf, writeCryo } from '../support/cryo.ts'
import { demoBlocks } from '../support/store.ts'

const demo = demoBlocks().slice(20, 50)

const readAll = async (path: string, options: PackOptions = {}) => {
  const blocks: RawBlock[] = []
  for (const file of await findBlockFiles([path]))
    for await (const line of readBlockLines(file, options)) blocks.push(parseBlockLine(line, options))
  return blocks
}

const folderOf = async (t: TestContext, options?: CryoOptions, blocks = demo) => {
  const folder = await mkdtemp(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeCryo(folder, blocks, options)
  return folder
}

const pick = (value: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))

/** What cryo keeps of what a node said. */
const expected = ({ chainId, block, receipts }: RawBlock) => ({
  chainId,
  block: {
    ...pick(block, [
      ...['hash', 'parentHash', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'number', 'gasUsed'],
      ...['extraData', 'logsBloom', 'timestamp', 'totalDifficulty', 'size', 'baseFeePerGas'],
    ]),
    transactions: block.transactions.map(tx =>
      pick(tx, [
        ...['hash', 'blockHash', 'blockNumber', 'transactionIndex', 'from', 'to', 'value', 'input', 'nonce', 'gas'],
        ...['gasPrice', 'type', 'maxFeePerGas', 'maxPriorityFeePerGas'],
      ]),
    ),
  },
  receipts: receipts.map(receipt => ({
    ...pick(receipt, [
      ...['transactionHash', 'transactionIndex', 'blockHash', 'blockNumber', 'gasUsed', 'cumulativeGasUsed'],
      ...['effectiveGasPrice', 'status'],
    ]),
    logs: receipt.logs.map(log => {
      const { blockTimestamp: _, ...rest } = log
      return rest
    }),
  })),
})

test('what cryo kept of blocks is as a node told it, in all its forms', async t => {
  const due = demo.map(expected)
  for (const options of [
    {},
    { hex: true, chunk: 7 },
    { codec: 'ZSTD', integers: ['binary'], rowGroup: 5 },
    { codec: 'LZ4_RAW', integers: ['string'], chunk: 13, rowGroup: 100 },
    { codec: 'UNCOMPRESSED', chunk: 1 },
  ] satisfies CryoOptions[])
    assert.deepEqual(await readAll(await folderOf(t, options)), due, JSON.stringify(options))
})

test('datatypes in folders of their own, files of other sizes, and of other datatypes', async t => {
  const folder = await folderOf(t, { chunk: 10 })
  const wide = await folderOf(t)
  for (const datatype of ['blocks', 'transactions', 'logs'])
    await mkdir(join(folder, 'demo', datatype), { recursive: true })
  for (const name of await readdir(folder))
    if (name.includes('__blocks__')) await rename(join(folder, name), join(folder, 'demo', 'blocks', name))
    else if (name.endsWith('.parquet')) await rm(join(folder, name))
  for (const name of await readdir(wide))
    if (!name.includes('__blocks__')) await rename(join(wide, name), join(folder, 'demo', name.split('__')[1]!, name))
  await writeFile(join(folder, 'demo__traces__00000020_to_00000049.parquet'), 'PAR1')
  assert.deepEqual(await readAll(folder), demo.map(expected))
  const { signal } = new AbortController()
  assert.equal(await chainIdOfFiles(await findBlockFiles([folder]), { signal }), 31_337)
  const held = new Set([20, 25, 26, 49])
  const stored = (number: number) => (held.has(number) ? { number, hash: demo[number - 20]!.block.hash } : undefined)
  assert.deepEqual(await readAll(folder, { stored }), demo.filter((_, i) => !held.has(i + 20)).map(expected))
})

test('everything wrong with a folder is refused with the file and the block', async t => {
  const faultOf = async (folder: string, options?: PackOptions) => {
    const error = await readAll(folder, options).then(
      () => undefined,
      (it: unknown) => it,
    )
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', `${(error as Error | undefined)?.stack}`)
    return error.message.replaceAll(folder, '@')
  }
  const broken = async (change: (folder: string) => Promise<unknown>, options?: CryoOptions, read?: PackOptions) => {
    const folder = await folderOf(t, { chunk: 10, ...options })
    await change(folder)
    return faultOf(folder, read)
  }
  const nameOf = (datatype: string, from = 20) => `demo__${datatype}__000000${from}_to_000000${from + 9}.parquet`
  const replace = (datatype: 'blocks' | 'transactions' | 'logs', rows: readonly RawBlock[]) => (folder: string) =>
    writeFile(join(folder, nameOf(datatype)), parquetOf(tablesOf(rows, {})[datatype]))
  const some = demo.slice(0, 10)
  const again = 'Delete the files of this range, and let cryo write them again'
  assert.equal(
    await broken(folder => rm(join(folder, nameOf('logs', 30)))),
    '@: no file has the logs of block 30, but one has the block. Let cryo write it: cryo blocks transactions logs --blocks 30:40 --include-columns all',
  )
  assert.equal(
    await broken(async folder => {
      for (const from of [20, 30, 40]) await rm(join(folder, nameOf('blocks', from)))
    }),
    '@: there are no files of blocks. cryo blocks --include-columns all writes them',
  )
  assert.match(
    await broken(folder => truncate(join(folder, nameOf('transactions', 30)), 900)),
    /^@\/demo__transactions__00000030_to_00000039\.parquet cannot be read as Parquet: .*\. Delete it and let cryo write it again$/,
  )
  assert.match(
    await broken(async folder => {
      const path = join(folder, nameOf('blocks'))
      const bytes = await readFile(path)
      await writeFile(path, bytes.fill(0xee, 200, 400))
    }),
    /^@\/demo__blocks__00000020_to_00000029\.parquet(, block \d+)?/,
  )
  assert.equal(
    await broken(replace('blocks', some.toSpliced(4, 1))),
    `@/${nameOf('blocks')}, block 24: it has 0 rows of this block. ${again}`,
  )
  assert.equal(
    await broken(replace('blocks', some.toSpliced(4, 0, some[4]!))),
    `@/${nameOf('blocks')}, block 24: it has 2 rows of this block. ${again}`,
  )
  assert.equal(
    await broken(replace('blocks', some.toReversed())),
    `@/${nameOf('blocks')}: a row of block 28 follows one of block 29. Let cryo write it again without --sort`,
  )
  const full = some.findIndex(({ block }) => block.transactions.length > 1)
  const less = structuredClone(some)
  less[full]!.block.transactions.pop()
  assert.match(
    await broken(replace('transactions', less)),
    new RegExp(
      `^@/${nameOf('blocks')}, block ${20 + full}: its \\d+ transactions use \\d+ gas, but it says \\d+: transactions are missing`,
    ),
  )
  less[full]!.block.transactions.shift()
  assert.match(
    await broken(replace('transactions', less)),
    /(it has transaction 1 at place 0: transactions are missing|transactions use)/,
  )
  const logged = some.findIndex(({ receipts }) => receipts.some(({ logs }) => logs.length > 0))
  const silent = structuredClone(some)
  for (const receipt of silent[logged]!.receipts) receipt.logs = []
  assert.match(
    await broken(replace('logs', silent)),
    new RegExp(
      `block ${20 + logged}: block ${20 + logged}: its logs bloom has more logs than the 0 received: some are missing\\. ${again}$`,
    ),
  )
  for (const [datatype, column, says] of [
    ['blocks', 'logs_bloom', 'logs_bloom'],
    ['transactions', 'gas_limit', 'gas_limit'],
    ['logs', 'data', 'data'],
  ] as const)
    assert.equal(
      await broken(async () => undefined, { without: [column] }),
      `@/${nameOf(datatype)}: it has no ${says}. Let cryo write it again, with --include-columns all`,
    )
  assert.equal(
    await broken(async () => undefined, { integers: ['f64'] }),
    `@/${nameOf('transactions')}: it has no value_string. Let cryo write it again, with --include-columns all`,
  )
  assert.equal(
    await broken(folder => writeFile(join(folder, 'mine.parquet'), 'PAR1')),
    '@/mine.parquet: its name is not one that cryo gives, such as ethereum__blocks__00000000_to_00000999.parquet. Move it out of the folder, or give it its name back',
  )
  assert.equal(
    await broken(folder => writeFile(join(folder, 'demo__logs__00000025_to_00000026.parquet'), 'PAR1')),
    `@/${nameOf('logs')} and @/demo__logs__00000025_to_00000026.parquet both have block 25. Leave one of them in the folder`,
  )
  assert.equal(
    await broken(async () => undefined, {}, { chainId: 1 }),
    `@/${nameOf('blocks')}, block 20: this is a block of chain 31337, but the network holds chain 1. Import it into a network of its own`,
  )
  assert.match(
    await broken(async () => undefined, {}, { limits: { ...DEFAULT_LIMITS, packLine: 1000 } }),
    /block 20 has more than 1kB of JSON\. A line holds one block/,
  )
  const folder = await folderOf(t)
  const [name] = await readdir(folder)
  assert.equal(await faultOf(join(folder, name!)), '@: this is a Parquet file. Name the folder in which cryo wrote it')
})

test('LZ4 with matches, and damaged', () => {
  const unpack = (bytes: number[], size: number) => Buffer.from(unpackLz4(Uint8Array.from(bytes), size)).toString()
  // abc, 9 bytes from 3 before, then x; and 25 bytes of the same letter.
  assert.equal(unpack([0x35, 97, 98, 99, 3, 0, 0x10, 120], 13), 'abcabcabcabcx')
  assert.equal(unpack([0x1f, 97, 1, 0, 5, 0x10, 98], 26), `${'a'.repeat(25)}b`)
  for (const [bytes, size] of [
    [[0x35, 97, 98, 99, 4, 0, 0x10, 120], 13],
    [[0x35, 97, 98, 99, 0, 0, 0x10, 120], 13],
    [[0x35, 97, 98, 99, 3, 0, 0x10, 120], 12],
    [[0x35, 97, 98, 99, 3, 0, 0x10, 120], 14],
    [[0x35, 97, 98], 3],
    [[0xf0, 255, 255], 3],
  ] as [number[], number][])
    assert.throws(() => unpack(bytes, size), RangeError)
})
