import { type Question, readBodyOf } from '../chain/blocks.ts'
import type { Part, Taken, Taker } from '../chain/taking.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { BuiltPiece } from './builders/facts.ts'
import type { Builders, ReadAnswer } from './builders/pool.ts'
import { prefetch, prefetchFor } from './prefetch.ts'
import type { Work } from './work.ts'

/** Some blocks of a run that are being built elsewhere, or are to be taken one by one. */
export interface BegunPart {
  /** Undefined if no piece can be taken. */
  built(): Promise<BuiltPiece | undefined>
  /** The blocks themselves, with all there is to know of them; in place of the piece. */
  blocks(): Promise<RawBlock[]>
  /** The piece was taken. */
  drop(): void
}

export interface RunTaker extends Taker<AnswerTaken> {
  /**
   * Has a run built by what is known of it now. Of all that it shows is asked first, as where its blocks are taken one by one: so the same
   * is known of tokens in it, whoever builds it.
   */
  begin(parts: readonly Part<AnswerTaken>[]): Promise<BegunPart[]>
  /** Whether a run may be begun before the one before it is taken: what is learnt of it changes nothing of that one then. */
  mayGoAhead(parts: readonly Part<AnswerTaken>[]): boolean
}

export interface AnswerTaken extends Taken, ReadAnswer {
  blocks: ReadAnswer['blocks']
  question: Question
}

/** Has other threads read and build what nodes answer. */
export const createRunTaker = (work: Work, builders: Builders): RunTaker => {
  const { job, decoding, ruleWatcher, tokens, limits } = work
  const check = { bloom: !('node' in job) || job.node.bloom !== false, limits }

  /** What ABIs of single contracts decode depends on what is learnt from block to block. */
  const isPlain = (): boolean => decoding().keys.size === 0

  const decimalsOf = (addresses: readonly string[]): ReadonlyMap<string, number> =>
    new Map(
      addresses.flatMap((address): [string, number][] => {
        const decimals = tokens.of(address)
        return decimals === undefined ? [] : [[address, decimals]]
      }),
    )

  const beginTaken = (taken: AnswerTaken): BegunPart => {
    const { version } = decoding()
    const isOfUse = isPlain() && taken.abis === version
    const building = isOfUse ? taken.build(decimalsOf(taken.decimals)) : Promise.resolve(undefined)
    // Handled when its turn comes.
    building.catch(() => {})
    return {
      async built() {
        const piece = await building
        // ABIs may have changed meanwhile.
        const isSame = isPlain() && taken.abis === decoding().version
        return piece && isSame ? { piece, blocks: taken.blocks } : undefined
      },
      async blocks() {
        const blocks = readBodyOf(await taken.giveBack(), taken.question, check)
        await prefetch(work, blocks)
        return blocks
      },
      drop: taken.drop,
    }
  }

  return {
    threads: builders.threads,
    wants: numbers => isPlain() && !numbers.some(ruleWatcher.wants),
    async take(body, question) {
      const read = await builders.read(body, question)
      return read instanceof Uint8Array ? read : { ...read, question }
    },
    mayGoAhead: parts => isPlain() && parts.every(part => 'taken' in part),
    async begin(parts) {
      const blocks = parts.flatMap(part => ('taken' in part ? [] : part.blocks))
      const facts = parts.flatMap(part => ('taken' in part ? part.taken.blocks : []))
      if (blocks.length > 0) await prefetch(work, blocks)
      await prefetchFor(work, facts)
      return parts.map(part =>
        'taken' in part
          ? beginTaken(part.taken)
          : { built: async () => undefined, blocks: async () => part.blocks, drop() {} },
      )
    },
  }
}
