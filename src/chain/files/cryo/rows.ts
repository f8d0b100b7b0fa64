import { refuse } from '../../../lib/errors.ts'
import type { CryoFile } from './folder.ts'
import { openTable, type Rows, type Table } from './table.ts'

/** Columns of a datatype. Of the alternatives in a list, the first that a file has is read. */
export interface Wanted {
  needed: readonly string[]
  /** As numbers of 256 bits, of which cryo can write several forms. */
  integers: readonly string[]
  optional: readonly string[]
}

/** One row: its values by the names of columns. */
export type Row = (column: string) => unknown

/** Exact forms of an integer; the other forms lose digits. */
const FORMS = ['_string', '_str', '_binary', '']

export type Cursor = ReturnType<typeof createCursor>

/** Rows of a datatype, block by block from the oldest on. */
export const createCursor = (files: readonly CryoFile[], wanted: Wanted) => {
  let next = 0
  let table: { table: Table; file: CryoFile; columns: ReadonlyMap<string, string> } | undefined
  let group = 0
  let rows: Rows | undefined
  let at = 0
  let last = -1

  const close = async () => {
    const open = table?.table
    table = undefined
    rows = undefined
    await open?.close()
  }
  /** Goes to the file that has the block. */
  const seek = async (block: number) => {
    if (table && table.file.to >= block) return table
    await close()
    while (next < files.length && files[next]!.to < block) next++
    const file = files[next++]!
    const opened = await openTable(file.path)
    table = { table: opened, file, columns: new Map() }
    table.columns = columnsOf(file.path, opened.names, wanted)
    group = 0
    at = 0
    last = file.from
    return table
  }
  return {
    /** The rows of a block, which is above that of the call before, with the file that they are from. */
    async take(block: number): Promise<{ rows: Row[]; file: string }> {
      const { table: opened, file, columns } = await seek(block)
      const found: Row[] = []
      for (;;) {
        if (!rows || at === rows.count) {
          if (group === opened.groups.length) break
          rows = await opened.read(group++, [...columns.values()])
          last = checkSorted(file, rows, last)
          at = 0
          continue
        }
        const number = Number(rows.columns.get('block_number')![at])
        if (number > block) break
        if (number === block) found.push(rowOf(rows, at, columns))
        at++
      }
      return { rows: found, file: file.path }
    },
    close,
  }
}

/** Returns the last block. */
const checkSorted = ({ path, to }: CryoFile, { count, columns }: Rows, from: number): number => {
  const numbers = columns.get('block_number')!
  let last = from
  for (let i = 0; i < count; i++) {
    const number = Number(numbers[i])
    if (!(number >= last && number <= to))
      throw refuse(
        'cryo_unsorted',
        `${path}: a row of block ${number} follows one of block ${last}. Let cryo write it again without --sort`,
      )
    last = number
  }
  return last
}

const rowOf =
  ({ columns }: Rows, at: number, names: ReadonlyMap<string, string>): Row =>
  name => {
    const column = names.get(name)
    return column === undefined ? undefined : columns.get(column)![at]
  }

/** The columns of a file by the names that they are asked for. */
const columnsOf = (path: string, names: ReadonlySet<string>, { needed, integers, optional }: Wanted) => {
  const columns = new Map<string, string>()
  const missing: string[] = []
  for (const name of [...needed, ...optional]) {
    const found = integers.includes(name) ? FORMS.map(form => `${name}${form}`).find(it => names.has(it)) : name
    if (found !== undefined && names.has(found)) columns.set(name, found)
    else if (needed.includes(name)) missing.push(integers.includes(name) ? `${name}_string` : name)
  }
  if (missing.length > 0)
    throw refuse(
      'cryo_missing_column',
      `${path}: it has no ${missing.join(', ')}. Let cryo write it again, with --include-columns all`,
    )
  return columns
}
