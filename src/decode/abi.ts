import { isLowerHex } from '../lib/hex.ts'
import { checksumAddress } from '../lib/keccak.ts'
import { elementaryType, type FunctionAbi, fullType, MAX_DEPTH, topicOf } from './signature.ts'
import type { AbiParam, DecodedArg, DecodeResult, EventAbi } from './types.ts'

export type EventDecoder = (topics: readonly string[], data: string) => DecodeResult

/**
 * Compiles a decoder for the logs of one event. It takes `0x` hex in any letter case, never throws, and never guesses: a log
 * that is not exactly what the declaration says comes back with the reason, which names the argument but no index and
 * no value in it, so that one declaration has few reasons.
 *
 * The data must decode without remainder: where it is not as long as the canonical encoding of its values, every byte of
 * it must have been read. So tails may stand in any order, be shared, overlap or end without padding, and padding may hold
 * anything, as the ABI and Solidity's own decoder allow; bytes that no value accounts for are refused.
 */
export const createEventDecoder = (event: EventAbi): EventDecoder => {
  const layout = layOut(event.inputs, 2, event.anonymous ? 0 : 1)
  if (typeof layout === 'string') return () => refused(layout)
  const { indexed } = layout
  const first = event.anonymous ? null : topicOf(event)

  return (topics, data) => {
    if (topics.length !== indexed)
      return refused(`the log does not have the ${indexed} ${indexed === 1 ? 'topic' : 'topics'} of the declaration`)
    let words = topics
    for (let i = first === null ? 0 : 1; i < words.length; i++)
      if (!isPlainWord(words[i]!)) {
        words = words.map(topic => topic.toLowerCase())
        if (!isPlainWord(words[i]!)) return refused(`topic ${i} is not 32 bytes of hex`)
      }
    if (first !== null && words[0] !== first && words[0]!.toLowerCase() !== first)
      return refused('the first topic belongs to another event')
    const { args, error } = decodeData(layout, words, data)
    return error === null ? { args, error } : refused(error)
  }
}

export type FunctionResult = DecodeResult | { args: DecodedArg[]; error: string }

export type FunctionDecoder = (input: string) => FunctionResult

/**
 * The same for the calldata of one function, selector included, which is not compared. Calldata that goes on behind what its
 * arguments take up comes back with both: the arguments, since contracts read no further, and the error that says so. Marks of
 * referrers are put there.
 */
export const createFunctionDecoder = ({ inputs }: FunctionAbi): FunctionDecoder => {
  const layout = layOut(inputs, 10, 0)
  if (typeof layout === 'string') return () => refused(layout)
  return input => (input.length < 10 ? refused('the data is shorter than a selector') : decodeData(layout, [], input))
}

/** How the arguments of one declaration lie in topics and data. */
interface Layout {
  inputs: readonly AbiParam[]
  steps: Step[]
  /** Where the data begins, in characters; its offsets count from here. */
  base: number
  /** Characters of the heads. */
  head: number
  dynamic: boolean
  /** Topics, with the first one. */
  indexed: number
}

/** Gives the reason where a type is not one that can be decoded. */
const layOut = (inputs: readonly AbiParam[], base: number, firstIndexed: number): Layout | string => {
  const layout: Layout = { inputs, steps: [], base, head: 0, dynamic: false, indexed: firstIndexed }
  let pos = 0
  try {
    for (; pos < inputs.length; pos++) {
      const param = inputs[pos]!
      const codec = compile(param, 1)
      if (param.indexed) {
        layout.steps.push(topicStep(param.name, pos, codec, layout.indexed++))
        continue
      }
      layout.steps.push(dataStep(param.name, pos, codec, base + layout.head, base))
      layout.dynamic ||= codec.dynamic
      layout.head += codec.words * 64
    }
  } catch (fault) {
    return explain(fault, labelOf(inputs[pos]!, pos))
  }
  return layout
}

/** Gives both arguments and error where the data is longer than its arguments. */
const decodeData = (layout: Layout, topics: readonly string[], data: string): FunctionResult => {
  const { inputs, steps, base, head, dynamic } = layout
  let text = data
  if (!isLowerHex(text)) {
    text = text.toLowerCase()
    if (!isLowerHex(text)) return refused('the data is not hex')
  }
  if (text.length % 2 === 1) return refused('the data has half a byte')
  if (text.length - base < head) return refused(`the data is shorter than the ${head / 2} bytes it must have`)

  const reader = createReader(text)
  const args = new Array<DecodedArg>(steps.length)
  let pos = 0
  try {
    if (dynamic) reader.take(base, head)
    for (; pos < steps.length; pos++) args[pos] = steps[pos]!(topics, reader)
  } catch (fault) {
    return refused(explain(fault, labelOf(inputs[pos]!, pos)))
  }
  if (!dynamic && text.length - base > head)
    return { args, error: `the data is longer than the ${head / 2} bytes it must have` }
  if (dynamic && reader.words * 64 !== text.length - base) {
    const { gap, end } = readBy(layout, topics, text)
    if (gap) return refused(SURPLUS)
    if (end < text.length) return { args, error: SURPLUS }
  }
  return { args, error: null }
}

const SURPLUS = 'the data has bytes that belong to no argument'

/**
 * Steps into a decoded array or tuple: its elements or components, as many as `most`. Empty for every other value, and for
 * an indexed one, of which the log only has the hash.
 */
export const decodeParts = (param: AbiParam, hex: string, most = Number.POSITIVE_INFINITY): DecodedArg[] => {
  if (param.indexed || !isLowerHex(hex)) return []
  try {
    const codec = compile(param, 1)
    const reader = createReader(hex)
    const at = codec.dynamic ? 66 : 2
    if (!codec.dynamic) reader.take(at, codec.words * 64)
    return codec.parts?.(reader, at, most) ?? []
  } catch (fault) {
    if (fault instanceof Fault) return []
    throw fault
  }
}

/** Characters of one argument, and of all of a rendered event. */
const ARGUMENT_LIMIT = 256
const EVENT_LIMIT = 1000

/**
 * `Transfer(from=0x…, to=0x…, value=1000)`: arguments without a name go by their position, what is too long ends with an
 * ellipsis. Text from the chain is quoted, with everything escaped that could steer a terminal or the direction of writing.
 */
export const renderEvent = (
  event: { name: string; inputs: readonly AbiParam[] },
  args: readonly DecodedArg[],
): string =>
  cut(
    `${event.name}(${args.map(arg => `${arg.name || arg.pos}=${render(event.inputs[arg.pos]!, arg, ARGUMENT_LIMIT)}`).join(', ')})`,
    EVENT_LIMIT,
  )

/** Text of the chain, with everything escaped that could steer a terminal or the direction of writing. */
export const renderText = (hex: string, limit: number): string =>
  // A character takes four bytes at most.
  cut(
    Buffer.from(hex.slice(2, 2 + 8 * limit), 'hex')
      .toString()
      .replace(STEERING, escaped),
    limit,
  )

type Step = (topics: readonly string[], reader: Reader) => DecodedArg

const topicStep = (name: string, pos: number, { word, type }: Codec, topic: number): Step =>
  word === undefined
    ? topics => ({ name, pos, type, hex: topics[topic]!, int: null })
    : topics => {
        const hex = word.hex(topics[topic]!, 2)
        return { name, pos, type, hex, int: word.int(hex) }
      }

const dataStep = (name: string, pos: number, codec: Codec, at: number, base: number): Step => {
  const { word, type } = codec
  return word === undefined
    ? (_, reader) => ({
        name,
        pos,
        type,
        hex: codec.hex(reader, codec.dynamic ? follow(reader, at, base) : at),
        int: null,
      })
    : (_, reader) => {
        const hex = word.hex(reader.text, at)
        return { name, pos, type, hex, int: word.int(hex) }
      }
}

/** Decodes once more and keeps account of what is read: up to where, and whether with a gap. Few logs come here. */
const readBy = ({ steps, base, head }: Layout, topics: readonly string[], text: string) => {
  const spans: [from: number, to: number][] = []
  const reader = createReader(text, spans)
  reader.take(base, head)
  for (const step of steps) step(topics, reader)
  let end = base
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    if (from > end) return { gap: true, end }
    end = Math.max(end, to)
  }
  return { gap: false, end }
}

const isPlainWord = (topic: string): boolean => topic.length === 66 && isLowerHex(topic)

const refused = (error: string): DecodeResult => ({ args: null, error })

/** Why a value is none of its type. Thrown inside this file only; no Error, since nobody wants its stack. */
class Fault {
  readonly reason: string
  path = ''
  constructor(reason: string) {
    this.reason = reason
  }
}

const explain = (fault: unknown, label: string): string => {
  if (fault instanceof Fault) return `argument ${label}${fault.path}: ${fault.reason}`
  throw fault
}

const labelOf = ({ name }: AbiParam, pos: number): string => name || String(pos)

/** Hex text that is read at character positions; 64 characters are a word. */
interface Reader {
  readonly text: string
  /** Words taken so far: the length of the canonical encoding, once all is read. */
  words: number
  /** Accounts for so many characters, which must be there. */
  take(at: number, length: number): void
}

/**
 * Values may share their bytes, and arrays of arrays that do can unfold to any size; what unfolds to more than this many times
 * its data is no log that a contract means.
 */
const UNFOLDING = 8

const createReader = (text: string, spans?: [from: number, to: number][]): Reader => {
  const limit = (text.length >> 6) * UNFOLDING
  return {
    text,
    words: 0,
    take(at, length) {
      if (at + length > text.length) throw new Fault('the data ends inside it')
      this.words += length / 64
      if (this.words > limit) throw new Fault(`it expands to more than ${UNFOLDING} times the data`)
      spans?.push([at, at + length])
    },
  }
}

/** How values of one type lie in the data. */
interface Codec {
  /** With tuples spelt out. */
  type: string
  /** Whether the head holds an offset instead of the value. */
  dynamic: boolean
  /** Words in the head. */
  words: number
  /** Set for types that fill one word. */
  word?: Word
  /** The canonical encoding of the value at this place, as digits; all but the words of its head are taken here. */
  encode(reader: Reader, at: number): string
  /** What a decoded argument shows. */
  hex(reader: Reader, at: number): string
  /** Elements or components. */
  parts?(reader: Reader, at: number, most: number): DecodedArg[]
}

interface Word {
  hex(text: string, at: number): string
  int(hex: string): bigint | null
}

/** The place that the offset at `head` points to, counted from `base`. */
const follow = (reader: Reader, head: number, base: number): number => {
  const at = base + 2 * readSize(reader.text, head)
  if (at >= reader.text.length) throw new Fault('its offset points beyond the data')
  return at
}

/** An offset or a length, infinite where it is longer than any data. */
const readSize = (text: string, at: number): number =>
  text.startsWith(ZEROS_52, at) ? Number.parseInt(text.slice(at + 52, at + 64), 16) : Number.POSITIVE_INFINITY

const ZEROS = '0'.repeat(64)
const ZEROS_52 = ZEROS.slice(0, 52)
const ZEROS_24 = ZEROS.slice(0, 24)

const sizeWord = (size: number): string => size.toString(16).padStart(64, '0')
/** What `abi.encode` of one dynamic value begins with. */
const HEAD_OFFSET = `0x${sizeWord(32)}`

const compile = (param: AbiParam, depth: number): Codec => {
  if (depth > MAX_DEPTH) throw new Fault(`its type is nested more than ${MAX_DEPTH} deep`)
  const array = /\[(\d*)\]$/.exec(param.type)
  if (array !== null) {
    const { indexed: _, ...element } = { ...param, name: '', type: param.type.slice(0, array.index) }
    return arrayCodec(compile(element, depth + 1), array[1]!)
  }
  if (param.type === 'tuple') {
    const components = param.components ?? []
    if (components.length === 0) throw new Fault('its tuple has no components')
    return tupleCodec(
      components.map(component => component.name),
      components.map(component => compile(component, depth + 1)),
    )
  }
  const type = elementaryType(param.type)
  if (type === 'string' || type === 'bytes') return bytesCodec(type)
  const word = type === null ? undefined : wordOf(type)
  if (word === undefined) throw new Fault(`its type ${fullType(param).slice(0, 100)} is not one that Solidity encodes`)
  return wordCodec(type!, word)
}

const wordCodec = (type: string, word: Word): Codec => ({
  type,
  dynamic: false,
  words: 1,
  word,
  encode(reader, at) {
    word.hex(reader.text, at)
    return reader.text.slice(at, at + 64)
  },
  hex: (reader, at) => word.hex(reader.text, at),
})

const bytesCodec = (type: string): Codec => {
  const content = (reader: Reader, at: number): string => {
    reader.take(at, 64)
    const start = at + 64
    const end = start + 2 * readSize(reader.text, at)
    if (end > reader.text.length) throw new Fault('it is longer than the data')
    const padded = Math.ceil((end - start) / 64) * 64
    reader.take(start, Math.min(padded, reader.text.length - start))
    return reader.text.slice(start, end)
  }
  return {
    type,
    dynamic: true,
    words: 1,
    encode(reader, at) {
      const digits = content(reader, at)
      return sizeWord(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
    },
    hex: (reader, at) => `0x${content(reader, at)}`,
  }
}

/** `length` as it is written: empty for an array that says its length itself. */
const arrayCodec = (element: Codec, length: string): Codec => {
  const fixed = length === '' ? null : Number(length)
  if (fixed === 0) throw new Fault('its array has no elements')
  const dynamic = fixed === null || element.dynamic
  const words = dynamic ? 1 : fixed! * element.words
  if (words > LARGEST) throw new Fault('its type is larger than any data')
  const items = (reader: Reader, at: number): Items => {
    if (fixed === null) reader.take(at, 64)
    const count = fixed ?? readSize(reader.text, at)
    const base = fixed === null ? at + 64 : at
    if (dynamic) reader.take(base, count * element.words * 64)
    return { reader, base, count, codec: () => element }
  }
  const encode = (reader: Reader, at: number): string => {
    const elements = items(reader, at)
    return (fixed === null ? sizeWord(elements.count) : '') + encodeItems(elements, elements.count * element.words)
  }
  return {
    type: `${element.type}[${length}]`,
    dynamic,
    words,
    encode,
    hex: standalone(dynamic, encode),
    parts: (reader, at, most) => decodeItems(items(reader, at), most),
  }
}

const tupleCodec = (names: readonly string[], components: readonly Codec[]): Codec => {
  const dynamic = components.some(component => component.dynamic)
  const headWords = components.reduce((sum, component) => sum + component.words, 0)
  if (headWords > LARGEST) throw new Fault('its type is larger than any data')
  const items = (reader: Reader, at: number): Items => {
    if (dynamic) reader.take(at, headWords * 64)
    return { reader, base: at, count: components.length, codec: i => components[i]!, names }
  }
  const encode = (reader: Reader, at: number): string => encodeItems(items(reader, at), headWords)
  return {
    type: `(${components.map(component => component.type).join(',')})`,
    dynamic,
    words: dynamic ? 1 : headWords,
    encode,
    hex: standalone(dynamic, encode),
    parts: (reader, at, most) => decodeItems(items(reader, at), most),
  }
}

/** Words of the largest static type; JavaScript's longest string holds fewer. */
const LARGEST = 2 ** 32

/** `abi.encode` of the one value: a dynamic one stands behind its offset. */
const standalone = (dynamic: boolean, encode: Codec['encode']): Codec['hex'] =>
  dynamic ? (reader, at) => HEAD_OFFSET + encode(reader, at) : (reader, at) => `0x${encode(reader, at)}`

/** What arrays and tuples have in common: values whose heads lie side by side from `base`, which offsets count from. */
interface Items {
  reader: Reader
  base: number
  count: number
  codec(i: number): Codec
  /** Absent for arrays. */
  names?: readonly string[]
}

const encodeItems = ({ reader, base, count, codec, names }: Items, headWords: number): string => {
  let heads = ''
  let tails = ''
  let head = base
  let i = 0
  try {
    for (; i < count; i++) {
      const item = codec(i)
      if (item.dynamic) {
        const tail = item.encode(reader, follow(reader, head, base))
        heads += sizeWord(headWords * 32 + tails.length / 2)
        tails += tail
      } else heads += item.encode(reader, head)
      head += item.words * 64
    }
  } catch (fault) {
    if (fault instanceof Fault) fault.path = (names ? `.${names[i] || i}` : '[]') + fault.path
    throw fault
  }
  return heads + tails
}

const decodeItems = ({ reader, base, count, codec, names }: Items, most: number): DecodedArg[] => {
  const parts: DecodedArg[] = []
  let head = base
  for (let pos = 0; pos < count && pos < most; pos++) {
    const item = codec(pos)
    const hex = item.hex(reader, item.dynamic ? follow(reader, head, base) : head)
    parts.push({ name: names?.[pos] ?? '', pos, type: item.type, hex, int: item.word?.int(hex) ?? null })
    head += item.words * 64
  }
  return parts
}

const wordOf = (type: string): Word | undefined => {
  if (type === 'address') return addressWord
  if (type === 'bool') return boolWord
  if (type === 'function') return fixedBytes(24)
  const [, kind, size] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? []
  if (kind === 'uint') return unsigned(Number(size))
  if (kind === 'int') return signed(Number(size))
  return kind === 'bytes' ? fixedBytes(Number(size)) : undefined
}

const none = () => null

const addressWord: Word = {
  hex(text, at) {
    if (!text.startsWith(ZEROS_24, at)) throw new Fault('it is longer than an address')
    return `0x${text.slice(at + 24, at + 64)}`
  },
  int: none,
}

const boolWord: Word = {
  hex(text, at) {
    const hex = quantity(text, at)
    if (hex !== '0x0' && hex !== '0x1') throw new Fault('it is neither 0 nor 1')
    return hex
  },
  int: hex => (hex === '0x0' ? 0n : 1n),
}

const fixedBytes = (size: number): Word => {
  const padding = ZEROS.slice(2 * size)
  return {
    hex(text, at) {
      if (!text.startsWith(padding, at + 2 * size)) throw new Fault(`it has more than ${size} bytes`)
      return `0x${text.slice(at, at + 2 * size)}`
    },
    int: none,
  }
}

const unsigned = (bits: number): Word => {
  const padding = ZEROS.slice(bits / 4)
  return {
    hex(text, at) {
      if (!text.startsWith(padding, at)) throw new Fault(`it has more than ${bits} bits`)
      return quantity(text, at)
    },
    int: BigInt,
  }
}

const signed = (bits: number): Word => {
  const digits = bits / 4
  const zeros = ZEROS.slice(digits)
  const ones = zeros.replaceAll('0', 'f')
  const modulus = 1n << BigInt(bits)
  return {
    hex(text, at) {
      const start = at + 64 - digits
      const negative = text.charCodeAt(start) >= EIGHT
      if (!text.startsWith(negative ? ones : zeros, at)) throw new Fault(`it has more than ${bits} bits`)
      return negative ? `0x${text.slice(start, at + 64)}` : quantity(text, at)
    },
    int: hex => (hex.length === digits + 2 && hex.charCodeAt(2) >= EIGHT ? BigInt(hex) - modulus : BigInt(hex)),
  }
}

/** The hex digits from here on have their upper bit set. */
const EIGHT = 56

/** A word without its leading zeros. */
const quantity = (text: string, at: number): string => {
  let i = at
  while (i < at + 63 && text.charCodeAt(i) === 48) i++
  return `0x${text.slice(i, at + 64)}`
}

const render = (param: AbiParam, arg: DecodedArg, limit: number): string => {
  const { type } = arg
  if (arg.int !== null) return type === 'bool' ? String(arg.int === 1n) : String(arg.int)
  if (type === 'address') return checksumAddress(arg.hex)
  if (param.indexed) return arg.hex
  if (type === 'string') {
    // A character takes four bytes at most.
    const text = Buffer.from(arg.hex.slice(2, 2 + 8 * limit), 'hex').toString()
    return cut(JSON.stringify(text).replace(STEERING, escaped), limit)
  }
  if (!type.endsWith(']') && !type.endsWith(')')) return cut(arg.hex, limit)

  const isArray = type.endsWith(']')
  const parts: string[] = []
  let room = limit
  for (const part of decodeParts(param, arg.hex, limit)) {
    const inner = isArray ? elementOf(param) : param.components![part.pos]!
    const text = isArray ? render(inner, part, room) : `${part.name || part.pos}=${render(inner, part, room)}`
    parts.push(text)
    room -= text.length + 2
    if (room <= 0) break
  }
  return cut(isArray ? `[${parts.join(', ')}]` : `(${parts.join(', ')})`, limit)
}

const elementOf = (param: AbiParam): AbiParam => ({ ...param, type: param.type.slice(0, param.type.lastIndexOf('[')) })

/** Control and format characters that JSON leaves as they are: escape sequences of C1, invisible and bidirectional marks. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string => {
  let result = ''
  for (let i = 0; i < character.length; i++) result += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  return result
}

const cut = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 2)
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 2 : limit - 1)}…`
}
