import type { OwnAbi } from '../decode/declarations.ts'
import type { Decoding } from '../decode/decoding.ts'
import type { Revision } from '../engine/index/revision.ts'
import { openRedecoder } from '../engine/redecode/redecoder.ts'
import type { Log } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { findAbi, readOwnAbis } from './abis.ts'
import type { RedecodingReport, Revised } from './messages.ts'
import type { Preparer } from './prepare.ts'
import { endRedecoding, isStopped, noteProgress, openRedecodings, type Redecoding } from './redecodings.ts'

export interface RedecodeOptions {
  network: string
  store: string
  native: string | undefined
  /** Folder of the ABIs. */
  abis: string
  /** Folder of what is asked for. */
  folder: string
  /** What is decoded by, as of so many milliseconds ago at most. */
  decoding(age?: number): Decoding
  preparer: Pick<Preparer, 'revise'>
  /** Asks contracts whose code they run, where there is a node; default: nothing is asked. */
  askLinks?(addresses: readonly string[]): Promise<void>
  revise(revision: Revision): Promise<Revised>
  /** Resolves when every block that was decoded before now is committed. */
  caughtUp(): Promise<void>
  /** Resolves when blocks of the head that wait have passed. */
  yieldToHead(): Promise<void>
  onReport(report: RedecodingReport | null): void
  log: Log
  signal: AbortSignal
}

/** Documents that are looked at in one go, to begin with; then as many as keep each thread for about so long. */
const FIRST = 64
const STEP_MS = 15
const MOST = 10_000
/** How long to wait before decoding again is retried after a failure. */
const AGAIN_MS = 60_000

/**
 * Goes through the stored blocks for the ABIs by which that was asked for, the newest first, a few documents at a time: what an ABI tells
 * otherwise, and no less surely than it was, takes the place of what is stored. No alerts come of it: what a rule is to find in history is what
 * the rule's own going through it finds.
 */
export const redecode = async (options: RedecodeOptions) => {
  const { folder, network, abis, log, signal } = options
  for (const redecoding of openRedecodings(folder, network)) {
    try {
      const abi = findAbi(abis, redecoding.abi)
      if (abi && !isStopped(redecoding)) await redecodeBy(redecoding, abi, options)
      endRedecoding(redecoding)
    } catch (error) {
      if (signal.aborted) throw error
      log.error('Failed to decode stored blocks again, will retry later', { abi: redecoding.abi, error })
      await systemClock.sleep(AGAIN_MS, signal)
    } finally {
      options.onReport(null)
    }
  }
}

const redecodeBy = async (redecoding: Redecoding, abi: OwnAbi & { name: string }, options: RedecodeOptions) => {
  const { store, native, network, abis, decoding, preparer, askLinks, revise, caughtUp, yieldToHead, log, signal } =
    options
  const { name } = abi
  // Where one of the ABIs cannot be read, those from before would be gone by, without this one.
  readOwnAbis(abis, network)
  decoding(0)
  await caughtUp()
  const redecoder = openRedecoder(store, abi, { native, revise: preparer.revise })
  try {
    await askLinks?.((await redecoder.owners()) ?? [])
    const begun = { abi: name, ...(redecoding.next !== null && { from: redecoding.next }) }
    log.info('Decodes stored blocks again', begun)
    const counts = { logs: 0, calls: 0, transactions: 0, traces: 0 }
    let next = redecoding.next ?? Number.MAX_SAFE_INTEGER
    let size = FIRST
    while (next >= 0 && !isStopped(redecoding)) {
      await yieldToHead()
      signal.throwIfAborted()
      const started = performance.now()
      const { revision, to, blocksLeft } = await redecoder.take(next, size, decoding())
      let longest = performance.now() - started
      if (revision) {
        const { done, took } = await revise(revision)
        if (!done) continue
        longest = Math.max(longest, took)
        counts.logs += revision.logs.length
        counts.calls += revision.calls.length
        counts.transactions += revision.txs.length
        counts.traces += revision.traces.length
      }
      // Now and then a commit takes over the whole log of writes: that says little of the next ones.
      const pace = Math.max(0.5, Math.min(2, STEP_MS / Math.max(longest, 1)))
      size = Math.max(1, Math.min(MOST, Math.round(size * pace)))
      next = to
      noteProgress(redecoding, next)
      options.onReport({ abi: name, blocksLeft })
      // Half of the time is left to whoever takes several turns to bring a block.
      await systemClock.sleep(performance.now() - started, signal)
    }
    const did = isStopped(redecoding) ? 'Stopped decoding stored blocks again' : 'Decoded stored blocks again'
    log.info(did, { abi: name, ...counts })
  } finally {
    await redecoder.close()
  }
}
