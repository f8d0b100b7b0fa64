import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { formatPackLine, readPackLines } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createGroupReader } from '../../src/ingest/decoding/builders/pool.ts'
import type { WorkSharing } from '../../src/ingest/messages.ts'
import { numberOf } from '../support/contents.ts'
import { dataFolder } from '../support/delivery.ts'
import { contentsIn, folderToIndex, indexIn } from '../support/indexing.ts'
import { demoBlocks, excerptOf, generatedBlocks } from '../support/store.ts'

interface Options {
  storeBatch?: number
  sharing?: WorkSharing
  abi?: { file: string; address: string | null }
  /** What is imported before. */
  before?: string
}

/** What an import comes to: its error, and all that is stored, or only the numbers of the blocks. */
const imported = async (
  t: TestContext,
  pack: string | Buffer,
  indexers: number,
  { storeBatch = 7, sharing = {}, abi, before }: Options = {},
) => {
  const { data, store } = await folderToIndex(t, abi)
  const run = async (content: string | Buffer, threads: number) => {
    const file = join('packs', 'pack.ndjson')
    mkdirSync(join(data, 'packs'), { recursive: true })
    writeFileSync(join(data, file), content)
    const job = { type: 'import' as const, files: [join(data, file)] }
    const indexing = indexIn(t, data, job, { storeBatch, indexers: threads, sharing: { from: 0, ...sharing } })
    return indexing.ended.then(
      ({ blocks, logs, events, added }) => ({ blocks, logs, events, added }),
      (error: Error) => error.message.replaceAll(data, ''),
    )
  }
  if (before !== undefined) await run(before, 1)
  const outcome = await run(pack, indexers)
  return { outcome, store }
}

const packOf = (blocks: readonly RawBlock[]) => blocks.map(formatPackLine).join('')

/** More threads than this machine may have cores. */
const SEVERAL = [2, 4]

/** The same with several threads as with one. */
const same = async (t: TestContext, pack: string | Buffer, options: Options = {}) => {
  const one = await imported(t, pack, 1, options)
  for (const threads of SEVERAL) {
    const several = await imported(t, pack, threads, options)
    assert.deepEqual(several.outcome, one.outcome)
    assert.deepStrictEqual(contentsIn(several.store), contentsIn(one.store))
  }
  return one.outcome
}

/** Whole and real ones, with steps, contracts and tokens; then some as on mainnet. */
const chain = [
  ...demoBlocks().slice(0, 24),
  ...generatedBlocks(3).map(raw => ({ ...raw, chainId: demoBlocks()[0]!.chainId! })),
]

describe('an import by several threads comes to what one makes of it', () => {
  it('also where blocks are missing, and where there are blank lines', async t => {
    const some = chain.filter((_, i) => i % 9 !== 4)
    const text = packOf(some).replaceAll('\n{', '\n\n \r\n{')
    const outcome = await same(t, gzipSync(text), { storeBatch: 200 })
    assert.equal(typeof outcome === 'string' ? outcome : outcome.blocks, some.length)
  })

  it('when the memory that they share is full again and again', async t => {
    const room = { addresses: 1 << 11, texts: 40_000 }
    await same(t, packOf(chain), { storeBatch: 3, sharing: { room } })
  })

  it('when some blocks are stored already, and when all are', async t => {
    const blocksOf = (outcome: Awaited<ReturnType<typeof same>>) =>
      typeof outcome === 'string' ? outcome : outcome.blocks
    assert.equal(blocksOf(await same(t, packOf(chain), { before: packOf(chain.slice(5, 20)) })), chain.length - 15)
    assert.equal(blocksOf(await same(t, packOf(chain), { before: packOf(chain) })), 0)
    const twice = chain.toSpliced(12, 0, chain[11]!)
    assert.equal(blocksOf(await same(t, packOf(twice))), chain.length)
  })

  it('by ABIs for all contracts, and for single ones', async t => {
    const file = join(await dataFolder(t), 'abi.json')
    writeFileSync(file, readFileSync(new URL('../../data/demo-abi.json', import.meta.url)))
    const address = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))[0]!.address
    for (const abi of [
      { file, address: null },
      { file, address },
    ])
      await same(t, packOf(chain), { abi })
  })

  it('up to what is wrong, and says the same of it', async t => {
    const lines = chain.map(formatPackLine)
    const change = (at: number, to: (raw: RawBlock) => RawBlock): string =>
      lines.with(at, formatPackLine(to(structuredClone(chain[at]!)))).join('')
    const faults: [string, string | Buffer, Options?][] = [
      ['no JSON', lines.with(20, lines[20]!.replace('"hash":', '"hash"')).join('')],
      ['cut gzip', gzipSync(lines.join('')).subarray(0, -500)],
      ['another parent', change(13, unlinked)],
      ['a block that is stored otherwise', lines.join(''), { before: formatPackLine(withOtherHash(chain[17]!)) }],
      ['a neighbour of another branch', lines.slice(0, 17).join(''), { before: formatPackLine(unlinked(chain[17]!)) }],
    ]
    for (const [what, pack, options] of faults) {
      const [one, ...more] = await Promise.all([1, ...SEVERAL].map(threads => imported(t, pack, threads, options)))
      assert.equal(typeof one!.outcome, 'string', what)
      for (const several of more) {
        assert.deepEqual(several.outcome, one!.outcome, what)
        assert.deepStrictEqual(contentsIn(several.store), contentsIn(one!.store), what)
      }
    }
  })

  it('of an excerpt', async t => {
    await same(
      t,
      packOf(chain.slice(0, 9).map(raw => (numberOf(raw) % 3 ? raw : excerptOf(raw, index => index === 0)))),
    )
  })
})

const withOtherHash = (raw: RawBlock): RawBlock =>
  JSON.parse(JSON.stringify(raw).replaceAll(raw.block.hash, `0x${'ab'.repeat(32)}`)) as RawBlock

const unlinked = (raw: RawBlock): RawBlock => ({ ...raw, block: { ...raw.block, parentHash: `0x${'cd'.repeat(32)}` } })

test('groups hold all lines of a pack that are not blank, in their order, in memory that is used again', async t => {
  const path = join(await dataFolder(t), 'pack')
  const line = fc.oneof(
    fc.constantFrom('', ' ', '\t \r'),
    fc.string({ minLength: 1, maxLength: 90, unit: 'binary-ascii' }),
  )
  const lines = fc.array(
    line.map(text => text.replaceAll('\n', '.')),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 200 }),
      async (lines, most, bytes) => {
        writeFileSync(path, lines.join('\n'))
        const due: [number, string][] = []
        try {
          for await (const { line, bytes } of readPackLines(path)) due.push([line, Buffer.from(bytes).toString()])
        } catch {
          assert.equal(due.length, 0)
          return
        }
        const found: [number, string][] = []
        const read = createGroupReader(most, bytes)
        // Each group is looked at when the next ones are read already.
        const held: (() => void)[] = []
        for await (const group of read({ form: 'pack', path, size: 0 }, {})) {
          assert.ok(group.lines.length > 0 && group.lines.length <= most)
          const sizes = group.lines.map(({ bytes }) => bytes.length)
          const size = sizes.reduce((sum, one) => sum + one, 0)
          assert.ok(size <= Math.max(bytes, 2 * Math.max(...sizes)), `${size}`)
          held.push(() => {
            for (const { line, bytes } of group.lines) found.push([line, Buffer.from(bytes).toString()])
            group.release()
          })
          if (held.length > 3) held.shift()!()
        }
        for (const take of held) take()
        assert.deepEqual(found, due)
      },
    ),
    { numRuns: 150, seed: 4 },
  )
})
