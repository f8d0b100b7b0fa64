import { type Kind, lookup } from '../../src/mapping/index.ts'
import { stringify } from './body.ts'
import { isRecord, type Value } from './json.ts'

/** The total of a query's text, undefined where it is refused. */
export type Totals = (query: string) => Promise<number | undefined>

/** What an answer must fit whatever the query means: what does not add up, if anything. */
export const checkRelations = async (
  body: Value | undefined,
  kinds: readonly Kind[],
  totals: Totals,
): Promise<string | undefined> => {
  if (!isRecord(body) || !isRecord(body.query) || Object.keys(body.query).length === 0) return undefined
  const query = stringify(body.query)
  const [own, filtered, without, twice, all] = [
    await totals(query),
    await totals(`{"bool":{"filter":[${query}]}}`),
    await totals(`{"bool":{"must_not":[${query}]}}`),
    await totals(`{"bool":{"must_not":{"bool":{"must_not":[${query}]}}}}`),
    await totals('{"match_all":{}}'),
  ]
  // Deeper or longer by a few levels, it may be refused.
  if (own !== undefined && filtered !== undefined && own !== filtered)
    return `total ${own}, but ${filtered} as a filter of a bool`
  if (own !== undefined && twice !== undefined && own !== twice) return `total ${own}, but ${twice} negated twice`
  if (own !== undefined && without !== undefined && own + without !== all)
    return `total ${own}, and ${without} negated, but there are ${all}`
  for (const range of rangesIn(body.query)) {
    const fault = await checkRange(range, kinds, totals)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface Range {
  name: string
  bounds: Record<string, Value>
}

function* rangesIn(clause: Value): Generator<Range> {
  if (Array.isArray(clause)) for (const inner of clause) yield* rangesIn(inner)
  else if (isRecord(clause)) {
    for (const [name, inner] of Object.entries(clause)) {
      // Members of lists have many values, and other documents are another matter.
      if (name === 'nested' || name.startsWith('has_')) continue
      const entries = name === 'range' && isRecord(inner) ? Object.entries(inner) : []
      const [field, bounds] = entries[0] ?? []
      if (entries.length === 1 && isRecord(bounds)) yield { name: field!, bounds }
      else yield* rangesIn(inner)
    }
  }
}

const OPPOSITE: Record<string, string> = { gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' }

/** Each bound and its opposite divide the documents that have the field. A bound that vanished leaves all of them on both sides. */
const checkRange = async ({ name, bounds }: Range, kinds: readonly Kind[], totals: Totals) => {
  const field = kinds.map(kind => lookup(kind, name)).find(it => it !== undefined)
  if (field === undefined || field.list || field.kind === 'integers') return undefined
  if (!['long', 'double', 'instant'].includes(field.compare)) return undefined
  const there = await totals(stringify({ exists: { field: name } }))
  for (const [bound, opposite] of Object.entries(OPPOSITE)) {
    const { [bound]: value, gt: _, gte: __, lt: ___, lte: ____, ...options } = bounds
    if (value === undefined || value === null) continue
    const one = await totals(stringify({ range: { [name]: { ...options, [bound]: value } } }))
    const other = await totals(stringify({ range: { [name]: { ...options, [opposite]: value } } }))
    if (one !== undefined && other !== undefined && one + other !== there)
      return `range ${name} ${stringify({ ...options, [bound]: value })}: ${one} on one side and ${other} on the other, of ${there}`
  }
  return undefined
}
