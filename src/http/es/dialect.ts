import { isTrue } from '../../query/parameters.ts'
import type { Dialect } from '../../search/dialect.ts'
import { type Context, header } from '../context.ts'

/** In which dialect a search is answered: `…/search/` in its own, all else as Elasticsearch 7 does, but for older clients. */
export const dialectOf = (c: Context, parameters: ReadonlyMap<string, string>): Dialect => ({
  totals: isNative(c) || isTrue(parameters.get('rest_total_hits_as_int')) || isOld(c) ? 'integer' : 'object',
  typedKeys: isTrue(parameters.get('typed_keys')),
})

const isNative = (c: Context): boolean => /[^_]search\/*$/.test(c.req.path)

/**
 * Clients of Elasticsearch 6, whose users compare the total with a number. npm's `elasticsearch` tells no name; Python's tells its
 * version.
 */
const isOld = (c: Context): boolean => {
  const client = header(c, 'user-agent')
  return client === undefined || client === '' || /^elasticsearch-py\/[0-6]\./.test(client)
}
