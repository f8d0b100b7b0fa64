import { createEventDecoder, createFunctionDecoder } from '../decode/abi.ts'
import { createCallSignatures } from '../decode/call-signatures.ts'
import type { OwnAbi } from '../decode/declarations.ts'
import { selectorOf, topicOf } from '../decode/signature.ts'
import type { DecodedArg, Signature } from '../decode/types.ts'
import { createStored } from '../engine/documents/stored.ts'
import type { Revision, RevisionBuilder } from '../engine/index/revision.ts'
import { argumentFacet, FACETS, HASHED, logFacet, termOf, UNLISTED, UNLISTED_CALL } from '../engine/index/terms.ts'
import { endOf, ordinalOfPosition, positionOfOrdinal } from '../engine/query/places.ts'
import { openReader, type Reader, type ReadHeader, type Segment, type StoredSignature } from '../engine/reader.ts'
import { blockOf, positionOf } from '../engine/schema.ts'
import type { Hash62 } from '../lib/hash.ts'
import type { Log } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { findAbi, readOwnAbis } from './abis.ts'
import type { Decoding } from './decoding.ts'
import { holdersOf } from './holders.ts'
import type { RedecodingReport, Revised } from './messages.ts'
import type { Preparer } from './prepare.ts'
import { endRedecoding, noteProgress, openRedecodings, type Redecoding } from './redecodings.ts'

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
  letHeadPass(): Promise<void>
  onReport(report: RedecodingReport | null): void
  log: Log
  signal: AbortSignal
}

/** Documents that are looked at in one go, to begin with; then as many as keep each thread for about so long. */
const FIRST = 64
const STEP_MS = 15
const MOST = 10_000
/** Time for which what could not be decoded anew is left alone. */
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
      if (abi) await redecodeBy(redecoding, abi, options)
      endRedecoding(redecoding)
    } catch (error) {
      if (signal.aborted) throw error
      log.error('Could not decode anew what is stored, tries again later', { abi: redecoding.abi, error })
      await systemClock.sleep(AGAIN_MS, signal)
    } finally {
      options.onReport(null)
    }
  }
}

const redecodeBy = async (redecoding: Redecoding, abi: OwnAbi & { name: string }, options: RedecodeOptions) => {
  const { store, native, network, abis, decoding, preparer, askLinks, revise, caughtUp, letHeadPass, log, signal } =
    options
  const { name } = abi
  // Where one of the ABIs cannot be read, those from before would be gone by, without this one.
  readOwnAbis(abis, network)
  decoding(0)
  await caughtUp()
  const reader = openReader(store, native)
  try {
    reader.begin()
    const holders = holdersOf(reader, abi)
    const addresses = holders?.map(id => `0x${reader.addressDigits(id)}`) ?? []
    reader.end()
    await askLinks?.(addresses)
    const steps = createSteps(reader, abi, holders, preparer)
    const begun = { abi: name, ...(redecoding.next !== null && { from: redecoding.next }) }
    log.info('Decodes anew what is stored', begun)
    const counts = { logs: 0, calls: 0, transactions: 0 }
    let next = redecoding.next ?? Number.MAX_SAFE_INTEGER
    let size = FIRST
    while (next >= 0) {
      await letHeadPass()
      signal.throwIfAborted()
      const started = performance.now()
      const { revision, to, blocksLeft } = steps.take(next, size, decoding())
      let longest = performance.now() - started
      if (revision) {
        const { done, took } = await revise(revision)
        if (!done) continue
        longest = Math.max(longest, took)
        counts.logs += revision.logs.length
        counts.calls += revision.calls.length
        counts.transactions += revision.txs.length
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
    log.info('Decoded anew what was stored', { abi: name, ...counts })
  } finally {
    reader.close()
  }
}

interface Step {
  /** Undefined where nothing changes. */
  revision: Revision | undefined
  /** The newest block that is still to be looked at, -1 where none is. */
  to: number
  blocksLeft: number
}

/** Ordinals of a segment's documents that may be decoded otherwise, ascending. */
interface Candidates {
  segment: Segment
  header: ReadHeader
  logs: Uint32Array
  calls: Uint32Array
}

const createSteps = (
  reader: Reader,
  abi: OwnAbi,
  holders: readonly number[] | null,
  preparer: Pick<Preparer, 'revise'>,
) => {
  const find = createFinder(reader, abi, holders)
  const look = createLook(reader, abi)
  let left: Candidates | undefined

  /** Those of the newest segment that has any. Most have none of a contract: many of them are passed over in one go. */
  const nextCandidates = (next: number): { to: number; found: Candidates | undefined } => {
    const until = performance.now() + STEP_MS / 2
    for (const segment of reader.segments().toReversed()) {
      if (segment.first > next) continue
      const found = find(segment, next)
      if (found) return { to: next, found }
      if (performance.now() > until) return { to: segment.first - 1, found: undefined }
    }
    return { to: -1, found: undefined }
  }

  const take = (next: number, size: number, decoding: Decoding): Omit<Step, 'blocksLeft'> => {
    // It may have been merged with others, or cut.
    if (left && !reader.segments().some(({ id }) => id === left!.segment.id)) left = undefined
    if (!left) {
      const { to, found } = nextCandidates(next)
      if (!found) return { revision: undefined, to }
      left = found
    }
    const { segment, header } = left
    const part = newest(left, size)
    const revision = preparer.revise(segment.id, reader.addressDigits)
    look(part, decoding, revision)
    const rest = {
      ...left,
      logs: left.logs.subarray(0, left.logs.length - part.logs.length),
      calls: left.calls.subarray(0, left.calls.length - part.calls.length),
    }
    left = rest.logs.length + rest.calls.length > 0 ? rest : undefined
    const to = left
      ? Math.max(lastBlock(header, 'log', left.logs), lastBlock(header, 'call', left.calls))
      : segment.first - 1
    return { revision: revision.documents > 0 ? revision.finish() : undefined, to }
  }

  return {
    /** To be asked between two changes of the store, beginning at a block that was not looked at whole. */
    take(next: number, size: number, decoding: Decoding): Step {
      reader.begin()
      try {
        const step = take(next, size, decoding)
        const blocksLeft = reader
          .segments()
          .reduce((sum, { first, last }) => sum + Math.max(0, Math.min(last, step.to) - first + 1), 0)
        return { ...step, blocksLeft }
      } finally {
        reader.end()
      }
    },
  }
}

const lastBlock = (header: ReadHeader, kind: 'log' | 'call', ordinals: Uint32Array): number =>
  ordinals.length === 0 ? -1 : blockOf(positionOfOrdinal(header, kind, ordinals.at(-1)!))

/** So many of the last ones, logs and calls in the order of their blocks. */
const newest = ({ segment, header, logs, calls }: Candidates, size: number): Candidates => {
  let [log, call] = [logs.length, calls.length]
  for (let taken = 0; taken < size && log + call > 0; taken++) {
    const ofLog = lastBlock(header, 'log', logs.subarray(0, log))
    const ofCall = lastBlock(header, 'call', calls.subarray(0, call))
    if (ofLog > ofCall) log--
    else call--
  }
  return { segment, header, logs: logs.subarray(log), calls: calls.subarray(call) }
}

const namesOf = ({ events, functions }: OwnAbi) => ({
  topics: new Set(events.filter(({ anonymous }) => !anonymous).map(topicOf)),
  selectors: new Set(functions.map(selectorOf)),
})

/** What is looked for of one kind. */
interface Wanted {
  names: ReadonlySet<string>
  signatures: StoredSignature[]
  /** The one of all that have none of their own. */
  shared: StoredSignature | undefined
  /** By what those are found. */
  hashes: Hash62[]
  facet: number
}

/** Finds the documents that an ABI may have decoded otherwise: those of its topics and selectors, and of its contracts where it is for some. */
const createFinder = (reader: Reader, abi: OwnAbi, holders: readonly number[] | null) => {
  const { topics, selectors } = namesOf(abi)
  const own = new Set([
    ...abi.events.map(event => JSON.stringify(event)),
    ...abi.functions.map(({ name, inputs }) => JSON.stringify({ name, inputs })),
  ])
  /** What is as the ABI has it gains nothing by it, and what is surer than it neither. */
  const mayGain = (signature: Signature): boolean => {
    const { event, probability, error } = signature
    if (decodes(signature) && probability > abi.probability) return false
    return error !== null || probability !== abi.probability || !own.has(JSON.stringify(event))
  }

  const postingsOf = (segment: Segment, term: number, mark = 0): Uint32Array[] =>
    reader
      .termsBetween(segment.id, term, term)
      .filter(posting => posting.mark === mark)
      .map(reader.ordinals)

  const wantedOf = (of: 'log' | 'call'): Wanted => {
    const names = of === 'log' ? topics : selectors
    const all = reader.signatures(of)
    const shared = all.find(({ key }) => key === (of === 'log' ? UNLISTED : UNLISTED_CALL))
    return {
      names,
      signatures: all.filter(signature => names.has(signature.topic ?? '') && mayGain(signature)),
      shared: names.size > 0 ? shared : undefined,
      hashes: names.size > MOST_PROBED ? [] : [...names].map(name => ({ ...reader.hash(name) })),
      facet: of === 'call' ? FACETS['call.selector'] : shared ? argumentFacet(shared.id, 0) : 0,
    }
  }
  /** What comes up later is of blocks that are decoded by the ABI already. */
  let wanted: Record<'log' | 'call', Wanted> | undefined

  const listsOf = (segment: Segment, { names, signatures, shared, hashes, facet }: Wanted): Uint32Array[] => {
    const listsIn = (signature: StoredSignature) =>
      (holders ?? [ANY]).flatMap(value => postingsOf(segment, termOf(value, logFacet(signature.id))))
    const lists = signatures.flatMap(listsIn)
    const all = shared ? listsIn(shared) : []
    if (all.length === 0 || holders !== null || names.size > MOST_PROBED) return [...lists, ...all]
    return [...lists, ...hashes.flatMap(({ high, low }) => postingsOf(segment, termOf(HASHED + high, facet), low))]
  }

  /** Undefined where the segment has none up to a block. */
  return (segment: Segment, next: number): Candidates | undefined => {
    wanted ??= { log: wantedOf('log'), call: wantedOf('call') }
    const lists = { log: listsOf(segment, wanted.log), call: listsOf(segment, wanted.call) }
    if (lists.log.length + lists.call.length === 0) return undefined
    const header = reader.header(segment)
    const index = Math.min(next, segment.last) - segment.first
    const ordinals = (of: 'log' | 'call') => {
      const end = endOf(header, of, index)
      return ascending(lists[of]).filter(ordinal => ordinal < end)
    }
    const found = { segment, header, logs: ordinals('log'), calls: ordinals('call') }
    return found.logs.length + found.calls.length > 0 ? found : undefined
  }
}

/** In place of a contract: all of them. */
const ANY = 0

/** Of unlisted signatures; where there are more, it is the documents that are asked. */
const MOST_PROBED = 500

const ascending = (lists: readonly Uint32Array[]): Uint32Array => {
  if (lists.length === 1) return lists[0]!
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all.sort()
}

/** Looks at documents, and takes down which of them are decoded otherwise now. */
const createLook = (reader: Reader, abi: OwnAbi) => {
  const stored = createStored(reader)
  const argumentsIn = createArgumentsDecoder()
  const callSignature = createCallSignatures()
  // An upgrade holds for the transactions behind its own.
  const beginningOf = (block: number, tx: number): number => stored.upgradeFrom(block, tx) ?? positionOf(block + 1, 0)
  const addressOf = (id: number): string => `0x${reader.addressDigits(id)}`
  const names = namesOf(abi)

  return ({ header, logs, calls }: Candidates, decoding: Decoding, revision: RevisionBuilder) => {
    for (const ordinal of logs) {
      const position = positionOfOrdinal(header, 'log', ordinal)
      const log = stored.log(position)!
      const { topics, data } = log
      if (!names.topics.has(topics[0]!)) continue
      const was = reader.signature(log.signature)
      const now = decoding.log({ address: addressOf(log.address), topics, data }, position)
      if (isBetter(now.signature, was))
        revision.log({ position, ordinal }, log, { signature: was, args: argumentsIn.log(was, topics, data) }, now)
    }
    for (const ordinal of calls) {
      const position = positionOfOrdinal(header, 'call', ordinal)
      const call = stored.call(position)!
      const { input, tx, traceAddress } = call
      if (!names.selectors.has(input.slice(0, 10))) continue
      const to = addressOf(call.to)
      const was = reader.signature(call.signature)
      const at = beginningOf(blockOf(position), tx)
      const decoded = decoding.call(to, input, at)
      const signature = callSignature(decoded)
      if (isBetter(signature, was)) {
        const before = { signature: was, args: argumentsIn.call(was, input) }
        revision.call({ position, ordinal }, call, before, { signature, args: decoded.args })
      }
      // A transaction calls the function that its call is of.
      const method = traceAddress.length === 0 ? decoding.methodOf(input, to, at) : null
      if (method === null || isLessSure(signature, was)) continue
      const owner = positionOf(blockOf(position), tx)
      const place = { position: owner, ordinal: ordinalOfPosition(header, 'tx', owner) }
      revision.method(place, stored.method(owner), method)
    }
  }
}

/** What decodes and did not before is taken whatever it is; else it is the probability that counts. */
const isLessSure = (now: Signature, was: Signature): boolean => {
  if (decodes(now) && !decodes(was)) return false
  return now.probability < was.probability || (now.probability === was.probability && decodes(was) && !decodes(now))
}

const decodes = ({ event, error }: Signature): boolean => event !== null && error === null

const isBetter = (now: Signature, was: Signature): boolean =>
  now.event !== null && now.key !== was.key && !isLessSure(now, was)

/** What was indexed of a document, by the declaration that it was decoded by. */
const createArgumentsDecoder = () => {
  const logs = new Map<number, ReturnType<typeof createEventDecoder>>()
  const calls = new Map<number, ReturnType<typeof createFunctionDecoder>>()
  const decoderOf = <T>(
    known: Map<number, T>,
    { id, event }: StoredSignature,
    create: (event: NonNullable<Signature['event']>) => T,
  ): T => {
    let decoder = known.get(id)
    if (!decoder) {
      decoder = create(event!)
      known.set(id, decoder)
    }
    return decoder
  }
  return {
    log(signature: StoredSignature, topics: readonly string[], data: string): DecodedArg[] | null {
      if (!signature.event || signature.error !== null) return null
      return decoderOf(logs, signature, createEventDecoder)(topics, data).args
    },
    call(signature: StoredSignature, input: string): DecodedArg[] | null {
      if (!signature.event) return null
      return decoderOf(calls, signature, createFunctionDecoder)(input).args
    },
  }
}
