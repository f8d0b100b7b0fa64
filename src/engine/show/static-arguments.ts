import { elementaryType } from '../../decode/signature.ts'
import type { AbiParam } from '../../decode/types.ts'
import { scaled } from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { LEAST_LONG } from '../../query/simplify.ts'
import { endOfWord, expandWord, WORD_CONTROL } from '../forms/abi-words.ts'
import type { Addresses } from '../forms/addresses.ts'
import { cursor, type FieldPlan, takeVarint } from '../forms/form.ts'
import { CLOSE, CLOSE_LIST, COMMA, FALSE, NULL, OPEN, OPEN_LIST, piece, QUOTE, TRUE } from '../forms/json.ts'
import { integerOfBytes, scaledOf, writeDecimal, writeDigits, writeLong } from '../forms/numbers.ts'

/** Shows arguments of one word each from their packed form. */
export type StaticArguments = ReturnType<typeof createStaticArguments>

/** Most arguments of a declaration, since its text has a maximum length. */
const MAX_STATIC_ARGUMENTS = 16

const createPlaces = (addresses: Addresses) => {
  /** Dictionary ids of addresses; -1 if the value is in `buffers`. */
  const ids = new Int32Array(MAX_STATIC_ARGUMENTS)
  const buffers: Uint8Array[] = new Array(MAX_STATIC_ARGUMENTS)
  const starts = new Int32Array(MAX_STATIC_ARGUMENTS)
  const ends = new Int32Array(MAX_STATIC_ARGUMENTS)
  const negative = new Uint8Array(MAX_STATIC_ARGUMENTS)
  const words = Buffer.alloc(MAX_STATIC_ARGUMENTS * 32)

  const place = (i: number, buffer: Uint8Array, start: number, end: number): true => {
    ids[i] = -1
    buffers[i] = buffer
    starts[i] = start
    ends[i] = end
    return true
  }

  const all = (byte: number, from: number, to: number): boolean => {
    for (let i = from; i < to; i++) if (words[i] !== byte) return false
    return true
  }

  const behindZeros = (from: number, to: number): number => {
    let at = from
    while (at < to && words[at] === 0) at++
    return at
  }

  /** Reads a packed word as a value of the argument's type; false if invalid. */
  const take = ({ form, size }: StaticArgument, i: number, packed: Uint8Array, at: number): boolean => {
    const control = packed[at]!
    negative[i] = 0
    if (control <= 32) {
      // Most integers; signed ones if they are too short to be negative.
      if (form === 'unsigned' && control <= size) return place(i, packed, at + 1, at + 1 + control)
      if (form === 'signed' && control < size) return place(i, packed, at + 1, at + 1 + control)
      if (form === 'boolean') {
        place(i, packed, at + 1, at + 1 + control)
        return control === 0 || (control === 1 && packed[at + 1] === 1)
      }
    } else if (control === WORD_CONTROL.address && form === 'address') {
      cursor.at = at + 1
      ids[i] = takeVarint(packed)
      return true
    } else if (control > WORD_CONTROL.address) return false
    const start = i * 32
    const end = start + 32
    expandWord(packed, at, addresses, words, start)
    switch (form) {
      case 'hash':
        return place(i, words, start, end)
      case 'fixed':
        place(i, words, start, start + size)
        return all(0, start + size, end)
      case 'signed':
        negative[i] = words[end - size]! >> 7
        place(i, words, negative[i] ? end - size : behindZeros(start, end), end)
        return all(negative[i] ? 0xff : 0, start, end - size)
      default:
        place(i, words, form === 'address' ? end - size : behindZeros(start, end), end)
        return form !== 'boolean' && all(0, start, end - size)
    }
  }

  const writeAddress = (out: ByteWriter, i: number) => {
    if (ids[i]! >= 0) return addresses.checksummed(out, ids[i]!)
    addresses.checksummedBytes(out, buffers[i]!, starts[i]!)
  }

  const negativeAt = ({ size }: StaticArgument, i: number): bigint =>
    BigInt.asIntN(size * 8, BigInt(integerOfBytes(buffers[i]!, starts[i]!, ends[i]!)))

  return { buffers, starts, ends, negative, take, writeAddress, negativeAt }
}

export const createStaticArguments = (addresses: Addresses) => {
  const { buffers, starts, ends, negative, take, writeAddress, negativeAt } = createPlaces(addresses)

  const writeHex = (out: ByteWriter, argument: StaticArgument, i: number) => {
    if (argument.form === 'address') writeAddress(out, i)
    else if (isIntegerArgument(argument) && !negative[i]) writeDigits(out, buffers[i]!, starts[i]!, ends[i]!)
    else out.digits(buffers[i]!, starts[i]!, ends[i]!)
  }

  const writeNum = (out: ByteWriter, argument: StaticArgument, i: number) => {
    if (!isIntegerArgument(argument)) return out.bytes(NULL)
    if (!negative[i]) return writeLong(out, buffers[i]!, starts[i]!, ends[i]!)
    const value = negativeAt(argument, i)
    if (value >= LEAST_LONG) out.ascii(String(value))
    else out.bytes(NULL)
  }

  /** As in `str`. */
  const writePlain = (out: ByteWriter, argument: StaticArgument, i: number) => {
    if (argument.form === 'boolean') out.bytes(ends[i]! - starts[i]! === 1 ? TRUE : FALSE)
    else if (!isIntegerArgument(argument)) {
      out.bytes(HEX_PREFIX)
      writeHex(out, argument, i)
    } else if (negative[i]) out.ascii(String(negativeAt(argument, i)))
    else writeDecimal(out, buffers[i]!, starts[i]!, ends[i]!)
  }

  const writeScaled = (out: ByteWriter, argument: StaticArgument, i: number, decimals: number | null) => {
    if (!hasScaled(argument, decimals)) return out.bytes(NULL)
    const value = negative[i]
      ? scaled(negativeAt(argument, i), decimals)
      : scaledOf(buffers[i]!, starts[i]!, ends[i]!, decimals)
    out.ascii(String(value))
  }

  const writeWhole = (out: ByteWriter, argument: StaticArgument, i: number, decimals: number | null) => {
    out.bytes(argument.before)
    writeHex(out, argument, i)
    if (isIntegerArgument(argument)) {
      out.bytes(QUOTED_NUM)
      writeNum(out, argument, i)
      out.bytes(SCALED_KEY)
      writeScaled(out, argument, i, decimals)
    } else out.bytes(NO_INTEGER)
    out.bytes(argument.behind)
  }

  const writePart = (
    out: ByteWriter,
    shown: ArgumentPlan,
    i: number,
    argument: StaticArgument,
    decimals: number | null,
  ) => {
    out.byte(COMMA)
    out.byte(OPEN)
    const start = out.length
    if (shown.name) out.bytes(argument.name, 1)
    if (shown.pos) out.bytes(argument.pos, out.length === start ? 1 : 0)
    if (shown.flat) writeFlat(out, shown, i, argument, decimals, start)
    else if (shown.value) {
      out.bytes(VALUE_KEY, out.length === start ? 1 : 0)
      const first = out.length
      if (shown.value.hex) {
        out.bytes(HEX_MEMBER)
        writeHex(out, argument, i)
        out.byte(QUOTE)
      }
      if (shown.value.num) {
        out.bytes(NUM_KEY, out.length === first ? 1 : 0)
        writeNum(out, argument, i)
      }
      if (shown.value.scaled) {
        out.bytes(SCALED_KEY, out.length === first ? 1 : 0)
        writeScaled(out, argument, i, decimals)
      }
      if (shown.value.type) out.bytes(argument.type, out.length === first ? 1 : 0)
      out.byte(CLOSE)
    }
    out.byte(CLOSE)
  }

  /** `,"value.hex":"0x…"` and so on. */
  const writeFlat = (
    out: ByteWriter,
    { value }: ArgumentPlan,
    i: number,
    argument: StaticArgument,
    decimals: number | null,
    start: number,
  ) => {
    const begin = (key: Uint8Array) => out.bytes(key, out.length === start ? 1 : 0)
    if (value?.hex) {
      begin(FLAT_HEX)
      writeHex(out, argument, i)
      out.byte(QUOTE)
    }
    if (value?.num) {
      begin(FLAT_NUM)
      writeNum(out, argument, i)
    }
    if (value?.scaled) {
      begin(FLAT_SCALED)
      writeScaled(out, argument, i, decimals)
    }
    if (value?.type) {
      begin(FLAT_VALUE)
      out.bytes(argument.type, 2)
    }
  }

  return {
    /** Reads the topics, or the words of the data; false if they do not match the declaration. */
    locate(args: readonly StaticArgument[], isTopic: boolean, packed: Uint8Array, from: number, to: number): boolean {
      let at = from
      for (let i = 0; i < args.length; i++) {
        const argument = args[i]!
        if (argument.isTopic !== isTopic) continue
        if (at >= to || !take(argument, i, packed, at)) return false
        at = endOfWord(packed, at)
      }
      return at === to
    },
    /** Appends the arguments, at least one, as `args`. */
    list(out: ByteWriter, args: readonly StaticArgument[], decimals: number | null, shown: 'whole' | ArgumentPlan) {
      const start = out.length
      for (let i = 0; i < args.length; i++)
        if (shown === 'whole') writeWhole(out, args[i]!, i, decimals)
        else writePart(out, shown, i, args[i]!, decimals)
      // Replaces the first comma.
      out.reserve(0)[start] = OPEN_LIST
      out.byte(CLOSE_LIST)
    },
    /** Appends the arguments as in `str`: `from=0x…, value=1`. */
    text(out: ByteWriter, args: readonly StaticArgument[]) {
      for (let i = 0; i < args.length; i++) {
        const argument = args[i]!
        out.bytes(argument.label, i === 0 ? 2 : 0)
        writePlain(out, argument, i)
      }
    },
    /** Appends a value as in `str`, and in whole tokens. */
    plain: writePlain,
    scaled: writeScaled,
  }
}

export const hasScaled = (argument: StaticArgument, decimals: number | null): decimals is number =>
  decimals !== null && isIntegerArgument(argument) && argument.form !== 'boolean'

const isIntegerArgument = ({ form }: StaticArgument): boolean =>
  form === 'unsigned' || form === 'signed' || form === 'boolean'

const VALUE_KEY = piece(',"value":{')
const HEX_MEMBER = piece('"hex":"0x')
const NUM_KEY = piece(',"num":')
const QUOTED_NUM = piece('","num":')
const SCALED_KEY = piece(',"scaled":')
const NO_INTEGER = piece('","num":null,"scaled":null')
const HEX_PREFIX = piece('0x')
const FLAT_HEX = piece(',"value.hex":"0x')
const FLAT_NUM = piece(',"value.num":')
const FLAT_SCALED = piece(',"value.scaled":')
const FLAT_VALUE = piece(',"value.')

export type WordForm = 'address' | 'unsigned' | 'signed' | 'boolean' | 'fixed' | 'hash'
export interface StaticArgument {
  form: WordForm
  size: number
  /** Otherwise it is in the data. */
  isTopic: boolean
  /** `,{"name":"…","pos":n,"value":{"hex":"0x` */
  before: Uint8Array
  /** `,"type":"…"}}` */
  behind: Uint8Array
  /** Parts for filters: `,"name":"…"`, `,"pos":n` and `,"type":"…"`. */
  name: Uint8Array
  pos: Uint8Array
  type: Uint8Array
  label: Uint8Array
}
/** Characters of `str`: possibly longer text is decoded and cut. */
const MAX_TEXT = 1000
/** A value has 78 digits at most. */
const MAX_VALUE = 90
const wordFormOf = ({ type: written, indexed }: AbiParam): { form: WordForm; size: number } | undefined => {
  const type = elementaryType(written)
  const [, kind, bits] = /^(uint|int|bytes)(\d+)$/.exec(type ?? '') ?? []
  if (type === 'address') return { form: 'address', size: 20 }
  if (type === 'bool') return { form: 'boolean', size: 1 }
  if (type === 'function') return { form: 'fixed', size: 24 }
  if (kind === 'uint') return { form: 'unsigned', size: Number(bits) / 8 }
  if (kind === 'int') return { form: 'signed', size: Number(bits) / 8 }
  if (kind === 'bytes') return { form: 'fixed', size: Number(bits) }
  return indexed && (type === 'string' || type === 'bytes') ? { form: 'hash', size: 32 } : undefined
}
/** Undefined if an argument takes more than one word, or the text might be too long. */
export const compileArguments = (name: string, inputs: readonly AbiParam[]): StaticArgument[] | undefined => {
  const compiled: StaticArgument[] = []
  let length = name.length + 2
  for (const [pos, param] of inputs.entries()) {
    const form = wordFormOf(param)
    const label = param.name || String(pos)
    length += label.length + MAX_VALUE
    if (!form || length > MAX_TEXT) return undefined
    const parts = {
      name: `,"name":${JSON.stringify(param.name)}`,
      pos: `,"pos":${pos}`,
      type: `,"type":${JSON.stringify(elementaryType(param.type))}`,
    }
    compiled.push({
      ...form,
      isTopic: param.indexed === true,
      before: piece(`,{${parts.name.slice(1)}${parts.pos},"value":{"hex":"0x`),
      behind: piece(`${parts.type}}}`),
      name: piece(parts.name),
      pos: piece(parts.pos),
      type: piece(parts.type),
      label: piece(`, ${JSON.stringify(label).slice(1, -1)}=`),
    })
  }
  return compiled
}
export interface ArgumentPlan {
  name: boolean
  pos: boolean
  value: { hex: boolean; num: boolean; scaled: boolean; type: boolean } | undefined
  /** Whether the value has no object of its own. */
  flat?: boolean
}
/** Part of `args` that a filter leaves: all, parts of each argument, an empty list, or nothing. */
export type ArgumentsPlan = 'whole' | ArgumentPlan | 'empty' | undefined
const SAMPLE_ARGUMENTS = [{ name: '', pos: 0, value: { hex: '', num: 0, scaled: 0, type: '' } }]
/** All arguments have the same members, so one sample suffices. */
export const planArguments = ({
  shown,
  cut,
  flat = false,
}: Pick<FieldPlan, 'shown' | 'cut' | 'flat'>): ArgumentsPlan => {
  if (shown === 'whole') return 'whole'
  const left = cut(SAMPLE_ARGUMENTS) as Partial<(typeof SAMPLE_ARGUMENTS)[0]>[] | undefined
  const [first] = left ?? []
  if (!first) return left && 'empty'
  const { value } = first
  const has = (name: string) => (flat ? `value.${name}` in first : value !== undefined && name in value)
  return {
    name: 'name' in first,
    pos: 'pos' in first,
    ...(flat && { flat }),
    value:
      flat || value !== undefined
        ? { hex: has('hex'), num: has('num'), scaled: has('scaled'), type: has('type') }
        : undefined,
  }
}
