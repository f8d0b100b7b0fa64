import { refuse } from '../lib/errors.ts'
import { keccakHex } from '../lib/keccak.ts'
import type { AbiParam, EventAbi } from './types.ts'

export interface FunctionAbi {
  name: string
  inputs: readonly AbiParam[]
  /** Absent if only the selector is known. */
  outputs?: readonly AbiParam[]
}

/** Maximal nesting of tuples and arrays; Solidity's own stack allows far less. */
export const MAX_DEPTH = 32

/** The EVM has four topics per log; the first is the signature unless the event is anonymous. */
export const maxIndexed = (anonymous: boolean): number => (anonymous ? 4 : 3)

/**
 * Parses `Transfer(address indexed from, address indexed to, uint256 value)`; `event` or `function`
 * may precede, `anonymous`, visibility and `returns (…)` may follow. Tuples are
 * `(address a, uint256[2] b)[]`, with or without `tuple` in front.
 */
export function parseSignature(text: string, kind?: 'event'): EventAbi
export function parseSignature(text: string, kind: 'function'): FunctionAbi
export function parseSignature(text: string, kind: 'event' | 'function' = 'event'): EventAbi | FunctionAbi {
  const scan = createScanner(text)
  const other = kind === 'event' ? 'function' : 'event'
  if (scan.peek() === other)
    throw scan.fault(`${kind === 'event' ? 'an event' : 'a function'} is expected, not ${scan.seen()}`)
  scan.take(kind)
  const name = scan.identifier('a name')
  const inputs = params(scan, kind, 1)
  if (kind === 'function') return { name, inputs, outputs: functionTail(scan) }
  const anonymous = scan.take('anonymous')
  end(scan)
  const indexed = inputs.filter(input => input.indexed).length
  if (indexed > maxIndexed(anonymous))
    throw scan.fault(`${indexed} indexed arguments where an event has at most ${maxIndexed(anonymous)}`)
  return anonymous ? { name, inputs, anonymous } : { name, inputs }
}

/** `Transfer(address,address,uint256)`: the text that topics and selectors hash. */
export const canonicalSignature = (abi: { name: string; inputs: readonly AbiParam[] }): string =>
  `${abi.name}(${abi.inputs.map(fullType).join(',')})`

export const topicOf = (event: EventAbi): string => keccakHex(canonicalSignature(event))

export const selectorOf = (abi: FunctionAbi): string => keccakHex(canonicalSignature(abi)).slice(0, 10)

/** The form that `parseSignature` reads, without the word `event`. */
export const formatSignature = (event: EventAbi): string =>
  `${event.name}(${event.inputs.map(formatParam).join(', ')})${event.anonymous ? ' anonymous' : ''}`

/** The Solidity type with expanded tuples: `(address,uint256)[]`. */
export const fullType = (param: AbiParam): string =>
  param.components === undefined
    ? param.type
    : `(${param.components.map(fullType).join(',')})${param.type.slice('tuple'.length)}`

/** Canonical type without components (`uint[2]` is `uint256[2]`); null if unknown. */
export const canonicalType = (type: string): string | null => {
  const [, base, suffix] = /^(\w+)((?:\[\d*\])*)$/.exec(type) ?? []
  const canonical = base === undefined ? null : base === 'tuple' ? base : elementaryType(base)
  return canonical === null || /\[0/.test(suffix!) || arrayDepth(suffix!) > MAX_DEPTH ? null : canonical + suffix
}

const arrayDepth = (suffix: string): number => suffix.split('[').length - 1

const formatParam = (param: AbiParam): string => {
  const type =
    param.components === undefined
      ? param.type
      : `(${param.components.map(formatParam).join(', ')})${param.type.slice('tuple'.length)}`
  return `${type}${param.indexed ? ' indexed' : ''}${param.name === '' ? '' : ` ${param.name}`}`
}

const ALIASES = new Map([
  ['uint', 'uint256'],
  ['int', 'int256'],
  ['byte', 'bytes1'],
  ['fixed', 'fixed128x18'],
  ['ufixed', 'ufixed128x18'],
])

/**
 * Canonical elementary type, or null. Fixed-point types are included because topics hash them; no
 * compiler encodes them, so they are never decoded.
 */
export const elementaryType = (word: string): string | null => {
  if (/^(?:address|bool|string|bytes|function)$/.test(word)) return word
  const alias = ALIASES.get(word)
  if (alias !== undefined) return alias
  const [, kind, size, decimals] = /^(u?int|bytes|u?fixed)([1-9]\d{0,2})(?:x([1-9]?\d))?$/.exec(word) ?? []
  if (kind === undefined || kind.endsWith('fixed') !== (decimals !== undefined) || Number(decimals ?? 0) > 80)
    return null
  const bits = Number(size)
  return (kind === 'bytes' ? bits <= 32 : bits <= 256 && bits % 8 === 0) ? word : null
}

type Scanner = ReturnType<typeof createScanner>

const createScanner = (text: string) => {
  const token = /\s*([A-Za-z_$][\w$]*|\d+|\S|$)/y
  let current = ''
  let at = 0
  const advance = () => {
    current = token.exec(text)![1]!
    at = token.lastIndex - current.length
  }
  const fault = (what: string) =>
    refuse(
      'bad_signature',
      `${what}, at character ${at + 1} of ${JSON.stringify(cutSignature(text))}; ` +
        'write it like Transfer(address indexed from, address indexed to, uint256 value)',
    )
  const seen = () => (current === '' ? 'the end' : JSON.stringify(current))
  advance()
  return {
    fault,
    seen,
    peek: () => current,
    next() {
      const taken = current
      advance()
      return taken
    },
    take(word: string): boolean {
      if (current !== word) return false
      advance()
      return true
    },
    expect(word: string) {
      if (current !== word) throw fault(`"${word}" is expected, not ${seen()}`)
      advance()
    },
    identifier(what: string): string {
      if (!IDENTIFIER.test(current)) throw fault(`${what} is expected, not ${seen()}`)
      const taken = current
      advance()
      return taken
    },
  }
}

/** Names that Solidity and Vyper allow. */
export const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

const cutSignature = (text: string): string => (text.length > 120 ? `${text.slice(0, 119)}…` : text)

const params = (scan: Scanner, kind: 'event' | 'function' | 'tuple', depth: number): AbiParam[] => {
  if (depth > MAX_DEPTH) throw scan.fault(`tuples nested more than ${MAX_DEPTH} deep`)
  scan.expect('(')
  const list: AbiParam[] = []
  if (scan.peek() === ')' && kind === 'tuple') throw scan.fault('a tuple needs components')
  if (scan.take(')')) return list
  do list.push(param(scan, kind, depth))
  while (scan.take(','))
  scan.expect(')')
  return list
}

const param = (scan: Scanner, kind: 'event' | 'function' | 'tuple', depth: number): AbiParam => {
  let type: string
  let components: AbiParam[] | undefined
  if (scan.peek() === '(' || (scan.peek() === 'tuple' && scan.next())) {
    components = params(scan, 'tuple', depth + 1)
    type = 'tuple'
  } else {
    const word = scan.peek()
    const known = elementaryType(word)
    if (known === null) {
      const remedy = IDENTIFIER.test(word) ? ' (a contract is an address, an enum uint8, a struct its components)' : ''
      throw scan.fault(`a type is expected, not ${scan.seen()}${remedy}`)
    }
    scan.next()
    if (known === 'address') scan.take('payable')
    type = known
  }
  for (let arrays = 1; scan.take('['); arrays++) {
    if (depth + arrays > MAX_DEPTH) throw scan.fault(`arrays nested more than ${MAX_DEPTH} deep`)
    const length = scan.peek()
    if (/^[1-9]\d*$/.test(length)) scan.next()
    else if (length !== ']') throw scan.fault(`an array's length is expected, not ${scan.seen()}`)
    scan.expect(']')
    type += length === ']' ? '[]' : `[${length}]`
  }
  const indexed = kind === 'event' && scan.take('indexed')
  if (kind === 'function') scan.take('memory') || scan.take('calldata') || scan.take('storage')
  const name = IDENTIFIER.test(scan.peek()) ? scan.next() : ''
  return { name, type, ...(components && { components }), ...(indexed && { indexed }) }
}

const FUNCTION_WORDS = new Set(
  'external public internal private view pure payable nonpayable constant virtual override'.split(' '),
)

const functionTail = (scan: Scanner): AbiParam[] => {
  while (FUNCTION_WORDS.has(scan.peek())) scan.next()
  const outputs = scan.take('returns') ? params(scan, 'function', 1) : []
  end(scan)
  return outputs
}

const end = (scan: Scanner) => {
  scan.take(';')
  if (scan.peek() !== '') throw scan.fault(`the end is expected, not ${scan.seen()}`)
}
