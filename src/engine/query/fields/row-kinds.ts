import type { FieldPath, RowKind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import { valueReader } from '../../documents/record-values.ts'
import type { StoreReader } from '../../reader.ts'
import { blockOf, positionOf } from '../../schema.ts'
import { addressIds, type FieldCondition, interpreterOf, type StoredScalar, testOf } from './field-values.ts'

/** Contracts and tokens are rows with their own indexes: one lookup covers all segments. */

/** Column of a field. */
interface RowCell {
  table: RowKind | 'code'
  column: string
  /** Dictionary ids, bytes, a list of items of this number of bytes, or numbers. */
  form: 'address' | 'name' | 'bytes' | 4 | 32 | 'number'
}

const cell = (table: RowCell['table'], column: string, form: RowCell['form']): RowCell => ({ table, column, form })

const CELLS: Record<RowKind, ReadonlyMap<string, RowCell>> = {
  contract: new Map([
    ['address', cell('contract', 'address', 'address')],
    ['creator', cell('contract', 'creator', 'address')],
    ['implementation', cell('contract', 'implementation', 'address')],
    ['name', cell('contract', 'name', 'name')],
    ['abi.source', cell('contract', 'abi', 'name')],
    ['probability', cell('contract', 'probability', 'number')],
    ['codeHash', cell('code', 'hash', 'bytes')],
    ['codeSize', cell('code', 'size', 'number')],
    ['selectors', cell('code', 'selectors', 4)],
    ['topics', cell('code', 'topics', 32)],
    ['standard', cell('code', 'standard', 'name')],
    ['standardSource', cell('code', 'source', 'name')],
  ]),
  token: new Map([
    ['address', cell('token', 'id', 'address')],
    ['name', cell('token', 'name', 'name')],
    ['symbol', cell('token', 'symbol', 'name')],
    ['decimals', cell('token', 'decimals', 'number')],
    ['standard', cell('token', 'standard', 'name')],
    ['error', cell('token', 'error', 'name')],
  ]),
}

/** Whether rows contain a field. */
export const isSparse = (kind: RowKind, field: FieldPath): boolean =>
  isOrigin(kind, field) || CELLS[kind].has(field.field)

/** Ascending positions of matching contracts or tokens; undefined if rows cannot answer. */
export const sparsePositions = (kind: RowKind, leaf: FieldCondition, reader: StoreReader): number[] | undefined => {
  if (isOrigin(kind, leaf.field)) return originPositions(leaf, reader)
  const at = CELLS[kind].get(leaf.field.field)
  if (!at) return undefined
  const rows = rowsByKey(at, leaf, reader) ?? rowsByScan(at, leaf, reader)
  return at.table === 'code' ? positionsBy('contract', 'code', rows, reader) : rows.sort((a, b) => a - b)
}

/** Positions of those whose column holds one of these ids, ascending. */
export const positionsBy = (kind: RowKind, column: string, ids: readonly number[], reader: StoreReader): number[] =>
  reader
    .prepare(
      `SELECT pos FROM "${kind}" WHERE pos IS NOT NULL AND "${column}" IN (SELECT value FROM json_each(?)) ORDER BY pos`,
    )
    .pluck()
    .all(JSON.stringify(ids)) as number[]

/** Rows that an index of SQLite finds: ids of codes, else positions. */
const rowsByKey = (
  { table, column, form }: RowCell,
  leaf: FieldCondition,
  reader: StoreReader,
): number[] | undefined => {
  if (leaf.op !== 'in') return undefined
  if (form === 'bytes') {
    const find = reader.prepare(`SELECT id FROM "${table}" WHERE "${column}" = ?`).pluck()
    return leaf.values.flatMap(value => {
      const [, digits] = /^0x([0-9a-f]{64})$/.exec(String(value)) ?? []
      return digits === undefined ? [] : ((find.get(Buffer.from(digits, 'hex')) as number | undefined) ?? [])
    })
  }
  if (form !== 'address' && form !== 'name') return undefined
  const ids =
    form === 'address' ? addressIds(leaf, reader) : leaf.values.flatMap(value => reader.nameId(String(value)) ?? [])
  if (table !== 'code') return positionsBy(table, column, ids, reader)
  return reader
    .prepare(`SELECT id FROM code WHERE "${column}" IN (SELECT value FROM json_each(?))`)
    .pluck()
    .all(JSON.stringify(ids)) as number[]
}

const rowsByScan = ({ table, column, form }: RowCell, leaf: FieldCondition, reader: StoreReader): number[] => {
  const key = table === 'code' ? 'id' : 'pos'
  const select = reader
    .prepare(`SELECT ${key}, "${column}" FROM "${table}" WHERE ${key} IS NOT NULL AND "${column}" IS NOT NULL`)
    .raw()
  const test = testOf(leaf)
  const valuesOf = cellReader(form, leaf.field, reader)
  return (select.all() as [number, CellContent][]).flatMap(([row, content]) => {
    reader.check()
    return valuesOf(content).some(test) ? [row] : []
  })
}

/** A field of the transaction that created a contract. */
const isOrigin = (kind: RowKind, { field }: FieldPath): boolean => kind === 'contract' && field === 'origin'

const originPositions = (leaf: FieldCondition, reader: StoreReader): number[] => {
  const senderOf = valueReader('tx', 'from', reader.records)!
  const test = testOf(leaf)
  const valuesOf = cellReader('address', leaf.field, reader)
  const rows = reader.prepare('SELECT pos, tx FROM contract ORDER BY pos').raw().all() as [number, number][]
  return rows.flatMap(([pos, tx]) => {
    reader.check()
    const sender = senderOf(positionOf(blockOf(pos), tx)) as number | null | undefined
    return sender !== null && sender !== undefined && valuesOf(sender).some(test) ? [pos] : []
  })
}

type CellContent = number | Buffer

/** The values of a cell as a query compares them. */
const cellReader = (
  form: RowCell['form'],
  field: FieldPath,
  reader: StoreReader,
): ((content: CellContent) => QueryValue[]) => {
  const interpret = interpreterOf(field, reader)
  const storedIn = (content: CellContent): StoredScalar[] => {
    if (typeof content === 'number') return [content]
    return splitHex(content.toString('hex'), typeof form === 'number' ? form : content.length)
  }
  return content =>
    storedIn(content).flatMap(stored => {
      const value = interpret(stored)
      return value === undefined ? [] : [value]
    })
}

/** Reads a field of the contract or token at a position; undefined if rows do not contain it. */
export const sparseReader = (
  kind: RowKind,
  field: FieldPath,
  reader: StoreReader,
): ((position: number) => QueryValue[]) | undefined => {
  if (isOrigin(kind, field) && field.compare !== 'token') {
    const senderOf = valueReader('tx', 'from', reader.records)!
    const txOf = reader.prepare('SELECT tx FROM contract WHERE pos = ?').pluck()
    const valuesOf = cellReader('address', field, reader)
    return position => {
      const tx = txOf.get(position) as number | undefined
      const sender = tx === undefined ? undefined : senderOf(positionOf(blockOf(position), tx))
      return sender === null || sender === undefined ? [] : valuesOf(sender as number)
    }
  }
  const at = CELLS[kind].get(field.field)
  if (!at || field.compare === 'token') return undefined
  const { table, column, form } = at
  const select = reader
    .prepare(
      table === 'code'
        ? `SELECT code."${column}" FROM contract JOIN code ON code.id = contract.code WHERE contract.pos = ?`
        : `SELECT "${column}" FROM "${table}" WHERE pos = ?`,
    )
    .pluck()
  const valuesOf = cellReader(form, field, reader)
  return position => {
    const content = select.get(position) as CellContent | null | undefined
    return content === null || content === undefined ? [] : valuesOf(content)
  }
}

/** Splits concatenated digits into hex texts of `size` bytes. */
export const splitHex = (digits: string, size: number): string[] =>
  Array.from({ length: digits.length / (2 * size) }, (_, i) => `0x${digits.slice(i * 2 * size, (i + 1) * 2 * size)}`)
