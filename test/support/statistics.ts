import type { FieldPath } from '../../src/mapping/index.ts'
import type { QueryValue } from '../../src/query/ast.ts'
import { type TestedDocument, valueReaderOf } from '../../src/query/predicate.ts'
import type { Statistics } from '../../src/query/statistics.ts'

/** What scores are counted from, of documents in memory: all of them are looked at. */
export const statisticsOf = (documents: readonly TestedDocument[]): Statistics => {
  const known = new Map<string, QueryValue[][]>()
  /** The values of each document, or of each element of the list, that has some. */
  const valuesOf = (field: FieldPath): QueryValue[][] => {
    const found = known.get(field.path)
    if (found) return found
    const list = field.list?.nested ? field.list.name : undefined
    const read = valueReaderOf(field, list)
    const all = documents.flatMap(({ _source }) => {
      const elements = list === undefined ? [_source] : ((_source[list] ?? []) as Record<string, unknown>[])
      return elements.map(element => read(element)).filter(values => values.length > 0)
    })
    known.set(field.path, all)
    return all
  }
  return {
    documents: field => valuesOf(field).length,
    frequency: (field, value) => valuesOf(field).filter(values => values.includes(value)).length,
    averageLength(field) {
      const all = valuesOf(field)
      const words = all.reduce(
        (sum, values) => sum + (field.compare === 'token' ? values.length : new Set(values).size),
        0,
      )
      return all.length === 0 ? 1 : Math.fround(words / all.length)
    },
    values: (field, test) => [...new Set(valuesOf(field).flat().map(String))].filter(test),
  }
}
