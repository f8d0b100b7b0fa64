import { elementaryType, fullType, MAX_DEPTH } from '../signature.ts'
import type { AbiParam, DecodedArg } from '../types.ts'
import { DecodeFault, follow, readSize, type Word, type WordReader, wordTypeOf } from './words.ts'

export interface Codec {
  /** With tuples spelt out. */
  type: string
  /** Whether the head holds an offset instead of the value. */
  dynamic: boolean
  words: number
  /** Set for types that fill one word. */
  word?: Word
  /** Canonical encoding of the value as digits; takes all but the words of its head. */
  encode(reader: WordReader, at: number): string
  /** Hex that a decoded argument shows. */
  hex(reader: WordReader, at: number): string
  parts?(reader: WordReader, at: number, most: number): DecodedArg[]
}

const sizeWord = (size: number): string => size.toString(16).padStart(64, '0')
/** Prefix of `abi.encode` of one dynamic value. */
const HEAD_OFFSET = `0x${sizeWord(32)}`

export const compile = (param: AbiParam, depth: number): Codec => {
  if (depth > MAX_DEPTH) throw new DecodeFault(`its type is nested more than ${MAX_DEPTH} deep`)
  const array = /\[(\d*)\]$/.exec(param.type)
  if (array !== null) {
    const { indexed: _, ...element } = { ...param, name: '', type: param.type.slice(0, array.index) }
    return arrayCodec(compile(element, depth + 1), array[1]!)
  }
  if (param.type === 'tuple') {
    const components = param.components ?? []
    if (components.length === 0) throw new DecodeFault('its tuple has no components')
    return tupleCodec(
      components.map(component => component.name),
      components.map(component => compile(component, depth + 1)),
    )
  }
  const type = elementaryType(param.type)
  if (type === 'string' || type === 'bytes') return bytesCodec(type)
  const word = type === null ? undefined : wordTypeOf(type)
  if (word === undefined)
    throw new DecodeFault(`its type ${fullType(param).slice(0, 100)} is not one that Solidity encodes`)
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
  const content = (reader: WordReader, at: number): string => {
    reader.take(at, 64)
    const start = at + 64
    const end = start + 2 * readSize(reader.text, at)
    if (end > reader.text.length) throw new DecodeFault('it is longer than the data')
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

/** `length` as written, empty for a dynamic array. */
const arrayCodec = (element: Codec, length: string): Codec => {
  const fixed = length === '' ? null : Number(length)
  if (fixed === 0) throw new DecodeFault('its array has no elements')
  const dynamic = fixed === null || element.dynamic
  const words = dynamic ? 1 : fixed! * element.words
  if (words > MAX_ARRAY_ELEMENTS) throw new DecodeFault('its type is larger than any data')
  const items = (reader: WordReader, at: number): Items => {
    if (fixed === null) reader.take(at, 64)
    const count = fixed ?? readSize(reader.text, at)
    const base = fixed === null ? at + 64 : at
    if (dynamic) reader.take(base, count * element.words * 64)
    return { reader, base, count, codec: () => element }
  }
  const encode = (reader: WordReader, at: number): string => {
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
  if (headWords > MAX_ARRAY_ELEMENTS) throw new DecodeFault('its type is larger than any data')
  const items = (reader: WordReader, at: number): Items => {
    if (dynamic) reader.take(at, headWords * 64)
    return { reader, base: at, count: components.length, codec: i => components[i]!, names }
  }
  const encode = (reader: WordReader, at: number): string => encodeItems(items(reader, at), headWords)
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
const MAX_ARRAY_ELEMENTS = 2 ** 32

/** `abi.encode` of one value: a dynamic one follows its offset. */
const standalone = (dynamic: boolean, encode: Codec['encode']): Codec['hex'] =>
  dynamic ? (reader, at) => HEAD_OFFSET + encode(reader, at) : (reader, at) => `0x${encode(reader, at)}`

/** Elements of an array or tuple: their heads are adjacent from `base`, where offsets start. */
interface Items {
  reader: WordReader
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
    if (fault instanceof DecodeFault) fault.path = (names ? `.${names[i] || i}` : '[]') + fault.path
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
