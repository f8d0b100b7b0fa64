import { checksumAddress } from '../../lib/keccak.ts'
import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Bounds, Value } from '../../query/ast.ts'
import type { Reader } from '../reader.ts'
import { type Leaf, sharedStart } from './leaf.ts'

/** The only place that writes SQL for a query: conditions on kinds that are kept as rows. Values are always bound. */
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

/**
 * How a field is sorted by: an SQL expression whose values order as the field does, NULL where it is missing. With `refine` it may tell
 * values apart that the field has equal, which takes less time to read.
 */
export const sortExpression = (
  kind: Kind,
  field: FieldPath,
  refine: boolean,
): { table: string; expression: string } | undefined => {
  const column = columnOf(kind, field)
  if (!column || (column.table === 'block' && kind !== 'block')) return undefined
  const expression = column.sort?.(field, refine)
  return expression ? { table: column.table, expression } : undefined
}

interface Fragment {
  where: string
  params: unknown[]
}

interface Compiler {
  table: string
  compile(leaf: Leaf, reader: Reader): Fragment | 'never'
  sort?(field: FieldPath, refine: boolean): string | undefined
}

const columnOf = (kind: Kind, field: FieldPath): Compiler | undefined =>
  kind === 'contract' || kind === 'token' ? COLUMNS[kind].get(field.field) : undefined

const NUMBER = '(pos >> 22)'

const GREATEST_LONG = 2n ** 63n - 1n

/** The stored form of an unsigned integer. */
export const storedInteger = (value: bigint): number | Buffer => {
  if (value < BigInt(Number.MAX_SAFE_INTEGER)) return Number(value)
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

const integerColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf): Fragment | 'never' {
    const { encoding, kind } = leaf.field
    if (encoding === 'num' || kind === 'seconds' || kind === 'long')
      return integers(column, leaf, kind === 'seconds' ? 1000n : 1n)
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

const bytesColumn = (table: string, column: string): Compiler => {
  const text = `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) <= 127 THEN '0x' || lower(hex(${column})) END`
  return {
    table,
    compile(leaf): Fragment | 'never' {
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

/** One of the texts of a JSON array fulfils the condition. */
const someItem = (items: string, leaf: Leaf): Fragment => {
  const { where, params } = textual('value', leaf)
  return { where: `EXISTS (SELECT 1 FROM json_each(${items}) WHERE ${where})`, params }
}

const addressColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf, reader): Fragment | 'never' {
    if (leaf.op === 'exists') return { where: `${column} > 0`, params: [] }
    if (leaf.op === 'in') return oneOf(column, addressIds(leaf, reader))
    const text = leaf.field.encoding === 'raw' ? 'checksum(bytes)' : `('0x' || lower(hex(bytes)))`
    const { where, params } = textual(text, leaf)
    // What all addresses between the bounds begin with is looked up in the index.
    const [, start = ''] = /^0x([0-9a-f]{0,40})/.exec(sharedStart(leaf.bounds).toLowerCase()) ?? []
    const [first, last] = ['0', 'f'].map(digit => Buffer.from(start.padEnd(40, digit), 'hex'))
    return {
      where: `${column} IN (SELECT id FROM address WHERE bytes BETWEEN ? AND ? AND ${where})`,
      params: [first, last, ...params],
    }
  },
  sort: ({ encoding }) =>
    encoding === 'raw' ? `(SELECT checksum(bytes) FROM address WHERE id = ${column})` : undefined,
})

/** Dictionary ids of the addresses that a condition names: `raw` only where the letter case is the checksummed one. */
export const addressIds = (leaf: Extract<Leaf, { op: 'in' }>, reader: Reader): number[] =>
  leaf.values.flatMap(value => {
    reader.check()
    const text = String(value)
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return []
    const digits = text.slice(2).toLowerCase()
    const written = leaf.field.encoding === 'raw' ? checksumAddress(`0x${digits}`) : `0x${digits}`
    return text === written ? (reader.addressId(digits) ?? []) : []
  })

const nameColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf, reader): Fragment | 'never' {
    if (leaf.op === 'in')
      return oneOf(
        column,
        leaf.values.flatMap(value => reader.nameId(String(value)) ?? []),
      )
    const { where, params } = textual('name', leaf)
    return { where: `${column} IN (SELECT id FROM name WHERE length(name) <= 256 AND ${where})`, params }
  },
  sort: () => `(SELECT name FROM name WHERE id = ${column})`,
})

const oneOf = (column: string, values: readonly unknown[]): Fragment | 'never' => {
  if (values.length === 0) return 'never'
  return { where: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values] }
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

/** What a contract's code tells. */
const ofCode = (compiler: Compiler): Compiler => ({
  table: 'contract',
  compile(leaf, reader) {
    const inside = compiler.compile(leaf, reader)
    if (inside === 'never') return inside
    return { where: `code IN (SELECT id FROM code WHERE ${inside.where})`, params: inside.params }
  },
  sort(field, refine) {
    const expression = compiler.sort?.(field, refine)
    return expression && `(SELECT ${expression} FROM code WHERE code.id = contract.code)`
  },
})

/** Hex texts of so many bytes each, one behind the other. */
const itemsColumn = (table: string, column: string, bytes: number): Compiler => ({
  table,
  compile(leaf): Fragment {
    if (leaf.op === 'exists') return { where: `length(${column}) > 0`, params: [] }
    return someItem(`items(${column}, ${bytes})`, leaf)
  },
})

const doubleColumn = (table: string, column: string): Compiler => ({
  table,
  compile: leaf => textual(column, leaf),
  sort: () => column,
})

const BLOCK_HASH = '(SELECT hash FROM block WHERE number = (pos >> 22))'

/** Columns of the kinds that are kept as rows. */
const COLUMNS: Record<'contract' | 'token', ReadonlyMap<string, Compiler>> = {
  contract: new Map([
    ['blockNumber', integerColumn('contract', NUMBER)],
    ['blockHash', bytesColumn('contract', BLOCK_HASH)],
    ['address', addressColumn('contract', 'address')],
    ['creator', addressColumn('contract', 'creator')],
    ['implementation', addressColumn('contract', 'implementation')],
    ['codeHash', ofCode(bytesColumn('code', 'hash'))],
    ['codeSize', ofCode(integerColumn('code', 'size'))],
    ['selectors', ofCode(itemsColumn('code', 'selectors', 4))],
    ['topics', ofCode(itemsColumn('code', 'topics', 32))],
    ['standard', ofCode(nameColumn('code', 'standard'))],
    ['standardSource', ofCode(nameColumn('code', 'source'))],
    ['name', nameColumn('contract', 'contract.name')],
    ['abi.source', nameColumn('contract', 'abi')],
    ['probability', doubleColumn('contract', 'probability')],
  ]),
  token: new Map([
    ['address', addressColumn('token', 'id')],
    ['name', nameColumn('token', 'token.name')],
    ['symbol', nameColumn('token', 'symbol')],
    ['decimals', integerColumn('token', 'decimals')],
    ['standard', nameColumn('token', 'standard')],
    ['firstSeen', integerColumn('token', NUMBER)],
    ['blockHash', bytesColumn('token', BLOCK_HASH)],
    ['error', nameColumn('token', 'error')],
  ]),
}

const toBigint = (value: Value): bigint => (typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value))))
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const floorDivide = (value: bigint, unit: bigint): bigint =>
  value < 0n ? -((-value + unit - 1n) / unit) : value / unit
const ceilDivide = (value: bigint, unit: bigint): bigint => -floorDivide(-value, unit)
