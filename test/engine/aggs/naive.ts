import fc from 'fast-check'
import { type FieldPath, type Kind, lookup, queryPaths } from '../../../src/mapping/index.ts'
import { indexedValuesOf, rawValuesOf, type TestedDocument } from '../../../src/query/predicate.ts'

/** A random aggregation of the kinds that the model knows. */
export interface Question {
  type:
    | 'terms'
    | 'multi_terms'
    | 'histogram'
    | 'date_histogram'
    | 'missing'
    | 'nested'
    | 'sum'
    | 'stats'
    | 'cardinality'
    | 'value_count'
  field: string
  inside: Question[]
}

type Source = Record<string, unknown>

const bodyOf = ({ type, field }: Question): object => {
  switch (type) {
    case 'terms':
      return { field, size: 10_000 }
    case 'multi_terms':
      return { terms: [{ field }, { field: 'blockNumber.num' }, { field }], size: 10_000 }
    case 'histogram':
      return { field, interval: 7, min_doc_count: 1 }
    case 'date_histogram':
      return { field, fixed_interval: '1m', min_doc_count: 1 }
    case 'nested':
      return { path: 'args' }
    default:
      return { field }
  }
}

export const requestOf = (questions: readonly Question[]): object =>
  Object.fromEntries(
    questions.map((question, i) => [
      `a${i}`,
      {
        [question.type]: bodyOf(question),
        ...(question.inside.length > 0 && { aggs: requestOf(question.inside) }),
      },
    ]),
  )

/** What is answered, by looking at every document: as plain as can be. */
export const answerOf = (questions: readonly Question[], kind: Kind, sources: readonly Source[]): object =>
  Object.fromEntries(questions.map((question, i) => [`a${i}`, one(question, kind, sources)]))

/** Arguments are shown as documents show them. */
const shownValues = (field: FieldPath, source: Source) =>
  field.list?.nested && field.compare === 'hex'
    ? rawValuesOf(field, source).flatMap(raw =>
        typeof raw === 'string' && raw.length <= (field.ignoreAbove ?? Number.POSITIVE_INFINITY) ? [raw] : [],
      )
    : indexedValuesOf(field, source)

const one = ({ type, field: name, inside }: Question, kind: Kind, sources: readonly Source[]): object => {
  const field = lookup(kind, name)!
  const isNested = (source: Source) =>
    'args' in source && Array.isArray(source.args) && source.args.length === 1 && source.alone === true
  const values = (source: Source): (string | number | boolean)[] =>
    (field.list?.nested === true) !== isNested(source)
      ? []
      : [
          ...new Set(
            shownValues(field, source).map(value =>
              typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value),
            ),
          ),
        ]
  const all = sources.flatMap(values)
  const numbers = all.map(Number)
  const bucket = (some: readonly Source[]) => ({ doc_count: some.length, ...answerOf(inside, kind, some) })
  const buckets = (keysOf: (source: Source) => (string | number)[]) => {
    const groups = new Map<string | number, Source[]>()
    for (const source of sources)
      for (const key of new Set(keysOf(source))) {
        const group = groups.get(key)
        if (group) group.push(source)
        else groups.set(key, [source])
      }
    return Array.from(groups, ([key, some]) => ({ key, ...bucket(some) })).sort((a, b) =>
      String(a.key) < String(b.key) ? -1 : 1,
    )
  }
  const sum = numbers.reduce((total, number) => total + number, 0)
  switch (type) {
    case 'terms':
      return {
        buckets: buckets(source => values(source).map(value => (typeof value === 'boolean' ? Number(value) : value))),
      }
    case 'multi_terms': {
      const other = lookup(kind, 'blockNumber.num')
      return {
        buckets: buckets(source =>
          values(source).flatMap(first =>
            (other ? shownValues(other, source) : []).flatMap(second =>
              values(source).map(third => [first, second, third].join()),
            ),
          ),
        ),
      }
    }
    case 'histogram':
      return { buckets: buckets(source => values(source).map(value => Math.floor(Number(value) / 7) * 7)) }
    case 'date_histogram':
      return { buckets: buckets(source => values(source).map(value => Math.floor(Number(value) / 60_000) * 60_000)) }
    case 'missing':
      return bucket(sources.filter(source => values(source).length === 0))
    case 'nested': {
      const elements = sources.flatMap(({ args }) =>
        Array.isArray(args) ? args.map((element: unknown) => ({ args: [element], alone: true })) : [],
      )
      return bucket(elements)
    }
    case 'sum':
      return { value: sum }
    case 'stats':
      return numbers.length === 0
        ? { count: 0, min: null, max: null, avg: null, sum: 0 }
        : {
            count: numbers.length,
            min: Math.min(...numbers),
            max: Math.max(...numbers),
            avg: sum / numbers.length,
            sum,
          }
    case 'cardinality':
      return { value: new Set(all).size }
    case 'value_count':
      return { value: all.length }
  }
}

export const sourcesOf = (documents: readonly TestedDocument[]): Source[] =>
  documents.map(({ _source }) => _source as Source)

/** Random ones that the model knows. */
export const arbitraryQuestions = (kind: Kind): fc.Arbitrary<Question[]> => {
  const paths = [...queryPaths(kind).values()].filter(({ es }) => es !== 'text')
  const named = (test: (path: FieldPath) => boolean) => paths.filter(test).map(({ path }) => path)
  const any = named(() => true)
  const numbers = named(({ es }) => es === 'long' || es === 'double' || es === 'boolean')
  const dates = named(({ es }) => es === 'date')
  const hasNumber = lookup(kind, 'blockNumber.num') !== undefined
  const one = (depth: number): fc.Arbitrary<Question> => {
    const leaf = (type: Question['type'], fields: readonly string[]) =>
      fc.constantFrom(...fields).map((field): Question => ({ type, field, inside: [] }))
    const metrics = [leaf('cardinality', any), leaf('value_count', any), leaf('sum', numbers), leaf('stats', numbers)]
    if (depth === 0) return fc.oneof(...metrics)
    const bucket = (type: Question['type'], fields: readonly string[]) =>
      fc
        .tuple(fc.constantFrom(...fields), fc.array(one(depth - 1), { maxLength: 2 }))
        .map(([field, inside]): Question => ({ type, field, inside }))
    return fc.oneof(
      ...metrics,
      bucket('terms', any),
      bucket('terms', any),
      ...(hasNumber
        ? [
            bucket(
              'multi_terms',
              named(({ es }) => es === 'keyword' || es === 'long'),
            ),
          ]
        : []),
      bucket(
        'histogram',
        named(({ es }) => es === 'long'),
      ),
      bucket('date_histogram', dates),
      bucket('missing', any),
    )
  }
  const withNested = (question: fc.Arbitrary<Question[]>) =>
    kind === 'event' || kind === 'call'
      ? fc.oneof(
          question,
          fc
            .array(one(2), { minLength: 1, maxLength: 2 })
            .map((inside): Question[] => [{ type: 'nested', field: 'args.name', inside }]),
        )
      : question
  return withNested(fc.array(one(2), { minLength: 1, maxLength: 3 }))
}

/** Buckets by their keys, numbers as far as the order of adding does not matter. */
export const plain = (value: unknown): unknown => {
  if (typeof value === 'number') return Number(value.toPrecision(10))
  if (Array.isArray(value)) return value.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !/_as_string$|_error_upper_bound$|^sum_other_doc_count$/.test(name))
      .map(([name, inner]) => [name, name === 'key' ? String(inner) : plain(inner)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
}
