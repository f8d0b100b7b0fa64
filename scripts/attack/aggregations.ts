import { type FieldPath, type Kind, lookup } from '../../src/mapping/index.ts'
import { indexedValuesOf, type TestedDocument } from '../../src/query/predicate.ts'
import { answerOf, plain, type Question, requestOf, sourcesOf } from '../../test/engine/aggs/naive.ts'
import { isRaw, isRecord, type Value } from './json.ts'
import type { Shown } from './reading.ts'

type Members = Record<string, unknown>

/** What is wrong with the aggregations of an answer over these documents of one kind, if anything. */
export const checkAggregations = (
  asked: Value | undefined,
  answer: unknown,
  kind: Kind,
  documents: readonly Shown[],
): string | undefined => {
  if (!isRecord(asked) || Object.keys(asked).length === 0)
    return answer === undefined ? undefined : 'aggregations that nobody asked for'
  if (!isMembers(answer)) return 'there are no aggregations'
  const names = Object.keys(answer).sort().join()
  if (names !== Object.keys(asked).sort().join()) return `the aggregations are ${names}`
  const questions = questionsOf(asked)
  if (questions) {
    const expected = JSON.stringify(plain(answerOf(questions, kind, sourcesOf(documents as readonly TestedDocument[]))))
    const found = JSON.stringify(plain(withTextKeys(answer)))
    return found === expected ? undefined : differing(found, expected)
  }
  for (const [name, one] of Object.entries(asked)) {
    const fault = isRecord(one) ? checkCounts(one, answer[name], kind, documents) : 'is none'
    if (fault !== undefined) return `aggregation ${name}: ${fault}`
  }
  return undefined
}

const differing = (found: string, expected: string): string => {
  let at = 0
  while (found[at] === expected[at]) at++
  const from = Math.max(0, at - 80)
  return `aggregations are …${found.slice(from, at + 80)}…, and …${expected.slice(from, at + 80)}… are due`
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keys beyond 2^53 are texts in the model. */
const withTextKeys = (value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(withTextKeys)
  return isMembers(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withTextKeys(inner)]))
    : value
}

/** The questions that were asked, where the model knows them; options that it does not know show in the request of the question. */
const questionsOf = (asked: Value): Question[] | undefined => {
  if (!isRecord(asked)) return undefined
  const questions: Question[] = []
  for (const [name, one] of Object.entries(asked)) {
    // The model gives the names itself.
    if (!isRecord(one) || name !== `a${questions.length}`) return undefined
    const { aggs, ...typed } = one
    const [[type, body] = ['', null], more] = Object.entries(typed)
    if (more !== undefined || !isRecord(body)) return undefined
    const inside = aggs === undefined ? [] : questionsOf(aggs)
    const field = type === 'nested' ? 'args.name' : body.field
    if (!inside || typeof field !== 'string') return undefined
    questions.push({ type: type as Question['type'], field, inside })
  }
  const known = JSON.stringify(requestOf(questions)) === JSON.stringify(asked, numbers)
  return questions.length > 0 && known ? questions : undefined
}

const numbers = (_: string, value: unknown) => (isRaw(value) ? Number(value.raw) : value)

/** What counts add up to, whatever the options: each document with a value lies in one bucket, where values are single. */
const checkCounts = (
  asked: { [name: string]: Value },
  found: unknown,
  kind: Kind,
  documents: readonly Shown[],
): string | undefined => {
  const [type] = Object.keys(asked).filter(name => name !== 'aggs' && name !== 'aggregations' && name !== 'meta')
  const body = type === undefined ? undefined : asked[type]
  // Some buckets may be taken away.
  if (/"bucket_s(ort|elector)"/.test(JSON.stringify(asked))) return undefined
  if (!isRecord(body) || !isMembers(found) || typeof body.field !== 'string') return undefined
  const field = lookup(kind, body.field)
  const isSingle = field && documents.every(({ _source }) => indexedValuesOf(field, _source).length <= 1)
  if (!isSingle || body.missing !== undefined) return undefined
  // Outside of `nested`, the members of a nested list are not seen.
  const has = field.list?.nested ? 0 : countOf(field, documents)
  const counted = countedBy(type!, body, found)
  if (counted === undefined) return undefined
  const due = type === 'missing' ? documents.length - has : has
  return counted === due ? undefined : `it counts ${counted}, and ${due} are due`
}

const countOf = (field: FieldPath, documents: readonly Shown[]): number =>
  documents.filter(({ _source }) => indexedValuesOf(field, _source).length > 0).length

const countedBy = (type: string, body: Members, found: Members): number | undefined => {
  const few = body.min_doc_count === undefined || numberOf(body.min_doc_count) <= 1
  switch (type) {
    case 'value_count':
      return Number(found.value)
    case 'stats':
    case 'extended_stats':
      return Number(found.count)
    case 'missing':
      return Number(found.doc_count)
    case 'terms':
      if (!few || body.include !== undefined || body.exclude !== undefined) return undefined
      return sumOf(found.buckets) + Number(found.sum_other_doc_count)
    case 'histogram':
    case 'date_histogram':
      return few && body.hard_bounds === undefined ? sumOf(found.buckets) : undefined
    case 'auto_date_histogram':
      return sumOf(found.buckets)
  }
  return undefined
}

const numberOf = (value: unknown): number => Number(isRaw(value) ? value.raw : value)

const sumOf = (buckets: unknown): number =>
  Object.values(buckets as Members).reduce<number>((sum, bucket) => sum + Number((bucket as Members).doc_count), 0)
