import { readFileSync } from 'node:fs'
import { encodeFunctionData, parseAbi } from 'viem'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { StoredAbi } from '../../src/ingest/decoding/abi-files.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { makeChain } from '../support/pack.ts'
import { abiOf, NETWORK, setUp } from '../support/redecoding.ts'
import { returned } from '../support/returning.ts'
import { fullBlock } from '../support/rich.ts'
import { createTestStore, demoBlocks, demoEvents, excerptOf, type TestStore } from '../support/store.ts'

/** Builds of one content, by what is done: they answer alike. The first is the one that requests are drawn from. */
export type Builds = Record<string, () => Promise<TestStore> | TestStore>

/** Rare things, excerpts of blocks among them, several blocks of one second, and gaps in the chain. */
const odd = (): RawBlock[] =>
  oddBlocks(30).flatMap((raw, i) => {
    raw.block.timestamp = `0x${(1_700_000_000 + 7 * (i >> 1)).toString(16)}`
    if (i === 14 || i === 15) return []
    return i % 7 === 3 ? excerptOf(raw, index => index % 2 === 1) : raw
  })

/** Another branch from a block on, with contracts, tokens and events of its own. */
const branch = (from: number): RawBlock[] =>
  oddBlocks(9, from).map(raw => {
    const hashes = [raw.block.hash, ...raw.block.transactions.map(({ hash }) => hash)]
    const text = hashes.reduce((text, hash) => text.replaceAll(hash, `0xbd${hash.slice(4)}`), JSON.stringify(raw))
    return JSON.parse(text) as RawBlock
  })

const demo = (): RawBlock[] => demoBlocks().slice(0, 90)
/** More logs and more traces than a segment is probed for one by one when they are sorted. */
const generated = (): RawBlock[] => [
  ...generateBlocks({ seed: 11, count: 5 }),
  ...generateBlocks({ seed: 11, count: 5, from: 22_600_005, traces: true }),
]
const full = (): RawBlock[] => [fullBlock(), ...makeChain({ from: 6, blocks: 2, txs: 2, logs: 3, chainId: 1 })]
const without = (blocks: RawBlock[]): RawBlock[] => blocks.map(({ traces: _, ...raw }) => raw)

/** Every transaction that called nothing calls `moor`. */
const moored = (): RawBlock[] =>
  oddBlocks(20).map((raw, n) => {
    for (const [i, tx] of raw.block.transactions.entries()) {
      if (!tx.to || tx.input !== '0x') continue
      const args = [BigInt(n), EMITTERS[i % 2]!] as const
      const input = encodeFunctionData({ abi: parseAbi([MOOR]), args })
      tx.input = i === 3 ? (input.slice(0, 100) as typeof input) : input
      for (const trace of raw.traces ?? []) {
        if (trace.type !== 'call' || trace.transactionPosition !== i) continue
        trace.action.input = tx.input
        if (trace.traceAddress.length === 0) trace.action.to = tx.to
      }
    }
    return raw
  })

const MOOR = 'function moor(uint256 berth, address ship)'
const EMITTERS = [`0x${'5'.repeat(40)}`, `0x${'3'.repeat(40)}`] as const
const abis = (): StoredAbi[] => [
  { ...abiOf('odd', 'event Bare()'), events: [...oddEvents] },
  abiOf('harbour', MOOR),
  abiOf(
    'token',
    'event Transfer(address indexed sender, address indexed receiver, uint256 amount)\nfunction transfer(address whom, uint256 much)',
  ),
  abiOf('its token', 'event Transfer(address indexed a, address indexed b, uint256 c)\nevent Bare()', {
    address: EMITTERS[0],
    network: NETWORK,
  }),
]

/** Blocks that were decoded without any ABI, and then anew by these, one after the other. */
const redecoded = async (blocks: readonly RawBlock[]): Promise<TestStore> => {
  const ends: (() => void)[] = []
  const { own, keep, ask, run } = setUp({ after: (end?: unknown) => void ends.push(end as () => void) })
  const store = createTestStore(blocks, { own: own(), run: [1, 5, 3] })
  for (const one of abis()) {
    keep(one)
    ask(one)
    await run(store)
  }
  for (const end of ends) end()
  return store
}

const numberOf = ({ block }: RawBlock) => Number(block.number)

/** A store in which another branch stood above the block of this place, and was taken back. */
const reorganised = (blocks: readonly RawBlock[], place: number): TestStore => {
  const store = createTestStore(blocks.slice(0, place + 1), { events: oddEvents, run: [2, 1] })
  const to = numberOf(blocks[place]!)
  store.add(branch(to + 1))
  store.rollback(to)
  store.add(blocks.slice(place + 1))
  return store
}

const reopened = (blocks: readonly RawBlock[]): TestStore => {
  const half = blocks.length >> 1
  const first = createTestStore(blocks.slice(0, half), { events: oddEvents, run: 4 })
  first.endWriting()
  first.reader.close()
  const store = createTestStore([], { events: oddEvents, run: 3, path: first.path })
  store.add(blocks.slice(half))
  return store
}

const scenario = (): RawBlock[] =>
  readFileSync(new URL('../scenario/blocks.ndjson', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as RawBlock)

/** What the fixtures are about: a file and one store or more for each. */
export const CONTENTS: Record<string, Builds> = {
  odd: {
    'small runs': () => createTestStore(odd(), { events: oddEvents, run: [1, 3, 2] }),
    'one run': () => createTestStore(odd(), { events: oddEvents, run: 100 }),
    'newest first, one by one': () => createTestStore(odd().toReversed(), { events: oddEvents, run: 1 }),
    'a reorganisation': () => reorganised(odd(), 16),
    'a restart': () => reopened(odd()),
    'a cluster': () => returned(createTestStore(odd(), { events: oddEvents, run: [4, 9] })),
  },
  demo: {
    'small runs': () => createTestStore(demo(), { events: demoEvents(), run: [7, 1, 2] }),
    'one run': () => createTestStore(demo(), { events: demoEvents(), run: 1000 }),
  },
  generated: {
    'one run': () => createTestStore(generated(), { run: 10 }),
    'one by one': () => createTestStore(generated().toReversed(), { run: 1 }),
  },
  full: {
    'a block': () => createTestStore(full()),
    'a cluster': () => returned(createTestStore(full())),
  },
  calls: { 'small runs': () => createTestStore(odd(), { events: oddEvents, run: [1, 3], traces: 'calls' }) },
  untraced: { 'small runs': () => createTestStore(without(demo()), { events: demoEvents(), run: [5, 9] }) },
  redecoded: {
    'decoded anew': () => redecoded(moored()),
    'a cluster': async () => returned(await redecoded(moored())),
    'decoded once': () => createTestStore(moored(), { own: abis(), run: 6 }),
  },
  branched: {
    'a rollback': () => {
      const store = createTestStore(odd(), { events: oddEvents, run: [4, 1] })
      store.rollback(numberOf(odd()[9]!))
      store.add(branch(numberOf(odd()[9]!) + 1))
      return store
    },
  },
  emptied: {
    'all taken back': () => {
      const store = createTestStore(odd(), { events: oddEvents })
      store.rollback(-1)
      return store
    },
    'nothing ever': () => createTestStore([]),
  },
  scenario: { 'one run': () => createTestStore(scenario(), { run: 3 }) },
}
