import { keccakHex } from '../../lib/keccak.ts'
import { STANDINGS } from '../functions.ts'
import { canonicalSignature, parseSignature } from '../signature.ts'
import { type Abi, type Collector, createCollector, fault, shown } from './format.ts'

/** Anybody can put anything on a list, and many functions have the same selector. */
const PROBABILITY = STANDINGS['?']!

/** Signatures of one list: each indexing thread holds them in memory. */
const MOST = 50_000

/** A hash and what it is said to be the hash of. */
export interface Listed {
  /** `0x` and 8 digits of a function, or 64 of an event. */
  hash: unknown
  text: unknown
  /** The place in the file: `line 3`, `results[2]`. */
  at: string
  /** The whole of what stands there for `text`, where that is more. */
  raw?: string
}

const HASH = /^0x(?:[0-9a-f]{8}|[0-9a-f]{64})$/i

const REMEDY = 'correct it or remove it'

/**
 * A list tells no names of arguments, and of events not which arguments are indexed. Each hash must be that of its text: a list
 * where one is not has come to harm.
 */
export const readListed = (list: Iterable<Listed>, place: string): Abi => {
  const collector = createCollector()
  for (const entry of list) {
    readOne(entry, place, collector)
    if (collector.size > MOST)
      throw fault(
        place,
        entry.at,
        `is beyond ${MOST.toLocaleString('en')} signatures, which is the limit: keep those that your contracts use`,
      )
  }
  return collector.abi(PROBABILITY)
}

const readOne = ({ hash, text, at, raw }: Listed, place: string, { addEvent, addFunction }: Collector) => {
  if (typeof hash !== 'string' || !HASH.test(hash))
    throw fault(place, at, `: ${shown(hash)} is not a hash of 0x and 8 digits (a function) or 64 (an event); ${REMEDY}`)
  if (typeof text !== 'string')
    throw fault(place, at, `: ${shown(text)} is not a signature such as "transfer(address,uint256)"; ${REMEDY}`)
  const wanted = hash.toLowerCase()
  const hashOf = (signature: string): string => keccakHex(signature).slice(0, wanted.length)
  /** Right, but of no use: a library's function has types of the language, which no calldata can be decoded by. */
  const isRight = (): boolean => hashOf(text.trim()) === wanted || (raw !== undefined && hashOf(raw.trim()) === wanted)

  const declared = parsed(text, wanted.length === 10 ? 'function' : 'event')
  const actual = hashOf(declared ? canonicalSignature(declared.abi) : text.trim())
  if (actual !== wanted) {
    if (isRight()) return
    throw fault(place, at, `: ${wanted} is not the hash of ${shown(text)}, which is ${actual}; ${REMEDY}`)
  }
  if (declared?.kind === 'event') addEvent(declared.abi)
  else if (declared) addFunction({ name: declared.abi.name, inputs: declared.abi.inputs })
}

const parsed = (text: string, kind: 'event' | 'function') => {
  try {
    return kind === 'event' ? { kind, abi: parseSignature(text) } : { kind, abi: parseSignature(text, 'function') }
  } catch {
    return undefined
  }
}
