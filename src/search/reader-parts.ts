import { newBytes } from '../lib/bytes.ts'
import type { Eventually } from '../lib/scheduling/event-loop.ts'
import type { AnswerOptions, Reply } from './answer.ts'
import type { AnswerParts } from './lines.ts'
import type { FromReader, ToReader } from './reader-messages.ts'

/** Sends a message to the main thread; the memory is handed over. */
export type SendReply = (message: FromReader, transfer?: ArrayBuffer[]) => void

export interface PartOptions extends AnswerOptions {
  /** The work of this number begins. */
  begin(id: number): void
  /** Refuses to go on where stores no longer hold all documents. */
  check?: () => void
}

type PartRequest = Pick<Extract<ToReader, { type: 'more' }>, 'id' | 'stream' | 'after' | 'into'>

interface Stream extends AnswerParts {
  rest: Iterator<Uint8Array>
  options: PartOptions
}

/** Answers of a reading thread; long ones are sent part by part, on request. */
export const createReaderParts = (send: SendReply) => {
  const streams = new Map<number, Stream>()

  const sendBytes = (message: Extract<FromReader, { type: 'answer' | 'part' }> & { body: Uint8Array }) =>
    send(message, [message.body.buffer as ArrayBuffer])

  const replyWhole = (id: number, { body, ...answer }: Reply) =>
    sendBytes({ type: 'answer', id, ...answer, body: body as Uint8Array, more: false, at: undefined })

  const end = (number: number, stream: Stream | undefined) => {
    streams.delete(number)
    stream?.close?.()
  }

  const next = ({ id, stream, after, into }: PartRequest) => {
    const one = streams.get(stream)
    if (!one) throw new Error('there is no such answer to continue')
    one.options.check?.()
    one.options.begin(id)
    if (after) one.goTo?.(after)
    let part: IteratorResult<Uint8Array> | undefined
    try {
      part = one.rest.next()
    } finally {
      if (part === undefined || one.ended()) end(stream, one)
    }
    const state = { type: 'part', id, more: !one.ended(), at: one.at() } as const
    const bytes = part.value ?? noBytes()
    if (!into || bytes.length > into.byteLength) return sendBytes({ ...state, body: owned(bytes) })
    new Uint8Array(into).set(bytes)
    send({ ...state, body: bytes.length })
  }

  const nextOfWaiting = async (message: PartRequest, stream: Stream) => {
    stream.options.begin(message.id)
    try {
      await stream.ready!()
    } catch (error) {
      end(message.stream, stream)
      throw error
    }
    next(message)
  }

  return {
    /** Sends an answer that has no parts. */
    replyWhole,
    /** Sends an answer or the first part of a long one; calls `closed` once all of it is made. */
    reply(id: number, { body, ...answer }: Reply, options: PartOptions, closed?: () => void) {
      if (body instanceof Uint8Array) return replyWhole(id, { ...answer, body })
      const rest = body.parts[Symbol.iterator]()
      const { value } = rest.next()
      const more = !body.ended()
      const close = () => {
        body.close?.()
        closed?.()
      }
      if (more) streams.set(id, { ...body, rest, options, close })
      else close()
      const isApart = body.goTo !== undefined
      sendBytes({ type: 'answer', id, ...answer, body: owned(value), more, at: body.at(), isApart })
    },
    /** Sends the next part; a promise if the part is not ready. */
    more(message: PartRequest): Eventually<void> {
      const one = streams.get(message.stream)
      return one?.ready ? nextOfWaiting(message, one) : next(message)
    },
    /** Sends the next part of an answer that another thread began, and continues it. */
    resume(message: PartRequest, { body }: Reply, options: PartOptions) {
      if (body instanceof Uint8Array) throw new Error('an answer without parts cannot be continued')
      streams.set(message.stream, { ...body, rest: body.parts[Symbol.iterator](), options })
      next(message)
    },
    /** Discards the rest. */
    drop(stream: number) {
      const one = streams.get(stream)
      one?.rest.return?.()
      end(stream, one)
    },
  }
}

const noBytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(0)

/** A copy with memory of its own, which can be transferred to another thread. */
const owned = (bytes: Uint8Array = noBytes()): Uint8Array<ArrayBuffer> => {
  const copy = newBytes(bytes.length)
  copy.set(bytes)
  return copy
}
