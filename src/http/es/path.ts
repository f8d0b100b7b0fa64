import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import type { Parameters } from '../../query/parameters.ts'
import type { SearchService } from '../../search/service.ts'
import { findTarget, type Target } from '../../search/target.ts'
import type { Context } from '../context.ts'

/** What the path of `/:technology/:blockchain/:network/es/:entity/…` is about. */
export const targetOf = (c: Context, service: Pick<SearchService, 'networks'>): Target => {
  const { technology, blockchain, network: name, entity } = c.req.param() as Record<string, string>
  const network = `${technology}/${blockchain}/${name}`
  return findTarget(network, entity!, service.networks(network))
}

/** URL parameters that clients send and that change nothing here. */
const IGNORED = [
  'access_token',
  'allow_no_indices',
  'allow_partial_search_results',
  'batched_reduce_size',
  'ccs_minimize_roundtrips',
  'error_trace',
  'expand_wildcards',
  'filter_path',
  'human',
  'ignore_throttled',
  'ignore_unavailable',
  'max_concurrent_shard_requests',
  'pre_filter_shard_size',
  'preference',
  'pretty',
  'realtime',
  'refresh',
  'request_cache',
  'routing',
  'search_type',
  'type',
  'typed_keys',
]

/** The URL parameters of a request, in their order. */
export const parametersOf = (c: Context): Parameters => {
  const start = c.req.url.indexOf('?')
  return start < 0 ? [] : [...new URLSearchParams(c.req.url.slice(start))]
}

/** Refuses what would otherwise be left out of account without a word; `own` are those that the endpoint itself reads. */
export const checkParameters = (c: Context, own: readonly string[] = []): void => {
  for (const [name] of parametersOf(c)) {
    if (IGNORED.includes(name) || own.includes(name)) continue
    throw refuse(
      'illegal_argument_exception',
      `The URL parameter [${name}] is not known.${didYouMean(name, [...own, ...IGNORED])}`,
    )
  }
}

const MOST = 100

/** How many answers the URL asks for: 10 by default. */
export const readSize = (c: Context): number => {
  const text = c.req.query('size') ?? '10'
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= MOST) return size
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [size] is a number from 1 to ${MOST}, and not [${text.slice(0, 50)}].`,
  )
}
