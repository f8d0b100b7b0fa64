import { refuse } from '../lib/errors.ts'
import type { JsonMap, JsonValue } from './json.ts'
import { isJsonMap } from './json-node.ts'
import type { SourceShape } from './request.ts'

export type Parameters = readonly (readonly [name: string, value: string])[]

/** Merges URL parameters into the body of a search; they win. */
export const withParameters = (body: JsonValue, parameters: Parameters): JsonValue => {
  // Networks have forms of values by default, so most searches have these alone.
  if (!isJsonMap(body) || parameters.every(([name]) => name === 'args' || name === 'eth')) return body
  const given = new Map(parameters)
  const merged = new Map(body)
  for (const [name, value] of given) if (isParameter(name)) searchParameter(name).put?.(merged, value)
  putSource(merged, given)
  putQuery(merged, given)
  if (isSwitchedOn(given.get('rest_total_hits_as_int'))) checkAccurate(merged)
  return merged
}

type MergedBody = Map<string, JsonValue>

interface SearchParameter {
  doc: string
  /** Parameters without it are read together with others. */
  put?(body: MergedBody, value: string): void
}

const putText =
  (name: string) =>
  (body: MergedBody, value: string): void =>
    void body.set(name, value)
const putFlag =
  (name: string) =>
  (body: MergedBody, value: string): void =>
    void body.set(name, value === '' ? 'true' : value)
const putNames =
  (name: string) =>
  (body: MergedBody, value: string): void =>
    void body.set(name, splitParameter(value))

/** Parameters that say what a search answers. */
export const SEARCH_PARAMETERS = {
  q: { doc: 'A query in the syntax of `query_string`, instead of the query in the body.' },
  df: { doc: 'The field for words of `q` without a field.' },
  default_operator: { doc: 'How words of `q` are combined: `and` or `or`.' },
  analyze_wildcard: { doc: 'For `q`, as in `query_string`.' },
  analyzer: { doc: 'For `q`, as in `query_string`.' },
  lenient: { doc: 'For `q`, as in `query_string`.' },
  size: { doc: 'As in the body.', put: putText('size') },
  from: { doc: 'As in the body.', put: putText('from') },
  sort: { doc: 'Fields, each as `field` or `field:desc`; they come after the sort keys of the body.', put: putSort },
  _source: { doc: '`true`, `false`, or names to show.' },
  _source_includes: { doc: 'Names to show of `_source`.' },
  _source_excludes: { doc: 'Names to leave out of `_source`.' },
  // Their names before version 7.
  _source_include: { doc: 'The older name of `_source_includes`.' },
  _source_exclude: { doc: 'The older name of `_source_excludes`.' },
  docvalue_fields: { doc: 'As in the body.', put: putNames('docvalue_fields') },
  stored_fields: { doc: 'As in the body.', put: putNames('stored_fields') },
  track_total_hits: { doc: 'As in the body.', put: putTotal },
  rest_total_hits_as_int: { doc: 'The total is a number, as before version 7.' },
  track_scores: { doc: 'As in the body.', put: putFlag('track_scores') },
  version: { doc: 'As in the body.', put: putFlag('version') },
  seq_no_primary_term: { doc: 'As in the body.', put: putFlag('seq_no_primary_term') },
  explain: { doc: 'As in the body.', put: putFlag('explain') },
  args: {
    doc: '`flat` shows arguments with literal keys such as `"value.hex"`; `nested` is the default without `flat-args`.',
  },
  eth: { doc: 'Whether amounts in `_source` have `eth` beside `coin`. It is the default where `currency` is ETH.' },
  stats: { doc: 'As in the body.', put: putNames('stats') },
  timeout: { doc: 'As in the body.', put: putText('timeout') },
  terminate_after: { doc: 'As in the body.', put: putText('terminate_after') },
} satisfies Record<string, SearchParameter>

type ParameterName = keyof typeof SEARCH_PARAMETERS

const isParameter = (name: string): name is ParameterName => Object.hasOwn(SEARCH_PARAMETERS, name)
const searchParameter = (name: ParameterName): SearchParameter => SEARCH_PARAMETERS[name]

/** Comes behind the sort keys of the body, as in Elasticsearch. */
function putSort(body: MergedBody, value: string): void {
  const own = body.get('sort')
  const before: readonly JsonValue[] = own === undefined ? [] : Array.isArray(own) ? own : [own]
  body.set('sort', [...before, ...splitParameter(value).map(sortOfParameter)])
}

const sortOfParameter = (text: string): JsonValue => {
  const [, name, order] = /^(.*):([^:]*)$/s.exec(text) ?? []
  if (name === undefined || order === undefined) return text
  if (order === 'asc' || order === 'desc') return new Map([[name, order]])
  throw refuse('illegal_argument_exception', `The URL parameter [sort] has [${order}], and needs asc or desc.`)
}

function putTotal(body: MergedBody, value: string): void {
  const number = /^-?\d{1,15}$/.test(value) ? Number(value) : undefined
  // As in Elasticsearch, -1 means none.
  body.set('track_total_hits', number === -1 ? false : (number ?? (value === '' ? 'true' : value)))
}

const putSource = (body: MergedBody, given: ReadonlyMap<string, string>): void => {
  const source = given.get('_source')
  const flag = source === 'true' || source === 'false' ? source === 'true' : undefined
  const named = source === undefined || source === '' || flag !== undefined ? undefined : splitParameter(source)
  const includes = listParameter(given, '_source_includes', '_source_include') ?? named
  const excludes = listParameter(given, '_source_excludes', '_source_exclude')
  if (includes === undefined && excludes === undefined) {
    if (source !== undefined) body.set('_source', flag ?? true)
    return
  }
  body.set(
    '_source',
    flag === false
      ? false
      : new Map<string, JsonValue>([
          ['includes', includes ?? []],
          ['excludes', excludes ?? []],
        ]),
  )
}

/** Reads parameters as `_source` of a body. */
export const sourceOfParameters = (parameters: Parameters): JsonValue => {
  const body: MergedBody = new Map()
  putSource(body, new Map(parameters))
  return body.get('_source') ?? true
}

const OF_QUERY: readonly (readonly [parameter: string, option: string])[] = [
  ['df', 'default_field'],
  ['default_operator', 'default_operator'],
  ['analyze_wildcard', 'analyze_wildcard'],
  ['analyzer', 'analyzer'],
  ['lenient', 'lenient'],
]

const putQuery = (body: MergedBody, given: ReadonlyMap<string, string>): void => {
  const query = given.get('q')
  const options = OF_QUERY.filter(([parameter]) => given.has(parameter))
  if (query === undefined) {
    const [first] = options
    if (first === undefined) return
    throw refuse('illegal_argument_exception', `The URL parameter [${first[0]}] has no meaning without [q].`)
  }
  const clause: JsonMap = new Map<string, JsonValue>([
    ['query', query],
    ...options.map(([parameter, option]) => [option, given.get(parameter)!] as const),
  ])
  body.set('query', new Map([['query_string', clause]]))
}

const checkAccurate = (body: MergedBody): void => {
  const tracked = body.get('track_total_hits')
  if (typeof tracked !== 'number') return
  throw refuse(
    'illegal_argument_exception',
    `[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got ${tracked}`,
  )
}

const isSwitchedOn = (value: string | undefined): boolean => value === '' || value === 'true'

const listParameter = (given: ReadonlyMap<string, string>, ...names: string[]): string[] | undefined => {
  const value = names.map(name => given.get(name)).find(it => it !== undefined && it !== '')
  return value === undefined ? undefined : splitParameter(value)
}

const splitParameter = (value: string): string[] => value.split(',').filter(it => it !== '')

/** The forms of values that the parameters ask for. */
export const sourceShape = (parameters: Parameters): SourceShape => ({
  ...(choiceOfParameter(parameters, 'args', ['flat', 'nested']) === 'flat' && { flatArgs: true as const }),
  ...(isSwitchedOn(choiceOfParameter(parameters, 'eth', ['true', 'false', ''])) && { eth: true as const }),
})

/** The last value of a parameter. */
const choiceOfParameter = (parameters: Parameters, name: string, known: readonly string[]): string | undefined => {
  const value = parameters.findLast(([given]) => given === name)?.[1]
  if (value === undefined || known.includes(value)) return value
  const wanted = known.filter(it => it !== '').join(' or ')
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [${name}] has [${value.slice(0, 50)}], and needs ${wanted}.`,
  )
}
