import type { Head } from '../rpc/headers.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { RawBlock } from '../wire.ts'
import {
  callsOf,
  callsPerBlock,
  createGatherer,
  type Question,
  questionOf,
  type ReadOptions,
  readAnswers,
  readBlocks,
} from './read-blocks.ts'

/** Takes answers of nodes unread, to read them elsewhere. */
export interface Taker<T extends Taken> {
  /** How many answers it reads at a time. */
  threads: number
  /** Whether it wants the answer for the blocks of these numbers. */
  wants(numbers: readonly number[]): boolean
  /** Reads and checks what answers a question, or gives the bytes back: then they are read, and what is wrong told, by whoever asked. */
  take(body: Uint8Array, question: Question): Promise<T | Uint8Array>
}

/** An answer that was read elsewhere. */
export interface Taken {
  /** Ascending neighbours, checked but not linked. */
  blocks: readonly Head[]
  /** It is wanted no more. */
  drop(): void
}

/** Neighbouring blocks of a range. */
export type Part<T extends Taken> = { blocks: RawBlock[] } | { taken: T }

export const headOf = ({ block }: RawBlock): Head => ({
  number: Number(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
})

export const headsOf = (part: Part<Taken>): readonly Head[] =>
  'taken' in part ? part.taken.blocks : part.blocks.map(headOf)

/** As `fetchBlocks`, but answers go to the taker. What it gives back is read here, and so is all that is asked again after that. */
export const fetchTaken = async <T extends Taken>(
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions,
  taker: Taker<T>,
  signal: AbortSignal,
): Promise<Part<T>[]> => {
  const step = callsPerBlock({ whole: true, traceMethod: options.traces ? 'trace_block' : undefined })
  // As much as one request asks for: an answer in pieces cannot be taken.
  const most = Math.max(1, Math.floor(Math.min(...rpc.endpoints.map(it => it.batch)) / step))
  const slices: (readonly number[])[] = []
  for (let i = 0; i < numbers.length; i += most) slices.push(numbers.slice(i, i + most))
  return Promise.all(slices.map(slice => fetchSlice(rpc, slice, options, taker, signal)))
}

const fetchSlice = <T extends Taken>(
  rpc: Rpc,
  numbers: readonly number[],
  options: ReadOptions,
  taker: Taker<T>,
  signal: AbortSignal,
): Promise<Part<T>> => {
  const gather = createGatherer(numbers)
  let isPlain = true
  return rpc.attempt(
    async endpoint => {
      const question = questionOf(endpoint, gather.missing(), options)
      if (!isPlain || !question.whole)
        return { blocks: gather.add(await readBlocks(endpoint, gather.missing(), signal, options)) }
      const answers = await endpoint.sendUnread(callsOf(question), signal, body => taker.take(body, question))
      if (!Array.isArray(answers)) return answers
      isPlain = false
      return { blocks: gather.add(await readAnswers(endpoint, question, answers, signal, options)) }
    },
    signal,
    { traces: options.traces },
  )
}
