import { lazy } from '../../src/lib/caches.ts'
import { type FieldPath, KINDS, type Kind, lookup, nestedPaths, queryPaths } from '../../src/mapping/index.ts'
import { judgeField } from './field.ts'
import { isRecord, type Value } from './json.ts'
import {
  fieldTest,
  IGNORED,
  longOrShort,
  oneField,
  only,
  type Reader,
  type Reading,
  Refusal,
  refuse,
  type Shown,
  sees,
  stepsOf,
  type Test,
  textOf,
  valuesAt,
} from './reading.ts'

/**
 * What must come of a query on one kind, by a reading of its own that shares nothing with the program's but the names and types of the
 * fields: the documents that match, that the query must be refused, or that this reading does not know.
 */
export type Verdict = { ids: Set<string> } | { refuse: string } | { unknown: string }

export const judge = (
  query: Value | undefined,
  kind: Kind,
  kinds: readonly Kind[],
  documents: Record<Kind, readonly Shown[]>,
): Verdict => {
  const doubts: string[] = []
  const reading: Reading = {
    kind,
    kinds,
    documents,
    unknown(why) {
      doubts.push(why)
      return () => false
    },
  }
  try {
    const empty = query === undefined || (isRecord(query) && Object.keys(query).length === 0)
    const test = empty ? () => true : clause(query, undefined, reading)
    if (doubts.length > 0) return { unknown: doubts[0]! }
    const found = documents[kind].filter(document => test(document._source, document))
    return doubts.length > 0 ? { unknown: doubts[0]! } : { ids: new Set(found.map(({ _id }) => _id)) }
  } catch (error) {
    if (error instanceof Refusal) return { refuse: error.message }
    throw error
  }
}

const clause: Reader = (body, list, reading) => {
  if (!isRecord(body)) return refuse('a clause is no object')
  const names = Object.keys(body)
  if (names.length !== 1) return refuse(`a clause has ${names.length} names`)
  const name = names[0]!
  const read = CLAUSES.get(name)
  if (read !== undefined) return read(body[name]!, list, reading)
  return OTHERS.has(name) ? reading.unknown(name) : refuse(`no clause ${name}`)
}

const listOf = (value: Value | undefined): Value[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]

const bool: Reader = (body, list, reading) => {
  const keys = only(body, ['filter', 'must', 'must_not', 'should', 'minimum_should_match', 'adjust_pure_negative'])
  const tests = (value: Value | undefined) => listOf(value).map(it => clause(it, list, reading))
  const required = [...tests(keys.must), ...tests(keys.filter)]
  const forbidden = tests(keys.must_not)
  const optional = tests(keys.should)
  if (keys.adjust_pure_negative !== undefined) return reading.unknown('adjust_pure_negative')
  let least = required.length === 0 && optional.length > 0 ? 1 : 0
  if (keys.minimum_should_match !== undefined && keys.minimum_should_match !== null) {
    const text = textOf(keys.minimum_should_match)
    if (!/\d/.test(text)) return refuse('a minimum without a digit')
    if (!/^-?\d{1,6}$/.test(text) || optional.length === 0) return reading.unknown('minimum_should_match')
    const wanted = Number(text) < 0 ? optional.length + Number(text) : Number(text)
    least = Math.max(least, wanted)
  }
  return (inside, document) =>
    required.every(test => test(inside, document)) &&
    !forbidden.some(test => test(inside, document)) &&
    optional.filter(test => test(inside, document)).length >= least
}

const anyOf = (name: string, values: readonly Value[], list: string | undefined, reading: Reading): Test => {
  if (name === '_id' || name === '_type') {
    if (list !== undefined && name === '_id' && values.length > 0) return refuse('an id inside of a list')
    const texts = new Set(values.map(value => idOf(textOf(value))))
    return name === '_id' ? (_, { _id }) => texts.has(_id) : () => values.some(it => textOf(it) === reading.kind)
  }
  return fieldTest(name, list, reading, field => {
    const tests = values.map(value => judgeField(field, reading).equals(value))
    return found => tests.some(test => test(found))
  })
}

const termsSet: Reader = (body, list, reading) => {
  const [name, said] = oneField(body)
  const keys = only(said, ['terms', 'minimum_should_match_field', 'minimum_should_match_script'])
  const { terms, minimum_should_match_field: minimum } = keys
  if (!Array.isArray(terms) || typeof minimum !== 'string' || name.startsWith('_')) return reading.unknown('terms_set')
  const count = lookup(reading.kind, minimum)
  const isOne = count?.compare === 'long' && count.kind !== 'integers' && sees(count, list)
  if (!isOne || keys.minimum_should_match_script !== undefined) return reading.unknown('the number of terms_set')
  const tests = terms.map(value => anyOf(name, [value], list, reading))
  return (inside, document) => {
    const [wanted] = valuesAt(inside, stepsOf(count, list))
    return tests.filter(test => test(inside, document)).length >= Math.max(1, Number(wanted))
  }
}

const idOf = (text: string) => text.replace(/^0x[0-9a-f]+/i, hash => hash.toLowerCase())

const exists: Reader = (body, list, reading) => {
  const { field } = only(body, ['field'])
  if (typeof field !== 'string') return refuse('no field')
  if (field === '_id' || field === '_type') return list === undefined ? () => true : refuse('an id inside of a list')
  const below = (kind: Kind) => {
    const own = lookup(kind, field)
    return own ? [own] : [...queryPaths(kind).values()].filter(({ path }) => path.startsWith(`${field}.`))
  }
  if (reading.kinds.every(kind => below(kind).length === 0)) return refuse(`no field ${field}`)
  const paths = below(reading.kind).filter(path => sees(path, list))
  if (paths.some(path => path.compare === 'integer')) return reading.unknown('digits, which no document shows')
  return inside =>
    paths.some(path =>
      valuesAt(inside, stepsOf(path, list)).some(it => String(it).length <= (path.ignoreAbove ?? Infinity)),
    )
}

const range: Reader = (body, list, reading) => {
  const [name, said] = oneField(body)
  const older = ['from', 'to', 'include_lower', 'include_upper', 'relation']
  const keys = only(said, ['gt', 'gte', 'lt', 'lte', 'format', 'time_zone', ...older])
  if (older.some(name => keys[name] !== undefined)) return reading.unknown('older names of bounds')
  if (name === '_id' || name === '_type') return refuse(`a range of ${name}`)
  return fieldTest(name, list, reading, field => {
    if ((keys.format ?? keys.time_zone) !== undefined && field.compare !== 'instant') return refuse('no date')
    return judgeField(field, reading).within(keys)
  })
}

const nested: Reader = (body, list, reading) => {
  const { path, query, ...more } = only(body, [...['path', 'query', 'score_mode', 'ignore_unmapped', 'inner_hits']])
  if (more.inner_hits !== undefined) return reading.unknown('inner_hits')
  if (typeof path !== 'string' || query === undefined) return refuse('no path or no query')
  if (list !== undefined) return refuse('a list inside of a list')
  if (more.ignore_unmapped !== undefined) return reading.unknown('ignore_unmapped')
  if (!reading.kinds.some(kind => nestedPaths(kind).includes(path))) return refuse(`no list ${path}`)
  const test = clause(query, path, reading)
  if (!nestedPaths(reading.kind).includes(path)) return () => false
  return (source, document) => {
    const elements = source[path]
    return Array.isArray(elements) && elements.some(element => test(element, document))
  }
}

const prefix: Reader = (body, list, reading) => {
  const [name, said] = oneField(body)
  const value = longOrShort(said, 'value', ['case_insensitive', 'rewrite'], reading)
  if (name === '_id' || name === '_type') return refuse(`a prefix of ${name}`)
  return fieldTest(name, list, reading, field => {
    if (field.es !== 'keyword' && field.es !== 'text') return refuse('a prefix of no text')
    const lower = field.compare === 'hex' || field.kind === 'address'
    const start = lower ? textOf(value).toLowerCase() : textOf(value)
    return found => found.some(it => wordOf(field, it, reading)?.startsWith(start))
  })
}

/** A text as its index holds it; undefined where it is too long for that. */
const wordOf = (field: FieldPath, found: unknown, reading: Reading): string | undefined => {
  const text = String(found)
  if (field.compare === 'token' && !/^[a-z0-9]+$/i.test(text)) reading.unknown('a text of several words')
  if (text.length > (field.ignoreAbove ?? 255)) return undefined
  return field.compare === 'exact' ? text : text.toLowerCase()
}

const MATCH_OPTIONS =
  'operator minimum_should_match fuzziness prefix_length fuzzy_transpositions analyzer lenient zero_terms_query max_expansions fuzzy_rewrite auto_generate_synonyms_phrase_query cutoff_frequency'.split(
    ' ',
  )

const match: Reader = (body, list, reading) => {
  const [name, said] = oneField(body)
  // With options, what does not fit may be left out.
  if (isRecord(said) && MATCH_OPTIONS.some(option => said[option] !== undefined)) return reading.unknown('options')
  const value = longOrShort(said, 'query', MATCH_OPTIONS, reading)
  const field = lookup(reading.kind, name)
  if (field?.compare !== 'token') return anyOf(name, [value], list, reading)
  const text = textOf(value)
  return /^[a-z0-9]+$/i.test(text)
    ? anyOf(name, [text.toLowerCase()], list, reading)
    : reading.unknown('a match of several words')
}

const kindOf = (value: Value | undefined): Kind => KINDS.find(kind => kind === value) ?? refuse('no entity')

/** Documents of another kind that pass the inner query. */
const passing = (kind: Kind, query: Value | undefined, reading: Reading): (() => Shown[]) => {
  const test = clause(query ?? refuse('no query'), undefined, { ...reading, kind, kinds: [kind] })
  return lazy(() => reading.documents[kind].filter(document => test(document._source, document)))
}

const JOIN_KEYS = ['type', 'query', 'score_mode', 'ignore_unmapped', 'inner_hits']

const hasChild: Reader = (body, list, reading) => {
  const keys = only(body, [...JOIN_KEYS, 'min_children', 'max_children'])
  if (keys.inner_hits !== undefined) return reading.unknown('inner_hits')
  if (list !== undefined) return refuse('a child of an element')
  if (keys.min_children !== undefined || keys.max_children !== undefined || keys.ignore_unmapped !== undefined)
    return reading.unknown('options of has_child')
  const children = passing(kindOf(keys.type), keys.query, reading)
  const parents = lazy(() => new Set(children().map(({ _parent }) => _parent)))
  return (_, { _id }) => parents().has(_id)
}

const hasParent: Reader = (body, list, reading) => {
  const keys = only(body, [...JOIN_KEYS, 'parent_type', 'score'])
  if (keys.inner_hits !== undefined) return reading.unknown('inner_hits')
  if (list !== undefined) return refuse('a parent of an element')
  if (keys.ignore_unmapped !== undefined || keys.score !== undefined) return reading.unknown('options of has_parent')
  if (keys.parent_type !== undefined && keys.type !== undefined) return refuse('two types')
  const parents = passing(kindOf(keys.parent_type ?? keys.type), keys.query, reading)
  const ids = lazy(() => new Set(parents().map(({ _id }) => _id)))
  return (_, { _parent }) => _parent !== undefined && ids().has(_parent)
}

const CLAUSES = new Map<string, Reader>([
  ['prefix', prefix],
  ['match', match],
  ['has_child', hasChild],
  ['has_parent', hasParent],
  ['bool', bool],
  ['exists', exists],
  ['range', range],
  ['nested', nested],
  [
    'term',
    (body, list, reading) => {
      const [name, said] = oneField(body)
      return anyOf(name, [longOrShort(said, 'value', ['case_insensitive'], reading)], list, reading)
    },
  ],
  [
    'terms',
    (body, list, reading) => {
      if (!isRecord(body)) return refuse('no object with a field')
      const [name, said] = oneField(Object.fromEntries(Object.entries(body).filter(([it]) => !IGNORED.includes(it))))
      return Array.isArray(said) ? anyOf(name, said, list, reading) : refuse('no list of values')
    },
  ],
  ['terms_set', termsSet],
  [
    'ids',
    (body, list, reading) => {
      const { values, type } = only(body, ['values', 'type'])
      if (values === undefined || list !== undefined) return refuse('no values, or inside of a list')
      const ids = new Set(listOf(values).map(value => idOf(textOf(value))))
      const types = listOf(type)
      if (types.some(it => typeof it !== 'string')) return refuse('a type that is no text')
      const here = types.length === 0 || types.includes(reading.kind)
      return (_, { _id }) => here && ids.has(_id)
    },
  ],
  [
    'match_all',
    body => {
      only(body, [])
      return () => true
    },
  ],
  [
    'match_none',
    body => {
      only(body, [])
      return () => false
    },
  ],
  [
    'constant_score',
    (body, list, reading) => clause(only(body, ['filter']).filter ?? refuse('no filter'), list, reading),
  ],
  [
    'dis_max',
    (body, list, reading) => {
      const tests = listOf(only(body, ['queries', 'tie_breaker']).queries).map(it => clause(it, list, reading))
      if (tests.length === 0) return refuse('no queries')
      return (inside, document) => tests.some(test => test(inside, document))
    },
  ],
  [
    'type',
    (body, _, reading) => {
      const { value } = only(body, ['value'])
      const here = textOf(value ?? refuse('no value')) === reading.kind
      return () => here
    },
  ],
])

/** Clauses that this reading does not know. */
const OTHERS = new Set(
  'parent_id compare boosting query_string simple_query_string multi_match match_phrase match_phrase_prefix match_bool_prefix wildcard regexp fuzzy'.split(
    ' ',
  ),
)
