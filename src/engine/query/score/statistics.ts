import type { FieldPath, Kind } from '../../../mapping/index.ts'
import { analyze } from '../../../query/analysis.ts'
import type { Value } from '../../../query/ast.ts'
import { exists, isIn } from '../../../query/simplify.ts'
import type { Statistics } from '../../../query/statistics.ts'
import { type ColumnData, MISSING, valueAt } from '../../index/column-codec.ts'
import { columnOf } from '../../index/column-fields.ts'
import type { Reader } from '../../reader.ts'
import { evaluate } from '../evaluate.ts'
import { isRowKind } from '../places.ts'
import { EVERYTHING, type Plan, planQuery } from '../plan.ts'
import type { Context } from '../segment-matcher.ts'
import { dictionaryOf } from '../term-dictionary.ts'
import { countsBySignature, elementStatistics } from './elements.ts'
import { remembered } from './remembered.ts'

export interface StatisticsOptions {
  kind: Kind
  reader: Reader
  ask: Context['ask']
}

/** How frequent values are among the stored documents of a kind. What segments hold is counted once. */
export const createStatistics = ({ kind, reader, ask }: StatisticsOptions): Statistics => {
  const elements = elementStatistics(kind, reader)
  /** What is the same for all documents of a field. */
  const ofField =
    (what: string, find: (field: FieldPath) => number) =>
    (field: FieldPath): number =>
      remembered(reader, `${what} ${kind} ${field.path}`, () => find(field))

  const countOf = (plan: Plan, key: string): number => {
    const evaluation = evaluate({ kind, plan, reader, ask })
    const counts = isRowKind(kind) ? new Map<string, number>() : countsFor(reader, `${kind} ${key}`)
    let sum = 0
    for (const segment of reader.segments()) {
      const place = `${segment.id} ${segment.revised}`
      let count = counts.get(place)
      if (count === undefined) {
        reader.check()
        count = evaluation.count(segment)
        counts.set(place, count)
      }
      sum += count
    }
    return sum
  }

  const documents = (field: FieldPath): number => {
    if (field.list?.nested) return elements.documents(field)
    const signatures = OF_SIGNATURES[kind]?.[field.field]
    if (signatures === 'all') return countOf(EVERYTHING, '')
    if (signatures) {
      let sum = 0
      for (const [id, count] of countsBySignature(kind, reader)) if (signatures(reader.signature(id))) sum += count
      return sum
    }
    return countOf(planQuery(kind, exists(field), reader), field.path)
  }

  const frequency = (field: FieldPath, value: Value): number | undefined =>
    remembered(reader, `frequency ${kind} ${field.path} ${value}`, () => findFrequency(field, value))
  const findFrequency = (field: FieldPath, value: Value): number | undefined => {
    if (field.list?.nested) return elements.frequency(field, value)
    const plan = planQuery(kind, isIn(field, [value]), reader)
    if (!isIndexed(plan)) return undefined
    // What a document asked of itself would tell is left out.
    return isCounted(plan) ? countOf(plan, `${field.path} ${value}`) : sumOf(plan)
  }
  /** Postings know their counts. */
  const sumOf = (plan: Plan): number => {
    const evaluation = evaluate({ kind, plan, reader, ask })
    return reader.segments().reduce((sum, segment) => sum + evaluation.count(segment), 0)
  }

  return {
    documents: ofField('documents', documents),
    frequency,
    averageLength: ofField('length', field => averageLength(kind, field, reader)),
    values: (field, test) => dictionaryOf(kind, field, reader)?.filter(test),
  }
}

/** Whether index or columns tell, so that no document has to be looked at. */
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

/** Columns are scanned: what one holds is remembered. */
const isCounted = (plan: Plan): boolean => plan.by === 'columns'

/** Fields that all documents of a signature have. */
type HasField = (signature: ReturnType<Reader['signature']>) => boolean
const OF_SIGNATURES: Partial<Record<Kind, Record<string, HasField | 'all'>>> = {
  event: { event: 'all', error: ({ event, error }) => event !== null && error !== null },
  log: {
    signature: ({ of, topic }) => of === 'log' && topic !== null,
    topics: ({ of, topic }) => of === 'log' && topic !== null,
  },
  call: { method: ({ of, event }) => of === 'call' && event !== null },
}

/** Counts by segment, which hold as long as it is there. */
const countsFor = (reader: Reader, key: string): Map<string, number> => {
  let ofReader = COUNTS.get(reader)
  if (!ofReader) {
    ofReader = new Map()
    COUNTS.set(reader, ofReader)
  }
  let counts = ofReader.get(key)
  if (!counts || counts.size > MOST_SEGMENTS) {
    if (ofReader.size >= MOST_KEYS) ofReader.clear()
    counts = new Map()
    ofReader.set(key, counts)
  }
  return counts
}
const COUNTS = new WeakMap<Reader, Map<string, Map<string, number>>>()
const MOST_KEYS = 200
/** With those that are gone. */
const MOST_SEGMENTS = 20_000

/** Nearly all texts are a single word, and other fields a single value. */
const averageLength = (kind: Kind, field: FieldPath, reader: Reader): number => {
  if (kind === 'log' && field.field === 'topics') return averageOf(topicsOf(reader))
  if (kind === 'block' && field.field === 'transactions') return averageOf(transactionsOf(reader))
  if (field.kind !== 'text' || field.encoding !== '') return 1
  const column = columnOf(kind, field)
  if (column) return averageInColumn(column.number, reader)
  const lengths = isRowKind(kind) ? lengthsOfRows(kind, field.field, reader) : lengthsOfNames(kind, reader)
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

/** The first topic and those of the indexed arguments; each counts as another value. */
const topicsOf = (reader: Reader): [number, number][] =>
  Array.from(countsBySignature('log', reader), ([id, count]) => {
    const { topic, event, indexed } = reader.signature(id)
    return [topic === null ? 0 : 1 + (event?.inputs.filter(input => input.indexed).length ?? indexed), count] as [
      number,
      number,
    ]
  }).filter(([length]) => length > 0)

const transactionsOf = (reader: Reader): [number, number][] =>
  reader.segments().flatMap(segment => {
    const { tx } = reader.header(segment).ends
    return Array.from(tx, (end, i): [number, number] => [end - (i > 0 ? tx[i - 1]! : 0), 1]).filter(
      ([length]) => length > 0,
    )
  })

const lengthsOfNames = (kind: Kind, reader: Reader): [number, number][] => {
  const of = kind === 'call' ? 'call' : 'log'
  const lengths = reader.signatures(of).map(({ id, event }) => [id, event ? analyze(event.name).length : 0] as const)
  if (lengths.every(([, length]) => length <= 1)) return []
  const counts = countsBySignature(kind, reader)
  return lengths.flatMap(([id, length]) => (length === 0 ? [] : [[length, counts.get(id) ?? 0] as [number, number]]))
}

/** Of texts that the documents themselves have. What a segment holds is read once. */
const averageInColumn = (column: number, reader: Reader): number => {
  const counts = countsFor(reader, `words ${column}`)
  let [words, documents] = [0, 0]
  for (const segment of reader.segments()) {
    const place = `${segment.id} ${segment.revised}`
    if (!counts.has(place)) {
      reader.check()
      const ids = presentIn(reader.columns.data(segment, column))
      counts.set(
        place,
        ids.reduce((sum, id) => sum + analyze(reader.name(id)).length, 0),
      )
      counts.set(`${place} documents`, ids.length)
    }
    words += counts.get(place)!
    documents += counts.get(`${place} documents`)!
  }
  return documents === 0 ? 1 : Math.fround(words / documents)
}

const presentIn = (data: ColumnData | undefined): number[] =>
  Array.from({ length: data?.count ?? 0 }, (_, ordinal) => valueAt(data!, ordinal)).filter(id => id !== MISSING)

const lengthsOfRows = (kind: 'contract' | 'token', field: string, reader: Reader): [number, number][] => {
  const rows = reader
    .prepare(`SELECT "${field}", count(*) FROM "${kind}" WHERE pos IS NOT NULL AND "${field}" IS NOT NULL GROUP BY 1`)
    .raw()
    .all() as [number, number][]
  return rows.map(([id, count]) => [analyze(reader.name(id)).length, count])
}

/** Whether each document that has the field has one word in it, so that all score the same. */
export const isOneWord = (kind: Kind, field: FieldPath, reader: Reader): boolean => {
  if (field.compare !== 'token') return true
  // Of a list each document has as many words as elements.
  if (field.list && !field.list.nested) return false
  if (field.kind !== 'text') return true
  if (isRowKind(kind) || columnOf(kind, field)) return false
  const of = kind === 'call' ? 'call' : 'log'
  return remembered(reader, `one word ${of}`, () =>
    reader.signatures(of).every(({ event }) => !event || analyze(event.name).length <= 1),
  )
}
