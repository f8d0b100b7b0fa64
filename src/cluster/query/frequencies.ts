import { tellsFrequency } from '../../engine/query/plan.ts'
import { hasDictionary } from '../../engine/query/term-dictionary.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import { analyze } from '../../query/analysis.ts'
import type { Node, Value } from '../../query/ast.ts'
import { nearTo } from '../../query/fuzzy.ts'
import { type LeafScore, leavesIn, type Score } from '../../query/score.ts'
import { exists, fuzzy, isIn } from '../../query/simplify.ts'
import type { Count } from './counted.ts'
import type { Dsl } from './dsl.ts'
import type { Looking } from './joins.ts'
import { compileNode, NO_JOINS } from './node.ts'
import { hiddenClauses, withinRuns } from './visibility.ts'

/** Numbers that scores are counted from, looked up before the search. */
export interface Frequencies {
  documents(kind: Kind, field: FieldPath): number
  frequency(kind: Kind, field: FieldPath, value: Value): number
  /** How many values a list has on the average. */
  averageLength(kind: Kind, field: FieldPath): number
  /** Whether each value of a text field is one plain word. */
  isPlain(kind: Kind, field: FieldPath): boolean
  /** Values of the field that are near to one, or begin so; undefined where they are too many. */
  valuesOf(kind: Kind, score: Expanding): readonly string[] | undefined
}

type Term = Extract<Score, { by: 'term' }>

/** A score that stands for those of several values. */
export type Expanding = Extract<Score, { by: 'fuzzy' | 'phrase' }>

export const isExpanding = (score: Score): score is Expanding =>
  score.by === 'fuzzy' || (score.by === 'phrase' && score.prefix && score.words.length === 1)

export const isText = ({ kind, compare }: FieldPath): boolean => kind === 'text' && compare === 'token'

/** Lists whose lengths scores look at, as those of a store do. */
export const hasLength = (kind: Kind, { field }: FieldPath): boolean =>
  (kind === 'log' && field === 'topics') || (kind === 'block' && field === 'transactions')

/** Most values that a near one may stand for. */
const MOST_VALUES = 1000

/** Looks up how frequent the values are that scores ask for, by one search for each kind, at the same time. What was counted before is not asked for. */
export const resolveFrequencies = async (
  scores: readonly { kind: Kind; score?: Score }[],
  looking: Looking,
): Promise<Frequencies> => {
  const counts = new Map<string, number>()
  const values = new Map<string, readonly string[] | undefined>()
  const resolve = async (kind: Kind, score: Score | undefined) => {
    const wanted = wantedOf(kind, score)
    if (wanted.size === 0) return
    const found = await counted(kind, wanted, looking)
    for (const [key, { documents }] of found) counts.set(key, documents)
    for (const [key, { near }] of wanted) {
      if (!near) continue
      const { words } = found.get(key)!
      for (const [word, frequency] of words ?? []) counts.set(keyOf(kind, near.field, word), frequency)
      values.set(key, words && [...words.keys()])
    }
  }
  await Promise.all(scores.map(({ kind, score }) => resolve(kind, score)))
  const count = (key: string) => {
    const found = counts.get(key)
    if (found === undefined) throw new Error(`${key} was not counted`)
    return found
  }
  return {
    documents: (kind, field) => count(keyOf(kind, field)),
    frequency: (kind, field, value) => count(keyOf(kind, field, value)),
    averageLength(kind, field) {
      const documents = count(keyOf(kind, field))
      return documents === 0 ? 1 : Math.fround(count(lengthKeyOf(kind, field)) / documents)
    },
    isPlain: (kind, field) => count(keyOf(kind, field)) === count(plainKeyOf(kind, field)),
    valuesOf: (kind, score) => values.get(nearKeyOf(kind, score)),
  }
}

/** What is to be counted. */
interface Wanted {
  aggregation: Dsl
  /** Whose values are told, too. */
  near?: Expanding
}

const wantedOf = (kind: Kind, score: Score | undefined): Map<string, Wanted> => {
  const wanted = new Map<string, Wanted>()
  for (const leaf of leavesIn(score).filter(isCounted)) {
    if (!isExpanding(leaf)) addTerm(wanted, kind, leaf)
    else if (hasDictionary(kind, leaf.field)) {
      addField(wanted, kind, leaf.field)
      wanted.set(nearKeyOf(kind, leaf), { aggregation: expansionOf(kind, leaf), near: leaf })
    }
  }
  return wanted
}

const counted = async (
  kind: Kind,
  wanted: ReadonlyMap<string, Wanted>,
  { ask, visible, within }: Looking,
): Promise<Map<string, Count>> => {
  const among = within ? JSON.stringify(within) : ''
  const found = new Map<string, Count>()
  const missing: [key: string, Wanted][] = []
  for (const [key, one] of wanted) {
    const known = visible.counted?.get(`${among} ${key}`)
    if (known) found.set(key, known)
    else missing.push([key, one])
  }
  if (missing.length === 0) return found
  const filter = within ? [withinRuns(within)] : []
  const query = { bool: { filter, must_not: hiddenClauses(visible) } }
  const aggs = Object.fromEntries(missing.map(([, { aggregation }], i) => [`c${i}`, aggregation]))
  const { aggregations = {} } = (await ask([kind], { query, size: 0, track_total_hits: false, aggs })) as Counts
  for (const [i, [key, { near }]] of missing.entries()) {
    const told = aggregations[`c${i}`]
    const count = countOf(told?.of ?? told ?? {}, near)
    found.set(key, count)
    visible.counted?.set(`${among} ${key}`, count)
  }
  return found
}

const countOf = ({ value, doc_count, values }: Bucketed, near: Expanding | undefined): Count => {
  const documents = value ?? doc_count ?? 0
  const buckets = values?.buckets ?? []
  // Of texts, those that are too long to be a bucket are not told.
  const told = buckets.reduce((sum, { doc_count }) => sum + doc_count, 0)
  if (!near || buckets.length > MOST_VALUES || told < documents) return { documents }
  return { documents, words: frequenciesIn(buckets, near) }
}

interface Bucketed {
  doc_count?: number
  value?: number
  values?: { buckets: { key: string; doc_count: number }[] }
}

interface Counts {
  /** Absent where there is no index yet. */
  aggregations?: Record<string, Bucketed & { of?: Bucketed }>
}

/** Whether a part of a score counts by frequencies. */
const isCounted = (leaf: LeafScore): leaf is Term | Expanding => leaf.by === 'term' || isExpanding(leaf)

/** Elements of nested lists count as documents. */
const counting = ({ list }: FieldPath, filter: Dsl, aggs?: Dsl): Dsl => {
  const counted = { filter, ...(aggs && { aggs }) }
  return list?.nested ? { nested: { path: list.name }, aggs: { of: counted } } : counted
}

const addTerm = (wanted: Map<string, Wanted>, kind: Kind, { field, value }: Term): void => {
  if (!tellsFrequency(kind, field, value)) return
  addField(wanted, kind, field)
  if (hasLength(kind, field))
    wanted.set(lengthKeyOf(kind, field), { aggregation: { value_count: { field: field.path } } })
  const node = isIn(field, [value])
  wanted.set(keyOf(kind, field, value), { aggregation: counting(field, compileNode(node, kind, NO_JOINS)) })
}

const addField = (wanted: Map<string, Wanted>, kind: Kind, field: FieldPath): void => {
  // Of a text those count, too, that are too long to be indexed whole.
  const any = field.kind === 'text' ? lookup(kind, field.field)! : field
  wanted.set(keyOf(kind, field), { aggregation: counting(field, compileNode(exists(any), kind, NO_JOINS)) })
  const plain = { regexp: { [rawOf(field)]: { value: PLAIN, flags: 'NONE' } } }
  if (isText(field)) wanted.set(plainKeyOf(kind, field), { aggregation: counting(field, plain) })
}
/** A single word, however texts are split into words. */
const PLAIN = '_{0,100}[A-Za-z0-9][A-Za-z0-9_]{0,100}'

/** What the values are that the score stands for. */
const nodeOf = (score: Expanding): Node =>
  score.by === 'fuzzy'
    ? fuzzy(score.field, score.near)
    : { op: 'pattern', field: score.field, pattern: { how: 'prefix', text: score.words[0]!, ignoreCase: false } }

/** Which words of a text the score stands for. */
const meantBy = (score: Expanding): ((word: string) => boolean) =>
  score.by === 'fuzzy' ? nearTo(score.near) : word => word.startsWith(score.words[0]!)

const expansionOf = (kind: Kind, score: Expanding): Dsl => {
  const { field } = score
  const values = { terms: { field: isText(field) ? rawOf(field) : field.path, size: MOST_VALUES + 1 } }
  return counting(field, compileNode(nodeOf(score), kind, NO_JOINS), { values })
}

const frequenciesIn = (
  buckets: readonly { key: string; doc_count: number }[],
  score: Expanding,
): ReadonlyMap<string, number> => {
  const words = new Map<string, number>()
  const isMeant = meantBy(score)
  for (const { key, doc_count } of buckets)
    for (const word of isText(score.field) ? new Set(analyze(key).filter(isMeant)) : [key])
      words.set(word, (words.get(word) ?? 0) + doc_count)
  return words
}

const rawOf = ({ field }: FieldPath): string => `${field}.raw`
const keyOf = (kind: Kind, { path }: FieldPath, value?: Value) =>
  value === undefined ? `${kind} ${path}` : `${kind} ${path} ${typeof value} ${value}`
const lengthKeyOf = (kind: Kind, { path }: FieldPath) => `values ${kind} ${path}`
const nearKeyOf = (kind: Kind, score: Expanding) => `near ${kind} ${JSON.stringify(nodeOf(score))}`
const plainKeyOf = (kind: Kind, { path }: FieldPath) => `plain ${kind} ${path}`
