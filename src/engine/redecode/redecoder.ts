import type { OwnAbi } from '../../decode/declarations.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { RevisionBuilder } from '../index/redecode-patch.ts'
import type { Redecoder, RedecodingStep } from '../port.ts'
import { openReader, readingIn, type StoreReader } from '../reader.ts'
import { type Candidates, createCandidateFinder, cutNewest, findAbiOwners, lastBlock } from './candidates.ts'
import { createComparison } from './comparison.ts'
import { createStoredFailureComparison } from './failures.ts'

interface RedecoderOptions {
  /** Path of SQLite's binding. */
  native: string | undefined
  /** Begins a revision of a segment; `digitsOf` returns the address of a dictionary id. */
  revise(segment: number, digitsOf: (address: number) => string): RevisionBuilder
}

/** Opens one network's store to find what an ABI decodes differently. */
export const openRedecoder = (path: string, abi: OwnAbi, { native, revise }: RedecoderOptions): Redecoder => {
  const reader = openReader(path, native)
  const read = readingIn(reader)
  let owners: readonly number[] | null | undefined
  const knownOwners = () => {
    if (owners === undefined) owners = findAbiOwners(reader, abi)
    return owners
  }
  let take: ReturnType<typeof createRedecodeSteps> | undefined
  return {
    owners: () => read(() => knownOwners()?.map(id => `0x${reader.addressDigits(id)}`) ?? null),
    take: (from, size, decoding) =>
      read(() => {
        take ??= createRedecodeSteps(reader, abi, knownOwners(), revise)
        const step = take(from, size, decoding)
        const blocksLeft = reader
          .segments()
          .reduce(
            (sum, { first, last, block }) => sum + Math.min(block, Math.max(0, Math.min(last, step.to) - first + 1)),
            0,
          )
        return { ...step, blocksLeft }
      }),
    close: reader.close,
  }
}

/** Milliseconds after which a step without candidates ends. */
const SEARCH_MS = 7.5

/** Steps run between changes of the store, downwards from the highest unfinished block. */
const createRedecodeSteps = (
  reader: StoreReader,
  abi: OwnAbi,
  owners: readonly number[] | null,
  revise: RedecoderOptions['revise'],
) => {
  const find = createCandidateFinder(reader, abi, owners)
  const compare = createComparison(reader, abi)
  const compareFailures = createStoredFailureComparison(reader, abi)
  let left: Candidates | undefined

  /** Candidates of the newest segment that has any. Most have none, so one step skips several. */
  const nextCandidates = (next: number): { to: number; found: Candidates | undefined } => {
    const until = performance.now() + SEARCH_MS
    for (const segment of reader.segments().toReversed()) {
      if (segment.first > next) continue
      const found = find(segment, next)
      if (found) return { to: next, found }
      if (performance.now() > until) return { to: segment.first - 1, found: undefined }
    }
    return { to: -1, found: undefined }
  }

  const take = (next: number, size: number, decoding: Decoding): Omit<RedecodingStep, 'blocksLeft'> => {
    // The segment may have been merged or cut.
    if (left && !reader.segments().some(({ id }) => id === left!.segment.id)) left = undefined
    if (!left) {
      const { to, found } = nextCandidates(next)
      if (!found) return { revision: undefined, to }
      left = found
    }
    const { segment } = left
    const { part, rest } = cutNewest(left, size)
    const revision = revise(segment.id, reader.addressDigits)
    compare(part, decoding, revision)
    compareFailures(part, decoding, revision)
    const last = lastBlock(rest)
    left = last < 0 ? undefined : rest
    const to = left ? last : segment.first - 1
    return { revision: revision.documents > 0 ? revision.finish() : undefined, to }
  }

  return take
}
