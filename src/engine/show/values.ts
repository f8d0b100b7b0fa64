import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import type { Field, FieldKind, List } from '../../mapping/index.ts'
import type { ValueColumn } from '../documents/forms.ts'
import { cursor, takeVarint } from '../documents/records/cursor.ts'
import { FOLLOWS_LOGS, NULL_INTEGER, PADDED, SMALL, takeBoolean, takeLength } from '../documents/records/values.ts'
import type { Context } from './context.ts'
import { listWriter } from './lists.ts'
import { writeAmount, writeHexNumber, writeLong, writeQuantity, writeWide } from './numbers.ts'
import { CLOSE_LIST, COMMA, FALSE, HEX, NULL, OPEN_LIST, piece, QUOTE, TRUE, writeHex, writeJson } from './pieces.ts'
import type { FieldPlan } from './plan.ts'
import { writeWords } from './words.ts'

/** Appends the value that the cursor stands before; false where the filter leaves nothing of it. */
export type WriteValue = (out: ByteWriter, bytes: Buffer) => boolean

/** Writers of values of records, by their forms. */
export const createValues = ({ addresses, name }: Pick<Context, 'addresses' | 'name'>) => {
  const address = (out: ByteWriter, id: number) => {
    out.bytes(HEX)
    addresses.checksummed(out, id)
    out.byte(QUOTE)
  }

  const words = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
    out.bytes(HEX)
    writeWords(out, bytes, start, end, addresses)
    out.byte(QUOTE)
  }

  /** `ownBloom` appends the bloom filter of the logs of the transaction at hand. */
  const value = (
    { form, declaration }: ValueColumn,
    plan: FieldPlan,
    ownBloom?: (out: ByteWriter) => void,
  ): WriteValue => {
    const none = (out: ByteWriter): boolean => {
      if (plan.single) out.bytes(NULL)
      return plan.single
    }
    switch (form) {
      case 'address':
        return (out, bytes) => {
          const id = takeVarint(bytes)
          if (id === 0) return none(out)
          address(out, id)
          return true
        }
      case 'name':
        return (out, bytes) => {
          const id = takeVarint(bytes)
          if (id === 0) return none(out)
          name(out, id)
          return true
        }
      case 'boolean':
        return (out, bytes) => {
          const truth = takeBoolean(bytes)
          out.bytes(truth === null ? NULL : truth ? TRUE : FALSE)
          return true
        }
      case 'uint':
      case 'digits': {
        const { kind } = declaration as Field
        const write = INTEGERS[kind] ?? writeLong
        return (out, bytes) => {
          const head = bytes[cursor.at++]!
          if (head < SMALL) {
            one[0] = head
            write(out, one, 0, 1, plan.members)
            return true
          }
          if (head === NULL_INTEGER) return none(out)
          if (head === PADDED) {
            const size = bytes[cursor.at++]!
            writeHex(out, bytes, cursor.at, cursor.at + size)
          } else write(out, bytes, cursor.at, cursor.at + head - SMALL, plan.members)
          return true
        }
      }
      case 'list': {
        const list = listWriter(declaration as List, addresses)
        const isUntouched = plan.cut(SAMPLE) === SAMPLE
        return (out, bytes) => {
          const length = takeLength(bytes)
          if (length < 0) return none(out)
          const rlp = bytes.subarray(cursor.at, cursor.at + length)
          if (isUntouched) {
            list(out, rlp)
            return true
          }
          // What a filter cuts into goes through objects.
          whole.truncate(0)
          list(whole, rlp)
          const left = plan.cut(JSON.parse(whole.latin1()))
          if (left !== undefined) writeJson(out, left)
          return left !== undefined
        }
      }
    }
    const write = {
      words,
      bytes: writeHex,
      bloom: writeHex,
      hashes: writeHashes,
      integers: writeIntegers,
    }[form]
    return (out, bytes) => {
      const length = takeLength(bytes)
      if (length === FOLLOWS_LOGS) ownBloom!(out)
      else if (length < 0) return none(out)
      else write(out, bytes, cursor.at, cursor.at + length)
      return true
    }
  }

  return { value, address, words }
}

const one = new Uint8Array(1)
const whole = createByteWriter(1 << 10)
/** A filter that looks into a list at all takes this item out. */
const SAMPLE = [{}]

type WriteInteger = (out: ByteWriter, bytes: Uint8Array, from: number, to: number, members: number) => void

const INTEGERS: Partial<Record<FieldKind, WriteInteger>> = {
  quantity: writeQuantity,
  wide: writeWide,
  amount: writeAmount,
  hexNumber: writeHexNumber,
  long: writeLong,
}

/** A list of hashes, which lie one behind the other. */
export const writeHashes = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
  out.bytes(start < end ? FIRST : NONE)
  for (let at = start; at < end; at += 32) {
    out.digits(bytes, at, at + 32)
    out.bytes(at + 32 < end ? NEXT : LAST)
  }
}
const NONE = piece('[]')
const FIRST = piece('["0x')
const NEXT = piece('","0x')
const LAST = piece('"]')

/** A list of small integers. */
export const writeIntegers = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
  out.byte(OPEN_LIST)
  for (cursor.at = start; cursor.at < end; ) {
    if (cursor.at > start) out.byte(COMMA)
    out.decimal(takeVarint(bytes))
  }
  out.byte(CLOSE_LIST)
}
