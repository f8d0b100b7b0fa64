import { createEventDecoder, renderEvent } from '../../../src/decode/abi.ts'
import type { DecodedArg, EventAbi } from '../../../src/decode/types.ts'
import * as show from '../../../src/documents/show.ts'
import { unpack } from '../../../src/engine/documents/pack.ts'
import { createStored } from '../../../src/engine/documents/stored.ts'
import { type Argument, compileArguments } from './event-arguments.ts'
import { bytes, createJson, type Json } from './json.ts'
import { logEnvelope, logPlace, PIECES, readLog, wordEnd } from './show-log.ts'
import type { Source, View } from './source.ts'
import { cursor, decimalOf, isLong, varint, WORD } from './values.ts'

interface Compiled {
  name: Uint8Array
  /** Undefined where an argument is dynamic: then the log is decoded as text. */
  args: Argument[] | undefined
  event: EventAbi
  /** `,"probability":…` */
  tail: Uint8Array
  error: string | null
  decode: ReturnType<typeof createEventDecoder> | undefined
}

const EVENT = bytes('"event":')
const ARGS = bytes(',"args":[')
const ARGS_END = bytes('],')
const ADDRESS_END = bytes('",')
const ERROR = bytes(',"error":')
const STR = bytes(',"str":')
const NUM = bytes('","num":')
const SCALED = bytes(',"scaled":')
const NULL = bytes('null')
const HEX_ONLY = bytes('","num":null,"scaled":null')
const PREFIX = bytes('0x')
const TRUE = bytes('true')
const FALSE = bytes('false')
const OPEN = bytes('(')
const CLOSE = bytes(')"')

export const createEventShow = ({ reader, addresses, block: blockOf, record }: Source) => {
  const known = new Map<number, Compiled>()
  const stored = createStored(reader)
  const compiledOf = (id: number): Compiled => {
    let found = known.get(id)
    if (!found) {
      const { event, error, probability } = reader.signature(id)
      if (!event) throw new Error('a log without a name is no event')
      const args = error === null ? compileArguments(event) : undefined
      found = {
        name: bytes(JSON.stringify(event.name)),
        args,
        event,
        error,
        tail: bytes(`,"probability":${JSON.stringify(probability)}}}`),
        decode: error === null && !args ? createEventDecoder(event) : undefined,
      }
      known.set(id, found)
    }
    return found
  }

  /** Where the value of each argument lies: its bytes without leading zeros, or a dictionary id. */
  const starts = new Int32Array(64)
  const ends = new Int32Array(64)
  const ids = new Int32Array(64)
  const buffers: Uint8Array[] = new Array(64)
  const decimals: string[] = new Array(64)
  const scratch = Buffer.alloc(64 * 32)
  const str = createJson(1 << 12)

  const locate = (packed: Uint8Array, from: number, to: number, args: readonly Argument[], topic: boolean) => {
    let at = from
    for (let i = 0; i < args.length; i++) {
      if (args[i]!.topic !== topic || at >= to) continue
      const next = wordEnd(packed, at)
      const control = packed[at]!
      ids[i] = -1
      buffers[i] = packed
      starts[i] = at + 1
      ends[i] = next
      if (control === WORD.address) {
        cursor.at = at + 1
        ids[i] = varint(packed)
      } else if (control > 32) {
        scratch.fill(0, i * 32, i * 32 + 32)
        scratch.set(packed.subarray(at + 1, next), i * 32)
        buffers[i] = scratch
        starts[i] = i * 32
        ends[i] = i * 32 + 32
      }
      at = next
    }
  }

  /** The bytes of a word with its leading zeros, where the type is wider than what is stored; also of addresses. */
  const whole = (i: number): number => {
    const to = i * 32
    if (buffers[i] === scratch && ids[i]! < 0) return to
    if (ids[i]! >= 0) {
      scratch.fill(0, to, to + 12)
      scratch.set(addresses.bytes(ids[i]!), to + 12)
    } else {
      const size = ends[i]! - starts[i]!
      scratch.fill(0, to, to + 32 - size)
      scratch.set(buffers[i]!.subarray(starts[i]!, ends[i]!), to + 32 - size)
    }
    ids[i] = -1
    buffers[i] = scratch
    starts[i] = to
    ends[i] = to + 32
    return to
  }

  const argument = (json: Json, { form, size, before, after }: Argument, i: number, scale: number) => {
    json.piece(before)
    if (form === 'address') {
      if (ids[i]! >= 0) addresses.checksummed(json, ids[i]!)
      else {
        const at = whole(i)
        json.ascii(show.address(`0x${scratch.toString('hex', at + 12, at + 32)}`).slice(2))
      }
      json.piece(HEX_ONLY)
    } else if (form === 'fixed' || form === 'hash') {
      const at = whole(i)
      json.hex(scratch, at, at + size)
      json.piece(HEX_ONLY)
    } else {
      if (ids[i]! >= 0) whole(i)
      const value = buffers[i]!
      const negative = form === 'signed' && ends[i]! - starts[i]! === 32 && value[starts[i]! + 32 - size]! >= 128
      let decimal: string
      if (negative) {
        const at = starts[i]! + 32 - size
        json.hex(value, at, at + size)
        decimal = BigInt.asIntN(
          size * 8,
          BigInt(`0x${Buffer.prototype.hexSlice.call(value, at, at + size)}`),
        ).toString()
      } else {
        json.minimalHex(value, starts[i]!, ends[i]!)
        decimal = decimalOf(value, starts[i]!, ends[i]!)
      }
      decimals[i] = decimal
      json.piece(NUM)
      if (negative ? isLong(decimal.slice(1)) || decimal === '-9223372036854775808' : isLong(decimal))
        json.ascii(decimal)
      else json.piece(NULL)
      json.piece(SCALED)
      if (scale < 0 || form === 'boolean') json.piece(NULL)
      else json.ascii(String(Number(`${decimal}e-${scale}`)))
    }
    json.piece(after)
  }

  const rendered = (json: Json, { form, size, label }: Argument, i: number) => {
    json.piece(label)
    if (form === 'boolean') json.piece(decimals[i] === '1' ? TRUE : FALSE)
    else if (form === 'unsigned' || form === 'signed') json.ascii(decimals[i]!)
    else {
      json.piece(PREFIX)
      if (form !== 'address') json.hex(scratch, i * 32, i * 32 + size)
      else if (ids[i]! >= 0) addresses.checksummed(json, ids[i]!)
      else json.ascii(show.address(`0x${scratch.toString('hex', i * 32 + 12, i * 32 + 32)}`).slice(2))
    }
  }

  /** Arguments of an event that has dynamic ones, through text. */
  const decodedText = (
    compiled: Compiled,
    signature: number,
    view: View,
    topics: number,
    data: number,
  ): DecodedArg[] => {
    const part = (from: number, to: number) => view.bytes.subarray(from, to)
    const all = stored.topics(signature, topics < data ? part(topics, data) : null)
    const text = data < view.end ? unpack(part(data, view.end), reader.addressDigits) : '0x'
    return compiled.decode!(all, text).args!
  }

  return (json: Json, number: number, place: number) => {
    const block = blockOf(number)
    const view = record('log', number, place)
    const { tx, address, signature, decimals: scale, topics, data, end } = readLog(view)
    const compiled = compiledOf(signature)
    logEnvelope(json, 'event', block, tx, place)
    json.piece(EVENT)
    json.piece(compiled.name)
    json.piece(ARGS)
    str.clear()
    if (compiled.args) {
      locate(view.bytes, topics, data, compiled.args, true)
      locate(view.bytes, data, end, compiled.args, false)
      for (let i = 0; i < compiled.args.length; i++) {
        if (i > 0) json.piece(PIECES.comma)
        argument(json, compiled.args[i]!, i, scale)
      }
    } else if (compiled.decode) {
      const args = decodedText(compiled, signature, view, topics, data)
      const shown = args.map(arg => show.argument(arg, scale < 0 ? null : scale, show.asJson))
      json.piece(bytes(shown.map(arg => JSON.stringify(arg)).join(',')))
      str.piece(bytes(JSON.stringify(renderEvent(compiled.event, args))))
    }
    json.piece(ARGS_END)
    logPlace(json, block, tx, place)
    json.piece(PIECES.addressStart)
    addresses.checksummed(json, address)
    json.piece(ADDRESS_END)
    json.piece(block.place)
    json.piece(ERROR)
    json.piece(compiled.error === null ? NULL : bytes(JSON.stringify(compiled.error)))
    json.piece(STR)
    if (compiled.args) {
      json.piece(compiled.name.subarray(0, -1))
      json.piece(OPEN)
      for (let i = 0; i < compiled.args.length; i++) rendered(json, compiled.args[i]!, i)
      json.piece(CLOSE)
    } else json.piece(str.length > 0 ? str.view() : NULL)
    json.piece(PIECES.comma)
    json.piece(block.datetime)
    json.piece(compiled.tail)
  }
}
