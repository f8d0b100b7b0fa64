import type { FieldPath, Kind } from '../mapping/index.ts'
import { type Token, tokensOf } from './analysis.ts'
import type { Node } from './ast.ts'
import { pathsOf } from './field-asks.ts'
import { type Fragments, fragmentsOf } from './fragments.ts'
import { nearTo } from './fuzzy.ts'
import { rawValuesOf } from './predicate.ts'
import type { HighlightField } from './request.ts'
import { isWithin } from './simplify.ts'

type Source = Record<string, unknown>
type Test = (text: string) => boolean

/** What marks matches in documents of a kind: fragments by the names of fields; undefined where nothing is marked. */
export const compileHighlight = (
  kind: Kind,
  conditions: readonly Node[],
  asks: readonly HighlightField[],
): ((source: Source) => Record<string, string[]> | undefined) => {
  const byQuery = new Map<readonly Node[], Map<string, Test[]>>()
  const testsOf = (nodes: readonly Node[]): Map<string, Test[]> => {
    const known = byQuery.get(nodes)
    if (known) return known
    const tests = new Map<string, Test[]>()
    for (const node of nodes) collectTests(node, tests)
    byQuery.set(nodes, tests)
    return tests
  }
  const markers = new Map<string, (source: Source) => string[]>()
  for (const ask of asks) {
    const tests = testsOf(ask.queries?.[kind] ?? conditions)
    for (const { name, path } of pathsOf(kind, ask.pattern)) {
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

/** The conditions on texts that a document may fulfil by its words, by the field; what must not hold marks nothing. */
const collectTests = (node: Node, tests: Map<string, Test[]>) => {
  const add = ({ es, path }: FieldPath, test: Test) => {
    if (es !== 'text' && es !== 'keyword') return
    const known = tests.get(path)
    if (known) known.push(test)
    else tests.set(path, [test])
  }
  switch (node.op) {
    case 'and':
    case 'or':
    case 'atLeast':
      for (const inner of node.of) collectTests(inner, tests)
      return
    case 'nested':
      return collectTests(node.of, tests)
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

const markerOf = (field: FieldPath, tests: readonly Test[], ask: HighlightField): ((source: Source) => string[]) => {
  const matches: Test = text => tests.some(test => test(text))
  const { ignoreAbove = Number.POSITIVE_INFINITY } = field
  return source => {
    const found: Fragments = { marked: [], unmarked: undefined }
    for (const raw of rawValuesOf(field, source)) {
      const text = String(raw)
      if (text.length > ignoreAbove) continue
      fragmentsOf(text, marksOf(field, text, matches), ask, found)
    }
    const { marked, unmarked } = found
    if (marked.length === 0) return unmarked === undefined ? [] : [unmarked]
    const ordered = ask.byScore ? marked.toSorted((a, b) => b.marks - a.marks) : marked
    return (ask.fragments === 0 ? ordered : ordered.slice(0, ask.fragments)).map(({ text: shown }) => shown)
  }
}

/** Where matches stand: words of a text field, and keywords whole. */
const marksOf = (field: FieldPath, text: string, matches: Test): Token[] => {
  if (field.compare === 'token') return tokensOf(text).filter(({ word }) => matches(word))
  const word = field.compare === 'hex' ? text.toLowerCase() : text
  return matches(word) ? [{ word, start: 0, end: text.length }] : []
}
