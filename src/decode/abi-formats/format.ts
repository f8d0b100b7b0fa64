import { refuse } from '../../lib/errors.ts'
import { canonicalSignature, type FunctionAbi, formatSignature } from '../signature.ts'
import type { EventAbi } from '../types.ts'

export interface Abi {
  name?: string
  /** 1 for an ABI, less for a list of signatures that somebody collected. */
  probability: number
  events: EventAbi[]
  functions: FunctionAbi[]
  errors?: FunctionAbi[]
}

/** A file, parsed if it is JSON. */
export type AbiContent = { json: unknown; text?: undefined } | { text: string; json?: undefined }

export interface AbiFormat {
  /** Whether a file has this format, faulty or not, by its outline. */
  is(content: AbiContent): boolean
  /** `place` is the file's name for messages. */
  read(content: AbiContent, place: string): Abi
}

export const fault = (place: string, path: string, what: string, cause?: unknown) =>
  refuse('bad_abi', `${place}: ${path}${/^[:,]/.test(what) ? '' : ' '}${what}`, cause)

export const showFaulty = (value: unknown): string => {
  if (value === undefined) return 'missing'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** Collects declarations; of equal ones the first wins. */
export const createCollector = () => {
  const events = new Map<string, EventAbi>()
  const functions = new Map<string, FunctionAbi>()
  const errors = new Map<string, FunctionAbi>()
  const put = <T>(map: Map<string, T>, key: string, value: T) => {
    if (!map.has(key)) map.set(key, value)
  }
  return {
    addEvent: (event: EventAbi) => put(events, formatSignature(event), event),
    addError: ({ name, inputs }: FunctionAbi) => put(errors, canonicalSignature({ name, inputs }), { name, inputs }),
    addFunction: (abi: FunctionAbi) => put(functions, canonicalSignature(abi), abi),
    get size() {
      return events.size + functions.size
    },
    abi: (probability: number): Abi => ({
      probability,
      events: [...events.values()],
      functions: [...functions.values()],
      ...(errors.size > 0 && { errors: [...errors.values()] }),
    }),
  }
}

export type Collector = ReturnType<typeof createCollector>
