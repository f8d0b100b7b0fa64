import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { OpenClusterRedecoder } from '../../src/cluster/redecoding/redecoder.ts'
import type { PatchLine } from '../../src/cluster/ship/sending.ts'
import type { Decoding } from '../../src/decode/decoding.ts'
import { readAbi } from '../../src/decode/parse-abi.ts'
import type { EventAbi } from '../../src/decode/types.ts'
import type { Revision } from '../../src/engine/index/redecode-patch.ts'
import { abiFile, readOwnAbis, type StoredAbi } from '../../src/ingest/decoding/abi-files.ts'
import { redecode } from '../../src/ingest/jobs/redecode.ts'
import type { RedecodingReport } from '../../src/ingest/messages.ts'
import { applyJobChanges, type StoredChange } from '../../src/ingest/pipeline.ts'
import { askToRedecode } from '../../src/ingest/requests.ts'
import { type Log, silent } from '../../src/lib/log.ts'
import { neighbours } from './contents.ts'
import { oddEvents } from './odd.ts'
import type { TestStore } from './store.ts'

export const NETWORK = 'ethereum/made-up/mainnet'
export const EMITTER = `0x${'5'.repeat(40)}` as const

/**
 * Odd blocks of which every transaction that called nothing calls `moor`, now and then with data that does not decode; and what a transaction
 * calls is what its topmost step does.
 */
export const moored = (count: number): RawBlock[] =>
  neighbours(count).map((raw, n) => {
    const copy = structuredClone(raw)
    for (const [i, tx] of copy.block.transactions.entries()) {
      if (!tx.to) continue
      const input = encodeFunctionData({
        abi: parseAbi(['function moor(uint256 berth, address ship)']),
        args: [BigInt(n), i % 2 ? EMITTER : '0x000000000000000000000000000000abcdef1234'],
      })
      if (tx.input === '0x') tx.input = i === 3 ? input.slice(0, 100) : input
      for (const trace of copy.traces ?? []) {
        if (trace.type !== 'call' || trace.transactionPosition !== Number(tx.transactionIndex)) continue
        trace.action.input = tx.input
        if (trace.traceAddress.length === 0) trace.action.to = tx.to
      }
    }
    return copy
  })

export const blocks = moored(24)
const [CALLED, OTHER] = [
  ...new Set(
    blocks
      .flatMap(({ block }) => block.transactions)
      .flatMap(({ to, input }) => (to && input.startsWith('0xa9059cbb') ? [to.toLowerCase()] : [])),
  ),
] as [string, string]

export const abiOf = (name: string, text: string, rest: Partial<StoredAbi> = {}): StoredAbi => ({
  ...readAbi(text, name),
  name,
  address: null,
  codeHash: null,
  network: null,
  ...rest,
})
const eventsOnly = (name: string, events: readonly EventAbi[], rest: Partial<StoredAbi> = {}): StoredAbi => ({
  name,
  events: [...events],
  functions: [],
  probability: 1,
  address: null,
  codeHash: null,
  network: null,
  ...rest,
})

const renamed = (event: EventAbi): EventAbi => ({
  ...event,
  inputs: event.inputs.map((input, i) => ({ ...input, name: `renamed${i}` })),
})

const MOOR = 'function moor(uint256 berth, address ship)'
export const TRANSFER = 'event Transfer(address indexed sender, address indexed receiver, uint256 amount)'
/** Sure ones: of contracts, for all, and of both for the same. */
export const ABIS: StoredAbi[] = [
  eventsOnly('odd', oddEvents.slice(0, 2)),
  eventsOnly('odder', oddEvents.slice(2)),
  eventsOnly('of one', oddEvents.map(renamed), { address: `0x${'2'.repeat(40)}`, network: NETWORK }),
  abiOf('token', `${TRANSFER}\nfunction transfer(address whom, uint256 much)`),
  abiOf('its token', 'event Transfer(address indexed a, address indexed b, uint256 c)\nevent Bare()', {
    address: EMITTER,
    network: NETWORK,
  }),
  abiOf('harbour', MOOR),
  abiOf('its harbour', 'function moor(uint256 x, address y)\nfunction transfer(address x, uint256 y)', {
    address: CALLED,
    network: NETWORK,
  }),
  // Of the selector of `transfer`, with which it is called: it has the name, and does not decode.
  abiOf('babbage', 'function many_msg_babbage(bytes1 b)', { address: OTHER, network: NETWORK }),
]
/** Unsure ones. */
export const LISTS: StoredAbi[] = [
  abiOf('list', MOOR, { probability: 0.6 }),
  eventsOnly(
    'list of events',
    oddEvents.map(({ name, inputs }) => ({ name, inputs: inputs.map(({ indexed: _, ...input }) => input) })),
    {
      probability: 0.6,
    },
  ),
  abiOf('list of its', MOOR, { probability: 0.6, address: CALLED, network: NETWORK }),
]

interface Options {
  /** Called in place of the writer. */
  revise?: (revision: Revision, write: () => boolean) => Promise<boolean> | boolean
  took?: () => number
  onReport?: (report: RedecodingReport | null) => void
  log?: Log
  signal?: AbortSignal
  elsewhere?: OpenClusterRedecoder
  patch?: (lines: readonly PatchLine[]) => Promise<{ done: boolean }>
}

/** A folder of ABIs, and the going through a store by them, without threads. */
export const setUp = (t: Pick<TestContext, 'after'>) => {
  const root = mkdtempSync(join(tmpdir(), 'chainsieve-redecode-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [abis, folder] = [join(root, 'abis'), join(root, 'redecode')]
  mkdirSync(abis)
  const own = () => readOwnAbis(abis, NETWORK)
  return {
    own,
    abis,
    folder,
    clear() {
      for (const name of readdirSync(abis)) rmSync(join(abis, name))
      rmSync(folder, { recursive: true, force: true })
    },
    keep(abi: StoredAbi) {
      writeFileSync(join(abis, abiFile(abi)), JSON.stringify(abi))
    },
    forget: (abi: StoredAbi) => rmSync(join(abis, abiFile(abi))),
    ask: (abi: StoredAbi) => askToRedecode(folder, abi, [NETWORK]),
    run(store: TestStore, options: Options = {}) {
      const { revise, took = () => 0, onReport = () => {}, log = silent, signal = never, elsewhere, patch } = options
      let decoding: Decoding
      const changes = redecode({
        network: NETWORK,
        store: store.path,
        native: undefined,
        abis,
        folder,
        decoding(age) {
          if (age === 0) decoding = store.decodeBy(own())
          return decoding
        },
        preparer: store.preparer,
        elsewhere,
        caughtUp: async () => {},
        onReport,
        log,
        signal,
      })
      return applyJobChanges(changes, async change => {
        if (change.type === 'patch') return { ...(await patch!(change.lines)), took: 0 }
        assert.equal(change.type, 'revise')
        const { revision } = change as Extract<StoredChange, { type: 'revise' }>
        const write = () => {
          store.writer.receive(revision)
          const done = store.writer.revise(revision)
          store.preparer.committed(revision.added)
          return done
        }
        return { done: revise ? await revise(revision, write) : write(), took: took() }
      })
    },
  }
}
export const never = new AbortController().signal

/** Runs what may be ended as by a kill; whether it was. */
export const endable = async (run: (end: () => never, signal: AbortSignal) => Promise<void>): Promise<boolean> => {
  const controller = new AbortController()
  const reason = new Error('ended')
  const end = () => {
    controller.abort(reason)
    throw reason
  }
  try {
    await run(end, controller.signal)
    return false
  } catch (error) {
    if (error === reason) return true
    throw error
  }
}
