import { KINDS, type Kind } from '../../api/wire.ts'
import { type Catalogue, fieldsOf } from './fields.ts'
import type { Place } from './tree.ts'
import type { KnownValues } from './values.ts'

export interface Offer {
  label: string
  detail?: string
  info?: string
  /** What stands behind a name, with `|` where the cursor goes. */
  after?: string
}

/** Members and clauses in which queries stand. */
const HOLDERS = new Set(['query', 'must', 'filter', 'should', 'must_not', 'positive', 'negative', 'queries'])
const RANGES = ['gte', 'gt', 'lte', 'lt', 'format', 'time_zone']

/** What may stand at a place of a query. */
export const offersAt = async (
  { path, is }: Place,
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
  if (last === 'type' || last === 'parent_type') return KINDS.map(label => ({ label }))
  return []
}

const THEN: Readonly<Record<string, string>> = { range: '{"|"}', terms: '["|"]' }
const THEN_QUERY: Readonly<Record<string, string>> = { query: '{"|"}', positive: '{"|"}', negative: '{"|"}' }
