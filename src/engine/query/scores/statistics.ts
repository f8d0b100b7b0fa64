import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import type { BlockRun, SearchRequest } from '../../../query/request.ts'
import { existsNode, inNode } from '../../../query/simplify.ts'
import type { Statistics } from '../../../query/statistics.ts'
import { analyzeText } from '../../../query/text/analysis.ts'
import { type ColumnData, MISSING, valueAt } from '../../index/column-codec.ts'
import { blockAt } from '../../index/segment.ts'
import { columnFieldOf } from '../../index/terms.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { positionOf } from '../../schema.ts'
import { isRowKind, numberedAs } from '../fields/ordinals.ts'
import { dictionaryValues } from '../fields/term-dictionary.ts'
import { type Evaluation, evaluatePlan } from '../match/evaluate.ts'
import { type MatchContext, segmentsWith } from '../match/segment-matcher.ts'
import { among, EVERYTHING, type Plan } from '../plan/plan.ts'
import { planQuery } from '../plan/planner.ts'
import {
  type Coverage,
  countsBySignature,
  coverageOf,
  elementStatistics,
  perSegment,
  rememberedOfState,
} from './segment-statistics.ts'

export interface StatisticsOptions {
  kind: Kind
  reader: StoreReader
  ask: MatchContext['ask']
  /** Blocks whose documents count; default: all stored ones. */
  within?: SearchRequest['within']
}

/** Frequencies of values among the stored documents of a kind, counted once per segment. */
export const createStatistics = ({ kind, reader, ask, within }: StatisticsOptions): Statistics => {
  const coverage = coverageOf(within, reader)
  const elements = elementStatistics(kind, reader, coverage)
  /** Caches a number per field. */
  const ofField =
    (what: string, find: (field: FieldPath) => number) =>
    (field: FieldPath): number =>
      rememberedOfState(reader, `${what} ${kind} ${field.path} ${coverage.text}`, () => find(field))

  const countOf = (plan: Plan, key: string): number => {
    const { whole, part } = evaluations(plan)
    // Rows of contracts and tokens change while their segment does not.
    const known = isRowKind(kind) ? undefined : perSegment<number>(reader, `${kind} ${key}`)
    let sum = 0
    for (const segment of reader.segments()) {
      const covered = coverage.of(segment)
      if (covered === 'some') sum += part().count(segment)
      if (covered !== 'all') continue
      sum += known ? known(segment, () => whole.count(segment)) : whole.count(segment)
    }
    return sum
  }

  /** Evaluations over whole segments, and over segments that count in part. */
  const evaluations = (plan: Plan) => {
    let some: Evaluation | undefined
    return {
      whole: evaluatePlan({ kind, plan, reader, ask }),
      part: () => {
        some ??= evaluatePlan({ kind, plan: among({ within }, plan), reader, ask })
        return some
      },
    }
  }

  const documents = (field: FieldPath): number => {
    if (field.list?.nested) return elements.documents(field)
    const signatures = OF_SIGNATURES[kind]?.[field.field]
    if (signatures === 'all') return countOf(EVERYTHING, '')
    if (signatures) {
      let sum = 0
      for (const [id, count] of countsBySignature(kind, reader, coverage))
        if (signatures(reader.signature(id))) sum += count
      return sum
    }
    return countOf(planQuery(kind, existsNode(field), reader), field.path)
  }

  const frequency = (field: FieldPath, value: QueryValue): number | undefined =>
    rememberedOfState(reader, `frequency ${kind} ${field.path} ${coverage.text} ${value}`, () =>
      findFrequency(field, value),
    )
  const findFrequency = (field: FieldPath, value: QueryValue): number | undefined => {
    if (field.list?.nested) return elements.frequency(field, value)
    const plan = planQuery(kind, inNode(field, [value]), reader)
    if (!isIndexed(plan)) return undefined
    // Documents themselves are not read.
    return isCounted(plan) ? countOf(plan, `${field.path} ${value}`) : sumOf(plan)
  }
  /** Postings store their counts. */
  const sumOf = (plan: Plan): number => {
    const { whole, part } = evaluations(plan)
    return segmentsWith([whole], reader).reduce((sum, segment) => {
      const covered = coverage.of(segment)
      if (covered === 'none') return sum
      return sum + (covered === 'all' ? whole : part()).count(segment)
    }, 0)
  }

  return {
    documents: ofField('documents', documents),
    frequency,
    averageLength: ofField('length', field => averageLength(kind, field, reader, coverage)),
    values: (field, test) => dictionaryValues(kind, field, reader)?.filter(test),
  }
}

/** Whether an index or columns suffice, without reading documents. */
const isIndexed = (plan: Plan): boolean => {
  switch (plan.by) {
    case 'documents':
      return false
    case 'and':
    case 'or':
    case 'atLeast':
      return plan.of.every(isIndexed)
    case 'not':
    case 'parent':
    case 'children':
      return isIndexed(plan.of)
    default:
      return true
  }
}

/** Columns are scanned, so the result is cached. */
const isCounted = (plan: Plan): boolean => plan.by === 'columns'

/** Fields that all documents of a signature have. */
type HasField = (signature: ReturnType<StoreReader['signature']>) => boolean
const OF_SIGNATURES: Partial<Record<Kind, Record<string, HasField | 'all'>>> = {
  event: { event: 'all', error: ({ event, error }) => event !== null && error !== null },
  log: {
    signature: ({ of, topic }) => of === 'log' && topic !== null,
    topics: ({ of, topic }) => of === 'log' && topic !== null,
  },
  call: { method: ({ of, event }) => of === 'call' && event !== null },
}

/** Nearly all texts are single words, and other fields have single values. */
const averageLength = (kind: Kind, field: FieldPath, reader: StoreReader, coverage: Coverage): number => {
  if (kind === 'log' && field.field === 'topics') return averageOf(topicCounts(reader, coverage))
  if (kind === 'block' && field.field === 'transactions') return averageOf(transactionsOf(reader, coverage))
  if (field.kind !== 'text' || field.encoding !== '') return 1
  const column = columnFieldOf(kind, field)
  if (column) return averageInColumn(kind, column.number, reader, coverage)
  const lengths = isRowKind(kind)
    ? lengthsOfRows(kind, field.field, reader, coverage)
    : lengthsOfNames(kind, reader, coverage)
  return averageOf(lengths)
}

const averageOf = (lengths: readonly (readonly [length: number, count: number])[]): number => {
  let words = 0
  let documents = 0
  for (const [length, count] of lengths) {
    words += length * count
    documents += count
  }
  return documents === 0 ? 1 : Math.fround(words / documents)
}

/** The first topic and those of the indexed arguments; each counts as a separate value. */
const topicCounts = (reader: StoreReader, coverage: Coverage): [number, number][] =>
  Array.from(countsBySignature('log', reader, coverage), ([id, count]) => {
    const { topic, event, indexed } = reader.signature(id)
    return [topic === null ? 0 : 1 + (event?.inputs.filter(input => input.indexed).length ?? indexed), count] as [
      number,
      number,
    ]
  }).filter(([length]) => length > 0)

const transactionsOf = (reader: StoreReader, { blocks }: Coverage): [number, number][] =>
  reader.segments().flatMap(segment => {
    const header = reader.header(segment)
    const { tx } = header.ends
    const counts = (number: number) => blocks?.some(([from, to]) => from <= number && to >= number) ?? true
    return Array.from(tx, (end, i): [number, number] => [end - (i > 0 ? tx[i - 1]! : 0), 1]).filter(
      ([length], i) => length > 0 && counts(blockAt(header, i)),
    )
  })

const lengthsOfNames = (kind: Kind, reader: StoreReader, coverage: Coverage): [number, number][] => {
  const of = kind === 'call' ? 'call' : 'log'
  const lengths = reader
    .signatures(of)
    .map(({ id, event }) => [id, event ? analyzeText(event.name).length : 0] as const)
  if (lengths.every(([, length]) => length <= 1)) return []
  const counts = countsBySignature(kind, reader, coverage)
  return lengths.flatMap(([id, length]) => (length === 0 ? [] : [[length, counts.get(id) ?? 0] as [number, number]]))
}

/** Averages text lengths in a column, reading each segment once. */
const averageInColumn = (kind: Kind, column: number, reader: StoreReader, coverage: Coverage): number => {
  const known = perSegment<[words: number, documents: number]>(reader, `words ${column}`)
  const countIn = (segment: Segment, runs?: readonly BlockRun[]): [words: number, documents: number] => {
    const ids = presentIn(reader.columns.data(segment, column), runs)
    return [ids.reduce((total, id) => total + analyzeText(reader.name(id)).length, 0), ids.length]
  }
  let [words, documents] = [0, 0]
  for (const segment of reader.segments()) {
    const covered = coverage.of(segment)
    if (covered === 'none') continue
    const [more, holders] =
      covered === 'all'
        ? known(segment, () => countIn(segment))
        : countIn(segment, coverage.ordinals(segment, numberedAs(kind)))
    words += more
    documents += holders
  }
  return documents === 0 ? 1 : Math.fround(words / documents)
}

const presentIn = (data: ColumnData | undefined, runs: readonly BlockRun[] = [[0, data?.count ?? 0]]): number[] =>
  runs.flatMap(([from, to]) =>
    Array.from({ length: Math.max(0, Math.min(to, data?.count ?? 0) - from) }, (_, i) =>
      valueAt(data!, from + i),
    ).filter(id => id !== MISSING),
  )

const lengthsOfRows = (
  kind: 'contract' | 'token',
  field: string,
  reader: StoreReader,
  { blocks = ALL_BLOCKS }: Coverage,
): [number, number][] => {
  const select = reader
    .prepare(
      `SELECT "${field}", count(*) FROM "${kind}" WHERE pos BETWEEN ? AND ? AND "${field}" IS NOT NULL GROUP BY 1`,
    )
    .raw()
  const rows = blocks.flatMap(
    ([from, to]) => select.all(positionOf(from, 0), positionOf(to + 1, 0) - 1) as [number, number][],
  )
  return rows.map(([id, count]) => [analyzeText(reader.name(id)).length, count])
}

const ALL_BLOCKS = [[0, 2 ** 30]] as const

/** Whether each document has at most one word in the field, so all matches score the same. */
export const isOneWord = (kind: Kind, field: FieldPath, reader: StoreReader): boolean => {
  if (field.compare !== 'token') return true
  // A document has as many words as its list has elements.
  if (field.list && !field.list.nested) return false
  if (field.kind !== 'text') return true
  if (isRowKind(kind) || columnFieldOf(kind, field)) return false
  const of = kind === 'call' ? 'call' : 'log'
  return rememberedOfState(reader, `one word ${of}`, () =>
    reader.signatures(of).every(({ event }) => !event || analyzeText(event.name).length <= 1),
  )
}
