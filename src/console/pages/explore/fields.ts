import { type Kind, OFFERED_KINDS } from '../../api/wire.ts'
import type { KnownValues } from './catalogue.ts'
import type { CaretContext } from './tree.ts'

/** A queryable path. */
export interface FieldInfo {
  path: string
  /** Its name in `_source`, such as `value` for `value.dec`. */
  shownAs: string
  type: string
  isNumber: boolean
  isInList: boolean
  kinds: Kind[]
  meaning: string
}

export interface ClauseInfo {
  name: string
  meaning: string
  /** `{"term": {FIELD: …}}` */
  isFieldwise: boolean
  members: readonly string[]
}

export interface Catalogue {
  fields: ReadonlyMap<string, FieldInfo>
  clauses: readonly ClauseInfo[]
}

export const fieldsOf = ({ fields }: Catalogue, kinds: readonly Kind[]): FieldInfo[] =>
  [...fields.values()].filter(field => field.kinds.some(kind => kinds.includes(kind)))
/** Sort path of a shown field; undefined if it cannot be sorted. */
export const sortPath = ({ fields }: Catalogue, shown: string): string | undefined =>
  [`${shown}.dec`, `${shown}.raw`, shown].find(path => {
    const field = fields.get(path)
    return field && field.type !== 'text' && !field.isInList
  })
export interface Offer {
  label: string
  detail?: string
  info?: string
  /** Text inserted after a name; `|` marks the cursor. */
  after?: string
}

/** Members and clauses that contain queries. */
const HOLDERS = new Set(['query', 'must', 'filter', 'should', 'must_not', 'positive', 'negative', 'queries'])
const RANGES = ['gte', 'gt', 'lte', 'lt', 'format', 'time_zone']
export const offersAt = async (
  { path, is }: CaretContext,
  catalogue: Catalogue,
  kinds: readonly Kind[],
  values: KnownValues,
): Promise<readonly Offer[]> => {
  const all = path.filter(step => typeof step === 'string')
  const names = all[0] === 'query' ? all.slice(1) : all
  const last = names.at(-1)
  const clauseAt = names.findLastIndex(name => catalogue.clauses.some(it => it.name === name && it.isFieldwise))
  const [clause, field] = clauseAt < 0 ? [] : names.slice(clauseAt)
  const fields = () =>
    fieldsOf(catalogue, kinds).map(({ path, type, meaning }) => ({ label: path, detail: type, info: meaning }))

  if (is === 'name') {
    if (last === undefined || HOLDERS.has(last))
      return catalogue.clauses.map(({ name, meaning, isFieldwise }) => ({
        label: name,
        info: meaning,
        after:
          name === 'bool' ? '{"filter": [|]}' : name === 'exists' ? '{"field": "|"}' : isFieldwise ? '{"|"}' : '{|}',
      }))
    if (last === clause) return fields().map(offer => ({ ...offer, after: THEN[last] ?? '"|"' }))
    if (clause === 'range') return RANGES.map(label => ({ label, after: '"|"' }))
    if (clause !== undefined) return ['value', 'case_insensitive', 'boost'].map(label => ({ label, after: '|' }))
    const members = catalogue.clauses.find(({ name }) => name === last)?.members ?? []
    return members.map(label => ({
      label,
      after: label === 'path' ? '"|"' : HOLDERS.has(label) ? (THEN_QUERY[label] ?? '[|]') : '|',
    }))
  }
  if (field !== undefined) {
    return (await values(field)).map(label => ({ label }))
  }
  if (last === 'field' || last === 'default_field' || last === 'fields') return fields()
  if (last === 'path') return [{ label: 'args', info: 'Arguments of events and calls.' }]
  if (last === 'type' || last === 'parent_type') return OFFERED_KINDS.map(label => ({ label }))
  return []
}

const THEN: Readonly<Record<string, string>> = { range: '{"|"}', terms: '["|"]' }
const THEN_QUERY: Readonly<Record<string, string>> = { query: '{"|"}', positive: '{"|"}', negative: '{"|"}' }
