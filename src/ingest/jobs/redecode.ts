import type { OwnAbi } from '../../decode/declarations.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { Redecoder } from '../../engine/port.ts'
import { openRedecoder } from '../../engine/redecode/redecoder.ts'
import type { Log } from '../../lib/log.ts'
import { systemClock } from '../../lib/retry.ts'
import type { Kind } from '../../mapping/index.ts'
import { syncWriteAheadLog } from '../../sqlite/wal.ts'
import { findAbi, readOwnAbis } from '../decoding/abi-files.ts'
import type { Preparer } from '../decoding/prepare.ts'
import type { RedecodingReport } from '../messages.ts'
import type { JobChanges } from '../pipeline.ts'
import type { RemoteStore } from '../remote.ts'
import {
  endRedecoding,
  isStopped,
  noteBack,
  noteProgress,
  noteStoreDone,
  openRedecodings,
  type RedecodeRequest,
} from '../requests.ts'

interface RedecodeOptions {
  network: string
  store: string
  native: string | undefined
  abis: string
  folder: string
  /** Current ABIs, at most `age` milliseconds old. */
  decoding(age?: number): Decoding
  preparer: Pick<Preparer, 'revise'>
  askLinks?(addresses: readonly string[]): Promise<void>
  elsewhere?: ReturnType<RemoteStore['redecoder']> | undefined
  caughtUp(): Promise<void>
  onReport(report: RedecodingReport | null): void
  log: Log
  signal: AbortSignal
}

const FIRST_DOCUMENTS = 64
const REDECODE_STEP_MS = 15
const MAX_DOCUMENTS = 10_000
const MAX_REMOTE_DOCUMENTS = 500
const RETRY_REDECODE_MS = 60_000

/** Decodes stored blocks again on request, newest first; raises no alerts. */
export async function* redecode(options: RedecodeOptions): JobChanges {
  const { folder, network, abis, log, signal } = options
  for (const redecoding of openRedecodings(folder, network)) {
    try {
      const abi = findAbi(abis, redecoding.abi)
      if (abi && !isStopped(redecoding)) yield* redecodeBy(redecoding, abi, options)
      endRedecoding(redecoding)
    } catch (error) {
      if (signal.aborted) throw error
      log.error('Failed to decode stored blocks again, will retry later', { abi: redecoding.abi, error })
      await systemClock.sleep(RETRY_REDECODE_MS, signal)
    } finally {
      options.onReport(null)
    }
  }
}

async function* redecodeBy(
  redecoding: RedecodeRequest,
  abi: OwnAbi & { name: string },
  options: RedecodeOptions,
): JobChanges {
  const { store, native, network, abis, decoding, preparer, askLinks, caughtUp, log } = options
  const { name } = abi
  if (redecoding.inCluster && !options.elsewhere) noteBack(redecoding)
  // Throws if an ABI is unreadable; `decoding` would return the old list, without this one.
  readOwnAbis(abis, network)
  decoding(0)
  await caughtUp()
  const redecoder = openRedecoder(store, abi, { native, revise: preparer.revise })
  try {
    const owners = await redecoder.owners()
    await askLinks?.(owners ?? [])
    const begun = { abi: name, ...(redecoding.next !== null && { from: redecoding.next }) }
    log.info('Decodes stored blocks again', begun)
    const counts = { logs: 0, calls: 0, transactions: 0, traces: 0 }
    if (!redecoding.inCluster) yield* goThrough(redecoding, abi, options, inStore(redecoder, options, counts))
    if (options.elsewhere && !isStopped(redecoding)) yield* goThroughOthers(redecoding, abi, owners, options, counts)
    const did = isStopped(redecoding) ? 'Stopped decoding stored blocks again' : 'Decoded stored blocks again'
    log.info(did, { abi: name, ...counts })
  } finally {
    await redecoder.close()
  }
}

interface RedecodeCounts {
  logs: number
  calls: number
  transactions: number
  traces: number
}

interface RedecodeStep {
  /** Newest block left to search; undefined: results are gone, search again. */
  to: number | undefined
  blocksLeft: number
  longest: number
}

type TakeStep = (next: number, size: number) => JobChanges<RedecodeStep>

async function* goThrough(
  redecoding: RedecodeRequest,
  { name }: { name: string },
  { store, onReport, signal }: RedecodeOptions,
  take: TakeStep,
): JobChanges {
  let next = redecoding.next ?? Number.MAX_SAFE_INTEGER
  let size = FIRST_DOCUMENTS
  while (next >= 0 && !isStopped(redecoding)) {
    yield null
    signal.throwIfAborted()
    const started = performance.now()
    const { to, blocksLeft, longest } = yield* take(next, size)
    if (to === undefined) continue
    // Occasional checkpoints take long, but say little about the next steps.
    const pace = Math.max(0.5, Math.min(2, REDECODE_STEP_MS / Math.max(longest, 1)))
    size = Math.max(1, Math.min(MAX_DOCUMENTS, Math.round(size * pace)))
    next = to
    // Commits of a store do not sync: a power cut must not take what is noted as done.
    syncWriteAheadLog(store)
    noteProgress(redecoding, next)
    onReport({ abi: name, blocksLeft })
    // Leaves half of the time to jobs that take several turns per block.
    await systemClock.sleep(performance.now() - started, signal)
  }
}

const inStore = (redecoder: Redecoder, { decoding }: RedecodeOptions, counts: RedecodeCounts): TakeStep =>
  async function* (next, size) {
    const started = performance.now()
    const { revision, to, blocksLeft } = await redecoder.take(next, size, decoding())
    const longest = performance.now() - started
    if (!revision) return { to, blocksLeft, longest }
    const { done, took } = yield { type: 'revise', revision }
    if (!done) return { to: undefined, blocksLeft, longest }
    counts.logs += revision.logs.length
    counts.calls += revision.calls.length
    counts.transactions += revision.txs.length
    counts.traces += revision.traces.length
    return { to, blocksLeft, longest: Math.max(longest, took) }
  }

const LEFT_MS = 100

async function* goThroughOthers(
  redecoding: RedecodeRequest,
  abi: OwnAbi & { name: string },
  owners: readonly string[] | null,
  options: RedecodeOptions,
  counts: RedecodeCounts,
): JobChanges {
  const { elsewhere, decoding, signal } = options
  // Documents under way have then arrived, or are shipped again.
  yield { type: 'patch', lines: [] }
  if (!redecoding.inCluster) noteStoreDone(redecoding)
  const redecoder = elsewhere!(abi, owners)
  try {
    yield* goThrough(redecoding, abi, options, async function* (next, size) {
      const { lines, learnt, to, blocksLeft } = await redecoder.take(
        next,
        Math.min(size, MAX_REMOTE_DOCUMENTS),
        decoding(),
      )
      const step = { to, blocksLeft, longest: 0 }
      if (!learnt) return step
      yield { type: 'revise', revision: learnt }
      const { done } = yield { type: 'patch', lines }
      if (!done) {
        await systemClock.sleep(LEFT_MS, signal)
        return { ...step, to: undefined }
      }
      const count = (kind: Kind) => lines.filter(line => line.kind === kind).length
      counts.logs += count('event')
      counts.calls += count('call')
      counts.transactions += count('tx')
      counts.traces += count('trace')
      return step
    })
  } finally {
    await redecoder.close()
  }
}
