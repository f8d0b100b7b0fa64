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
import { nearTo } from '../text/pattern.ts'
import { namedFields } from './fields.ts'
import type { HitScope } from './hit-options.ts'
import type { SourceObject } from './source-filter.ts'

type TextTest = (text: string) => boolean

/** Highlights documents of a kind: fragments by field; undefined if nothing is marked. */
export const compileHighlight = (
  kind: Kind,
  conditions: readonly Node[],
  asks: readonly HighlightField[],
): ((source: SourceObject) => Record<string, string[]> | undefined) => {
  const byQuery = new Map<readonly Node[], Map<string, TextTest[]>>()
  const testsOf = (nodes: readonly Node[]): Map<string, TextTest[]> => {
    const known = byQuery.get(nodes)
    if (known) return known
    const tests = new Map<string, TextTest[]>()
    for (const node of nodes) collectTests(node, tests)
    byQuery.set(nodes, tests)
    return tests
  }
  const markers = new Map<string, (source: SourceObject) => string[]>()
  for (const ask of asks) {
    const tests = testsOf(ask.queries?.[kind] ?? conditions)
    for (const { name, path } of namedFields(kind, ask.pattern)) {
      if (path.es !== 'text' && path.es !== 'keyword') continue
      const own = ask.requireFieldMatch ? (tests.get(path.path) ?? []) : [...tests.values()].flat()
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
const collectTests = (node: Node, tests: Map<string, TextTest[]>) => {
  const add = ({ es, path }: FieldPath, test: TextTest) => {
    if (es !== 'text' && es !== 'keyword') return
    const known = tests.get(path)
    if (known) known.push(test)
    else tests.set(path, [test])
  }
  switch (node.op) {
    case 'and':
    case 'or':
    case 'atLeast':
    case 'nested':
      for (const inner of innerNodes(node)) collectTests(inner, tests)
      return
    case 'in': {
      const values = new Set<unknown>(node.values)
      return add(node.field, text => values.has(text))
    }
    case 'range':
      return add(node.field, text => isWithin(text, node.bounds))
    case 'fuzzy':
      return add(node.field, nearTo(node.near))
    case 'all':
    case 'none':
    case 'not':
    case 'exists':
    case 'ids':
    case 'child':
    case 'parent':
    case 'compare':
  }
}

const markerOf = (
  field: FieldPath,
  tests: readonly TextTest[],
  ask: HighlightField,
): ((source: SourceObject) => string[]) => {
  const matches: TextTest = text => tests.some(test => test(text))
  const { ignoreAbove = Number.POSITIVE_INFINITY } = field
  return source => {
    const found: Fragments = { marked: [], unmarked: undefined }
    for (const raw of rawValuesOf(field, source)) {
      const text = String(raw)
      if (text.length > ignoreAbove) continue
      fragmentsOf(text, matchingTokens(field, text, matches), ask, found)
    }
    const { marked, unmarked } = found
    if (marked.length === 0) return unmarked === undefined ? [] : [unmarked]
    const ordered = ask.byScore ? marked.toSorted((a, b) => b.marks - a.marks) : marked
    return (ask.fragments === 0 ? ordered : ordered.slice(0, ask.fragments)).map(({ text: shown }) => shown)
  }
}

/** Positions of matches: words of a text field; a keyword matches as a whole. */
const matchingTokens = (field: FieldPath, text: string, matches: TextTest): TextToken[] => {
  if (field.compare === 'token') return textTokens(text).filter(({ word }) => matches(word))
  const word = field.compare === 'hex' ? text.toLowerCase() : text
  return matches(word) ? [{ word, start: 0, end: text.length }] : []
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

interface Fragments {
  marked: { text: string; marks: number }[]
  unmarked: string | undefined
}

type FragmentOptions = Pick<HighlightField, 'before' | 'after' | 'fragments' | 'fragmentSize' | 'noMatchSize' | 'html'>

/** Adds the marked fragments of a text: sentences, or parts of them that end between words. */
const fragmentsOf = (text: string, marks: readonly TextToken[], options: FragmentOptions, found: Fragments): void => {
  const { fragments, fragmentSize, noMatchSize } = options
  if (marks.length === 0) {
    if (noMatchSize > 0) found.unmarked ??= encodeText(text.slice(0, wordEndFrom(text, noMatchSize)), options)
    return
  }
  let next = 0
  for (const [start, end] of fragments === 0 ? [[0, text.length] as const] : partsOf(text, fragmentSize)) {
    const own: TextToken[] = []
    while (next < marks.length && marks[next]!.start < end) own.push(marks[next++]!)
    if (own.length === 0) continue
    found.marked.push({
      text: mark(text, fragments === 0 ? [start, end] : trimmed(text, start, end), own, options),
      marks: own.length,
    })
  }
}

const mark = (
  text: string,
  [start, end]: readonly [number, number],
  marks: readonly TextToken[],
  options: FragmentOptions,
): string => {
  let shown = ''
  let at = start
  for (const { start: from, end: to } of marks) {
    shown +=
      encodeText(text.slice(at, from), options) +
      options.before +
      encodeText(text.slice(from, to), options) +
      options.after
    at = to
  }
  return shown + encodeText(text.slice(at, Math.max(at, end)), options)
}

/** Splits into sentences, and long ones after the word that reaches the size. */
function* partsOf(text: string, size: number): Generator<readonly [number, number]> {
  const most = size === 0 ? Number.POSITIVE_INFINITY : size
  let start = 0
  for (const { index } of text.matchAll(SENTENCE_END)) {
    yield* cut(text, start, index + 1, most)
    start = index + 1
  }
  yield* cut(text, start, text.length, most)
}

const SENTENCE_END = /[.!?](?=\s)|\n/g

function* cut(text: string, start: number, end: number, most: number): Generator<readonly [number, number]> {
  let at = start
  while (at < end) {
    while (text[at] === ' ' && at < end) at++
    const to = Math.min(wordEndFrom(text, at + most), end)
    yield [at, to]
    at = to
  }
}

/** End of the word that contains position `at`. */
const wordEndFrom = (text: string, at: number): number => {
  const space = text.indexOf(' ', Math.max(0, at))
  return at >= text.length || space < 0 ? text.length : space
}

const trimmed = (text: string, start: number, end: number): readonly [number, number] => {
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return [start, end]
}

const encodeText = (text: string, { html }: FragmentOptions): string =>
  html ? text.replace(/[&<>"'/]/g, it => HTML_ENTITIES.get(it)!) : text

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
  ['/', '&#x2F;'],
])
