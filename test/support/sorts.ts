import fc from 'fast-check'
import { type Kind, queryPaths } from '../../src/mapping/index.ts'

/** Sort keys of all sorts for searches over these kinds, as the body has them. */
export const arbitrarySort = (kinds: readonly Kind[]): fc.Arbitrary<unknown[]> => {
  const all = kinds.flatMap(kind => [...queryPaths(kind).values()])
  // One kind may have as text what another one has as a keyword.
  const texts = new Set(all.flatMap(({ path, es }) => (es === 'text' ? [path] : [])))
  const paths = all.filter(({ path }) => !texts.has(path))
  const order = fc.constantFrom('asc', 'desc')
  const missing = fc.constantFrom('_last', '_last', '_first')
  const byField = fc.constantFrom(...paths).chain(({ path, es, list }) => {
    const nested = list?.nested ? { nested: { path: list.name } } : {}
    const isNumber = es === 'long' || es === 'double'
    const mode = isNumber
      ? fc.constantFrom('min', 'max', 'sum', 'avg', ...(list?.nested ? [] : ['median']))
      : fc.constantFrom('min', 'max')
    const replaced = path.endsWith('.num') || es === 'long' ? fc.constantFrom('_last', 5, '77') : missing
    return fc
      .record({ order, missing: fc.oneof(missing, replaced), mode }, { requiredKeys: [] })
      .map(options => ({ [path]: { ...options, ...nested } }))
  })
  const chained = fc.constantFrom('timestamp', 'blockNumber.num', 'number.num').map(name => ({
    [name]: { unmapped_type: 'long' },
  }))
  const nanoseconds = fc.constantFrom({}, { format: 'epoch_second' }, { format: 'strict_date_optional_time_nanos' })
  const key = fc.oneof(
    { arbitrary: byField, weight: 6 },
    { arbitrary: fc.tuple(chained, order).map(([key, order]) => ordered(key, order)), weight: 2 },
    {
      arbitrary: fc.tuple(nanoseconds, order).map(([format, order]) => ({
        timestamp: { unmapped_type: 'date', numeric_type: 'date_nanos', order, ...format },
      })),
      weight: 1,
    },
    { arbitrary: order.map(order => ({ _doc: { order } })), weight: 1 },
    { arbitrary: fc.constant('_score'), weight: 1 },
    { arbitrary: order.map(order => ({ _id: { order } })), weight: 1 },
  )
  return fc.array(key, { minLength: 1, maxLength: 3 })
}

const ordered = (key: Record<string, object>, order: string) =>
  Object.fromEntries(Object.entries(key).map(([name, options]) => [name, { ...options, order }]))
