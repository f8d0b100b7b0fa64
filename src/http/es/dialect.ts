import type { Dialect } from '../../search/dialect.ts'
import { type Context, header } from '../context.ts'
import type { Call } from './endpoint.ts'
import { isOn } from './parameters.ts'

/** In which dialect a search is answered: `…/search/` in its own, all else as Elasticsearch 7 does, but for older clients. */
export const dialectOf = (call: Call): Dialect => ({
  totals: isNative(call.c) || isOn(call, 'rest_total_hits_as_int') || isOld(call.c) ? 'integer' : 'object',
  typedKeys: isOn(call, 'typed_keys'),
  ...(call.filterPath.length > 0 && { filterPath: call.filterPath }),
})

const isNative = (c: Context): boolean => c.req.path.endsWith('/search')

/**
 * Clients of Elasticsearch 6, whose users compare the total with a number. npm's `elasticsearch` tells no name; Python's tells its
 * version.
 */
const isOld = (c: Context): boolean => {
  const client = header(c, 'user-agent')
  return client === undefined || client === '' || /^elasticsearch-py\/[0-6]\./.test(client)
}
