import { refuse } from '../../lib/errors.ts'
import { overLimit } from '../../limits/index.ts'
import type { FieldPath, Kind } from '../../mapping/index.ts'
import type { Node } from '../ast.ts'
import { elements, isJsonMap, type JsonNode, members, toBoolean, toText, unexpected, where } from '../json-node.ts'
import { keyOr, natural, nodeKey, optionalKey, readBodyKeys, type ValuesOf } from '../keys.ts'
import { rawValuesOf } from '../predicate.ts'
import type { HighlightField } from '../request.ts'
import { checkKnown } from '../scope.ts'
import { innerNodes, isWithin } from '../simplify.ts'
import { type TextToken, textTokens } from '../text/analysis.ts'
import { matcherOf, nearTo } from '../text/pattern.ts'
import { phrasePlaces } from '../text/phrase.ts'
import { namedFields } from './fields.ts'
import { fragmentsOf, type MarkedText, type MarkedWord } from './fragments.ts'
import type { HitScope } from './hit-options.ts'
import type { SourceObject } from './source-filter.ts'

interface Marking {
  /** Places of the words that a condition marks. A keyword is one word. */
  placesIn(words: readonly string[]): readonly number[]
  /** Whether all words that it marks count as one in scores, as those of a pattern do. */
  isOneTerm: boolean
}

/** Highlights documents of a kind: fragments by field; undefined if nothing is marked. */
export const compileHighlight = (
  kind: Kind,
  conditions: readonly Node[],
  asks: readonly HighlightField[],
): ((source: SourceObject) => Record<string, string[]> | undefined) => {
  const byQuery = new Map<readonly Node[], Map<string, Marking[]>>()
  const markingsOf = (nodes: readonly Node[]): Map<string, Marking[]> => {
    const known = byQuery.get(nodes)
    if (known) return known
    const markings = new Map<string, Marking[]>()
    for (const node of nodes) collectMarkings(node, markings)
    byQuery.set(nodes, markings)
    return markings
  }
  const markers = new Map<string, (source: SourceObject) => string[]>()
  for (const ask of asks) {
    const markings = markingsOf(ask.queries?.[kind] ?? conditions)
    for (const { name, path } of namedFields(kind, ask.pattern)) {
      if (path.es !== 'text' && path.es !== 'keyword') continue
      const own = ask.requireFieldMatch ? (markings.get(path.path) ?? []) : [...markings.values()].flat()
      if (own.length > 0 || ask.noMatchSize > 0) markers.set(name, markerOf(path, own, ask))
    }
  }
  if (markers.size === 0) return () => undefined
  return source => {
    const marked: Record<string, string[]> = {}
    for (const [name, mark] of markers) {
      const fragments = mark(source)
      if (fragments.length > 0) marked[name] = fragments
    }
    return Object.keys(marked).length > 0 ? marked : undefined
  }
}

/** Collects conditions on texts by field. Negated ones mark nothing. */
const collectMarkings = (node: Node, markings: Map<string, Marking[]>) => {
  const add = ({ es, path }: FieldPath, marking: Marking) => {
    if (es !== 'text' && es !== 'keyword') return
    const known = markings.get(path)
    if (known) known.push(marking)
    else markings.set(path, [marking])
  }
  const addWords = (field: FieldPath, test: (text: string) => boolean, isOneTerm = true) =>
    add(field, { placesIn: words => words.flatMap((word, i) => (test(word) ? [i] : [])), isOneTerm })
  switch (node.op) {
    case 'and':
    case 'or':
    case 'atLeast':
    case 'nested':
      for (const inner of innerNodes(node)) collectMarkings(inner, markings)
      return
    case 'in': {
      const values = new Set<unknown>(node.values)
      return addWords(node.field, text => values.has(text), false)
    }
    case 'range':
      return addWords(node.field, text => isWithin(text, node.bounds))
    case 'fuzzy':
      return addWords(node.field, nearTo(node.near))
    case 'pattern':
      return addWords(node.field, matcherOf(node.pattern))
    case 'phrase':
      return add(node.field, { placesIn: words => phrasePlaces(words, node), isOneTerm: false })
    case 'all':
    case 'none':
    case 'not':
    case 'exists':
    case 'ids':
    case 'child':
    case 'parent':
    case 'compare':
    case 'element':
  }
}

const markerOf = (
  field: FieldPath,
  markings: readonly Marking[],
  ask: HighlightField,
): ((source: SourceObject) => string[]) => {
  const { ignoreAbove = Number.POSITIVE_INFINITY } = field
  return source => {
    const texts = rawValuesOf(field, source).map(String)
    const shown = texts.filter(text => text.length <= ignoreAbove)
    const { marked, unmarked } = fragmentsOf(markedTexts(field, shown, markings), ask)
    if (marked.length === 0) return unmarked === undefined ? [] : [unmarked]
    // Of equal ones, the later ones stay.
    const ordered = marked.toReversed().sort((a, b) => b.score - a.score)
    const best = ask.fragments === 0 ? ordered : ordered.slice(0, ask.fragments)
    const chosen = ask.byScore ? best : marked.filter(fragment => best.includes(fragment))
    return chosen.map(({ text }) => text)
  }
}

/** Words of a text field; a keyword is one word. */
const wordsOfField = (field: FieldPath, text: string): TextToken[] =>
  field.compare === 'token'
    ? textTokens(text)
    : [{ word: field.compare === 'hex' ? text.toLowerCase() : text, start: 0, end: text.length }]

/** Words that are marked by several conditions stand there once for each of them. */
const markedTexts = (field: FieldPath, texts: readonly string[], markings: readonly Marking[]): MarkedText[] => {
  const oneTerms = markings.filter(({ isOneTerm }) => isOneTerm)
  return texts.map(text => {
    const tokens = wordsOfField(field, text)
    const words = tokens.map(({ word }) => word)
    const placesOf = ({ placesIn }: Marking) => placesIn(words)
    const single = new Set(markings.filter(({ isOneTerm }) => !isOneTerm).flatMap(placesOf))
    const marks = Array.from(single, (place): MarkedWord => ({ ...tokens[place]!, term: words[place]! }))
    for (const [term, marking] of oneTerms.entries())
      for (const place of placesOf(marking)) marks.push({ ...tokens[place]!, term })
    return { text, marks: marks.sort((a, b) => a.start - b.start) }
  })
}

type HighlightOptions = Omit<HighlightField, 'pattern'>

const DEFAULTS: HighlightOptions = {
  before: '<em>',
  after: '</em>',
  fragments: 5,
  fragmentSize: 100,
  noMatchSize: 0,
  html: false,
  byScore: false,
  requireFieldMatch: true,
  queries: undefined,
}

/** `{"fields": {"event": {}, "*": {…}}, …}`; options outside `fields` apply to all of them. */
export const parseHighlight = (place: JsonNode, scope: HitScope): HighlightField[] => {
  const isStyled = isJsonMap(place.value) && place.value.get('tags_schema') === 'styled'
  const base = isStyled ? { ...DEFAULTS, before: '<em class="hlt1">' } : DEFAULTS
  const outer = { ...optionKeys(base, scope), ...OUTER_KEYS }
  const { fields, encoder, ...given } = readBodyKeys(place, 'an object such as {"fields": {"event": {}}}', outer, [])
  const common = { ...optionsIn(given), html: encoder === 'html' }
  if (fields === undefined) return []
  const named = (Array.isArray(fields.value) ? elements(fields) : [fields]).flatMap(at =>
    members(at, 'an object such as {"event": {}}'),
  )
  if (named.length > scope.limits.sourcePatterns) throw overLimit('sourcePatterns', scope.limits)
  const ofField = { ...optionKeys(common, scope), ...FIELD_KEYS }
  return named.map(([pattern, at]) => {
    if (pattern.length > scope.limits.text) throw overLimit('text', scope.limits, where(at))
    if (!pattern.includes('*')) checkKnown(pattern, at, scope)
    const own = readBodyKeys(at, 'an object with options, such as {}', ofField, [])
    return { pattern, ...optionsIn(own), html: common.html }
  })
}

const optionKeys = (common: HighlightOptions, scope: HitScope) => ({
  pre_tags: keyOr(common.before, at => firstTag(at, scope)),
  post_tags: keyOr(common.after, at => firstTag(at, scope)),
  number_of_fragments: keyOr(common.fragments, natural),
  fragment_size: keyOr(common.fragmentSize, natural),
  no_match_size: keyOr(common.noMatchSize, natural),
  order: keyOr(common.byScore, at => choice('score', 'none')(at) === 'score'),
  require_field_match: keyOr(common.requireFieldMatch, toBoolean),
  highlight_query: keyOr(common.queries, scope.queries),
  // Ignored: they choose among Elasticsearch's highlighters, and there is only one here.
  type: optionalKey(choice('unified', 'plain', 'fvh')),
  fragmenter: nodeKey,
  boundary_scanner: optionalKey(choice('sentence')),
  boundary_scanner_locale: nodeKey,
  boundary_chars: nodeKey,
  boundary_max_scan: nodeKey,
  phrase_limit: nodeKey,
  force_source: nodeKey,
  max_analyzed_offset: nodeKey,
})

const optionsIn = (given: ValuesOf<ReturnType<typeof optionKeys>>): Omit<HighlightOptions, 'html'> => ({
  before: given.pre_tags,
  after: given.post_tags,
  fragments: given.number_of_fragments,
  fragmentSize: given.fragment_size,
  noMatchSize: given.no_match_size,
  byScore: given.order,
  requireFieldMatch: given.require_field_match,
  queries: given.highlight_query,
})

const choice =
  <T extends string>(...texts: readonly T[]) =>
  (place: JsonNode): T => {
    const expected = texts.map(text => JSON.stringify(text)).join(' or ')
    const text = toText(place, expected)
    if (!texts.includes(text as T)) throw unexpected(place, expected)
    return text as T
  }

const OUTER_KEYS = {
  tags_schema: optionalKey(choice('styled', 'default')),
  encoder: optionalKey(choice('html', 'default')),
  use_explicit_field_order: nodeKey,
  fields: nodeKey,
}

const FIELD_KEYS = {
  matched_fields: optionalKey((place): never => {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: matched_fields is not supported. Name each field in [fields], or set "require_field_match": false.`,
    )
  }),
  fragment_offset: optionalKey(place => {
    if (natural(place) > 0) throw unexpected(place, '0')
  }),
}

/** Only the first tag counts, as in Elasticsearch's default highlighter. */
const firstTag = (place: JsonNode, { limits }: HitScope): string => {
  const [first] = elements(place)
  if (first === undefined) throw unexpected(place, 'a list of tags, such as ["<em>"]')
  const tag = toText(first, 'a text')
  if (tag.length > limits.text) throw overLimit('text', limits, where(first))
  return tag
}
