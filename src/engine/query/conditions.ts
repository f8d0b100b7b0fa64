import { coin } from '../../documents/show.ts'
import { createByteWriter } from '../../lib/bytes.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import type { FieldKind, FieldPath, Kind, List } from '../../mapping/index.ts'
import type { Bounds, Value } from '../../query/ast.ts'
import type { Column } from '../documents/forms.ts'
import { columnsOf, isStored } from '../documents/forms.ts'
import { pack } from '../documents/pack.ts'
import type { MemberForm } from '../functions.ts'
import { UNLISTED } from '../index/terms.ts'
import type { Reader } from '../reader.ts'
import { type Leaf, sharedStart, testOf } from './leaf.ts'

/** The only place that writes SQL for a query: conditions on stored columns. Values are always bound. */
export interface Condition {
  /** `block` holds the fields that all documents of a block share. */
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

const columnOf = (kind: Kind, field: FieldPath): Compiler | undefined => {
  const derived = DERIVED[kind][field.field]
  if (derived) return derived
  if (isStored(kind)) {
    const column = STORED[kind].get(field.list ? field.list.name : field.field)
    if (!column) return undefined
    if (field.list) return listColumn(column, field)
    return formCompiler(column, `"${column.field}"`)
  }
  return undefined
}

const STORED = {
  block: new Map(columnsOf('block').map(column => [column.field, column])),
  tx: new Map(columnsOf('tx').map(column => [column.field, column])),
  trace: new Map(columnsOf('trace').map(column => [column.field, column])),
}

/** Hash of the transaction that a log belongs to. */
const LOG_TRANSACTION = '(SELECT hash FROM tx_bulk WHERE tx_bulk.pos = log.pos - (log.pos & 4194303) + log.tx)'
const CALL_TRANSACTION = '(SELECT hash FROM tx_bulk WHERE tx_bulk.pos = call.pos - (call.pos & 4194303) + call.tx)'
const TRACE_TRANSACTION = '(SELECT hash FROM tx_bulk WHERE tx_bulk.pos = trace.pos - (trace.pos & 4194303) + trace.tx)'
const CONTRACT_TRANSACTION =
  '(SELECT hash FROM tx_bulk WHERE tx_bulk.pos = contract.pos - (contract.pos & 4194303) + contract.tx)'
const PLACE = '(pos & 4194303)'
const NUMBER = '(pos >> 22)'

const formCompiler = ({ table, form }: Pick<Column, 'table' | 'form'>, column: string): Compiler | undefined => {
  switch (form) {
    case 'uint':
      return integerColumn(table, column)
    case 'bytes':
      return bytesColumn(table, column)
    case 'words':
      return wordsColumn(table, column, Buffer.alloc(0))
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
    case 'integers':
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
  compile(leaf): Fragment | 'never' {
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
  sort({ encoding, kind }, refine) {
    // Integers that a double does not tell apart are the same amount.
    if (encoding === 'coin' && !refine) return `coin(${column})`
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

/** `coin` rises with the integer, so a bound on the double is a bound on the integer: exact to the last wei. */
const coins = (column: string, leaf: Leaf): Fragment | 'never' => {
  if (leaf.op === 'exists') return between(column, 0n, LARGEST)
  if (leaf.op === 'in') {
    if (leaf.values.length > FEW_COINS) return oneOf(`coin(${column})`, leaf.values)
    const runs = leaf.values.map(value =>
      between(column, leastOfCoin(Number(value), false), leastOfCoin(Number(value), true) - 1n),
    )
    return anyOf(runs)
  }
  const { gt, gte, lt, lte } = leaf.bounds
  let low = 0n
  let high = LARGEST
  if (gte !== undefined) low = max(low, leastOfCoin(Number(gte), false))
  if (gt !== undefined) low = max(low, leastOfCoin(Number(gt), true))
  if (lte !== undefined) high = min(high, leastOfCoin(Number(lte), true) - 1n)
  if (lt !== undefined) high = min(high, leastOfCoin(Number(lt), false) - 1n)
  return between(column, low, high)
}

/** From so many on it takes less time to work the coins of rows out than the integers of coins. */
const FEW_COINS = 100

/** The least integer whose coin reaches the value, or with `beyond` lies above it; found by bisection near value × 10^18. */
const leastOfCoin = (value: number, beyond: boolean): bigint => {
  const holds = (integer: bigint) => (beyond ? coin(integer) > value : coin(integer) >= value)
  if (holds(0n)) return 0n
  // The last digits of the double are guessed 8 units in the last place wide.
  const near = value * 1e18
  let low = near < 1e77 ? BigInt(Math.floor(near * (1 - 2 ** -50))) : 0n
  let high = near < 1e77 ? BigInt(Math.ceil(near * (1 + 2 ** -50))) + 1n : LARGEST + 1n
  if (holds(low)) low = 0n
  if (!holds(high)) high = LARGEST + 1n
  while (low < high) {
    const middle = (low + high) / 2n
    if (holds(middle)) high = middle
    else low = middle + 1n
  }
  return low
}

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

/** `empty`: what no data at all are stored as. */
const wordsColumn = (table: string, column: string, empty: null | Buffer): Compiler => {
  const text =
    empty === null ? `ifnull(words_text(${column}), iif(${column} IS NULL, '0x', NULL))` : `words_text(${column})`
  return {
    table,
    compile(leaf, reader): Fragment | 'never' {
      if (leaf.op === 'range') return textual(text, leaf)
      // Only the short ones are indexed.
      if (leaf.op === 'exists')
        return { where: `${empty === null ? `${column} IS NULL OR ` : ''}words_short(${column}) = 1`, params: [] }
      const texts = leaf.values.map(String)
      const packed = texts.flatMap((text): Buffer[] => {
        if (hexBytes(text).length === 0 || (text === '0x' && empty === null)) return []
        const out = createByteWriter()
        return pack(out, text, reader.addressId) ? [Buffer.from(out.take())] : []
      })
      return anyOf([
        oneOf(column, packed),
        empty === null && texts.includes('0x') ? { where: `${column} IS NULL`, params: [] } : 'never',
      ])
    },
    sort: () => text,
  }
}

/** Items of 32 bytes, of which one has to fulfil the condition. */
const hashesColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf): Fragment | 'never' {
    // The explicit null is a number, whose text has a length too.
    if (leaf.op === 'exists') return { where: `typeof(${column}) = 'blob' AND length(${column}) > 0`, params: [] }
    return someItem(`items(${column}, 32)`, leaf)
  },
})

/** One of the texts of a JSON array fulfils the condition. */
const someItem = (items: string, leaf: Leaf): Fragment => {
  const { where, params } = textual('value', leaf)
  return { where: `EXISTS (SELECT 1 FROM json_each(${items}) WHERE ${where})`, params }
}

/** Objects of which one has to have a member that fulfils the condition. */
const listColumn = ({ table, field: name, declaration }: Column, { field, kind, encoding }: FieldPath): Compiler => {
  const member = Object.keys((declaration as List).members).findIndex(member => field === `${name}.${member}`)
  const form: MemberForm = kind === 'address' && encoding === 'raw' ? 'checksum' : (MEMBER_FORMS[kind] ?? 'hex')
  return { table, compile: leaf => someItem(`members("${name}", ${member}, '${form}')`, leaf) }
}

const MEMBER_FORMS: Partial<Record<FieldKind, MemberForm>> = { hexNumber: 'number', hexList: 'items' }

/** The first topic is told by the signature, the others lie packed in the row. */
const topicsColumn: Compiler = {
  table: 'log',
  compile(leaf): Fragment {
    const first = textual(`('0x' || lower(hex(topic)))`, leaf)
    const others = someItem('words(topics)', leaf)
    return {
      where: `signature IN (SELECT id FROM signature WHERE topic IS NOT NULL AND ${first.where}) OR ${others.where}`,
      params: [...first.params, ...others.params],
    }
  },
}

/** The first topic: the signature tells it, but for logs that the dictionary had no room for. */
const signatureColumn: Compiler = {
  table: 'log',
  compile(leaf): Fragment {
    const listed = textual(`('0x' || lower(hex(topic)))`, leaf)
    const own = textual('value', leaf)
    return {
      where: `signature IN (SELECT id FROM signature WHERE topic IS NOT NULL AND ${listed.where})
        OR (signature = (SELECT id FROM signature WHERE key = '${UNLISTED}')
          AND EXISTS (SELECT 1 FROM json_each(words(topics)) WHERE json_each.key = 0 AND ${own.where}))`,
      params: [...listed.params, ...own.params],
    }
  },
}

/** Hashes of the block's transactions. */
const transactionsColumn: Compiler = {
  table: 'block',
  compile(leaf): Fragment {
    const { where, params } = textual(`('0x' || lower(hex(tx_bulk.hash)))`, leaf)
    const inside = 'tx_bulk.pos BETWEEN block.pos AND block.pos + 4194303'
    return { where: `EXISTS (SELECT 1 FROM tx_bulk WHERE ${inside} AND ${where})`, params }
  },
}

const digitsColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf): Fragment | 'never' {
    const short = `(typeof(${column}) <> 'blob' OR length(${column}) <= 128)`
    if (leaf.op === 'exists') return { where: `${column} >= 0 AND ${short}`, params: [] }
    if (leaf.op === 'range') {
      const kept = `iif(substr(${column}, 1, 1) = x'00' AND ${short}, '0x' || lower(hex(substr(${column}, 2))), ${rawText(column)})`
      return textual(`CASE WHEN typeof(${column}) = 'blob' THEN ${kept} ELSE ${rawText(column)} END`, leaf)
    }
    const values = leaf.values.flatMap((value): (number | Buffer)[] => {
      const text = String(value)
      if (!/^0x[0-9a-f]+$/.test(text)) return []
      if (text === '0x0' || text[2] !== '0') return text.length <= 66 ? [storedInteger(BigInt(text))] : []
      return hexBytes(text).map(bytes => Buffer.concat([Buffer.of(0), bytes]))
    })
    return oneOf(column, values)
  },
})

const booleanColumn = (table: string, column: string): Compiler => ({
  table,
  compile(leaf): Fragment | 'never' {
    return oneOf(column, [false, true].filter(testOf(leaf)).map(Number))
  },
  sort: () => `CASE WHEN ${column} IN (0, 1) THEN ${column} END`,
})

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

const anyOf = (parts: readonly (Fragment | 'never')[]): Fragment | 'never' => {
  const possible = parts.filter(part => part !== 'never')
  if (possible.length === 0) return 'never'
  return { where: disjunction(possible), params: possible.flatMap(({ params }) => params) }
}

/** Halved over and over, since SQLite takes expressions of a limited depth. */
const disjunction = (parts: readonly Fragment[]): string => {
  if (parts.length === 1) return `(${parts[0]!.where})`
  const half = parts.length >> 1
  return `(${disjunction(parts.slice(0, half))} OR ${disjunction(parts.slice(half))})`
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

/** Fields that have no column of their own: the position, the block or the transaction tells them. */
const OF_BLOCK = { blockNumber: integerColumn('block', NUMBER), blockHash: bytesColumn('block', 'hash') }
const OF_LOG = {
  ...OF_BLOCK,
  transactionHash: bytesColumn('log', LOG_TRANSACTION),
  transactionIndex: integerColumn('log', 'tx'),
  logIndex: integerColumn('log', PLACE),
  address: addressColumn('log', 'address'),
}
const DERIVED: Record<Kind, Record<string, Compiler>> = {
  block: { number: integerColumn('block', NUMBER), transactions: transactionsColumn },
  tx: { ...OF_BLOCK, transactionIndex: integerColumn('tx', PLACE) },
  log: { ...OF_LOG, data: wordsColumn('log', 'data', null), topics: topicsColumn, signature: signatureColumn },
  event: OF_LOG,
  trace: {
    ...OF_BLOCK,
    transactionHash: bytesColumn('trace', TRACE_TRANSACTION),
    transactionPosition: integerColumn('trace', 'tx'),
  },
  call: {
    ...OF_BLOCK,
    transactionHash: bytesColumn('call', CALL_TRANSACTION),
    transactionIndex: integerColumn('call', 'tx'),
    from: addressColumn('call', '"from"'),
    to: addressColumn('call', '"to"'),
    reverted: booleanColumn('call', 'reverted'),
    value: integerColumn('call', 'value'),
    depth: integerColumn('call', 'depth'),
    callType: nameColumn('call', 'callType'),
  },
  contract: {
    ...OF_BLOCK,
    transactionHash: bytesColumn('contract', CONTRACT_TRANSACTION),
    address: addressColumn('contract', 'address'),
    creator: addressColumn('contract', 'creator'),
    implementation: addressColumn('contract', 'implementation'),
    codeHash: ofCode(bytesColumn('code', 'hash')),
    codeSize: ofCode(integerColumn('code', 'size')),
    selectors: ofCode(itemsColumn('code', 'selectors', 4)),
    topics: ofCode(itemsColumn('code', 'topics', 32)),
    standard: ofCode(nameColumn('code', 'standard')),
    standardSource: ofCode(nameColumn('code', 'source')),
    name: nameColumn('contract', 'contract.name'),
    'abi.source': nameColumn('contract', 'abi'),
    probability: doubleColumn('contract', 'probability'),
  },
  token: {
    address: addressColumn('token', 'id'),
    name: nameColumn('token', 'token.name'),
    symbol: nameColumn('token', 'symbol'),
    decimals: integerColumn('token', 'decimals'),
    standard: nameColumn('token', 'standard'),
    firstSeen: integerColumn('token', NUMBER),
    blockHash: OF_BLOCK.blockHash,
    error: nameColumn('token', 'error'),
  },
}

const toBigint = (value: Value): bigint => (typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value))))
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const floorDivide = (value: bigint, unit: bigint): bigint =>
  value < 0n ? -((-value + unit - 1n) / unit) : value / unit
const ceilDivide = (value: bigint, unit: bigint): bigint => -floorDivide(-value, unit)
