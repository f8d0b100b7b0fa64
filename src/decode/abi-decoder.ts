import { isLowerHex } from '../lib/bytes.ts'
import { type Codec, compile } from './codec/codec.ts'
import { createWordReader, DecodeFault, follow, type WordReader } from './codec/words.ts'
import { type FunctionAbi, topicOf } from './signature.ts'
import type { AbiParam, DecodedArg, DecodeResult, EventAbi } from './types.ts'

export type EventDecoder = (topics: readonly string[], data: string) => DecodeResult

/**
 * Compiles a decoder for the logs of one event. It takes `0x` hex in any letter case, never throws
 * and never guesses: a log that does not match the declaration exactly comes back with the reason,
 * which names the argument but no index and no value in it: one declaration has few reasons.
 *
 * The data must decode without remainder: if it is not as long as the canonical encoding of its
 * values, every byte of it must have been read. Tails may have any order, be shared, overlap or end
 * without padding, and padding may have any content, as the ABI and Solidity's own decoder allow;
 * bytes that belong to no value are refused.
 */
export const createEventDecoder = (event: EventAbi): EventDecoder => {
  const layout = layOutArguments(event.inputs, 2, event.anonymous ? 0 : 1)
  if (typeof layout === 'string') return () => refusedResult(layout)
  const { indexed } = layout
  const first = event.anonymous ? null : topicOf(event)

  return (topics, data) => {
    if (topics.length !== indexed)
      return refusedResult(
        `the log does not have the ${indexed} ${indexed === 1 ? 'topic' : 'topics'} of the declaration`,
      )
    let words = topics
    for (let i = first === null ? 0 : 1; i < words.length; i++)
      if (!isPlainWord(words[i]!)) {
        words = words.map(topic => topic.toLowerCase())
        if (!isPlainWord(words[i]!)) return refusedResult(`topic ${i} is not 32 bytes of hex`)
      }
    if (first !== null && words[0] !== first && words[0]!.toLowerCase() !== first)
      return refusedResult('the first topic belongs to another event')
    const { args, error } = decodeData(layout, words, data)
    return error === null ? { args, error } : refusedResult(error)
  }
}

export type FunctionResult = DecodeResult | { args: DecodedArg[]; error: string }

export type FunctionDecoder = (input: string) => FunctionResult

/**
 * The same for the calldata of one function, selector included, which is not compared. Calldata
 * with bytes after its arguments, such as marks of referrers, returns both: the arguments, since
 * contracts read no further, and the error.
 */
export const createFunctionDecoder = ({ inputs }: FunctionAbi): FunctionDecoder => {
  const layout = layOutArguments(inputs, 10, 0)
  if (typeof layout === 'string') return () => refusedResult(layout)
  return input =>
    input.length < 10 ? refusedResult('the data is shorter than a selector') : decodeData(layout, [], input)
}

interface Layout {
  inputs: readonly AbiParam[]
  steps: DecodeStep[]
  /** Character at which the data begins; offsets count from here. */
  base: number
  head: number
  dynamic: boolean
  /** Number of topics, with the first one. */
  indexed: number
}

/** Returns the reason if a type cannot be decoded. */
const layOutArguments = (inputs: readonly AbiParam[], base: number, firstIndexed: number): Layout | string => {
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

/** Returns both arguments and error if the data is longer than its arguments. */
const decodeData = (layout: Layout, topics: readonly string[], data: string): FunctionResult => {
  const { inputs, steps, base, head, dynamic } = layout
  let text = data
  if (!isLowerHex(text)) {
    text = text.toLowerCase()
    if (!isLowerHex(text)) return refusedResult('the data is not hex')
  }
  if (text.length % 2 === 1) return refusedResult('the data has half a byte')
  if (text.length - base < head) return refusedResult(`the data is shorter than the ${head / 2} bytes it must have`)

  const reader = createWordReader(text)
  const args = new Array<DecodedArg>(steps.length)
  let pos = 0
  try {
    if (dynamic) reader.take(base, head)
    for (; pos < steps.length; pos++) args[pos] = steps[pos]!(topics, reader)
  } catch (fault) {
    return refusedResult(explain(fault, labelOf(inputs[pos]!, pos)))
  }
  if (!dynamic && text.length - base > head)
    return { args, error: `the data is longer than the ${head / 2} bytes it must have` }
  if (dynamic && reader.words * 64 !== text.length - base) {
    const { gap, end } = readBy(layout, topics, text)
    if (gap) return refusedResult(SURPLUS)
    if (end < text.length) return { args, error: SURPLUS }
  }
  return { args, error: null }
}

const SURPLUS = 'the data has bytes that belong to no argument'

/**
 * Steps into a decoded array or tuple: at most `most` of its elements or components. Empty for
 * every other value, and for an indexed one, of which the log only has the hash.
 */
export const decodeParts = (param: AbiParam, hex: string, most = Number.POSITIVE_INFINITY): DecodedArg[] => {
  if (param.indexed || !isLowerHex(hex)) return []
  try {
    const codec = compile(param, 1)
    const reader = createWordReader(hex)
    const at = codec.dynamic ? 66 : 2
    if (!codec.dynamic) reader.take(at, codec.words * 64)
    return codec.parts?.(reader, at, most) ?? []
  } catch (fault) {
    if (fault instanceof DecodeFault) return []
    throw fault
  }
}

type DecodeStep = (topics: readonly string[], reader: WordReader) => DecodedArg

const topicStep = (name: string, pos: number, { word, type }: Codec, topic: number): DecodeStep =>
  word === undefined
    ? topics => ({ name, pos, type, hex: topics[topic]!, int: null })
    : topics => {
        const hex = word.hex(topics[topic]!, 2)
        return { name, pos, type, hex, int: word.int(hex) }
      }

const dataStep = (name: string, pos: number, codec: Codec, at: number, base: number): DecodeStep => {
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

/** Decodes again to find the end of what is read, and gaps in it. Few logs come here. */
const readBy = ({ steps, base, head }: Layout, topics: readonly string[], text: string) => {
  const spans: [from: number, to: number][] = []
  const reader = createWordReader(text, spans)
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

const refusedResult = (error: string): DecodeResult => ({ args: null, error })

const explain = (fault: unknown, label: string): string => {
  if (fault instanceof DecodeFault) return `argument ${label}${fault.path}: ${fault.reason}`
  throw fault
}

const labelOf = ({ name }: AbiParam, pos: number): string => name || String(pos)
