import type { RpcLog } from '../chain/wire.ts'
import type { DecodedLog, DecodeResult, EventAbi, Signature } from './types.ts'

export interface Candidate {
  event: EventAbi
  probability: number
}

export interface LogDecoderOptions {
  /** Declarations of a first topic and a number of indexed arguments, the likeliest first. */
  find(topic: string, indexed: number): readonly Candidate[]
  /** Declarations for some contracts at a position of the chain; they come first. */
  own?(address: string, topic: string, indexed: number, at: number): readonly Candidate[]
  compile(event: EventAbi): (topics: readonly string[], data: string) => DecodeResult
}

/** Decodes a log at a position of the chain, by default at its end. */
export type LogDecoder = (log: Pick<RpcLog, 'address' | 'topics' | 'data'>, at?: number) => DecodedLog

interface CompiledEvent {
  decode: (topics: readonly string[], data: string) => DecodeResult
  signature: Signature
  failures: Map<string, Signature>
}

/** Distinct reasons per declaration, so that chain data cannot fill the dictionary. */
const REASONS = 16

/** Cached unknown signatures. */
const MAX_UNKNOWN = 200_000

/** Decodes logs: the first declaration without remainder wins. */
export const createLogDecoder = ({ find, own, compile }: LogDecoderOptions): LogDecoder => {
  /** By topic, then by number of indexed arguments. */
  const compiled = new Map<string, CompiledEvent[][]>()
  const unknown = new Map<string, Signature>()
  const compiledByEvent = new Map<EventAbi, CompiledEvent>()

  const compileOne = ({ event, probability }: Candidate, topic: string, indexed: number): CompiledEvent => {
    let one = compiledByEvent.get(event)
    if (!one) {
      const key = `${topic}/${indexed}/${probability}/${JSON.stringify(event)}`
      one = {
        decode: compile(event),
        signature: { of: 'log', key, topic, indexed, event, probability, error: null },
        failures: new Map(),
      }
      compiledByEvent.set(event, one)
    }
    return one
  }

  const candidatesOf = (topic: string, indexed: number): CompiledEvent[] => {
    let byIndexed = compiled.get(topic)
    if (!byIndexed) {
      if (compiled.size >= MAX_UNKNOWN) compiled.clear()
      byIndexed = []
      compiled.set(topic, byIndexed)
    }
    byIndexed[indexed] ??= find(topic, indexed).map(candidate => compileOne(candidate, topic, indexed))
    return byIndexed[indexed]
  }

  const unknownOf = (topic: string | null, indexed: number): Signature => {
    const key = `${topic}/${indexed}`
    let signature = unknown.get(key)
    if (!signature) {
      signature = { of: 'log', key, topic, indexed, event: null, probability: 0, error: null }
      if (unknown.size >= MAX_UNKNOWN) unknown.clear()
      unknown.set(key, signature)
    }
    return signature
  }

  const failureOf = ({ signature, failures }: CompiledEvent, error: string): Signature => {
    const reason = failures.has(error) || failures.size < REASONS ? error : 'the data does not decode'
    let failure = failures.get(reason)
    if (!failure) {
      failure = { ...signature, key: `${signature.key}/${reason}`, error: reason }
      failures.set(reason, failure)
    }
    return failure
  }

  return (log, at = Number.POSITIVE_INFINITY) => {
    const topic = log.topics[0]?.toLowerCase() ?? null
    if (topic === null) return { signature: unknownOf(null, 0), args: null }
    const indexed = log.topics.length - 1
    const special = own?.(log.address, topic, indexed, at)
    const candidates = special?.length
      ? [...special.map(candidate => compileOne(candidate, topic, indexed)), ...candidatesOf(topic, indexed)]
      : candidatesOf(topic, indexed)
    let failed: string | undefined
    for (const { decode, signature } of candidates) {
      const { args, error } = decode(log.topics, log.data)
      if (args) return { signature, args }
      failed ??= error
    }
    if (failed === undefined) return { signature: unknownOf(topic, indexed), args: null }
    return { signature: failureOf(candidates[0]!, failed), args: null }
  }
}
