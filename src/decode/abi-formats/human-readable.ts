import { messageOf } from '../../lib/errors.ts'
import { IDENTIFIER, parseSignature } from '../signature.ts'
import { type AbiFormat, type Collector, createCollector, fault, showFaulty } from './format.ts'

/**
 * Signatures as people write them for ethers and viem, one per line:
 * `event Transfer(address indexed from, …)`, `struct Point { int24 x; int24 y; }`,
 * `function balanceOf(address owner) view returns (uint256)`. Comments start as in Solidity or with
 * `#`; text in brackets may span several lines.
 */
export const humanReadable: AbiFormat = {
  is: ({ text }) =>
    text !== undefined && /^\s*(?:event|function|error|constructor|struct)[\s(]/m.test(uncommented(text)),
  read({ text }, place) {
    const collector = createCollector()
    const declarations = split(uncommented(text!)).map(({ line, text }) => ({ text, place, at: `line ${line}` }))
    const structs = readStructs(declarations)
    for (const declaration of declarations) readDeclaration(declaration, structs, collector)
    return collector.abi(1)
  },
}

export interface Declaration {
  text: string
  place: string
  /** `line 3`, `abi[2]` */
  at: string
}

export type Structs = ReadonlyMap<string, string>

/** Declarations that never decode data of the chain. */
const PASSED_OVER = new Set(['constructor', 'fallback', 'receive', 'struct'])

const DECLARED = new Set(['event', 'function', 'error'])

const EXAMPLE = '"event Transfer(address indexed from, address indexed to, uint256 value)"'

/** `bare` is the kind of a signature without a leading word. */
export const readDeclaration = (
  { text, place, at }: Declaration,
  structs: Structs,
  { addEvent, addFunction, addError }: Collector,
  bare?: 'event',
) => {
  const word = wordOf(text)
  if (PASSED_OVER.has(word) || /^\s*error\s*\(/.test(text)) return
  if (!DECLARED.has(word) && bare === undefined)
    throw fault(
      place,
      at,
      `is ${showFaulty(text)}, which begins with neither "event" nor "function": write it like ${EXAMPLE}`,
    )
  const plain = expanded(text, structs)
  try {
    if (word === 'function') addFunction(parseSignature(plain, 'function'))
    else if (word === 'error') addError(parseSignature(plain.replace(/^\s*error/, 'function'), 'function'))
    else addEvent(parseSignature(plain))
  } catch (cause) {
    throw fault(place, at, `: ${messageOf(cause)}`, cause)
  }
}

const wordOf = (text: string): string => /^\s*([\w$]*)/.exec(text)![1]!

/** Characters of a struct with its inner structs: a few lines could expand to gigabytes. */
const MAX_STRUCT_LENGTH = 20_000

/** Reads structs, with inner structs expanded. */
export const readStructs = (declarations: readonly Declaration[]): Structs => {
  const written = new Map<string, { fields: string[]; declaration: Declaration }>()
  for (const declaration of declarations) {
    if (wordOf(declaration.text) !== 'struct') continue
    const [, name, body] = /^\s*struct\s+([\w$]+)\s*\{([^{}]*)\}\s*;?\s*$/.exec(declaration.text) ?? []
    if (name === undefined || !IDENTIFIER.test(name))
      throw fault(
        declaration.place,
        declaration.at,
        `is ${showFaulty(declaration.text)}, not a struct such as "struct Point { int24 x; int24 y; }"`,
      )
    const fields = body!.split(';').flatMap(field => (field.trim() === '' ? [] : [field.trim()]))
    written.set(name, { fields, declaration })
  }

  const structs = new Map<string, string>()
  const open = new Set<string>()
  const write = (name: string): string => {
    const done = structs.get(name)
    if (done !== undefined) return done
    const { fields, declaration } = written.get(name)!
    const { place, at } = declaration
    if (open.has(name)) throw fault(place, at, `: the struct ${name} contains itself`)
    open.add(name)
    const parts = fields.map(field => {
      const type = wordOf(field)
      return written.has(type) ? field.replace(type, () => write(type)) : field
    })
    const text = `(${parts.join(', ')})`
    if (text.length > MAX_STRUCT_LENGTH)
      throw fault(place, at, `: the struct ${name} is longer than ${MAX_STRUCT_LENGTH} characters`)
    open.delete(name)
    structs.set(name, text)
    return text
  }
  for (const name of written.keys()) write(name)
  return structs
}

/** Expands structs in the place of types: after an opening bracket or a comma. */
const expanded = (text: string, structs: Structs): string =>
  structs.size === 0
    ? text
    : text.replace(/([(,]\s*)([A-Za-z_$][\w$]*)/g, (all, before: string, word: string) =>
        structs.has(word) ? before + structs.get(word) : all,
      )

/** Replaces comments by spaces, which keeps line numbers. */
const uncommented = (text: string): string =>
  text.replace(/\/\*[\s\S]*?(?:\*\/|$)|(?:\/\/|#).*/g, comment => comment.replace(/[^\n]/g, ' '))

/** Declarations with their first lines. */
const split = (text: string): { line: number; text: string }[] => {
  const found: { line: number; text: string }[] = []
  let open = 0
  for (const [i, line] of text.split('\n').entries()) {
    // One that is never closed must not swallow those after it.
    if (open > 0 && !/^\s*(?:event|function|error|constructor|struct)[\s(]/.test(line)) {
      const last = found.at(-1)!
      last.text += `\n${line.trimEnd()}`
    } else {
      open = 0
      if (line.trim() === '') continue
      found.push({ line: i + 1, text: line.trim() })
    }
    for (const character of line) open += '({'.includes(character) ? 1 : ')}'.includes(character) ? -1 : 0
  }
  return found
}
