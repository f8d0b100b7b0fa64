import { memoize } from '../lib/caches.ts'
import { createCallDecoder } from './calls.ts'
import { createFunctionDeclarations, type LinksOf, type OwnAbi, REGISTRY_PROBABILITY } from './declarations.ts'
import type { FunctionCandidate, Functions } from './functions.ts'
import { registryLines } from './registry.ts'
import { renderEvent, renderText } from './render.ts'
import { type FunctionAbi, parseSignature } from './signature.ts'

export interface Revert {
  /** Name of the error; null if unknown. */
  name: string | null
  /** Readable error; null if unknown. */
  reason: string | null
}

/** Decodes revert data (revert reasons, panics, custom errors). Null for no data. */
export type RevertDecoder = (address: string, data: string, at?: number) => Revert | null

export type Errors = Pick<Functions, 'find'>

/** Selectors of Solidity's own errors: `require(…, "…")` and failed checks. */
const ERROR = '0x08c379a0'
const PANIC = '0x4e487b71'

const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic panic of the compiler'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'value outside of the enum'],
  [0x22n, 'storage byte array encoded wrongly'],
  [0x31n, 'pop of an empty array'],
  [0x32n, 'array index out of bounds'],
  [0x41n, 'out of memory'],
  [0x51n, 'call of an uninitialised internal function'],
])

const BUILT_IN: ReadonlyMap<string, readonly FunctionCandidate[]> = new Map(
  [[ERROR, 'Error(string message)'] as const, [PANIC, 'Panic(uint256 code)'] as const].map(([selector, text]) => [
    selector,
    [{ function: parseSignature(text, 'function'), probability: 1 }],
  ]),
)

/** Uses the user's ABIs, those for the contract first, then the registry. */
export const createRevertDecoder = (registry: Errors, abis: readonly OwnAbi[], linksOf?: LinksOf): RevertDecoder => {
  const mine = abis.map(abi => ({ ...abi, functions: errorsOf(abi) }))
  const { find, own } = createFunctionDeclarations(registry, mine, linksOf)
  const decode = createCallDecoder({
    find: selector => BUILT_IN.get(selector) ?? find(selector),
    ...(own && { own: (to, selector, at) => (BUILT_IN.has(selector) ? [] : own(to, selector, at)) }),
  })

  return (address, data, at) => {
    if (data.length <= 2) return null
    const { selector, function: error, args } = decode(address, data, at)
    // If the data do not decode, the selector matches by chance.
    if (error === null || args === null) return UNKNOWN_REVERT
    if (selector === ERROR) return { name: error.name, reason: renderText(args[0]!.hex, MAX_REASON_LENGTH) }
    if (selector === PANIC) return { name: error.name, reason: panicOf(args[0]!.int!) }
    return { name: error.name, reason: renderEvent(error, args) }
  }
}

/** Possible errors of an ABI: lists of signatures do not separate errors from functions. */
export const errorsOf = ({ errors = [], functions, probability }: OwnAbi): readonly FunctionAbi[] =>
  probability < 1 ? [...errors, ...functions] : errors

const UNKNOWN_REVERT: Revert = { name: null, reason: null }

const MAX_REASON_LENGTH = 1000

/** `Panic(0x11): arithmetic overflow or underflow` */
const panicOf = (code: bigint): string =>
  `Panic(0x${code.toString(16).padStart(2, '0')}): ${PANICS.get(code) ?? 'unknown code'}`

/** Reads `data/errors.txt`: a selector and a declaration per line, parsed on first use. */
export const createErrors = (text: string): Errors & { readonly size: number } => {
  const lines = registryLines('errors.txt', text, {
    pattern: /^(0x[0-9a-f]{8}) ([A-Za-z_$][\w$]*\([^#]*\))$/,
    expected: 'a selector and a declaration, such as 0x118cdaa7 OwnableUnauthorizedAccount(address account)',
  })
  const bySelector = Map.groupBy(lines, ([selector]) => selector!)
  const candidates = memoize(Number.POSITIVE_INFINITY, (selector: string): readonly FunctionCandidate[] =>
    bySelector
      .get(selector)!
      .map(([, declared]) => ({ function: parseSignature(declared!, 'function'), probability: REGISTRY_PROBABILITY })),
  )
  return { size: lines.length, find: selector => (bySelector.has(selector) ? candidates(selector) : []) }
}
