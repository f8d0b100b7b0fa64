import { ChainsieveError } from '../lib/errors.ts'
import { type Limits, overNow } from '../limits/index.ts'
import type { ReadAhead } from './read-ahead.ts'
import { type AnswerFormat, type Pieces, rowFormatOf, type SearchAnswer } from './service.ts'

/** Streams long answers with backpressure: a piece is made when the client has read the last. */
export interface AnswerStreams {
  mayOpen(account: number): boolean
  open(stream: StreamOptions): Pick<SearchAnswer, 'body' | 'pieces'>
}

export interface StreamOptions {
  account: number
  /** The first part. */
  body: Uint8Array
  /** JSON by default. */
  format?: AnswerFormat | undefined
  /** Makes the parts after the first one. The signal aborts with the answer. */
  ahead(signal: AbortSignal): ReadAhead
  /** Nobody gets the answer: the account has too many already. */
  drop(): void
}

/** A client that reads less within the timeout of unread streams is stalled: some 4 kB/s. */
const PIECE_BYTES = 256 << 10

export const createAnswerStreams = (limits: Limits): AnswerStreams => {
  const open = new Map<number, number>()
  const count = (account: number, more: number) => {
    const now = (open.get(account) ?? 0) + more
    if (now > 0) open.set(account, now)
    else open.delete(account)
    return now
  }

  return {
    mayOpen: account => (open.get(account) ?? 0) < limits.streams,
    open({ account, body, format, ahead: aheadOf, drop }) {
      if (count(account, 1) > limits.streams) {
        count(account, -1)
        drop()
        throw overNow('streams', limits)
      }
      const ending = new AbortController()
      const { signal } = ending
      const ahead = aheadOf(signal)
      let unread: NodeJS.Timeout | undefined
      /** Unread rest of the current part. A slow client that takes a piece of it is not stalled. */
      let left: Uint8Array = body
      let more = true
      /** Why the rest is unavailable; a last chunk reports it before the stream fails. */
      let broken: { error: unknown } | undefined

      let isOver = false
      const end = () => {
        if (isOver) return
        isOver = true
        clearTimeout(unread)
        count(account, -1)
        ahead.end()
      }
      const fail = (reason: unknown) => {
        if (isOver) return
        end()
        ending.abort(reason)
      }
      const watch = () => {
        unread = setTimeout(() => fail(overNow('unreadStream', limits)), limits.unreadStream).unref()
      }
      const pieces: Pieces = {
        signal,
        cancel: (reason = new Error('nobody wants the rest of the answer')) => fail(reason),
        async next() {
          signal.throwIfAborted()
          clearTimeout(unread)
          try {
            if (broken) throw broken.error
            while (left.length === 0 && more) ({ body: left, more } = await ahead.next())
          } catch (error) {
            if (broken || signal.aborted) {
              fail(error)
              throw error
            }
            broken = { error }
            left = endingOf(error, format)
          }
          const piece = left.subarray(0, PIECE_BYTES)
          left = left.subarray(PIECE_BYTES)
          if (more || left.length > 0) watch()
          else end()
          return piece.length > 0 ? piece : undefined
        },
      }
      watch()
      return { pieces, body: streamOf(pieces) }
    },
  }
}

/**
 * Last bytes of a long answer that fails, since a proxy may hide the closed connection. JSON and
 * CSV stay unterminated, and cannot be mistaken for complete ones.
 */
const endingOf = (error: unknown, format: AnswerFormat | undefined): Uint8Array => {
  const isKnown = error instanceof ChainsieveError
  const type = isKnown ? error.code : 'internal_server_error'
  const reason = isKnown ? error.message : 'The server failed in the middle of the answer. Its log says why.'
  const errorMembers = `"error":${JSON.stringify({ root_cause: [{ type, reason }], type, reason })},"status":503`
  const text =
    format === undefined
      ? `]},${errorMembers}`
      : rowFormatOf(format) === 'ndjson'
        ? `{${errorMembers}}\n`
        : `"error: ${reason.replaceAll('"', "'")}`
  return errorEncoder.encode(text)
}
const errorEncoder = new TextEncoder()

/** Copies, since readers of streams keep what they get. */
const streamOf = ({ next, cancel, signal }: Pieces): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
      async pull(controller) {
        const piece = await next()
        if (piece) controller.enqueue(piece.slice())
        else controller.close()
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
