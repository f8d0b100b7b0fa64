import { isAscii } from 'node:buffer'
import { EITHER_PAIRS, LOWER_PAIRS } from '../../lib/bytes.ts'
import type { Limits } from '../../limits/index.ts'
import type { Shape } from './shape.ts'

/**
 * Makes what reads JSON of a shape and checks it meanwhile, in a fraction of the time of
 * `JSON.parse` and the shape: nodes write members in few orders and repeat much, so that most bytes
 * need only be compared. Returns undefined for what is wrong or unusual, such as white space: then
 * `JSON.parse` and the shape decide.
 */
export const createShapeReader = (shape: Shape, limits: Limits) => {
  const value = compileShape(shape, limits)
  /** Where the unusual is the rule, trying takes time in vain. */
  let credit = MOST_CREDIT
  return (bytes: Buffer): unknown => {
    if (credit === 0) return undefined
    credit--
    ascii = bytes
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    inputs++
    at = 0
    top = 0
    try {
      const read = readShaped(value, undefined)
      if (at !== bytes.length) return undefined
      credit = MOST_CREDIT
      return read
    } catch (error) {
      if (error === UNUSUAL || error instanceof RangeError || error instanceof SyntaxError) return undefined
      throw error
    }
  }
}

const MOST_CREDIT = 16
const UNUSUAL = Symbol('unusual JSON')

/** What is read, and where. Reading is synchronous and not reentrant. */
let ascii: Buffer = Buffer.alloc(0)
let view: DataView = new DataView(new ArrayBuffer(0))
let inputs = 0
let at = 0
/** Values of the members of objects that are open. */
const values: unknown[] = []
let top = 0

/** A shape for one set of limits. */
interface CompiledShape {
  of: 'hex' | 'list' | 'object' | 'rest' | 'other'
  isOptional: boolean
  isFaulty(value: unknown): boolean
  /** Of a text with `0x`, or of a list. */
  least: number
  most: number
  isEven: boolean
  repeats: boolean
  pairs: Uint8Array
  item: CompiledShape | undefined
  members: ReadonlyMap<string, CompiledShape>
  /** Most bytes of members without a shape. */
  mostOthers: number
  start: MemberLayout | undefined
  makers: number
}

/** Members of objects in an order, up to one of them. Orders share their beginnings. */
interface MemberLayout {
  /** `"name":` in words, of which the last may overlap the one before. */
  key: Int32Array
  size: number
  name: string
  value: CompiledShape
  isKnown: boolean
  /** The text of this member before, and where in which input it was. */
  last: string
  lastAt: number
  lastInput: number
  likely: MemberLayout | undefined
  next: MemberLayout[]
  names: readonly string[]
  make: ((values: readonly unknown[], from: number) => object) | undefined
}

const NO_MEMBERS: CompiledShape['members'] = new Map()
const ANY_VALUE: CompiledShape = {
  ...{ of: 'other', isOptional: true, isFaulty: () => false, least: 0, most: 0, isEven: false, repeats: false },
  ...{ pairs: EITHER_PAIRS, item: undefined, members: NO_MEMBERS, mostOthers: 0, start: undefined, makers: 0 },
}

const compileShape = (shape: Shape, limits: Limits): CompiledShape => {
  const { form } = shape
  switch (form?.of) {
    case undefined:
      return { ...ANY_VALUE, isOptional: false, isFaulty: value => shape(value, limits) !== undefined }
    case 'rest':
      return { ...ANY_VALUE, of: 'rest' }
    case 'optional':
      return { ...compileShape(form.shape, limits), isOptional: true }
    case 'list':
      return { ...ANY_VALUE, of: 'list', isOptional: false, item: compileShape(form.item, limits), most: form.most }
    case 'object': {
      const members = new Map(Object.entries(form.members).map(([name, it]) => [name, compileShape(it, limits)]))
      const mostOthers = form.open ? limits.extraMembers : Number.POSITIVE_INFINITY
      return {
        ...ANY_VALUE,
        of: 'object',
        isOptional: false,
        members,
        mostOthers,
        start: newLayout('start', ANY_VALUE, false, []),
      }
    }
    case 'hex': {
      const { least, most, even: isEven = false, lower = false, repeats = false } = form
      const pairs = lower ? LOWER_PAIRS : EITHER_PAIRS
      const length = typeof most === 'number' ? most : 2 + 2 * limits[most]
      return { ...ANY_VALUE, of: 'hex', isOptional: false, least, most: length, isEven, repeats, pairs }
    }
  }
}

const newLayout = (name: string, value: CompiledShape, isKnown: boolean, names: readonly string[]): MemberLayout => {
  const key = Buffer.from(`"${name}":`, 'latin1')
  return {
    key: Int32Array.from({ length: (key.length + 3) >> 2 }, (_, i) => key.readInt32LE(Math.min(i * 4, key.length - 4))),
    ...{ size: key.length, name, value, isKnown, last: '', lastAt: 0, lastInput: 0 },
    ...{ likely: undefined, next: [], names, make: undefined },
  }
}

const readShaped = (value: CompiledShape, layout: MemberLayout | undefined): unknown => {
  if (layout !== undefined && layout.lastInput === inputs && isSameText(layout.lastAt, at, layout.last.length + 2)) {
    at += layout.last.length + 2
    return layout.last
  }
  const first = ascii[at]
  if (first === LETTER_N && value.isOptional) return readWord('null', null)
  switch (value.of) {
    case 'hex':
      return readHex(value, layout)
    case 'object':
      return readShapedObject(value)
    case 'list':
      return readList(value.item!, value.most)
    case 'rest': {
      // As the last member, it ends before the last brace.
      const rest = ascii.subarray(at, ascii.length - 1)
      if (!isAscii(rest)) throw UNUSUAL
      at = ascii.length - 1
      return JSON.parse(rest.toString('latin1'))
    }
    case 'other': {
      const read = readOther(layout)
      if (value.isFaulty(read)) throw UNUSUAL
      return read
    }
  }
}

/** Whether this many bytes, four or more, are those of a place before. */
const isSameText = (before: number, place: number, size: number): boolean => {
  if (size < 4 || place + size > ascii.length) return false
  // Numbers differ at their end.
  for (let i = size - 4; i > 0; i -= 4)
    if (view.getInt32(before + i, true) !== view.getInt32(place + i, true)) return false
  return view.getInt32(before, true) === view.getInt32(place, true)
}

const readHex = (value: CompiledShape, layout: MemberLayout | undefined): string => {
  const bytes = ascii
  const start = at + 1
  if (bytes[at] !== QUOTE_BYTE || bytes[start] !== ZERO || bytes[start + 1] !== LETTER_X) throw UNUSUAL
  const { pairs, most, repeats } = value
  const end = repeats ? start + most : endOfDigits(start + 2, pairs)
  const length = end - start
  if (bytes[end] !== QUOTE_BYTE || length < value.least || length > most || (value.isEven && length % 2 === 1))
    throw UNUSUAL
  const read = repeats || length <= SHORT ? repeatedText(start, end, repeats ? pairs : undefined) : textOf(start, end)
  if (layout !== undefined && !repeats) noteLast(layout, read)
  at = end + 1
  return read
}

const SHORT = 12

const endOfDigits = (start: number, pairs: Uint8Array): number => {
  const words = view
  let end = start
  while (pairs[words.getUint16(end, true)] === 1) end += 2
  // With a second digit that is one in each case.
  return pairs[(ascii[end]! << 8) | ZERO] === 1 ? end + 1 : end
}

/** Not a slice of a text, which would keep all of it alive. */
const textOf = (start: number, end: number): string => Buffer.prototype.latin1Slice.call(ascii, start, end)

const noteLast = (layout: MemberLayout, read: string) => {
  layout.last = read
  layout.lastAt = at
  layout.lastInput = inputs
}

const REPEATED_SLOTS = 1 << 15
const REPEATED_SIZE = 68
const repeated: string[] = new Array(REPEATED_SLOTS).fill('')
const repeatedBytes = new DataView(new ArrayBuffer(REPEATED_SLOTS * REPEATED_SIZE))
const repeatedLengths = new Uint8Array(REPEATED_SLOTS)

/** The latest text of a slot, if it is the same; with `pairs`, checks whether others are digits. */
const repeatedText = (start: number, end: number, pairs: Uint8Array | undefined): string => {
  const words = view
  // The quotes make it four bytes or more.
  const from = start - 1
  const last = end - 3
  const mixed =
    Math.imul(words.getInt32(last, true), 0x9e3779b1) ^ Math.imul(words.getInt32((from + last) >> 1, true), 0x85ebca6b)
  const slot = (mixed ^ (mixed >>> 16)) & (REPEATED_SLOTS - 1)
  const base = slot * REPEATED_SIZE - from
  if (repeatedLengths[slot] === end - start) {
    let place = last
    while (place >= from && repeatedBytes.getInt32(base + place, true) === words.getInt32(place, true)) place -= 4
    // What is left before belongs to the quote and `0x`.
    if (place < from) return repeated[slot]!
  }
  if (pairs !== undefined && endOfDigits(start + 2, pairs) !== end) throw UNUSUAL
  const read = textOf(start, end)
  for (let place = last; place >= from; place -= 4)
    repeatedBytes.setInt32(base + place, words.getInt32(place, true), true)
  repeatedLengths[slot] = end - start
  repeated[slot] = read
  return read
}

const readList = (item: CompiledShape, most: number): unknown[] => {
  if (ascii[at] !== OPEN_LIST) throw UNUSUAL
  at++
  const items: unknown[] = []
  if (ascii[at] === CLOSE_LIST) {
    at++
    return items
  }
  for (;;) {
    items.push(readShaped(item, undefined))
    const next = ascii[at++]
    if (next === CLOSE_LIST) break
    if (next !== COMMA_CODE) throw UNUSUAL
  }
  if (items.length > most) throw UNUSUAL
  return items
}

const readShapedObject = (value: CompiledShape): object => {
  if (ascii[at] !== OPEN_OBJECT) throw UNUSUAL
  const from = top
  let others = 0
  let layout = value.start!
  for (;;) {
    at++
    const start = at
    layout = nextLayout(layout, value)
    values[top++] = readShaped(layout.value, layout)
    if (!layout.isKnown) others += at - start
    const next = ascii[at]
    if (next === CLOSE_OBJECT) break
    if (next !== COMMA_CODE) throw UNUSUAL
  }
  at++
  if (others > value.mostOthers) throw UNUSUAL
  layout.make ??= makerOf(layout.names, value)
  const made = layout.make(values, from)
  top = from
  return made
}

const nextLayout = (before: MemberLayout, value: CompiledShape): MemberLayout => {
  let layout = before.likely
  if (layout === undefined || !hasKey(layout)) layout = otherLayout(before, value)
  at += layout.size
  return layout
}

const hasKey = ({ key, size }: MemberLayout): boolean => {
  if (at + size > ascii.length) return false
  const last = key.length - 1
  for (let i = 0; i < last; i++) if (view.getInt32(at + i * 4, true) !== key[i]) return false
  return view.getInt32(at + size - 4, true) === key[last]
}

const otherLayout = (before: MemberLayout, value: CompiledShape): MemberLayout => {
  const [, name] = MEMBER_KEY.exec(ascii.toString('latin1', at, at + MOST_KEY)) ?? []
  if (name === undefined || name === '__proto__') throw UNUSUAL
  let layout = before.next.find(it => it.name === name)
  if (!layout) {
    if (before.next.length >= MOST_BRANCHES || before.names.length >= MOST_MEMBERS) throw UNUSUAL
    const known = value.members.get(name)
    layout = newLayout(name, known ?? ANY_VALUE, known !== undefined, [...before.names, name])
    before.next.push(layout)
  }
  before.likely = layout
  return layout
}

/** Names that may stand in code as they are. Names such as `1` would change the order. */
const MEMBER_KEY = /^"([A-Za-z_][A-Za-z0-9_]*)":/
const MOST_KEY = 64
const MOST_BRANCHES = 8
const MOST_MEMBERS = 64

const MOST_MAKERS = 64

/** V8 makes an object of a literal several times as fast as member by member. */
const makerOf = (names: readonly string[], value: CompiledShape): NonNullable<MemberLayout['make']> => {
  const isWhole = [...value.members].every(([name, { isOptional }]) => isOptional || names.includes(name))
  if (!isWhole || new Set(names).size < names.length || ++value.makers > MOST_MAKERS) throw UNUSUAL
  const literal = names.map((name, i) => `${name}:values[from+${i}]`)
  return new Function('values', 'from', `return {${literal.join()}}`) as NonNullable<MemberLayout['make']>
}

const readOther = (layout: MemberLayout | undefined): unknown => {
  switch (ascii[at]) {
    case QUOTE_BYTE: {
      const start = at + 1
      let end = ascii[start] === ZERO && ascii[start + 1] === LETTER_X ? endOfDigits(start + 2, EITHER_PAIRS) : start
      while (ascii[end] !== QUOTE_BYTE) {
        const byte = ascii[end++]
        // Also at the end of the input.
        if (!(byte! >= SPACE && byte! <= TILDE) || byte === BACKSLASH_BYTE) throw UNUSUAL
      }
      const read = textOf(start, end)
      if (layout !== undefined && read.length > 1) noteLast(layout, read)
      at = end + 1
      return read
    }
    case OPEN_LIST:
      return readList(SCALAR, Number.POSITIVE_INFINITY)
    case LETTER_N:
      return readWord('null', null)
    case LETTER_T:
      return readWord('true', true)
    case LETTER_F:
      return readWord('false', false)
  }
  const [digits] = PLAIN_INTEGER.exec(ascii.toString('latin1', at, at + MOST_INTEGER_DIGITS + 2)) ?? []
  if (digits === undefined || digits.length > MOST_INTEGER_DIGITS) throw UNUSUAL
  at += digits.length
  return Number(digits)
}

const readWord = <T>(word: string, meaning: T): T => {
  for (let i = 0; i < word.length; i++) if (ascii[at + i] !== word.charCodeAt(i)) throw UNUSUAL
  at += word.length
  return meaning
}

const isCompound = (value: unknown) => typeof value === 'object' && value !== null
const SCALAR: CompiledShape = { ...ANY_VALUE, isFaulty: isCompound }
/** `-0` and fractions are left to `JSON.parse`. */
const PLAIN_INTEGER = /^(0|-?[1-9][0-9]*)(?=[,\]}])/
const MOST_INTEGER_DIGITS = 15

const QUOTE_BYTE = 34
const COMMA_CODE = 44
const BACKSLASH_BYTE = 92
const SPACE = 32
const TILDE = 126
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const ZERO = 48
const LETTER_F = 102
const LETTER_N = 110
const LETTER_T = 116
const LETTER_X = 120
