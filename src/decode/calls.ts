import { createFunctionDecoder, type FunctionDecoder } from './abi-decoder.ts'
import type { FunctionCandidate } from './functions.ts'
import { canonicalSignature, type FunctionAbi } from './signature.ts'
import type { DecodedArg, Signature } from './types.ts'

export interface DecodedCall {
  /** Null for calldata of less than four bytes: such a call has no function. */
  selector: string | null
  /** Null where the selector is not known; kept where it is and the calldata does not decode. */
  function: FunctionAbi | null
  /** 1 by the contract's own ABI, 0 if unknown. */
  probability: number
  /** Null where the calldata could not be decoded. */
  args: DecodedArg[] | null
  /**
   * Why not; with `args` if the calldata continues after them, which contracts ignore. Null if
   * there is nothing to report, which includes an unknown selector.
   */
  error: string | null
}

export interface CallDecoderOptions {
  /** Declarations of a lower-case selector, likeliest first. Stable objects avoid recompilation. */
  find(selector: string): readonly FunctionCandidate[]
  /** Declarations for some contracts at a chain position. If there are any, skips `find`. */
  own?(to: string, selector: string, at: number): readonly FunctionCandidate[]
}

/** Factors of the probability if bytes after the arguments, or the arguments, do not fit. */
const SURPLUS_FACTOR = 0.9
const MISFIT_FACTOR = 0.5

/** Decodes a call at a position of the chain, by default at its end. */
export type CallDecoder = (to: string, input: string, at?: number) => DecodedCall

/**
 * Decodes calls one by one. The meaning of a call is the first declaration that decodes the
 * calldata without remainder, else the first one that leaves bytes after its arguments. Others that
 * fit as well reduce the probability of a guess by their share.
 */
export const createCallDecoder = ({ find, own }: CallDecoderOptions): CallDecoder => {
  const decoders = new WeakMap<FunctionAbi, FunctionDecoder>()
  const decoderOf = (abi: FunctionAbi): FunctionDecoder => {
    let decoder = decoders.get(abi)
    if (!decoder) {
      decoder = createFunctionDecoder(abi)
      decoders.set(abi, decoder)
    }
    return decoder
  }

  return (to, input, at = Number.POSITIVE_INFINITY) => {
    const selector = selectorIn(input)
    if (selector === null) return unknown(null)
    const special = own?.(to, selector, at)
    const candidates = special?.length ? special : find(selector)
    if (candidates.length === 0) return unknown(selector)
    const results = candidates.map(candidate => ({ candidate, ...decoderOf(candidate.function)(input) }))
    const fitting = results.length > 1 ? bestFitting(results) : results
    const { candidate, args, error } = fitting[0]!
    const probability = probabilityOf(candidate, fitting, fitOf(args, error))
    return { selector, function: candidate.function, probability, args, error }
  }
}

interface Attempt {
  candidate: FunctionCandidate
  args: DecodedArg[] | null
  error: string | null
}

const bestFitting = (attempts: readonly Attempt[]): readonly Attempt[] => {
  const decoded = attempts.filter(({ error }) => error === null)
  if (decoded.length > 0) return decoded
  const overlong = attempts.filter(({ args }) => args !== null)
  return overlong.length > 0 ? overlong : attempts
}

const unknown = (selector: string | null): DecodedCall => {
  return { selector, function: null, probability: 0, args: null, error: null }
}

const CALLDATA = /^0x[0-9a-fA-F]{8}/

const selectorIn = (input: string): string | null => (CALLDATA.test(input) ? input.slice(0, 10).toLowerCase() : null)

const fitOf = (args: DecodedArg[] | null, error: string | null): number =>
  error === null ? 1 : args?.length ? SURPLUS_FACTOR : MISFIT_FACTOR

/** The user's declaration is certain, unless the user gave two that differ. */
const probabilityOf = (best: FunctionCandidate, fitting: readonly Attempt[], fit: number): number => {
  const certain = best.probability === 1
  const own = certain ? 1 : roundProbability(best.probability * fit)
  if (fitting.length === 1) return own
  const meaning = canonicalSignature(best.function)
  const rivals = fitting
    .map(({ candidate }) => candidate)
    .filter(rival => (!certain || rival.probability === 1) && canonicalSignature(rival.function) !== meaning)
  return roundProbability(
    (own * best.probability) / rivals.reduce((sum, rival) => sum + rival.probability, best.probability),
  )
}

const roundProbability = (probability: number): number => Math.round(probability * 1000) / 1000

/** Cached selectors and declarations. */
const MAX_KNOWN_CALLS = 200_000
/** Signature of a call, the stored key that calls of one kind share. */
export const createCallSignatures = (): ((call: DecodedCall) => Signature) => {
  const known = new Map<object | string, Map<number, Signature>>()
  return ({ selector, function: declared, probability, args, error }) => {
    const by = declared ?? selector!
    let ways = known.get(by)
    if (!ways) {
      if (known.size >= MAX_KNOWN_CALLS) known.clear()
      ways = new Map()
      known.set(by, ways)
    }
    // Failed calls have keys of their own; the reason is computed when they are shown.
    const way = args === null && error !== null ? -1 - probability : probability
    let signature = ways.get(way)
    if (!signature) {
      const event = declared && { name: declared.name, inputs: declared.inputs }
      const failed = way < 0
      signature = {
        of: 'call',
        key: `${CALL}${selector}/${probability}/${failed ? 'x' : ''}/${JSON.stringify(event)}`,
        topic: selector,
        indexed: 0,
        event,
        probability,
        error: failed ? 'the call data does not decode' : null,
      }
      ways.set(way, signature)
    }
    return signature
  }
}

const CALL = 'call/'
/** Document of a stored key, which is all that a store keeps of a signature. */
export const documentOfKey = (key: string): Signature['of'] => (key.startsWith(CALL) ? 'call' : 'log')
