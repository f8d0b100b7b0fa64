import fc from 'fast-check'
import { type FieldPath, type Kind, nestedPaths, queryPaths } from '../../src/mapping/index.ts'
import type { QueryValue } from '../../src/query/ast.ts'
import { isText } from '../../src/query/field-conditions.ts'
import { indexedValuesOf, type TestedDocument } from '../../src/query/predicate.ts'
import { isOfFewChains } from './chains.ts'

/** A query clause as it stands in a body. Integers may be bigints. */
export type Clause = Record<string, unknown>

export interface QueryOptions {
  /** Leaves out fields that few chains have. */
  everyChain?: boolean
  /** Only what Elasticsearch takes in the same sense: addresses and ids in their own letter case, no 0x numbers. */
  asElasticsearch?: boolean
  depth?: number
}

/**
 * Random queries on a kind, with values drawn from these documents, so that they match something more often than not: of
 * every clause, every field, and values near to those that occur.
 */
export const arbitraryQuery = (
  kind: Kind,
  documents: readonly TestedDocument[],
  options: QueryOptions = {},
): fc.Arbitrary<Clause> => {
  const paths = [...queryPaths(kind).values()].filter(
    ({ path }) => options.everyChain !== true || !isOfFewChains(kind, path),
  )
  const outside = paths.filter(field => !field.list?.nested)
  const nestedLists = nestedPaths(kind)
  const depth = options.depth ?? 3
  const ids = documents.map(({ _id }) => _id)

  const id = fc.oneof(
    { weight: 4, arbitrary: ids.length > 0 ? fc.constantFrom(...ids) : fc.constant('0x00') },
    { weight: 1, arbitrary: fc.constant(`0x${'ab'.repeat(32)}`) },
  )
  const anyId = options.asElasticsearch
    ? id
    : fc.tuple(id, fc.boolean()).map(([text, up]) => (up ? upperHex(text) : text))
  const ofIds = fc.oneof(
    anyId.map(_id => ({ term: { _id } })),
    fc.array(anyId, { maxLength: 3 }).map(values => ({ ids: { values } })),
    fc.array(anyId, { minLength: 1, maxLength: 3 }).map(_id => ({ terms: { _id } })),
  )

  const leafOf = (fields: readonly FieldPath[]): fc.Arbitrary<Clause> =>
    fc.constantFrom(...fields).chain(field => conditionOn(field, drawn(field, documents), options))

  const objects = [
    ...new Set(outside.flatMap(({ path }) => (path.includes('.') ? [path.slice(0, path.lastIndexOf('.'))] : []))),
  ]

  const clause = (level: number, fields: readonly FieldPath[], list: string | undefined): fc.Arbitrary<Clause> => {
    const leaves: fc.WeightedArbitrary<Clause>[] = [
      { weight: 12, arbitrary: leafOf(fields) },
      { weight: 1, arbitrary: fc.constantFrom<Clause>({ match_all: {} }, { match_none: {} }) },
    ]
    if (list === undefined) {
      leaves.push({ weight: 2, arbitrary: ofIds })
      leaves.push({ weight: 3, arbitrary: textOn(outside, documents, options) })
      if (objects.length > 0)
        leaves.push({ weight: 1, arbitrary: fc.constantFrom(...objects).map(field => ({ exists: { field } })) })
      // Out of sight: matches nothing.
      const hidden = paths.filter(field => field.list?.nested)
      if (hidden.length > 0) leaves.push({ weight: 1, arbitrary: leafOf(hidden) })
    } else leaves.push({ weight: 1, arbitrary: leafOf(outside) })
    if (level === 0) return fc.oneof(...leaves)

    const inner = clause(level - 1, fields, list)
    const branches: fc.WeightedArbitrary<Clause>[] = [
      { weight: 8, arbitrary: boolOf(inner) },
      {
        weight: 1,
        arbitrary: fc.tuple(inner, BOOST).map(([filter, boost]) => ({ constant_score: { filter, ...boost } })),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(inner, inner)
          .map(([positive, negative]) => ({ boosting: { positive, negative, negative_boost: 0.25 } })),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), fc.constantFrom({}, { tie_breaker: 0.5 }), BOOST)
          .map(([queries, tie, boost]) => ({ dis_max: { queries, ...tie, ...boost } })),
      },
    ]
    if (list === undefined) {
      for (const path of nestedLists) {
        const members = paths.filter(field => field.list?.nested && field.list.name === path)
        const query = clause(level - 1, members, path)
        const mode = fc.constantFrom({}, ...['avg', 'sum', 'min', 'max', 'none'].map(score_mode => ({ score_mode })))
        branches.push({
          weight: 8,
          arbitrary: fc.tuple(query, mode).map(([inside, mode]) => ({ nested: { path, query: inside, ...mode } })),
        })
      }
    }
    return fc.oneof({ weight: 1, arbitrary: fc.oneof(...leaves) }, { weight: 2, arbitrary: fc.oneof(...branches) })
  }

  return clause(depth, outside, undefined)
}

const boolOf = (inner: fc.Arbitrary<Clause>): fc.Arbitrary<Clause> => {
  const list = fc.oneof(inner, fc.array(inner, { maxLength: 3 }))
  return fc
    .record(
      {
        filter: list,
        must: list,
        must_not: list,
        should: fc.array(inner, { maxLength: 4 }),
        minimum_should_match: fc.constantFrom<unknown>(0, 1, 2, -1, '50%', '-25%', '1<75%', '2<-1 3<50%'),
      },
      { requiredKeys: [] },
    )
    .map(bool => ({ bool }))
}

const BOOST = fc.constantFrom({}, {}, { boost: 2 }, { boost: 0.5 })

const drawn = (field: FieldPath, documents: readonly TestedDocument[]): QueryValue[] => {
  const inNested = field.list?.nested ? field.list.name : undefined
  const short = inNested === undefined ? field : { ...field, path: field.path, field: field.field }
  const values = documents.flatMap(({ _source }) => indexedValuesOf(short, _source))
  return [...new Set(values)]
}

const conditionOn = (field: FieldPath, values: readonly QueryValue[], options: QueryOptions): fc.Arbitrary<Clause> => {
  const value = valueFor(field, values, options)
  const name = field.path
  const kinds: fc.WeightedArbitrary<Clause>[] = [
    { weight: 5, arbitrary: value.map(it => ({ term: { [name]: it } })) },
    { weight: 1, arbitrary: value.map(it => ({ term: { [name]: { value: it } } })) },
    { weight: 2, arbitrary: fc.array(value, { maxLength: 4 }).map(list => ({ terms: { [name]: list } })) },
    { weight: 4, arbitrary: rangeOn(name, value) },
    { weight: 1, arbitrary: fc.constant({ exists: { field: name } }) },
    { weight: 1, arbitrary: value.map(it => ({ match: { [name]: it } })) },
  ]
  if (field.kind === 'keyword' || field.kind === 'text') {
    const near = fc.record({ it: value, at: fc.nat(20), how: fc.constantFrom('drop', 'swap', 'other'), options: NEAR })
    const fuzzy = near.map(({ it, at, how, options }) => ({ query: misspelt(String(it), at, how), ...options }))
    kinds.push({ weight: 2, arbitrary: fuzzy.map(it => ({ match: { [name]: it } })) })
  }
  if (isText(field)) {
    const beginning = fc.tuple(value, fc.nat(12)).map(([it, length]) => String(it).slice(0, length))
    kinds.push({ weight: 2, arbitrary: beginning.map(it => ({ prefix: { [name]: it } })) })
    kinds.push({ weight: 4, arbitrary: value.chain(it => patternOn(name, String(it), options)) })
    if (!isNamed(field)) return fc.oneof(...kinds)
    const misspelling = fc.record({
      it: value,
      at: fc.nat(20),
      how: fc.constantFrom('drop', 'swap', 'other'),
      options: NEAR,
    })
    kinds.push({
      weight: 1,
      arbitrary: misspelling.map(({ it, at, how, options: { operator: _, fuzzy_transpositions, ...near } }) => ({
        fuzzy: {
          [name]: {
            value: misspelt(String(it), at, how),
            ...near,
            ...(fuzzy_transpositions !== undefined && { transpositions: fuzzy_transpositions }),
          },
        },
      })),
    })
  }
  return fc.oneof(...kinds)
}

const isNamed = ({ kind }: FieldPath) => kind === 'text' || kind === 'keyword'

/** A pattern that a text fits, or one near to it. */
const patternOn = (name: string, text: string, { asElasticsearch }: QueryOptions): fc.Arbitrary<Clause> =>
  fc
    .record({
      from: fc.nat(20),
      to: fc.nat(20),
      star: fc.constantFrom('*', '?', ''),
      any: fc.boolean(),
      flag: fc.boolean(),
    })
    .map(({ from, to, star, any, flag }) => {
      const [low, high] = [Math.min(from, to), Math.max(from, to)]
      const escaped = (part: string) => part.replace(/[\\*?.+|(){}[\]"#@&<>~^$-]/g, '\\$&')
      const [start, middle, end] = [text.slice(0, low), text.slice(low, high), text.slice(high)]
      const ci = flag && !asElasticsearch ? { case_insensitive: true } : {}
      const wild = text.length > 60 ? `${escaped(start)}*` : `${escaped(start)}${star}${escaped(end)}`
      if (any) return { wildcard: { [name]: { value: wild, ...ci } } }
      const inside = star === '*' ? '.*' : star === '?' ? `(${escaped(middle) || '()'}|x)` : '[a-z0-9]{0,20}'
      const tail = text.length > 60 ? '@' : escaped(end)
      return { regexp: { [name]: { value: `${escaped(start)}${inside}${tail}`, ...ci } } }
    })

const NEAR = fc.record(
  {
    fuzziness: fc.constantFrom<unknown>(0, 1, 2, '2', 'AUTO', 'auto', 'AUTO:2,4'),
    prefix_length: fc.nat(4),
    fuzzy_transpositions: fc.boolean(),
    operator: fc.constantFrom('and', 'or'),
  },
  { requiredKeys: ['fuzziness'] },
)

/** A text that is one edit off, at that place or at its end. */
const misspelt = (text: string, at: number, how: 'drop' | 'swap' | 'other'): string => {
  const characters = Array.from(text)
  const place = Math.min(at, Math.max(0, characters.length - 2))
  if (how === 'swap') characters.splice(place, 2, ...characters.slice(place, place + 2).reverse())
  else characters.splice(place, 1, ...(how === 'other' ? ['x'] : []))
  return characters.join('')
}

const rangeOn = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Clause> =>
  fc
    .tuple(
      fc.option(fc.tuple(fc.constantFrom('gt', 'gte'), value), { nil: undefined }),
      fc.option(fc.tuple(fc.constantFrom('lt', 'lte'), value), { nil: undefined }),
    )
    .map(bounds => ({ range: { [name]: Object.fromEntries(bounds.filter(bound => bound !== undefined)) } }))

/** A value as a body may hold it: one that occurs, one near to it, or any other. */
const valueFor = (field: FieldPath, values: readonly QueryValue[], options: QueryOptions): fc.Arbitrary<unknown> => {
  const known = values.length > 0 ? values : OTHERS[field.compare]
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...known).chain(value => spelling(field, value, options)) },
    { weight: 1, arbitrary: fc.constantFrom(...OTHERS[field.compare]).chain(value => spelling(field, value, options)) },
  )
}

const OTHERS: Record<FieldPath['compare'], QueryValue[]> = {
  hex: ['0x', '0x0', `0x${'ff'.repeat(32)}`, `0x${'ab'.repeat(200)}`],
  exact: ['', 'value', 'Transfer', '0x0000000000000000000000000000000000000000', 'uint256'],
  token: ['transfer', 'swap', '0x0000000000000000000000000000000000000000'],
  long: [0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  integer: [0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n + 1n, 10n ** 24n, 2n ** 256n - 1n, -(2n ** 255n)],
  double: [0, 1, -1.5, 1e-6, 1e21],
  boolean: [true, false],
  instant: [0, Date.UTC(2024, 0, 1), Date.UTC(2024, 1, 29, 12)],
}

const spelling = (field: FieldPath, value: QueryValue, options: QueryOptions): fc.Arbitrary<unknown> => {
  const ways: unknown[] = []
  switch (field.compare) {
    case 'hex':
      ways.push(value, upperHex(String(value)))
      break
    case 'exact':
      ways.push(value, value, value, String(value).toUpperCase())
      break
    case 'token':
      ways.push(value, value, value)
      if (!options.asElasticsearch || field.kind !== 'address') ways.push(String(value).toUpperCase())
      break
    case 'long': {
      const integer = value as bigint
      ways.push(integer, String(integer), `${integer}.0`)
      const [next, previous] = [integer + 1n, integer - 1n]
      if (next < 2n ** 63n) ways.push(next)
      // Elasticsearch looks for a fraction in the nearest double.
      if (!options.asElasticsearch || (integer < 2n ** 51n && integer > -(2n ** 51n))) ways.push(`${integer}.5`)
      if (previous >= -(2n ** 63n)) ways.push(previous)
      if (!options.asElasticsearch && integer >= 0n) ways.push(`0x${integer.toString(16)}`)
      break
    }
    case 'integer': {
      const integer = value as bigint
      ways.push(integer, String(integer), integer + 1n, integer - 1n, `${integer}.5`, `${integer}.0`)
      if (integer >= 0n) ways.push(`0x${integer.toString(16)}`)
      break
    }
    case 'double':
      ways.push(value, String(value), Number(value) * 2, Number(value) + 1e-9)
      break
    case 'boolean':
      ways.push(value, String(value))
      break
    case 'instant':
      ways.push(...dateSpellings(Number(value), field, options))
  }
  return fc.constantFrom(...ways)
}

const dateSpellings = (instant: number, field: FieldPath, options: QueryOptions): unknown[] => {
  const iso = new Date(instant).toISOString()
  const day = iso.slice(0, 10)
  const ways: unknown[] = [iso.slice(0, 19), `${iso.slice(0, 19)}Z`, iso, iso.slice(0, 16), day, iso.slice(0, 7)]
  ways.push(`${day}||/M`, `${day}||+1d-1h/d`, `${iso.slice(0, 19)}||/h`, `${day}||-1y/w`, 'now', 'now-30d/d')
  ways.push(`${iso.slice(0, 19)}+02:00`)
  // Elasticsearch takes a number for the year where the mapping names ISO dates first.
  if (!options.asElasticsearch || field.kind === 'seconds') ways.push(instant / 1000, String(instant / 1000))
  if (!options.asElasticsearch && Math.abs(instant) > 1e11) ways.push(instant)
  return ways
}

/** Hex digits in capitals; the `0x` and what follows the hash in an id stay. */
const upperHex = (text: string) => text.replace(/^0x[0-9a-f]+/i, hex => `0x${hex.slice(2).toUpperCase()}`)

/** Clauses that look for a text in several fields, and those that a user types. */
const textOn = (
  fields: readonly FieldPath[],
  documents: readonly TestedDocument[],
  options: QueryOptions,
): fc.Arbitrary<Clause> => {
  const texts = fields.filter(isNamed)
  const some = texts.length > 0 ? texts : fields.filter(isText)
  if (some.length === 0) return fc.constant({ match_all: {} })
  const word = fc.constantFrom(...some).chain(field => {
    const values = drawn(field, documents)
    return fc.constantFrom(...(values.length > 0 ? values : ['transfer'])).map(value => String(value).slice(0, 60))
  })
  const words = fc.array(word, { minLength: 1, maxLength: 3 }).map(list => list.join(' '))
  const names = fc.subarray(
    some.map(({ path }) => path),
    { minLength: 1 },
  )
  const boosted = fc.tuple(names, fc.constantFrom('', '^2')).map(([list, boost]) => list.map(name => name + boost))
  const numbers = fields
    .filter(({ compare, kind }) => compare === 'long' && kind === 'quantity')
    .map(({ path }) => path)
  const number = fc.constantFrom(...(numbers.length > 0 ? numbers : ['blockNumber.num']))
  const textName = fc.constantFrom(...some.filter(({ es }) => es === 'text').map(({ path }) => path), undefined)
  const clause = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(some.length > 0 ? fc.constantFrom(...some) : fc.constant(some[0]!), word)
        .map(([{ path, kind }, it]) => `${path}:${kind === 'text' ? it.replace(SPECIAL, '\\$&') : JSON.stringify(it)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(number, fc.nat(30), fc.constantFrom('>', '>=', '<', '<='))
        .map(([name, n, op]) => `${name}:${op}${n}`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(number, fc.nat(30), fc.nat(60)).map(([name, low, high]) => `${name}:[${low} TO ${high}}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...some), word, fc.nat(8))
        .map(([{ path }, it, n]) => `${path}:${it.slice(0, n).replace(SPECIAL, '\\$&')}*`),
    },
    { weight: 1, arbitrary: fc.constantFrom(...some).map(({ path }) => `_exists_:${path}`) },
    {
      weight: 1,
      arbitrary: fc.tuple(word, fc.constantFrom('', '^3')).map(([it, boost]) => `${JSON.stringify(it)}${boost}`),
    },
  )
  const joined = fc
    .tuple(
      fc.array(clause, { minLength: 1, maxLength: 4 }),
      fc.array(fc.constantFrom(' ', ' AND ', ' OR ', ' && ', ' || ', ' +', ' -', ' NOT '), {
        minLength: 4,
        maxLength: 4,
      }),
      fc.boolean(),
    )
    .map(([list, joints, group]) => {
      const text = list.reduce((text, it, i) => (i === 0 ? it : `${text}${joints[i]}${it}`), '')
      return group ? `(${text})^2` : text
    })
  const kinds: fc.WeightedArbitrary<Clause>[] = [
    {
      weight: 2,
      arbitrary: fc
        .record({
          query: words,
          fields: boosted,
          type: fc.constantFrom('best_fields', 'most_fields', 'phrase', 'bool_prefix'),
          operator: fc.constantFrom('and', 'or'),
        })
        .map(({ operator, ...rest }) => ({ multi_match: rest.type === 'phrase' ? rest : { ...rest, operator } })),
    },
    {
      weight: 3,
      arbitrary: fc
        .record({ query: joined, fields: names, default_operator: fc.constantFrom('AND', 'OR') })
        .map(it => ({ query_string: it })),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({
          query: fc
            .tuple(
              fc.array(word, { minLength: 1, maxLength: 3 }),
              fc.constantFrom(' + ', ' | ', ' -', ' '),
              fc.constantFrom('', '*', texts.length > 0 ? '~1' : ''),
            )
            .map(([list, joint, end]) => list.map(it => it.replace(SIMPLE, '\\$&')).join(joint) + end),
          fields: names,
          default_operator: fc.constantFrom('and', 'or'),
        })
        .map(it => ({ simple_query_string: it })),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({
          name: textName,
          query: words,
          slop: fc.nat(3),
          how: fc.constantFrom('match_phrase', 'match_phrase_prefix'),
        })
        .map(({ name, query, slop, how }) =>
          name === undefined ? { match_none: {} } : { [how]: { [name]: { query, slop } } },
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(textName, words)
        .map(([name, it]) => (name === undefined ? { match_none: {} } : { match_bool_prefix: { [name]: it } })),
    },
  ]
  return options.asElasticsearch
    ? fc.oneof(...kinds)
    : fc.oneof(...kinds, { weight: 1, arbitrary: word.map(it => ({ query_string: { query: JSON.stringify(it) } })) })
}

const SPECIAL = /[-+=&|><!(){}[\]^"~*?:\\/ ]/g
const SIMPLE = /[-+|"*()~\\ ]/g
