import { newBytes } from '../lib/bytes.ts'
import type { AnswerOptions, Parts, Reply } from './answer.ts'
import type { FromReader, ToReader } from './reader-messages.ts'

/** Answers of a reading thread; long ones are kept, and given part by part, as they are asked for. */
export interface ReaderParts {
  /** Tells an answer that has no parts. */
  replyWhole(id: number, reply: Reply): void
  /** Tells an answer, or the first part of a long one; `close` is called when all of it is there. */
  reply(id: number, reply: Reply, options: Running, close?: () => void): void
  /** Tells the next part; a promise where clusters are asked for it. */
  more(message: More): Promise<void> | void
  /** Tells the next part of an answer that another thread began, and goes on with it. */
  resume(message: More, reply: Reply, options: Running): void
  /** Nobody wants the rest. */
  drop(stream: number): void
}

export interface Running extends AnswerOptions {
  /** The work of this number begins. */
  begin(id: number): void
  /** Refuses to go on where stores no longer hold all documents. */
  check?: () => void
}

type More = Pick<Extract<ToReader, { type: 'more' }>, 'id' | 'stream' | 'after' | 'into'>

interface Stream extends Parts {
  rest: Iterator<Uint8Array>
  options: Running
}

export const createReaderParts = (tell: (message: FromReader, transfer?: ArrayBuffer[]) => void): ReaderParts => {
  const streams = new Map<number, Stream>()

  /** The bytes are handed over. */
  const send = (message: Extract<FromReader, { type: 'answer' | 'part' }> & { body: Uint8Array }) =>
    tell(message, [message.body.buffer as ArrayBuffer])

  const replyWhole = (id: number, { body, ...answer }: Reply) =>
    send({ type: 'answer', id, ...answer, body: body as Uint8Array, more: false, at: undefined })

  const next = ({ id, stream, after, into }: More) => {
    const one = streams.get(stream)
    if (!one) throw new Error('there is no such answer to continue')
    one.options.check?.()
    one.options.begin(id)
    if (after) one.goTo?.(after)
    let part: IteratorResult<Uint8Array> | undefined
    try {
      part = one.rest.next()
    } finally {
      if (part === undefined || one.ended()) {
        streams.delete(stream)
        one.close?.()
      }
    }
    const state = { type: 'part', id, more: !one.ended(), at: one.at() } as const
    const bytes = part.value ?? nothing()
    if (!into || bytes.length > into.byteLength) return send({ ...state, body: owned(bytes) })
    new Uint8Array(into).set(bytes)
    tell({ ...state, body: bytes.length })
  }

  const nextOfWaiting = async (message: More, { options, ready, close }: Stream) => {
    options.begin(message.id)
    try {
      await ready!()
    } catch (error) {
      streams.delete(message.stream)
      close?.()
      throw error
    }
    next(message)
  }

  return {
    replyWhole,
    reply(id, { body, ...answer }, options, closed) {
      if (body instanceof Uint8Array) return replyWhole(id, { ...answer, body })
      const rest = body.parts[Symbol.iterator]()
      const { value } = rest.next()
      const goesOn = !body.ended()
      const close = () => {
        body.close?.()
        closed?.()
      }
      if (goesOn) streams.set(id, { ...body, rest, options, close })
      else close()
      const isApart = body.goTo !== undefined
      send({ type: 'answer', id, ...answer, body: owned(value), more: goesOn, at: body.at(), isApart })
    },
    more(message) {
      const one = streams.get(message.stream)
      return one?.ready ? nextOfWaiting(message, one) : next(message)
    },
    resume(message, { body }, options) {
      if (body instanceof Uint8Array) throw new Error('an answer without parts cannot be continued')
      streams.set(message.stream, { ...body, rest: body.parts[Symbol.iterator](), options })
      next(message)
    },
    drop(stream) {
      const one = streams.get(stream)
      one?.rest.return?.()
      one?.close?.()
      streams.delete(stream)
    },
  }
}

const nothing = (): Uint8Array<ArrayBuffer> => new Uint8Array(0)

/** A copy in memory of its own, which can be handed to another thread. */
const owned = (bytes: Uint8Array = nothing()): Uint8Array<ArrayBuffer> => {
  const copy = newBytes(bytes.length)
  copy.set(bytes)
  return copy
}
