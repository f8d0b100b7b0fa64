import type { FieldPath, Kind } from '../../mapping/index.ts'
import { compareValues, type Value } from '../ast.ts'
import { UTC } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { rawValuesOf, readValue } from '../predicate.ts'
import type { FieldAsk } from '../request.ts'
import { type AskedAs, META, pathsOf } from './field-asks.ts'

type Source = Record<string, unknown>

/** What is shown under `fields` of a hit: lists of values by name; of a nested list, an object for each element. */
export type FieldValues = Record<string, unknown[]>

/** Adds what is asked for to a hit's values. */
export type AddFields = (source: Source, meta: { _id: string; _index: string }, values: FieldValues) => void

/** What shows fields of documents of a kind, as these stand in `_source`. */
export const compileFields = (
  kind: Kind,
  asks: readonly FieldAsk[],
  as: AskedAs,
  /** The list of which one element is shown, so that its members are values of their own. */
  within?: string,
): AddFields => {
  const metas = META.filter(name => asks.some(({ pattern }) => pattern === name)) as ('_id' | '_index')[]
  const fields = asks.flatMap(({ pattern, format }) =>
    pathsOf(kind, pattern).map(({ name, path }) => ({ name, path, show: shownAs(path, format) })),
  )
  const flat = fields.filter(({ path }) => !path.list?.nested || path.list.name === within)
  if (as === 'docvalue_fields') {
    const own = flat.filter(({ path }) => path.es !== 'text')
    return (source, meta, values) => {
      for (const name of metas) values[name] = [meta[name]]
      for (const { name, path, show } of own) {
        const shown = docValues(path, source).map(show)
        if (shown.length > 0) values[name] = [...(values[name] ?? []), ...shown]
      }
    }
  }
  const single = fields.filter(({ path }) => !path.list?.nested)
  const nested = Map.groupBy(
    fields.filter(({ path }) => path.list?.nested),
    ({ path }) => path.list!.name,
  )
  return (source, meta, values) => {
    for (const name of metas) values[name] = [meta[name]]
    for (const { name, path, show } of single) {
      const shown = indexedValues(path, source, undefined).map(show)
      if (shown.length > 0) values[name] = shown
    }
    for (const [list, members] of nested) {
      const shown = (Array.isArray(source[list]) ? source[list] : []).flatMap((element: Source) => {
        const object: FieldValues = {}
        for (const { name, path, show } of members) {
          const inner = indexedValues(path, element, list).map(show)
          if (inner.length > 0) object[name.slice(list.length + 1)] = inner
        }
        return Object.keys(object).length > 0 ? [object] : []
      })
      if (shown.length > 0) values[list] = shown
    }
  }
}

/** Longer texts than a keyword holds are no values of it: `_source` alone has them. */
const indexedValues = (field: FieldPath, source: Source, list: string | undefined): unknown[] => {
  const { ignoreAbove } = field
  const values = rawValuesOf(field, source, list)
  return ignoreAbove === undefined ? values : values.filter(value => String(value).length <= ignoreAbove)
}

/** Ascending, and of texts each once. */
const docValues = (field: FieldPath, source: Source): unknown[] => {
  const raw = indexedValues(field, source, undefined)
  if (raw.length < 2) return raw
  const keyed = raw.map((value): [Value, unknown] => [readValue(field, value)!, value])
  const sorted = keyed.sort(([a], [b]) => compareValues(a, b))
  return sorted
    .filter(([key], i) => field.es !== 'keyword' || i === 0 || compareValues(key, sorted[i - 1]![0]) !== 0)
    .map(([, value]) => value)
}

const shownAs = (field: FieldPath, format: string | undefined): ((raw: unknown) => unknown) => {
  if (field.compare !== 'instant') return raw => raw
  const print = dateWriterOf({ path: field.path, value: null }, format ?? formatOfMapping(field), UTC)
  return raw => print(readValue(field, raw) as number)
}

/** The format of the mapping. */
const formatOfMapping = ({ kind }: FieldPath): string =>
  kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time'
