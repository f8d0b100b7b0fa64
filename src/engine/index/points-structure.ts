import { bytesOf } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import { callSignatures, kindOfField } from './counted.ts'
import { type Column, columnsOfNumbers, mergeColumns, readColumn } from './points.ts'
import type { IndexStructure } from './structure.ts'

/** Numbers that one step of a merge puts together, at least one facet's. */
const NUMBERS = 10_000

/** The table `num`. */
export const createPointStructure = (db: Db): IndexStructure => {
  const insert = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const find = db.prepare('SELECT vals, ords FROM num WHERE segment = ? AND facet = ?').raw()
  const all = db.prepare('SELECT facet, vals, ords FROM num WHERE segment = ?').raw()
  const drop = db.prepare('DELETE FROM num WHERE segment = ? AND facet = ?')
  const dropAll = db.prepare('DELETE FROM num WHERE segment = ?')
  const isCall = callSignatures(db)

  const write = (segment: number, { facet, values, ordinals }: Column, statement = insert) =>
    statement.run(segment, facet, ordinals.length, bytesOf(values), bytesOf(ordinals))

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
        const come = new Map(after.map(column => [column.facet, column]))
        const gone = new Map(before.map(({ facet, ordinals }) => [facet, new Set(ordinals)]))
        for (const facet of new Set([...gone.keys(), ...come.keys()])) {
          const row = find.get(segment, facet) as [Buffer, Buffer] | undefined
          const column = patched(facet, row, gone.get(facet) ?? new Set(), come.get(facet))
          if (column.ordinals.length === 0) drop.run(segment, facet)
          else write(segment, column, replace)
        }
      }
    },

    *merge(segment, run) {
      const ids = run.map(({ id }) => id).join(',')
      const sizes = db.prepare(`SELECT facet, sum(n) FROM num WHERE segment IN (${ids}) GROUP BY facet`).raw().all()
      let numbers = 0
      for (const [facet, n] of sizes as [facet: number, n: number][]) {
        if (numbers > 0 && numbers + n > NUMBERS) {
          numbers = 0
          yield
        }
        numbers += n
        const kind = kindOfField(facet >> 1, isCall)
        const columns = run.flatMap(({ id, offset }) => {
          const row = find.get(id, facet) as [Buffer, Buffer] | undefined
          if (!row) return []
          const { values, ordinals } = readColumn(facet, ...row)
          return [{ values, ordinals: ordinals.map(ordinal => ordinal + offset[kind]) }]
        })
        write(segment, mergeColumns(facet, columns))
      }
      yield
    },

    truncate(from, to, kept) {
      for (const [facet, vals, ords] of all.all(from) as NumRow[]) {
        const { values, ordinals } = readColumn(facet, vals, ords)
        const limit = kept[kindOfField(facet >> 1, isCall)]
        const isKept = (_: unknown, i: number) => ordinals[i]! < limit
        const left = ordinals.filter(isKept)
        if (left.length === 0) continue
        write(to, { facet, values: (values as Float64Array<ArrayBuffer>).filter(isKept), ordinals: left })
      }
    },

    remove(segment) {
      dropAll.run(segment)
      return false
    },

    discard() {},
  }
}

type NumRow = [facet: number, vals: Buffer, ords: Buffer]

/** A column without what some documents had in it, and with another one. Linear, since a column may be of a whole segment. */
const patched = (
  facet: number,
  row: [Buffer, Buffer] | undefined,
  gone: ReadonlySet<number>,
  come: Column | undefined,
): Column => {
  const before = readColumn(facet, ...(row ?? [NOTHING, NOTHING]))
  const after = come ?? readColumn(facet, NOTHING, NOTHING)
  const most = before.ordinals.length + after.ordinals.length
  const values = facet % 2 === 0 ? new BigInt64Array(most) : new Float64Array(most)
  const ordinals = new Uint32Array(most)
  let size = 0
  let at = 0
  const take = (from: Pick<Column, 'values' | 'ordinals'>, i: number) => {
    values[size] = from.values[i]!
    ordinals[size++] = from.ordinals[i]!
  }
  for (let i = 0; i < before.ordinals.length; i++) {
    if (gone.has(before.ordinals[i]!)) continue
    while (at < after.ordinals.length && after.values[at]! < before.values[i]!) take(after, at++)
    take(before, i)
  }
  while (at < after.ordinals.length) take(after, at++)
  return { facet, values: values.subarray(0, size) as Column['values'], ordinals: ordinals.subarray(0, size) }
}

const NOTHING = Buffer.alloc(0)
