import { decodeParts } from '../../decode/abi-decoder.ts'
import { parseSignature } from '../../decode/signature.ts'
import type { AbiParam, DecodedArg } from '../../decode/types.ts'
import { checksumAddress } from '../../lib/keccak.ts'

/** Form of a column's cells; `decimal`: integers that may need more than 64 bits. */
export type CellForm = 'text' | 'long' | 'decimal' | 'double' | 'boolean' | 'time'

/** How integers of more than 64 bits are shown: by their digits, or as numbers. */
export type WideIntegers = 'text' | 'decimal'

/** Null, or a value of the column's form, in as many lists as the column has. */
export type TableCell = string | number | bigint | boolean | null | readonly TableCell[]

export interface CellType {
  form: CellForm
  /** Nesting of lists: 2 for `uint256[][]`. */
  lists: number
}

/** How an argument of a Solidity type is shown in a column. */
export interface ArgumentReader extends CellType {
  /** Reads the text that documents show as `value.hex`. */
  read(hex: string): TableCell
  /** Whether the cell is the hex itself. */
  isVerbatim?: boolean
  /** Characters of all texts of the type. */
  size?: number | undefined
  /** Of an integer, whose cell is its decimal digits. */
  bits?: number
}

/** The type as documents show it, with expanded tuples. */
export const argumentReader = (type: string, integers: WideIntegers): ArgumentReader =>
  paramReader(parseSignature(`f(${type} a)`, 'function').inputs[0]!, integers)

const paramReader = (param: AbiParam, integers: WideIntegers): ArgumentReader => {
  const { type, components } = param
  if (type.endsWith(']')) return listReader(param, integers)
  if (components) return tupleReader(param, integers)
  if (type === 'bool') return { form: 'boolean', lists: 0, read: hex => hex === '0x1' }
  if (type === 'string') return { form: 'text', lists: 0, read: argumentText }
  const [, kind, digits] = /^(u?int)(\d+)$/.exec(type) ?? []
  if (kind === undefined)
    return {
      form: 'text',
      lists: 0,
      read: hex => hex,
      isVerbatim: true,
      size: type === 'address' ? ADDRESS_SIZE : undefined,
    }
  const bits = Number(digits)
  const integer = kind === 'uint' ? (hex: string) => BigInt(hex) : (hex: string) => BigInt.asIntN(bits, BigInt(hex))
  if (bits < 64 || type === 'int64') return { form: 'long', lists: 0, read: integer, bits }
  if (integers === 'decimal') return { form: 'decimal', lists: 0, read: integer, bits }
  return { form: 'text', lists: 0, read: hex => String(integer(hex)), bits }
}

/** Characters of an address. */
export const ADDRESS_SIZE = 42

/** An indexed list is only known by its hash, which is no list: its cell is empty. */
const listReader = (param: AbiParam, integers: WideIntegers): ArgumentReader => {
  const inner = paramReader({ ...param, type: param.type.slice(0, param.type.lastIndexOf('[')) }, integers)
  const isOpen = param.type.endsWith('[]')
  return {
    form: inner.form,
    lists: inner.lists + 1,
    read(hex) {
      const parts = decodeParts(param, hex)
      const isNone = parts.length === 0 && (!isOpen || hex.length !== EMPTY_LIST_DIGITS)
      return isNone ? null : parts.map(part => inner.read(partHex(part)))
    },
  }
}

/** As documents show it. */
const partHex = ({ type, hex }: DecodedArg): string => (type === 'address' ? checksumAddress(hex) : hex)

/** Of an offset and a length of zero. */
const EMPTY_LIST_DIGITS = 2 + 2 * 64

/** Text that is no UTF-8, such as the hash of an indexed one, stays hex. */
const argumentText = (hex: string): string => {
  try {
    return strictUtf8.decode(Buffer.from(hex.slice(2), 'hex'))
  } catch {
    return hex
  }
}
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A tuple as a list in JSON; integers that a double does not hold are text. */
const tupleReader = (param: AbiParam, integers: WideIntegers): ArgumentReader => {
  const readers = param.components!.map(component => paramReader(component, integers))
  return {
    form: 'text',
    lists: 0,
    read(hex) {
      const parts = decodeParts(param, hex)
      return parts.length === 0
        ? hex
        : JSON.stringify(
            parts.map((part, i) => readers[i]!.read(partHex(part))),
            tupleCell,
          )
    },
  }
}

const tupleCell = (_: string, cell: unknown): unknown =>
  typeof cell !== 'bigint' ? cell : Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
