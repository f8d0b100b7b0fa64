import { type Field, fieldsOf, type Kind } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import type { CellForm, TableCell } from '../search/columns/argument-values.ts'
import type { Cells } from '../search/columns/cells.ts'
import { createParquetParts, type ParquetColumn } from '../search/columns/parquet.ts'
import type { ArgumentTable } from '../search/columns/table.ts'
import { tableValues } from '../search/lines.ts'
import { type Encoder, parseHit } from './lines.ts'
import { type HitList, rowsReader } from './page.ts'

const createParquetEncoder = <Hits extends HitList>(
  columns: readonly ParquetColumn[],
  add: (hits: Hits, cells: Cells) => void,
): Encoder<Hits> => {
  const { cells, isFull, take, tail } = createParquetParts(columns)
  return {
    add: hits => add(hits, cells),
    isFull,
    clear: cells.clear,
    take,
    tail: async (notes, at) => tail(notes, at),
  }
}

/** One column for each argument. */
export const createArgumentParquet = (table: ArgumentTable): Encoder<Cells> => ({
  ...createParquetEncoder<Cells>(table.columns, (rows, cells) => cells.append(rows)),
  read: rowsReader(table),
})

/** For objects, the form of each member. */
const NUMBER_MEMBERS: Record<string, CellForm> = { num: 'long', coin: 'double' }
const FIELD_FORMS: Partial<Record<Field['kind'], CellForm>> = {
  boolean: 'boolean',
  seconds: 'time',
  datetime: 'time',
  long: 'long',
  double: 'double',
  integer256: 'long',
}

/** One Parquet column per table column; lists of objects are JSON text. */
export const createParquet = (request: Pick<SearchRequest, 'parts' | 'source'>): Encoder => {
  const { columns: shown, isMixed, read } = tableValues(request)
  const columns = ['_id', ...(isMixed ? ['_type'] : []), ...shown].map(name => ({
    ...{ name, lists: 0, isRequired: name === '_id' || name === '_type' },
    form: columnForm(
      request.parts.map(({ kind }) => kind),
      name,
    ),
  }))
  return createParquetEncoder(columns, (hits, cells) => {
    for (const hit of hits) {
      const { _id, _type, _source } = parseHit(hit)
      const row = [_id, ...(isMixed ? [_type] : []), ...read(_source)]
      cells.add(row.map((value, i) => hitCell(columns[i]!.form, value)))
    }
  })
}

const columnForm = (kinds: readonly Kind[], name: string): CellForm => {
  const forms = new Set(kinds.flatMap(kind => formsIn(kind, name)))
  return forms.size === 1 ? [...forms][0]! : 'text'
}

/** None if documents of the kind have no such column. */
const formsIn = (kind: Kind, name: string): CellForm[] => {
  const at = name.lastIndexOf('.')
  const [parent, member] = [name.slice(0, at), name.slice(at + 1)]
  const found = fieldsOf(kind).find(({ list, path }) => !list && (path === name || (at > 0 && path === parent)))
  if (!found) return []
  return found.path === name ? [FIELD_FORMS[found.field.kind] ?? 'text'] : [NUMBER_MEMBERS[member] ?? 'text']
}

const hitCell = (form: CellForm, value: unknown): TableCell => {
  if (value === undefined || value === null) return null
  switch (form) {
    case 'long':
    case 'decimal':
      return BigInt(typeof value === 'number' ? value : JSON.stringify(value))
    case 'time':
      return typeof value === 'number' ? new Date(value * 1000).toISOString().slice(0, 19) : (value as string)
    case 'double':
      return Number(typeof value === 'number' ? value : JSON.stringify(value))
    case 'boolean':
      return value as boolean
    case 'text':
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}
