import { refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup, queryPaths } from '../../mapping/index.ts'
import { bracketName, type JsonNode, toScalar, toText, unexpected, where } from '../json-node.ts'
import { automatonOf, parseWildcard } from '../regexp/automaton.ts'
import { checkKnown, isInSight, isMeta, marking, type QueryScope } from '../scope.ts'
import { best, SCORED_NONE, type ScoredQuery, times } from '../score.ts'
import { orNode } from '../simplify.ts'
import { analyzeText } from './analysis.ts'
import { boolPrefixOn, combineWords, matchOn, phraseOn, phrasePrefixOn, type TextOptions } from './match.ts'

/** Search function of each type, and the weight of fields other than the best. */
export const MATCH_TYPES = {
  best_fields: { on: matchOn, tie: 0 },
  most_fields: { on: matchOn, tie: 1 },
  cross_fields: { on: matchOn, tie: 0 },
  phrase: { on: phraseOn, tie: 0 },
  phrase_prefix: { on: phrasePrefixOn, tie: 0 },
  bool_prefix: { on: boolPrefixOn, tie: 1 },
} as const
export type MatchType = keyof typeof MATCH_TYPES

export const isMatchType = (name: string): name is MatchType => Object.hasOwn(MATCH_TYPES, name)

interface ManyOptions extends TextOptions {
  /** Whether fields without near values are skipped. */
  skipsFuzzy?: boolean
}

export const inFields = (
  type: MatchType,
  fields: readonly Weighted[],
  text: JsonNode,
  options: ManyOptions,
  tie: number | undefined,
  scope: QueryScope,
): ScoredQuery => {
  const how = MATCH_TYPES[type]
  if (type === 'cross_fields') return acrossFields(fields, text, options, tie ?? how.tie, scope)
  const asked = options.near && options.skipsFuzzy ? fields.filter(({ field }) => HAS_NAMES.has(field.kind)) : fields
  const parts = asked.map(one => onWeighted(one, scope, field => how.on(field, text, options, scope)))
  return bestOfFields(parts, tie ?? how.tie)
}

const HAS_NAMES: ReadonlySet<string> = new Set(['text', 'keyword'])

export const onWeighted = (
  { field, boost }: Weighted,
  scope: QueryScope,
  make: (field: FieldPath) => ScoredQuery,
): ScoredQuery => boostBy(marking(make(field), scope), boost)

export const boostBy = ({ node, score }: ScoredQuery, boost: number): ScoredQuery => ({
  node,
  score: times(score, boost),
})

/** Matches any of the parts; the best score counts. */
export const bestOfFields = (parts: readonly ScoredQuery[], tie: number): ScoredQuery => {
  const some = parts.filter(({ node }) => node.op !== 'none')
  if (some.length === 0) return SCORED_NONE
  return { node: orNode(some.map(({ node }) => node)), score: best(some, tie) }
}

/** Treats text fields as one: each word may be in any of them. */
const acrossFields = (
  fields: readonly Weighted[],
  text: JsonNode,
  options: TextOptions,
  tie: number,
  scope: QueryScope,
): ScoredQuery => {
  const isText = ({ field }: Weighted) => field.compare === 'token' || options.analyzer === 'standard'
  const texts = fields.filter(isText)
  const words = texts.length === 0 ? [] : analyzeText(scope.budget.text(toScalar(text, 'a text'), text))
  scope.budget.clauses(words.length * texts.length, text)
  const blended = words.map(word =>
    bestOfFields(
      texts.map(one =>
        onWeighted(one, scope, field =>
          matchOn(field, { path: text.path, value: word }, { lenient: options.lenient === true }, scope),
        ),
      ),
      tie,
    ),
  )
  const together = words.length === 0 ? [] : [combineWords(blended, options.all === true, options.minimum)]
  const others = fields.filter(one => !isText(one))
  return bestOfFields(
    [...together, ...others.map(one => onWeighted(one, scope, field => matchOn(field, text, options, scope)))],
    tie,
  )
}

export interface Weighted {
  field: FieldPath
  boost: number
}

/** Field names as a clause lists them, with `*` as a wildcard and a boost such as `^2`. */
export interface FieldName {
  name: string
  boost: number
  place: JsonNode
}

export const readFieldName = (place: JsonNode): FieldName => {
  const text = toText(place, 'the name of a field, such as "event^2"')
  const [, name = text, boost = '1'] = /^(.*)\^([^^]*)$/s.exec(text) ?? []
  const factor = /^\d{1,9}(\.\d{1,9})?$/.test(boost) ? Number(boost) : Number.NaN
  if (Number.isNaN(factor)) throw unexpected(place, 'the name of a field with a number behind ^, such as "event^2"')
  return { name, boost: factor, place }
}

export const ALL_FIELDS = '*'

/** The listed fields, or all fields. */
export const orAllFields = (listed: readonly FieldName[], place: JsonNode): readonly FieldName[] =>
  listed.length > 0 ? listed : [{ name: ALL_FIELDS, boost: 1, place }]

/** Visible fields of the kind with these names. Unknown names are refused. */
export const fieldsNamed = (names: readonly FieldName[], scope: QueryScope): Weighted[] => {
  const found = new Map<string, Weighted>()
  for (const { name, boost, place } of names) {
    const fields = name.includes('*') ? fieldsLike(name, place, scope) : oneField(name, place, scope)
    for (const field of fields) {
      const { boost: other = 1 } = found.get(field.path) ?? {}
      if (isInSight(field, scope)) found.set(field.path, { field, boost: boost * other })
    }
  }
  return [...found.values()]
}

const oneField = (name: string, place: JsonNode, scope: QueryScope): FieldPath[] => {
  const field = lookup(scope.kind, name)
  if (field) return [field]
  if (isMeta(name))
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: ${bracketName(name)} is not a field that text is searched in. Put it into a clause of its own.`,
    )
  checkKnown(name, place, scope)
  return []
}

const fieldsLike = (name: string, place: JsonNode, { kind, kinds, budget }: QueryScope): FieldPath[] => {
  budget.text(name, place)
  const matches = automatonOf(parseWildcard(name, false))
  const of = (kind: QueryScope['kind']) => [...queryPaths(kind).values()].filter(({ path }) => matches(path))
  const found = of(kind)
  if (found.length > 0 || kinds.some(other => of(other).length > 0)) return found
  throw refuse(
    'query_shard_exception',
    `${where(place)}: no field of ${kinds.join(', ')} is like ${bracketName(name)}.`,
  )
}

export const readFieldNames = (places: readonly JsonNode[]): FieldName[] =>
  places.map(place => readFieldName({ path: place.path, value: toScalar(place, 'the name of a field') }))
