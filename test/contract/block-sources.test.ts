import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  chainIdOfFiles,
  findBlockFiles,
  parseBlockLine,
  parserReady,
  readBlockLines,
} from '../../src/chain/files/block-files.ts'
import { formatPackLine } from '../../src/chain/files/pack.ts'
import { createRpcSource } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { writeCryo } from '../support/cryo.ts'
import { era1Of, toEra1 } from '../support/era1.ts'
import { fastClock, startNode } from '../support/node.ts'
import { tempFolder } from '../support/pack.ts'
import { demoBlocks } from '../support/store.ts'

interface BlockSource {
  chainId(signal: AbortSignal): Promise<number | undefined>
  blocks(signal: AbortSignal): AsyncIterable<RawBlock>
}

interface Implementation {
  open(t: TestContext, blocks: readonly RawBlock[]): Promise<BlockSource>
  /** Why a part of the contract does not hold. */
  skips?: { damage?: string }
}

const filesOf = (path: string): BlockSource => ({
  chainId: async signal => chainIdOfFiles(await findBlockFiles([path]), { signal }),
  async *blocks(signal) {
    for (const file of await findBlockFiles([path]))
      for await (const line of readBlockLines(file, { signal })) yield parseBlockLine(line)
  },
})

/** Every form in which blocks come, from the same chain. */
const SOURCES: Record<string, Implementation> = {
  'JSON-RPC': {
    async open(t, blocks) {
      const node = await startNode(t, [...blocks])
      const source = createRpcSource({ urls: [node.url], clock: fastClock() })
      t.after(() => source.close?.())
      const [from, to] = [numberOf(blocks[0]!), numberOf(blocks.at(-1)!)]
      return {
        chainId: signal => source.chainId(signal),
        async *blocks(signal) {
          for await (const run of source.range({ from, to, order: 'oldest', run: 8, signal })) yield* run
        },
      }
    },
    skips: { damage: 'a node is asked again: test/chain/rpc.test.ts' },
  },
  'a block pack': {
    open: async (t, blocks) => filesOf(await (await tempFolder(t))('pack', blocks.map(formatPackLine).join(''))),
  },
  'a packed block pack': {
    open: async (t, blocks) =>
      filesOf(await (await tempFolder(t))('pack', gzipSync(blocks.map(formatPackLine).join('')))),
  },
  'an era1 file': {
    open: async (t, blocks) =>
      filesOf(await (await tempFolder(t))('a.era1', era1Of(blocks.map(toEra1), numberOf(blocks[0]!)))),
  },
  'a folder of cryo': {
    async open(t, blocks) {
      const folder = join(await (await tempFolder(t))('beside', ''), '..', 'cryo')
      await writeCryo(folder, blocks, { chunk: 7 })
      return filesOf(folder)
    },
  },
}

const numberOf = ({ block }: RawBlock) => Number(block.number)

/** What every form has of a block. */
const factsOf = ({ block, receipts }: RawBlock) => ({
  number: block.number,
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: block.timestamp,
  transactions: block.transactions.map(({ hash, from, to, value, input }) => ({ hash, from, to, value, input })),
  receipts: receipts.map(({ transactionHash, status, logs }) => ({
    ...{ transactionHash, status },
    logs: logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex })),
  })),
})

const read = async (source: BlockSource, signal = new AbortController().signal) => {
  const blocks: RawBlock[] = []
  for await (const block of source.blocks(signal)) blocks.push(block)
  return blocks
}

before(() => parserReady('era1'))
const chain = demoBlocks().slice(0, 40)

for (const [name, { open, skips }] of Object.entries(SOURCES))
  describe(`${name}, as every source of blocks`, () => {
    test('gives the chain, in order, with its id', async t => {
      const source = await open(t, chain)
      assert.deepEqual((await read(source)).map(factsOf), chain.map(factsOf))
      assert.equal(await source.chainId(new AbortController().signal), chain[0]!.chainId)
    })

    test('ends with the reason of an aborted signal', async t => {
      const source = await open(t, chain)
      const reason = new Error('enough')
      await assert.rejects(read(source, AbortSignal.abort(reason)), reason)
    })

    test('refuses a block with a changed log, and says which', { skip: skips?.damage }, async t => {
      const damaged = structuredClone(chain)
      const at = damaged.findIndex(({ receipts }) => receipts.some(({ logs }) => logs.length > 0))
      damaged[at]!.receipts.find(({ logs }) => logs.length > 0)!.logs[0]!.address = `0x${'ee'.repeat(20)}`
      const source = await open(t, damaged)
      await assert.rejects(read(source), { next: 'refuse', message: new RegExp(`\\b${numberOf(chain[at]!)}\\b`) })
    })
  })
