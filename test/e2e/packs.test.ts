import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeChain } from '../support/pack.ts'
import { chainsieve, succeed, tempFolder, writePack } from './program.ts'

const NETWORK = 'ethereum/test/net'
const chain = makeChain({ blocks: 12, txs: 2, logs: 3 })
const lines = chain.map(block => `${JSON.stringify(block)}\n`)

interface Held {
  networks: { network: string; ranges: { from: number; to: number }[] }[]
}

const setUp = (t: TestContext) => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const path = (name: string) => join(folder, name)
  const importPacks = (...files: string[]) =>
    chainsieve(t, ['import', '--network', NETWORK, ...files.map(path)], { data, cwd: folder })
  const held = async () => {
    const { networks } = JSON.parse(await succeed(t, ['status', '--json'], { data })) as Held
    return networks.find(({ network }) => network === NETWORK)?.ranges
  }
  /** What went wrong, without the log. */
  const fault = (err: string) => err.split('\n').filter(line => line.startsWith('chainsieve: '))
  return { data, path, importPacks, held, fault }
}

/** Each is a pack with a fault in its fifth line, and what is said of it. */
const BAD: Record<string, { lines: string[]; says: RegExp }> = {
  'a broken line': {
    lines: lines.with(4, '{"block": {"number": oops}}\n'),
    says: /^chainsieve: .*bad\.ndjson, line 5, column 22, at \$\.block\.number: this is not JSON: .*\. Record this block again, or remove the line$/,
  },
  'a block that does not link to the one before': {
    lines: [
      ...lines.slice(0, 4),
      ...makeChain({ from: 4, blocks: 8, salt: 'another' }).map(it => `${JSON.stringify(it)}\n`),
    ],
    says: /^chainsieve: .*bad\.ndjson, line 5: block 4 names 0x[0-9a-f]{64} as its parent, but the block 3 on the line before is 0x[0-9a-f]{64}\. One of them was recorded from another branch: record both again$/,
  },
  'a block of another chain': {
    lines: lines.with(4, `${JSON.stringify({ ...chain[4], chainId: 10 })}\n`),
    says: /^chainsieve: .*bad\.ndjson, line 5, at \$\.chainId: this is a block of chain 10, but the network holds chain 31337\. Import it into a network of its own$/,
  },
  'the end in the middle of a line': {
    lines: [...lines.slice(0, 4), lines[4]!.slice(0, 700)],
    says: /^chainsieve: .*bad\.ndjson: the file ends in the middle of line 5 \(column \d+, at \$.*\)\. Copy or record it again$/,
  },
  'a receipt that is missing': {
    lines: lines.with(4, `${JSON.stringify({ ...chain[4], receipts: chain[4]!.receipts.slice(1) })}\n`),
    says: /^chainsieve: .*bad\.ndjson, line 5: .*\. Record this block again, or remove the line$/,
  },
}

for (const [what, { lines: bad, says }] of Object.entries(BAD)) {
  test(`a pack with ${what}: what was good is kept, and the repaired pack completes it`, async t => {
    const { path, importPacks, held, fault } = setUp(t)
    writeFileSync(path('bad.ndjson'), bad.join(''))
    const { code, out, err } = await importPacks('bad.ndjson')
    assert.equal(code, 1)
    assert.match(out, /added 4 blocks .*\nAdded: 0-3 \(4 blocks\)\nHoles: none\nMissing: the rest of \S+bad\.ndjson\n$/)
    assert.equal(fault(err).length, 1, err)
    assert.match(fault(err)[0]!, says)
    assert.deepEqual(await held(), [{ from: 0, to: 3 }])

    writePack(path('bad.ndjson'), chain)
    const again = await importPacks('bad.ndjson')
    assert.equal(again.code, 0)
    assert.match(
      again.out,
      /^ethereum\/test\/net: added 8 blocks with 48 logs and 0 events\.\nAdded: 4-11 \(8 blocks\)\nHoles: none\n$/,
    )
    assert.deepEqual(await held(), [{ from: 0, to: 11 }])
  })
}

test('packs that do not fit what is stored', async t => {
  const { path, importPacks, held, fault } = setUp(t)
  writePack(path('first.ndjson'), chain.slice(0, 6))
  assert.equal((await importPacks('first.ndjson')).code, 0)

  // Another chain altogether.
  writePack(path('other.ndjson'), makeChain({ from: 100, blocks: 2, chainId: 10 }))
  const other = await importPacks('other.ndjson')
  assert.deepEqual(
    [other.code, fault(other.err)],
    [
      1,
      [
        `chainsieve: ${path('other.ndjson')}, line 1, at $.chainId: this is a block of chain 10, but the network holds chain 31337. Import it into a network of its own`,
      ],
    ],
  )

  // Other blocks of the same numbers, and ones that should follow on those that are stored.
  const branch = makeChain({ from: 4, blocks: 4, salt: 'another' })
  writePack(path('branch.ndjson'), branch)
  const clash = await importPacks('branch.ndjson')
  assert.equal(clash.code, 1)
  assert.equal(
    fault(clash.err)[0],
    `chainsieve: ${path('branch.ndjson')}, line 1: block 4 is ${branch[0]!.block.hash} here, but ${chain[4]!.block.hash} is stored: they belong to different branches or chains. Import it into another data folder`,
  )
  writePack(path('next.ndjson'), branch.slice(2))
  const unlinked = await importPacks('next.ndjson')
  assert.equal(unlinked.code, 1)
  assert.equal(
    fault(unlinked.err)[0],
    `chainsieve: ${path('next.ndjson')}, line 1: block 6 ${branch[2]!.block.hash} names ${branch[1]!.block.hash} as its parent, but the stored block 5 is ${chain[5]!.block.hash}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
  )
  assert.deepEqual(await held(), [{ from: 0, to: 5 }])

  // A sparse pack leaves holes, which is no error; what is missing comes in any order, what is there already is passed over.
  writePack(path('sparse.ndjson'), [chain[11]!, chain[8]!, chain[3]!, chain[9]!])
  const sparse = await importPacks('sparse.ndjson')
  assert.deepEqual(
    [sparse.code, sparse.out],
    [
      0,
      'ethereum/test/net: added 3 blocks with 18 logs and 0 events.\nAdded: 8-9 (2 blocks), 11 (1 block)\nHoles: 6-7 (2 blocks), 10 (1 block)\n',
    ],
  )
  writePack(path('all.ndjson'), chain.toReversed())
  assert.equal((await importPacks('all.ndjson', 'first.ndjson')).code, 0)
  assert.deepEqual(await held(), [{ from: 0, to: 11 }])
  const nothing = await importPacks('all.ndjson')
  assert.deepEqual(
    [nothing.code, nothing.out],
    [0, 'ethereum/test/net: added 0 blocks with 0 logs and 0 events.\nAdded: none\nHoles: none\n'],
  )
})

test('files that are no packs', async t => {
  const { path, fault } = setUp(t)
  writeFileSync(path('empty.ndjson'), '')
  writeFileSync(path('some.json'), '{"jsonrpc":"2.0","id":1,"result":{}}\n')
  writeFileSync(path('packed.zst'), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]))
  const faults = await Promise.all(
    [['empty.ndjson'], ['some.json'], ['packed.zst'], ['absent.ndjson'], ['.']].map(async files => {
      const data = join(path('folders'), files[0]!.replaceAll('.', '_'))
      const { code, err } = await chainsieve(t, ['import', '--network', NETWORK, ...files.map(path)], { data })
      assert.equal(code, 1)
      return fault(err)
    }),
  )
  assert.deepEqual(faults.flat(), [
    `chainsieve: ${path('empty.ndjson')}: it has no blocks. A block pack has one JSON object {"chainId","block","receipts"} per line`,
    `chainsieve: ${path('some.json')}, line 1, at $.block: expected an object, found nothing. This line is a whole JSON-RPC response: use only its result`,
    `chainsieve: ${path('packed.zst')}: this is zstd. Block packs are plain NDJSON or gzip: unpack it with zstd -d`,
    `chainsieve: ${path('absent.ndjson')}: there is no such file`,
    `chainsieve: ${path('.')}: this is a folder. Name the packs in it, e.g. ${path('.')}/*.ndjson.gz`,
  ])
})
