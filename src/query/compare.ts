import { decodeParts } from '../decode/abi-decoder.ts'
import type { AbiParam, DecodedArg } from '../decode/types.ts'
import type { Document } from '../documents/document.ts'
import { checksumAddress } from '../lib/keccak.ts'
import {
  type ENCODINGS,
  type Field,
  type FieldKind,
  isListField,
  type Kind,
  type ListField,
  MAPPING,
  nestedPaths,
} from '../mapping/index.ts'
import {
  type CompareNode,
  type CompareOperand,
  compareValues,
  type ElementCondition,
  type ElementNode,
  type Exact,
} from './ast.ts'
import { compareExact, exactOf, parseExact, showExact, simplifyExact } from './exact.ts'
import { valuesNear } from './value-list.ts'

/** Document that a rule's condition is tested on. */
export type ComparedDocument = Pick<Document, '_source' | 'decoding'>

export interface ComparedValue {
  readonly text: string
  /** Absent for hashes, addresses and texts, even if they look like numbers. */
  readonly number: Exact | undefined
  /** Hex compares in any letter case. */
  readonly hex?: true
}

/** Compiles a condition to a test of documents of its kind. */
export const compileCompare = (node: CompareNode): ((document: ComparedDocument) => boolean) => {
  const values = facesAt(node.steps, node.scaled, node.kind)
  const test = compileTest(node)
  return document => {
    for (const face of values(document)) if (test(face)) return true
    return false
  }
}

/** Compiles conditions on one element of a list to a test of documents; each list is read once. */
export const compileSameElement = ({ steps, all }: ElementNode): ((document: ComparedDocument) => boolean) => {
  const comparisons: { read(document: ComparedDocument): ComparedValue[][]; found: ComparedValue[][] }[] = []
  const compile = (condition: ElementCondition): ((element: number) => boolean) => {
    if (condition.op === 'not') {
      const inner = compile(condition.of)
      return element => !inner(element)
    }
    if (condition.op !== 'compare') {
      const of = condition.of.map(compile)
      return condition.op === 'and'
        ? element => of.every(holds => holds(element))
        : element => of.some(holds => holds(element))
    }
    const comparison = { read: elementFacesAt(condition, steps.length), found: [] as ComparedValue[][] }
    comparisons.push(comparison)
    const test = compileTest(condition)
    return element => comparison.found[element]?.some(face => test(face)) === true
  }
  const tests = all.map(compile)
  return document => {
    let count = 0
    for (const comparison of comparisons) {
      comparison.found = comparison.read(document)
      count = Math.max(count, comparison.found.length)
    }
    for (let element = 0; element < count; element++) if (tests.every(holds => holds(element))) return true
    return false
  }
}

/** Reads the values at the steps, of which the first `depth` lead to a list, for each of its elements. */
const elementFacesAt = ({ steps, scaled, kind }: CompareNode, depth: number) => {
  const starts: number[] = []
  const read = facesAt(steps, scaled, kind, { depth, starts })
  return (document: ComparedDocument): ComparedValue[][] => {
    starts.length = 0
    const faces = read(document)
    return starts.map((start, i) => faces.slice(start, starts[i + 1]))
  }
}

/** Collects the place of each element's first value. */
interface ElementStarts {
  /** Steps that lead to the list. */
  depth: number
  starts: number[]
}

export const operandOf = (text: string): CompareOperand => ({ text, number: parseExact(text) })

export const compileTest = ({
  how,
  operands,
  list,
  ignoreCase,
}: Pick<CompareNode, 'how' | 'operands' | 'list' | 'ignoreCase'>): ((face: ComparedValue) => boolean) => {
  if (list !== undefined)
    return face => {
      const near = valuesNear(list, face)
      return near.length > 0 && compileEqual(near.map(operandOf), ignoreCase)(face)
    }
  if (how === 'equal') return compileEqual(operands, ignoreCase)
  const holds = ORDERS[how]
  const [operand] = operands
  if (operand === undefined) return () => false
  const { text, number } = operand
  return face =>
    holds(
      number !== undefined && face.number !== undefined
        ? compareExact(face.number, number)
        : compareValues(face.text, text),
    )
}

const ORDERS = {
  greater: (order: number) => order > 0,
  greaterOrEqual: (order: number) => order >= 0,
  less: (order: number) => order < 0,
  lessOrEqual: (order: number) => order <= 0,
} as const satisfies Record<Exclude<CompareNode['how'], 'equal'>, (order: number) => boolean>

const compileEqual = (operands: readonly CompareOperand[], ignoreCase: boolean): ((face: ComparedValue) => boolean) => {
  const spelt = ignoreCase ? (text: string) => text.toLowerCase() : (text: string) => text
  const all = new Set(operands.map(({ text }) => spelt(text)))
  let lower = ignoreCase ? all : undefined
  // Numeric operands compare with numbers, the others as text.
  const texts = new Set(operands.flatMap(({ text, number }) => (number === undefined ? [spelt(text)] : [])))
  const integers = new Set<bigint>()
  const fractions = new Set<string>()
  for (const { number } of operands) {
    if (number === undefined) continue
    const { digits, scale } = simplifyExact(number)
    if (scale === 0) integers.add(digits)
    else fractions.add(`${digits}/${scale}`)
  }
  return ({ text, number, hex }) => {
    if (hex) {
      lower ??= new Set(operands.map(({ text }) => text.toLowerCase()))
      return lower.has(text.toLowerCase())
    }
    if (number === undefined) return all.has(spelt(text))
    if (texts.size > 0 && texts.has(spelt(text))) return true
    if (number.scale === 0) return integers.has(number.digits)
    const { digits, scale } = simplifyExact(number)
    return scale === 0 ? integers.has(digits) : fractions.has(`${digits}/${scale}`)
  }
}

/**
 * Compiles a reader of the values at the steps: none if absent or null, several where lists or
 * arguments of one name are on the way. See `CompareNode` for the steps.
 */
export const facesAt = (
  steps: readonly string[],
  scaled: boolean,
  kind: Kind,
  elements?: ElementStarts,
): ((document: ComparedDocument) => readonly ComparedValue[]) => {
  const [name = '', ...rest] = steps
  if (isNested(kind, name)) return argumentsAt(name, rest, scaled, elements)
  const read = scaled ? undefined : readerAt(steps, kind)
  if (read === undefined) return () => NO_FACES
  const [outer, inner] = name.split('.')
  return ({ _source }) => {
    const value = inner === undefined ? _source[outer!] : (_source[outer!] as Record<string, unknown> | null)?.[inner]
    if (value === null || value === undefined) return NO_FACES
    const faces: ComparedValue[] = []
    read(value, faces, elements?.starts)
    return faces
  }
}

/** Whether the mapping has values at these steps. Any argument may exist. */
export const isAttribute = (steps: readonly string[], kind: Kind): boolean =>
  isNested(kind, steps[0] ?? '') ? steps.length > 1 : readerAt(steps, kind) !== undefined

const isNested = (kind: Kind, name: string): boolean => nestedPaths(kind).includes(name)

export const NO_FACES: readonly ComparedValue[] = Object.freeze([])

/** Adds the comparable values of a value that is not null. */
type ReadFaces = (value: unknown, faces: ComparedValue[], starts?: number[]) => void

const readerAt = ([name = '', ...rest]: readonly string[], kind: Kind): ReadFaces | undefined => {
  const { fields } = MAPPING[kind]
  if (!Object.hasOwn(fields, name)) return undefined
  const field = fields[name]!
  return isListField(field) ? readerOfList(field, rest) : faceReaderOf(field, rest)
}

const readerOfList = ({ members }: ListField, steps: readonly string[]): ReadFaces | undefined => {
  const [first = '', ...rest] = steps
  const place = placeOfStep(first)
  const [name = '', ...inner] = place === undefined ? [first, ...rest] : rest
  const read = Object.hasOwn(members, name) ? faceReaderOf(members[name]!, inner) : undefined
  if (read === undefined) return undefined
  const readMember: ReadFaces = (element, faces) => {
    const value = (element as Record<string, unknown> | null | undefined)?.[name]
    if (value !== null && value !== undefined) read(value, faces)
  }
  return (list, faces, starts) => {
    if (!Array.isArray(list)) return
    if (place !== undefined) return readMember(list[place], faces)
    for (const element of list) {
      starts?.push(faces.length)
      readMember(element, faces)
    }
  }
}

const faceReaderOf = ({ kind }: Field, steps: readonly string[]): ReadFaces | undefined => {
  if (kind === 'hexList') return readerOfTexts(steps)
  if (kind === 'flattened') return (value, found) => eachLeaf(value, steps, leaf => found.push(textFace(leaf)))
  const [encoding = ''] = steps
  const faces: Readonly<Record<string, (value: never) => ComparedValue | undefined>> = FACES[kind]
  if (steps.length > 1 || !Object.hasOwn(faces, encoding)) return undefined
  const faceOf = faces[encoding] as (value: unknown) => ComparedValue | undefined
  return (value, found) => {
    const face = faceOf(value)
    if (face !== undefined) found.push(face)
  }
}

const readerOfTexts = (steps: readonly string[]): ReadFaces | undefined => {
  const place = steps.length === 1 ? placeOfStep(steps[0]!) : undefined
  if (steps.length > 0 && place === undefined) return undefined
  return (list, faces) => {
    if (!Array.isArray(list)) return
    for (const element of place === undefined ? list : list.slice(place, place + 1))
      if (element !== null) faces.push(hexFace(String(element)))
  }
}

/** Zero-based index in a list, undefined for a name. */
const placeOfStep = (step: string): number | undefined => (/^\d{1,15}$/.test(step) ? Number(step) : undefined)

const textFace = (value: unknown): ComparedValue => ({ text: String(value), number: undefined })
export const hexFace = (text: string): ComparedValue => ({ text, number: undefined, hex: true })
const numberFace = (value: unknown): ComparedValue => ({ text: String(value), number: parseExact(String(value)) })
export const integerFace = (value: bigint): ComparedValue => ({ text: String(value), number: exactOf(value) })
const exactFace = (number: Exact): ComparedValue => ({ text: showExact(simplifyExact(number)), number })

/** An integer shown in several encodings; each compares as the same exact integer. */
interface Encodings {
  raw: string
  padded?: string
}

const exactIntegerFace = ({ raw }: Encodings): ComparedValue => integerFace(BigInt(raw))
const rawInteger = ({ raw }: Encodings): ComparedValue => ({ text: raw, number: exactOf(BigInt(raw)) })
const paddedInteger = ({ raw, padded = raw }: Encodings): ComparedValue => ({
  text: padded,
  number: exactOf(BigInt(raw)),
})
const exactCoin = ({ raw }: Encodings): ComparedValue => exactFace({ digits: BigInt(raw), scale: 18 })

const booleanFace = (value: unknown): ComparedValue => ({
  text: String(value),
  number: exactOf(value === true ? 1n : 0n),
})

const datetimeFace = (value: unknown): ComparedValue => ({
  text: String(value),
  number: exactOf(BigInt(Date.parse(`${value}Z`) / 1000)),
})

/** Compared value by encoding; without one, the value itself. */
const FACES = {
  // As in search, `raw` is case-sensitive.
  address: { '': hexFace, raw: textFace },
  hex: { '': hexFace },
  hexList: { '': hexFace },
  hexNumber: { '': numberFace },
  quantity: { '': exactIntegerFace, num: exactIntegerFace, dec: exactIntegerFace, raw: rawInteger },
  wide: { '': exactIntegerFace, dec: exactIntegerFace, padded: paddedInteger, raw: rawInteger },
  amount: {
    '': exactIntegerFace,
    num: exactIntegerFace,
    dec: exactIntegerFace,
    coin: exactCoin,
    padded: paddedInteger,
    raw: rawInteger,
  },
  boolean: { '': booleanFace },
  seconds: { '': numberFace },
  datetime: { '': datetimeFace },
  keyword: { '': textFace },
  text: { '': textFace, raw: textFace },
  long: { '': numberFace },
  integers: { '': numberFace },
  double: { '': numberFace },
  integer256: { '': numberFace },
  decimal: { '': numberFace },
  flattened: { '': textFace },
} as const satisfies {
  [kind in FieldKind]: Record<keyof (typeof ENCODINGS)[kind] | '', (value: never) => ComparedValue | undefined>
}

interface SourceArgument {
  name: string
  pos: number
  value: { hex: string; type: string }
}

interface DecodedElement {
  hex: string
  type: string
  /** Undefined if the decoding is unknown, which makes its parts inaccessible. */
  param: AbiParam | undefined
  /** Decimals of the token; null for parts of tuples and arrays, which have no scaled value. */
  decimals: number | null
}

/** Finds arguments by name; only if none has the name, by position. */
const argumentsAt = (
  list: string,
  steps: readonly string[],
  scaled: boolean,
  elements?: ElementStarts,
): ((document: ComparedDocument) => ComparedValue[]) => {
  const [name, ...rest] = steps
  if (name === undefined) return () => []
  // The list and the argument's name are steps, too.
  const within = elements && { ...elements, depth: elements.depth - 2 }
  const place = placeOfStep(name)
  return ({ _source, decoding }) => {
    const found: ComparedValue[] = []
    const args = _source[list]
    if (!Array.isArray(args)) return found
    const read = ({ pos, value: { hex, type } }: SourceArgument) =>
      readElement({ hex, type, param: decoding?.inputs[pos], decimals: decoding?.decimals ?? null }, rest, 0, {
        scaled,
        found,
        elements: within,
      })
    let named = false
    for (const arg of args as SourceArgument[]) {
      if (arg.name !== name) continue
      named = true
      read(arg)
    }
    if (!named && place !== undefined && place < args.length) read(args[place])
    return found
  }
}

interface FaceReading {
  scaled: boolean
  found: ComparedValue[]
  elements: ElementStarts | undefined
}

/** Properties of any value; a tuple component of the same name takes precedence. */
const PROPERTIES = new Set(['hex', 'num', 'scaled', 'type'])

const readElement = (element: DecodedElement, steps: readonly string[], at: number, reading: FaceReading): void => {
  const { param, hex } = element
  const { elements, found } = reading
  const isArray = param !== undefined && !param.indexed && param.type.endsWith(']')
  const components = param === undefined || param.indexed ? undefined : param.components

  const readPart = ({ hex, type }: DecodedArg, param: AbiParam | undefined, next: number) =>
    readElement({ hex, type, param, decimals: null }, steps, next, reading)
  const innerOf = (array: AbiParam) => ({ ...array, type: array.type.slice(0, array.type.lastIndexOf('[')) })

  // Further steps are those of each element.
  if (elements?.depth === at) {
    if (isArray) for (const part of decodeParts(param, hex)) readPart(part, innerOf(param), at)
    else if (!element.type.endsWith(']')) {
      elements.starts.push(found.length)
      readElement(element, steps, at, { ...reading, elements: undefined })
    }
    return
  }
  if (at === steps.length) {
    readOwn(element, reading)
    return
  }
  const step = steps[at]!
  const named = components?.some(component => component.name === step)
  const place = placeOfStep(step)
  if (isArray && (place !== undefined || named || (components !== undefined && !isOfValue(step)))) {
    const parts = decodeParts(param, hex, place === undefined ? undefined : place + 1)
    if (place === undefined) for (const part of parts) readPart(part, innerOf(param), at)
    else if (parts[place]) readPart(parts[place], innerOf(param), at + 1)
    return
  }
  if (!isArray && components !== undefined && (named || place !== undefined)) {
    for (const part of decodeParts(param!, hex))
      if (named ? part.name === step : part.pos === place) readPart(part, components[part.pos], at + 1)
    return
  }
  if (step === 'value') readElement(element, steps, at + 1, reading)
  else if (PROPERTIES.has(step) && at + 1 === steps.length) readProperty(element, step, reading)
}

/** Whether a step is the same one below a list of tuples as below each of its elements. */
export const entersElements = (step: string): boolean => placeOfStep(step) === undefined && !isOfValue(step)

const isOfValue = (step: string): boolean => step === 'value' || PROPERTIES.has(step)

const readProperty = (element: DecodedElement, name: string, reading: FaceReading): void => {
  const { hex, type } = element
  const { scaled, found } = reading
  if (name === 'num' || name === 'scaled') {
    const value = elementInteger(element)
    if (value === undefined) return
    if (name === 'num' && !scaled) found.push(integerFace(value))
    else readScaled(value, element, found)
  } else if (!scaled) {
    if (name === 'type') found.push(textFace(type))
    else if (elementInteger(element) === undefined) found.push(hexFace(shownHex(element)))
    else found.push({ text: shownHex(element), number: parseExact(hex) })
  }
}

const readOwn = (element: DecodedElement, { scaled, found }: FaceReading): void => {
  const value = elementInteger(element)
  if (scaled) {
    if (value !== undefined) readScaled(value, element, found)
  } else if (value !== undefined) found.push(element.type === 'bool' ? booleanFace(value === 1n) : integerFace(value))
  else if (element.type === 'string' && !element.param?.indexed)
    found.push(textFace(Buffer.from(element.hex.slice(2), 'hex').toString()))
  else found.push(hexFace(shownHex(element)))
}

const readScaled = (value: bigint, { type, decimals }: DecodedElement, found: ComparedValue[]): void => {
  if (type !== 'bool' && decimals !== null) found.push(exactFace({ digits: value, scale: decimals }))
}

const INTEGER_TYPE = /^(u?)int(\d+)$/

/** Undefined for other types. Negative integers are in two's complement of their width. */
const elementInteger = ({ type, hex }: Pick<DecodedElement, 'type' | 'hex'>): bigint | undefined => {
  if (type === 'bool') return BigInt(hex)
  const [, unsigned, bits] = INTEGER_TYPE.exec(type) ?? []
  if (bits === undefined) return undefined
  return unsigned === 'u' ? BigInt(hex) : BigInt.asIntN(Number(bits), BigInt(hex))
}

const shownHex = ({ type, hex }: DecodedElement): string =>
  type === 'address' && hex.length === 42 ? checksumAddress(hex.toLowerCase()) : hex

/** Integer that `_source` shows as an encoding, an argument or digits; undefined if it is none. */
export const sourceInteger = (shown: unknown): bigint | undefined => {
  if (typeof shown === 'string') return BigInt(shown)
  const { raw, type, hex } = shown as Record<string, unknown>
  if (typeof raw === 'string') return BigInt(raw)
  return typeof type === 'string' && typeof hex === 'string' ? elementInteger({ type, hex }) : undefined
}

/**
 * Visits values of a `flattened` object: all without steps, else those exactly at the steps.
 * Passes through lists; null and objects are no values.
 */
export const eachLeaf = (value: unknown, steps: readonly string[], found: (leaf: unknown) => void, step = 0): void => {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) {
    for (const element of value) eachLeaf(element, steps, found, step)
    return
  }
  if (typeof value !== 'object') {
    if (step === steps.length) found(value)
    return
  }
  // Names are untrusted.
  if (step < steps.length) {
    const name = steps[step]!
    if (Object.hasOwn(value, name)) eachLeaf((value as Record<string, unknown>)[name], steps, found, step + 1)
  } else if (steps.length === 0) for (const inner of Object.values(value)) eachLeaf(inner, steps, found)
}
