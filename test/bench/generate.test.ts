import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type GenerateOptions, generateBlocks, generateLines, main } from '../../scripts/bench/generate.ts'
import { checkBlock, checkLink, refOf } from '../../src/chain/check/check-block.ts'
import { readPack } from '../../src/chain/files/pack.ts'
import type { RawBlock, RpcTrace } from '../../src/chain/wire.ts'
import { bloomOf, gunzipLines, hasMainnet, mainnetFolder, mainnetPack, tempFolder } from '../support/pack.ts'

const blocks = [...generateBlocks({ seed: 1, count: 200 })]

/** Recorded answers, stores that tests keep and all published figures rest on these bytes. */
test('the made-up chain is what it was, with traces and without', () => {
  const digest = (options: GenerateOptions) => {
    const hash = createHash('sha256')
    for (const line of generateLines(options)) hash.update(line)
    return hash.digest('hex')
  }
  assert.deepEqual(
    [digest({ seed: 1, count: 200 }), digest({ seed: 1, count: 40, traces: true })],
    [
      '64ad879fe9a21b1a390f9eab741fd8d15e3c982aaca34152f613e7acadf20227',
      'f89fea3e8866f5e535c65b01cfb3323a8806462b5d0d1441ccf6a6d0fc355072',
    ],
  )
})

test('every block passes the check of a node’s answer and links to the one before', () => {
  for (const [i, raw] of blocks.entries()) {
    checkBlock(raw)
    if (i > 0) checkLink(refOf(blocks[i - 1]!.block), raw.block)
  }
})

test('blooms are those of the logs, of blocks and of receipts', () => {
  for (const { block, receipts } of blocks.slice(0, 5)) {
    assert.equal(block.logsBloom, bloomOf(receipts))
    for (const receipt of receipts) assert.equal(receipt.logsBloom, bloomOf([receipt]))
  }
})

test('the same seed gives the same bytes, and another seed or chain others', () => {
  const bytes = (seed: number, chainId = 1) => Buffer.concat([...generateLines({ seed, chainId, count: 3 })])
  const first = bytes(7)
  assert.ok(first.equals(bytes(7)))
  assert.ok(!first.equals(bytes(8)))
  const [own] = generateBlocks({ seed: 7, count: 1 })
  const [other] = generateBlocks({ seed: 7, count: 1, chainId: 10 })
  assert.notEqual(own!.block.hash, other!.block.hash)
  assert.equal(other!.chainId, 10)
})

test('a block is the same whether it is made alone or after others', () => {
  const from = Number(blocks[0]!.block.number)
  for (const at of [1, 99, 199]) {
    const [alone] = generateBlocks({ seed: 1, from: from + at, count: 1 })
    assert.deepEqual(alone, blocks[at])
  }
})

test('a line is its block as JSON', () => {
  const [line] = generateLines({ seed: 1, count: 1 })
  assert.equal(line!.at(-1), 10)
  assert.deepEqual(JSON.parse(line!.toString()), blocks[0])
})

test('the first block has no parent, the highest one can be made', () => {
  const [genesis] = generateBlocks({ seed: 1, from: 0, count: 1 })
  assert.equal(genesis!.block.parentHash, `0x${'0'.repeat(64)}`)
  checkBlock(genesis!)
  const high = [...generateBlocks({ seed: 1, from: 2 ** 31 - 1 })]
  assert.deepEqual(
    high.map(({ block }) => block.number),
    ['0x7fffffff'],
  )
  checkBlock(high[0]!)
})

test('what a real block carries, a made-up one carries too', { skip: !hasMainnet }, async () => {
  const real = gunzipLines(await readFile(mainnetPack)).map(line => JSON.parse(line) as RawBlock)[2]!
  const made = blocks[0]!
  const missing = (of: object, from: object) => Object.keys(of).filter(name => !(name in from))
  assert.deepEqual(missing(real.block, made.block), [])
  assert.deepEqual(missing(real.receipts[0]!, made.receipts[0]!), [])
  const logOf = (raw: RawBlock) => raw.receipts.flatMap(receipt => receipt.logs)[0]!
  assert.deepEqual(missing(logOf(real), logOf(made)), [])
})

const traced = [...generateBlocks({ seed: 1, count: 40, traces: true })]
const traces = traced.flatMap(raw => raw.traces!)

test('with their traces blocks are the same otherwise, and alone as after others', () => {
  for (const [i, { traces, ...rest }] of traced.entries()) {
    assert.deepEqual(rest, blocks[i])
    assert.ok(traces!.length > 0)
  }
  const from = Number(blocks[0]!.block.number)
  assert.deepEqual([...generateBlocks({ seed: 1, from: from + 17, count: 1, traces: true })], [traced[17]])
})

test('an import takes blocks with traces as they are', async t => {
  const path = await (await tempFolder(t))('pack.ndjson', '')
  await main(['--blocks', '5', '--traces', '--out', path])
  const read: RawBlock[] = []
  for await (const { block } of readPack(path)) read.push(block)
  assert.deepEqual(read, traced.slice(0, 5))
})

test('what a real trace carries, a made-up one carries too', { skip: !hasMainnet }, async () => {
  const lines = gunzipLines(await readFile(join(mainnetFolder, 'traces.ndjson.gz'))).map(
    line => JSON.parse(line) as { traces: RpcTrace[] },
  )
  const namesOf = (list: readonly RpcTrace[]) =>
    [
      ...new Set(
        list
          .filter(({ type }) => type !== 'reward')
          .flatMap(trace => [
            ...Object.keys(trace),
            ...Object.keys(trace.action).map(name => `${trace.type} ${name}`),
            ...Object.keys(trace.result ?? {}).map(name => `${trace.type} ${name}`),
          ]),
      ),
    ].sort()
  const made = new Set(namesOf(traces))
  assert.deepEqual(
    namesOf(lines.at(-1)!.traces).filter(name => !made.has(name)),
    [],
  )
})

test('events end the blocks once there are enough', () => {
  const some = [...generateBlocks({ seed: 1, events: 1000 })]
  const counts = some.map(({ receipts }) => receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0))
  const sum = counts.reduce((a, b) => a + b, 0)
  assert.ok(sum >= 1000 && sum - counts.at(-1)! < 1000)
  assert.deepEqual([...generateBlocks({ seed: 1, events: 0 })], [])
})

test('the command line writes the lines, plain or gzip', async t => {
  const file = await tempFolder(t)
  const plain = await file('pack.ndjson', '')
  const packed = await file('pack.ndjson.gz', '')
  const options = ['--blocks', '3', '--seed', '5', '--from', '100', '--chain-id', '10']
  assert.match(await main([...options, '--out', plain]), /pack\.ndjson: 3 blocks, [0-9.]+ MB of JSON in [0-9.]+ s$/)
  await main([...options, '--out', packed])
  const expected = Buffer.concat([...generateLines({ seed: 5, from: 100, count: 3, chainId: 10 })])
  assert.ok(expected.equals(await readFile(plain)))
  assert.ok(expected.equals(gunzipSync(await readFile(packed))))
})

test('bad options are refused by name, before the file is made', async () => {
  const cases: [string[], RegExp][] = [
    [['--events', '10'], /^--out and one of --events and --blocks are due/],
    [['--out', 'x'], /^--out and one of --events and --blocks are due/],
    [['--out', 'x', '--events', '1k'], /^--events must be a whole number, not "1k"$/],
    [['--out', 'x', '--events', '1', '--seed', '4294967296'], /^seed must be an integer from 0 to 4294967295, not/],
    [['--out', 'x', '--events', '1', '--from', '2147483648'], /^from must be an integer from 0 to 2147483647, not/],
  ]
  for (const [args, message] of cases) await assert.rejects(main(args), { code: /option/, message })
})
