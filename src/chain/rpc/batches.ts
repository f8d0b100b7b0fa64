import { retry } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { ANSWER_TOO_LARGE, type Answer, type Call, type RpcError } from './answers.ts'

/** Takes the body of an HTTP answer, or gives its bytes back. */
export type Take<T> = (body: Buffer) => Promise<T | Uint8Array>

export interface PostOptions<T> {
  /** Most bytes of the answer. */
  most?: number
  take?: Take<T> | undefined
  /** Whether it is asked beside blocks of the head, rather than for them. */
  beside?: boolean
  heard?: OnceOptions['heard']
}

export interface OnceOptions {
  heard(error: RpcError): boolean
  urgent?: boolean
}

export interface BatchesOptions {
  /** One HTTP request. `too large` where the node wants fewer calls at once. */
  post<T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    options?: PostOptions<T>,
  ): Promise<Answer[] | 'too large' | { taken: T }>
  /** Most of such calls in one request by what the node may be asked for; undefined where that is not limited. */
  most(calls: readonly Call[]): number | undefined
  /** Most calls in one request. */
  batch: number
  limits: Limits
  /** Told of how many calls go together from now on, and how many were too many. */
  onSmaller(calls: number, from: number): void
}

/** Sends calls in as many requests as a node wants, and learns how many those are. */
export const createBatches = ({ post, most, limits, onSmaller, ...options }: BatchesOptions) => {
  let batch = options.batch

  /** Most of such calls in one request at the moment. */
  const sizeFor = (calls: readonly Call[]): number => Math.max(1, Math.floor(Math.min(batch, most(calls) ?? batch)))

  const send = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    take?: Take<T>,
  ): Promise<Answer[] | { taken: T }> => {
    if (calls.length === 0) return []
    const size = sizeFor(calls)
    if (calls.length > size) {
      const parts: Promise<Answer[]>[] = []
      for (let i = 0; i < calls.length; i += size) parts.push(sendRead(calls.slice(i, i + size), signal, urgent))
      return (await Promise.all(parts)).flat()
    }
    const answers = await post(calls, signal, urgent, { take })
    if (answers !== 'too large') {
      // A limit may have come from exceptionally large blocks: it is tried again, slowly.
      if (batch < options.batch) batch = Math.min(options.batch, batch + 1 / 64)
      return answers
    }
    if (calls.length === 1) {
      throw retry(
        'node_answer_too_large',
        overLimit('nodeAnswer', limits, `The answer to a single ${calls[0]!.method}, if the node sends it at all,`)
          .message,
      )
    }
    const smaller = Math.floor(calls.length / 2)
    if (smaller < batch) {
      batch = smaller
      onSmaller(smaller, calls.length)
    }
    return sendRead(calls, signal, urgent)
  }

  const sendRead = async (calls: readonly Call[], signal: AbortSignal, urgent: boolean): Promise<Answer[]> =>
    (await send(calls, signal, urgent)) as Answer[]

  const sendSmall = async (calls: readonly Call[], signal: AbortSignal): Promise<Answer[]> => {
    if (calls.length === 0) return []
    const size = sizeFor(calls)
    if (calls.length > size) {
      const parts = Array.from({ length: Math.ceil(calls.length / size) }, (_, i) =>
        sendSmall(calls.slice(i * size, (i + 1) * size), signal),
      )
      return (await Promise.all(parts)).flat()
    }
    const most = calls.length * (limits.callAnswer + ENVELOPE_BYTES)
    const answers = (await post(calls, signal, true, { beside: true, most })) as Answer[] | 'too large'
    if (answers !== 'too large') return answers
    if (calls.length === 1) {
      const { message } = overLimit('callAnswer', limits, `The answer to ${calls[0]!.method}`)
      return [{ error: { code: ANSWER_TOO_LARGE, message } }]
    }
    // Not with smaller batches from now on: a contract chooses what it answers.
    const half = Math.ceil(calls.length / 2)
    return [...(await sendSmall(calls.slice(0, half), signal)), ...(await sendSmall(calls.slice(half), signal))]
  }

  return { send, sendSmall, sizeFor }
}

/** What an answer has around its result. */
const ENVELOPE_BYTES = 1000
