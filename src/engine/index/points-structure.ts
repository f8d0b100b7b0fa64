import { rawBytesOf } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import { callSignatures, kindOfField } from './field-index.ts'
import { columnsOfNumbers, mergeColumns, newValues, type PointColumn, readPointColumn } from './points.ts'
import type { IndexStructure } from './structure.ts'

/** Numbers after which a merge makes a step. */
const NUMBERS_PER_STEP = 10_000

/** The table `num`. */
export const createPointStructure = (db: Db): IndexStructure => {
  const insert = db.prepare('INSERT INTO num (segment, field, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO num (segment, field, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const find = db.prepare('SELECT vals, ords FROM num WHERE segment = ? AND field = ?').raw()
  const all = db.prepare('SELECT field, vals, ords FROM num WHERE segment = ?').raw()
  const drop = db.prepare('DELETE FROM num WHERE segment = ? AND field = ?')
  const dropAll = db.prepare('DELETE FROM num WHERE segment = ?')
  const isCall = callSignatures(db)

  const write = (segment: number, { field, values, ordinals }: PointColumn, statement = insert) =>
    statement.run(segment, field, ordinals.length, rawBytesOf(values), rawBytesOf(ordinals))

  return {
    build({ numbers }) {
      const columns = columnsOfNumbers(numbers)
      return segment => {
        for (const column of columns) write(segment, column)
      }
    },

    patch({ segment, removed, put }) {
      const [before, after] = [columnsOfNumbers(removed.numbers), columnsOfNumbers(put.numbers)]
      return () => {
        const come = new Map(after.map(column => [column.field, column]))
        const gone = new Map(before.map(({ field, ordinals }) => [field, new Set(ordinals)]))
        for (const field of new Set([...gone.keys(), ...come.keys()])) {
          const row = find.get(segment, field) as [Buffer, Buffer] | undefined
          const column = patched(field, row, gone.get(field) ?? new Set(), come.get(field))
          if (column.ordinals.length === 0) drop.run(segment, field)
          else write(segment, column, replace)
        }
      }
    },

    *merge(segment, run) {
      const ids = run.map(({ id }) => id).join(',')
      const sizes = db.prepare(`SELECT field, sum(n) FROM num WHERE segment IN (${ids}) GROUP BY field`).raw().all()
      let numbers = 0
      for (const [field, n] of sizes as [field: number, n: number][]) {
        if (numbers > 0 && numbers + n > NUMBERS_PER_STEP) {
          numbers = 0
          yield
        }
        numbers += n
        const kind = kindOfField(field >> 1, isCall)
        const columns = run.flatMap(({ id, offset }) => {
          const row = find.get(id, field) as [Buffer, Buffer] | undefined
          if (!row) return []
          const { values, ordinals } = readPointColumn(field, ...row)
          return [{ values, ordinals: ordinals.map(ordinal => ordinal + offset[kind]) }]
        })
        write(segment, mergeColumns(field, columns))
      }
      yield
    },

    truncate(from, to, kept) {
      for (const [field, vals, ords] of all.all(from) as NumRow[]) {
        const { values, ordinals } = readPointColumn(field, vals, ords)
        const limit = kept[kindOfField(field >> 1, isCall)]
        const isKept = (_: unknown, i: number) => ordinals[i]! < limit
        const left = ordinals.filter(isKept)
        if (left.length === 0) continue
        write(to, { field, values: (values as Float64Array<ArrayBuffer>).filter(isKept), ordinals: left })
      }
    },

    remove(segment) {
      dropAll.run(segment)
      return false
    },
  }
}

type NumRow = [field: number, vals: Buffer, ords: Buffer]

/** A column without some documents, and with others. Linear, since it may be of a whole segment. */
const patched = (
  field: number,
  row: [Buffer, Buffer] | undefined,
  gone: ReadonlySet<number>,
  come: PointColumn | undefined,
): PointColumn => {
  const before = readPointColumn(field, ...(row ?? [NO_BLOB, NO_BLOB]))
  const after = come ?? readPointColumn(field, NO_BLOB, NO_BLOB)
  const most = before.ordinals.length + after.ordinals.length
  const values = newValues(field, most)
  const ordinals = new Uint32Array(most)
  let size = 0
  let at = 0
  const take = (from: Pick<PointColumn, 'values' | 'ordinals'>, i: number) => {
    values[size] = from.values[i]!
    ordinals[size++] = from.ordinals[i]!
  }
  for (let i = 0; i < before.ordinals.length; i++) {
    if (gone.has(before.ordinals[i]!)) continue
    while (at < after.ordinals.length && after.values[at]! < before.values[i]!) take(after, at++)
    take(before, i)
  }
  while (at < after.ordinals.length) take(after, at++)
  return { field, values: values.subarray(0, size) as PointColumn['values'], ordinals: ordinals.subarray(0, size) }
}

const NO_BLOB = Buffer.alloc(0)
