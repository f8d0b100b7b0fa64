import { coin } from '../documents/show.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { checksumAddress } from '../lib/keccak.ts'
import type { FieldPath, Kind } from '../mapping/index.ts'
import type { Bounds, Value } from '../query/ast.ts'
import type { Column } from '../store/columns.ts'
import { columnsOf } from '../store/columns.ts'
import { pack } from '../store/pack.ts'
import type { Reader } from '../store/reader.ts'
import type { Leaf } from './leaf.ts'

/** The only place that writes SQL for a query: conditions on stored columns. Values are always bound. */
export interface Condition {
  table: string
  where: string
  params: unknown[]
}

/** A condition; `never` where no document can fulfil it; undefined where columns do not tell (decoded documents do). */
export type Compiled = Condition | 'never' | undefined

/** Compiles a condition on a field that is stored in a column, or that the position tells. */
export const compileLeaf = (kind: Kind, leaf: Leaf, reader: Reader): Compiled => {
  const column = columnOf(kind, leaf.field)
  if (!column) return undefined
  const compiled = column.compile(leaf, reader)
  if (compiled === undefined || compiled === 'never') return compiled
  return { table: column.table, where: compiled.where, params: compiled.params }
}

/** How a field is sorted by: an SQL expression whose values order as the field does, NULL where it is missing. */
export const sortExpression = (kind: Kind, field: FieldPath): { table: string; expression: string } | undefined => {
  const column = columnOf(kind, field)
  if (!column || (column.table === 'block' && kind !== 'block')) return undefined
  const expression = column.sort?.(field)
  return expression ? { table: column.table, expression } : undefined
}

interface Fragment {
  where: string
  params: unknown[]
}

interface Compiler {
  table: string
  compile(leaf: Leaf, reader: Reader): Fragment | 'never' | undefined
  sort?(field: FieldPath): string | undefined
}

const columnOf = (kind: Kind, field: FieldPath): Compiler | undefined => {
  const derived = DERIVED[kind][field.field]
  if (derived) return derived
  if (kind === 'block' || kind === 'tx') {
    const column = STORED[kind].get(field.list ? field.list.name : field.field)
    if (!column || field.list) return undefined
    return formCompiler(column, `"${column.field}"`)
  }
  return undefined
}

const STORED = {
  block: new Map(columnsOf('block').map(column => [column.field, column])),
  tx: new Map(columnsOf('tx').map(column => [column.field, column])),
}

const formCompiler = ({ table, form }: Pick<Column, 'table' | 'form'>, column: string): Compiler | undefined => {
  switch (form) {
    case 'uint':
      return integerColumn(table, column)
    case 'bytes':
      return bytesColumn(table, column)
    case 'words':
      return wordsColumn(table, column)
    case 'hashes':
      return hashesColumn(table, column)
    case 'digits':
      return digitsColumn(table, column)
    case 'boolean':
      return booleanColumn(table, column)
    case 'address':
      return addressColumn(table, column)
    case 'name':
      return nameColumn(table, column)
    // One that follows from the logs is stored as a number, and longer than what an index holds.
    case 'bloom':
      return bytesColumn(table, column)
    case 'list':
      return undefined
  }
}

// Integers in SQLite's own order: see the form `uint` in store/columns.ts. The explicit null is -1.

const GREATEST_LONG = 2n ** 63n - 1n
const LARGEST = 2n ** 256n - 1n

/** The stored form of an unsigned integer. */
export const storedInteger = (value: bigint): number | Buffer => {
  if (value < BigInt(Number.MAX_SAFE_INTEGER)) return Number(value)
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

const integerColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf) {
    const { encoding, kind } = leaf.field
    if (encoding === 'num' || kind === 'seconds' || kind === 'long')
      return integers(column, leaf, kind === 'seconds' ? 1000n : 1n)
    if (encoding === 'coin') return coins(column, leaf)
    if (leaf.op === 'in') {
      const values = leaf.values.flatMap(value => hexInteger(String(value), encoding === 'padded'))
      return oneOf(column, values.map(storedInteger))
    }
    return textual(encoding === 'padded' ? paddedText(column) : rawText(column), leaf)
  },
  sort({ encoding, kind }) {
    if (encoding === 'num' || kind === 'seconds')
      return `CASE WHEN ${column} >= 0 AND ${column} <= x'087fffffffffffffff' THEN ${column} END`
    if (encoding === 'raw') return rawText(column)
    return `CASE WHEN ${column} >= 0 THEN ${column} END`
  },
})

/** Hex digits of the column, without leading zeros but for zero itself. */
const digitsText = (column: string): string =>
  `CASE WHEN typeof(${column}) = 'blob' THEN ltrim(lower(hex(substr(${column}, 2))), '0') WHEN ${column} >= 0 THEN printf('%x', ${column}) END`
const rawText = (column: string): string => `('0x' || ${digitsText(column)})`
const paddedText = (column: string): string => `('0x' || substr('${'0'.repeat(64)}' || ${digitsText(column)}, -64))`

/** The integer of a hex text as that encoding writes it, in a list; no integer where it is never written so. */
const hexInteger = (text: string, padded: boolean): bigint[] => {
  if (!/^0x[0-9a-f]+$/.test(text)) return []
  const written = padded ? text.length === 66 : text === '0x0' || text[2] !== '0'
  return written && text.length <= 66 ? [BigInt(text)] : []
}

/** `unit`: how much of the value one stored unit is; dates compare in milliseconds and are stored in seconds. */
const integers = (column: string, leaf: Leaf, unit: bigint): Fragment | 'never' => {
  if (leaf.op === 'in') {
    const values = leaf.values
      .map(toBigint)
      .filter(value => value >= 0n && value % unit === 0n && value / unit <= GREATEST_LONG)
    return oneOf(
      column,
      values.map(value => storedInteger(value / unit)),
    )
  }
  let low = 0n
  let high = GREATEST_LONG
  if (leaf.op === 'range') {
    const { gt, gte, lt, lte } = leaf.bounds
    if (gte !== undefined) low = max(low, ceilDivide(toBigint(gte), unit))
    if (gt !== undefined) low = max(low, floorDivide(toBigint(gt), unit) + 1n)
    if (lte !== undefined) high = min(high, floorDivide(toBigint(lte), unit))
    if (lt !== undefined) high = min(high, ceilDivide(toBigint(lt), unit) - 1n)
  }
  return between(column, low, high)
}

const between = (column: string, low: bigint, high: bigint): Fragment | 'never' =>
  low > high ? 'never' : { where: `${column} BETWEEN ? AND ?`, params: [storedInteger(low), storedInteger(high)] }

/** `coin` rises with the integer, so a bound on the double is a bound on the integer: found by bisection, exact to the last wei. */
const coins = (column: string, leaf: Leaf): Fragment | 'never' => {
  const first = (holds: (value: number) => boolean): bigint => {
    let low = 0n
    let high = LARGEST + 1n
    while (low < high) {
      const middle = (low + high) / 2n
      if (holds(coin(middle))) high = middle
      else low = middle + 1n
    }
    return low
  }
  if (leaf.op === 'exists') return between(column, 0n, LARGEST)
  if (leaf.op === 'in') {
    const parts = leaf.values.map(value =>
      between(
        column,
        first(c => c >= Number(value)),
        first(c => c > Number(value)) - 1n,
      ),
    )
    return anyOf(parts)
  }
  const { gt, gte, lt, lte } = leaf.bounds
  let low = 0n
  let high = LARGEST
  if (gte !== undefined)
    low = max(
      low,
      first(c => c >= Number(gte)),
    )
  if (gt !== undefined)
    low = max(
      low,
      first(c => c > Number(gt)),
    )
  if (lte !== undefined) high = min(high, first(c => c > Number(lte)) - 1n)
  if (lt !== undefined) high = min(high, first(c => c >= Number(lt)) - 1n)
  return between(column, low, high)
}

const bytesColumn = (table: string, column: string): Compiler => {
  const text = `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) <= 127 THEN '0x' || lower(hex(${column})) END`
  return {
    table,
    compile(leaf) {
      if (leaf.op === 'in')
        return oneOf(
          column,
          leaf.values.flatMap(value => hexBytes(String(value))),
        )
      if (leaf.op === 'exists') return { where: `typeof(${column}) = 'blob' AND length(${column}) <= 127`, params: [] }
      return textual(`(${text})`, leaf)
    },
    sort: () => text,
  }
}

/** Bytes of a hex text that an index may hold, in a list; none where no stored bytes are written so. */
const hexBytes = (text: string): Buffer[] =>
  /^0x([0-9a-f]{2})*$/.test(text) && text.length <= 256 ? [Buffer.from(text.slice(2), 'hex')] : []

const wordsColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf, reader) {
    if (leaf.op !== 'in') {
      // Only the short ones are indexed, and their length shows when they are unpacked.
      const text = `words_text(${column})`
      return leaf.op === 'exists' ? { where: `${text} IS NOT NULL`, params: [] } : textual(text, leaf)
    }
    const parts = leaf.values.map((value): Fragment | 'never' => {
      const text = String(value)
      if (hexBytes(text).length === 0) return 'never'
      if (text === '0x')
        return table === 'log' ? { where: `${column} IS NULL`, params: [] } : { where: `${column} = x''`, params: [] }
      const out = createByteWriter()
      if (!pack(out, text, reader.addressId)) return 'never'
      return { where: `${column} = ?`, params: [Buffer.from(out.take())] }
    })
    return anyOf(parts)
  },
  sort: () => `words_text(${column})`,
})

const hashesColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf) {
    if (leaf.op === 'exists') return { where: `length(${column}) > 1`, params: [] }
    if (leaf.op === 'range') return undefined
    const items = leaf.values.flatMap(value => hexBytes(String(value))).filter(({ length }) => length === 32)
    return anyOf(items.map(item => ({ where: `instr(${column}, ?) % 32 = 1`, params: [item] })))
  },
})

const digitsColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf) {
    if (leaf.op === 'exists') return { where: `${column} >= 0`, params: [] }
    if (leaf.op === 'range') return undefined
    const values = leaf.values.flatMap((value): (number | Buffer)[] => {
      const text = String(value)
      if (!/^0x[0-9a-f]+$/.test(text)) return []
      if (text === '0x0' || text[2] !== '0') return [storedInteger(BigInt(text))]
      return hexBytes(text)
    })
    return oneOf(column, values)
  },
})

const booleanColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf) {
    if (leaf.op === 'exists') return { where: `${column} IN (0, 1)`, params: [] }
    if (leaf.op === 'range') return undefined
    return oneOf(
      column,
      leaf.values.map(value => (value ? 1 : 0)),
    )
  },
  sort: () => `CASE WHEN ${column} IN (0, 1) THEN ${column} END`,
})

const addressColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf, reader) {
    if (leaf.op === 'exists') return { where: `${column} > 0`, params: [] }
    if (leaf.op === 'in') return oneOf(column, addressIds(leaf, reader))
    const text = leaf.field.encoding === 'raw' ? 'checksum(bytes)' : "'0x' || lower(hex(bytes))"
    const { where, params } = textual(`(${text})`, leaf)
    return { where: `${column} IN (SELECT id FROM address WHERE ${where})`, params }
  },
  sort: ({ encoding }) =>
    encoding === 'raw' ? `(SELECT checksum(bytes) FROM address WHERE id = ${column})` : undefined,
})

/** Dictionary ids of the addresses that a condition names: `raw` only where the letter case is the checksummed one. */
export const addressIds = (leaf: Extract<Leaf, { op: 'in' }>, reader: Reader): number[] =>
  leaf.values.flatMap(value => {
    const text = String(value)
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return []
    const digits = text.slice(2).toLowerCase()
    const written = leaf.field.encoding === 'raw' ? checksumAddress(`0x${digits}`) : `0x${digits}`
    return text === written ? (reader.addressId(digits) ?? []) : []
  })

const nameColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf, reader) {
    if (leaf.op === 'exists') return { where: `${column} > 0`, params: [] }
    if (leaf.op === 'in')
      return oneOf(
        column,
        leaf.values.flatMap(value => reader.nameId(String(value)) ?? []),
      )
    const { where, params } = textual('name', leaf)
    return { where: `${column} IN (SELECT id FROM name WHERE ${where})`, params }
  },
  sort: () => `(SELECT name FROM name WHERE id = ${column})`,
})

const oneOf = (column: string, values: readonly unknown[]): Fragment | 'never' => {
  if (values.length === 0) return 'never'
  return { where: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }
}

const anyOf = (parts: readonly (Fragment | 'never')[]): Fragment | 'never' => {
  const possible = parts.filter(part => part !== 'never')
  if (possible.length === 0) return 'never'
  return {
    where: `(${possible.map(({ where }) => where).join(' OR ')})`,
    params: possible.flatMap(({ params }) => params),
  }
}

/** A condition on text in the order of its bytes, which is Elasticsearch's order of keywords. */
const textual = (expression: string, leaf: Leaf): Fragment => {
  if (leaf.op === 'exists') return { where: `${expression} IS NOT NULL`, params: [] }
  if (leaf.op === 'in')
    return { where: `${expression} IN (${leaf.values.map(() => '?').join(', ')})`, params: [...leaf.values] }
  const parts = Object.entries(OPERATORS).flatMap(([name, operator]) => {
    const bound: Value | undefined = leaf.bounds[name as keyof Bounds]
    return bound === undefined ? [] : [{ where: `${expression} ${operator} ?`, bound }]
  })
  return {
    where: parts.map(({ where }) => where).join(' AND ') || `${expression} IS NOT NULL`,
    params: parts.map(({ bound }) => bound),
  }
}

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const satisfies Record<keyof Bounds, string>

const toBigint = (value: Value): bigint => (typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value))))
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const floorDivide = (value: bigint, unit: bigint): bigint =>
  value < 0n ? -((-value + unit - 1n) / unit) : value / unit
const ceilDivide = (value: bigint, unit: bigint): bigint => -floorDivide(-value, unit)
