import { isJsonObject, type Json, parseJson } from '../../api/json.ts'
import type { FieldInfo } from './fields.ts'
import { type JsonTree, type Member, readTree } from './tree.ts'

/** Conditions are combined by AND. */
export interface Condition {
  /** Full path; `args.value.…` of an argument; empty with `text`. */
  field: string
  /** Argument name of `args.value.…` fields. */
  argument?: string
  operator: Operator
  not: boolean
  /** As typed; values of `any` are separated by commas; the clause of `json`. */
  value: string
}

const COMPARISONS = ['gte', 'gt', 'lte', 'lt'] as const
type Comparison = (typeof COMPARISONS)[number]
/** `text` is Lucene's syntax; `json` is a clause that only the editor can change. */
export type Operator = 'is' | 'any' | Comparison | 'prefix' | 'wildcard' | 'match' | 'exists' | 'text' | 'json'

export const LABELS: Readonly<Record<Operator, readonly [plain: string, not: string]>> = {
  is: ['is', 'is not'],
  any: ['is any of', 'is none of'],
  gte: ['is at least', 'is not at least'],
  gt: ['is more than', 'is not more than'],
  lte: ['is at most', 'is not at most'],
  lt: ['is less than', 'is not less than'],
  prefix: ['begins with', 'does not begin with'],
  wildcard: ['fits the pattern', 'does not fit the pattern'],
  match: ['has the words', 'does not have the words'],
  exists: ['has a value', 'has no value'],
  text: ['fits', 'does not fit'],
  json: ['fits', 'does not fit'],
}

/** Operators for the type of a field, the most common first. */
export const operatorsFor = (field: FieldInfo | undefined): readonly Operator[] => {
  if (!field) return ['is', 'any', 'match', ...COMPARISONS, 'prefix', 'wildcard', 'exists']
  if (field.type === 'date') return [...COMPARISONS, 'exists']
  if (field.type === 'boolean') return ['is', 'exists']
  if (field.type === 'text') return ['match', 'exists']
  if (field.isNumber) return ['is', ...COMPARISONS, 'any', 'exists']
  return ['is', 'any', 'prefix', 'wildcard', 'exists']
}

export const isWhole = ({ field, argument, operator, value }: Condition): boolean =>
  (field !== '' || operator === 'text' || operator === 'json') &&
  (argument !== '' || !isArgument(field)) &&
  (operator === 'exists' || value.trim() !== '')

export const isArgument = (field: string): boolean => field.startsWith(ARGUMENT_VALUE)
const ARGUMENT_VALUE = 'args.value.'

/** Clause text; empty without conditions. */
export const clauseOf = (conditions: readonly Condition[]): string => {
  const some = (not: boolean) => conditions.filter(it => it.not === not).map(positiveClause)
  const [filter, without] = [some(false), some(true)]
  if (without.length === 0 && filter.length <= 1) return filter[0] ?? ''
  const parts = [
    ...(filter.length > 0 ? [`"filter":[${filter.join()}]`] : []),
    ...(without.length > 0 ? [`"must_not":[${without.join()}]`] : []),
  ]
  return `{"bool":{${parts.join()}}}`
}

const positiveClause = (condition: Condition): string => {
  const { argument, operator, value } = condition
  if (operator === 'json') return value
  if (operator === 'text') return JSON.stringify({ query_string: { query: value } })
  if (argument === undefined) return JSON.stringify(leafOf(condition))
  const filter = [{ term: { 'args.name': argument } }, leafOf(condition)]
  return JSON.stringify({ nested: { path: 'args', query: { bool: { filter } } } })
}

const leafOf = ({ field, operator, value }: Condition): object => {
  const typed = value.trim()
  switch (operator) {
    case 'is':
      return { term: { [field]: typed } }
    case 'any':
      return { terms: { [field]: typed.split(',').map(it => it.trim()) } }
    case 'exists':
      return { exists: { field } }
    case 'prefix':
    case 'wildcard':
    case 'match':
      return { [operator]: { [field]: typed } }
    default:
      return { range: { [field]: { [operator]: typed, ...(isTime(field) && { format: TIME_FORMAT }) } } }
  }
}

const isTime = (field: string) => field === 'timestamp'
const TIME_FORMAT = 'strict_date_optional_time'

/** Reads a clause without loss: what conditions cannot express stays JSON. */
export const conditionsOf = (text: string): Condition[] => {
  if (text === '') return []
  const raw = ({ from, to }: JsonTree) => text.slice(from, to)
  const read = (value: JsonTree): Json => parseJson(raw(value))

  const clause = (value: JsonTree, not: boolean): Condition[] => {
    const [only, ...others] = value.members ?? []
    const found = only && others.length === 0 ? known(only) : undefined
    // A negated AND of conditions cannot be split.
    if (found && (!not || found.length === 1)) return found.map(it => ({ ...it, not }))
    return [{ field: '', operator: 'json', not, value: raw(value) }]
  }
  const known = ({ name, value }: Member): Omit<Condition, 'not'>[] | undefined => {
    if (name === 'nested') return argumentConditions(read(value))
    return ofLeaf(name, read(value))
  }
  const all = (value: JsonTree): Condition[] | undefined => {
    const [only, ...others] = value.members ?? []
    if (only?.name === 'match_all' && raw(only.value).replace(/\s/g, '') === '{}') return []
    if (only?.name !== 'bool' || others.length > 0 || !only.value.members) return undefined
    const lists = only.value.members
    if (new Set(lists.map(({ name }) => name)).size < lists.length) return undefined
    if (!lists.every(({ name, value }) => LISTS.includes(name) && (value.items ?? value.members))) return undefined
    return lists.flatMap(({ name, value }) =>
      (value.items ?? [value]).flatMap(item => clause(item, name === 'must_not')),
    )
  }
  const tree = readTree(text)
  return all(tree) ?? clause(tree, false)
}

const LISTS = ['filter', 'must', 'must_not']

type PositiveCondition = Omit<Condition, 'not'>

const ofLeaf = (name: string, body: Json): PositiveCondition[] | undefined => {
  if (!isJsonObject(body)) return undefined
  const [first, ...others] = Object.entries(body)
  if (!first || others.length > 0) return undefined
  const [field, value] = first
  const one = (operator: Operator, typed: string | undefined): PositiveCondition[] | undefined =>
    typed === undefined || typed.trim() !== typed || typed === '' ? undefined : [{ field, operator, value: typed }]
  switch (name) {
    case 'term':
      return one('is', scalar(value))
    case 'prefix':
    case 'wildcard':
    case 'match':
      return one(name, scalar(value))
    case 'terms':
      return one('any', several(value))
    case 'exists':
      return field === 'field' && typeof value === 'string'
        ? [{ field: value, operator: 'exists', value: '' }]
        : undefined
    case 'query_string':
      return field === 'query' && typeof value === 'string' && value.trim() !== ''
        ? [{ field: '', operator: 'text', value }]
        : undefined
    case 'range':
      return ofRange(field, value)
    default:
      return undefined
  }
}

const ofRange = (field: string, value: Json): PositiveCondition[] | undefined => {
  if (!isJsonObject(value)) return undefined
  const { format, ...bounds } = value
  if (format !== (isTime(field) ? TIME_FORMAT : undefined)) return undefined
  const conditions = Object.entries(bounds).map(([name, bound]): PositiveCondition | undefined => {
    const typed = scalar(bound)
    const operator = COMPARISONS.find(it => it === name)
    return operator && typed !== undefined && typed !== '' ? { field, operator, value: typed } : undefined
  })
  return conditions.length > 0 && conditions.every(it => it !== undefined) ? conditions : undefined
}

const argumentConditions = (body: Json): PositiveCondition[] | undefined => {
  if (!isJsonObject(body) || Object.keys(body).sort().join() !== 'path,query' || body.path !== 'args') return undefined
  const { query } = body
  const [inner] = isJsonObject(query) && Object.keys(query).join() === 'bool' ? [query.bool] : []
  const filter = isJsonObject(inner) && Object.keys(inner).join() === 'filter' ? inner.filter : undefined
  if (!Array.isArray(filter) || filter.length !== 2) return undefined
  const [named, valued] = filter.map(it => (isJsonObject(it) ? Object.entries(it) : []))
  const [name] = named?.length === 1 && named[0]![0] === 'term' ? (ofLeaf('term', named[0]![1]) ?? []) : []
  const leaves = valued?.length === 1 ? ofLeaf(...valued[0]!) : undefined
  if (name?.field !== 'args.name' || leaves?.length !== 1 || !isArgument(leaves[0]!.field)) return undefined
  return [{ ...leaves[0]!, argument: name.value }]
}

/** Numbers that a double would change stay JSON. */
const scalar = (value: Json): string | undefined =>
  typeof value === 'string'
    ? value
    : typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value)
      ? String(value)
      : undefined

const several = (value: Json): string | undefined => {
  const all = Array.isArray(value) ? value.map(scalar) : []
  return all.length > 0 && all.every(it => it !== undefined && it !== '' && !it.includes(',') && it.trim() === it)
    ? all.join(', ')
    : undefined
}
