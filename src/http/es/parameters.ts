import { nearest } from '../../lib/edit-distance.ts'
import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { cut } from '../../query/json.ts'
import type { Parameters } from '../../query/parameters.ts'
import type { Context } from '../context.ts'
import type { Call } from './endpoint.ts'

export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')

/** The URL parameters of a request, in their order. */
export const parametersOf = (c: Context): Parameters => {
  const start = c.req.url.indexOf('?')
  return start < 0 ? [] : [...new URLSearchParams(c.req.url.slice(start))]
}

/** URL parameters that every endpoint takes. */
export const EVERYWHERE = ['access_token', 'error_trace', 'filter_path', 'human', 'pretty'] as const

/** Those of all that take names of indexes. */
export const OF_INDEXES = ['allow_no_indices', 'expand_wildcards', 'ignore_throttled', 'ignore_unavailable'] as const

/** Those that choose a shard or a copy of it, or say how shards are asked: there is one, and one copy. */
export const OF_SHARDS = [
  'allow_partial_search_results',
  'batched_reduce_size',
  'ccs_minimize_roundtrips',
  'max_concurrent_shard_requests',
  'pre_filter_shard_size',
  'preference',
  'request_cache',
  'routing',
  'search_type',
] as const

/** Those that choose what of a document is shown. */
export const SOURCE_PARAMETERS = [
  '_source',
  '_source_includes',
  '_source_excludes',
  '_source_include',
  '_source_exclude',
] as const

/** Those of what is told of the cluster, which has one node. */
export const OF_CLUSTER = ['cluster_manager_timeout', 'local', 'master_timeout', 'timeout'] as const

/** Refuses what would otherwise be left out of account without a word; `own` are those that the endpoint itself reads. */
export const checkParameters = (c: Context, pairs: Parameters, own: readonly string[] = []): void => {
  const known = [...EVERYWHERE, ...own]
  const unknown = [...new Set(pairs.map(([name]) => name))].filter(name => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.slice(0, 10).map(name => {
    const best = nearest(name, known)
    return `[${name.slice(0, 80)}]${best === undefined ? '' : ` -> did you mean [${best}]?`}`
  })
  throw refuse(
    'illegal_argument_exception',
    `request [${c.req.path}] contains unrecognized parameter${unknown.length > 1 ? 's' : ''}: ${named.join(', ')}`,
  )
}

/** Whether a parameter is on: also where it stands without a value. */
export const isOn = ({ parameters }: Pick<Call, 'parameters'>, name: string): boolean => {
  const value = parameters.get(name)
  if (value === undefined || value === 'false') return false
  if (value === '' || value === 'true') return true
  throw refuse(
    'illegal_argument_exception',
    `Failed to parse value [${value.slice(0, 50)}] of [${name}] as only [true] or [false] are allowed.`,
  )
}

/** What of an answer is wanted. */
export const filterPathOf = (parameters: ReadonlyMap<string, string>, limits: Limits): string[] => {
  const patterns = [...new Set(namesIn(parameters.get('filter_path') ?? ''))]
  // Each name is looked for in each object of the answer.
  if (patterns.reduce((sum, pattern) => sum + pattern.split('.').length, 0) > limits.filterPath)
    throw overLimit('filterPath', limits)
  const long = patterns.find(pattern => pattern.length > limits.nameLength)
  if (long !== undefined) throw overLimit('nameLength', limits, `[${cut(long)}] in the URL parameter [filter_path]`)
  return patterns
}

const MOST_ANSWERS = 100

/** How many answers the URL asks for: 10 by default. */
export const readSize = ({ parameters }: Pick<Call, 'parameters'>): number => {
  const text = parameters.get('size') ?? '10'
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MOST_ANSWERS) return size
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [size] is a number from 1 to ${MOST_ANSWERS}, and not [${text.slice(0, 50)}].`,
  )
}
