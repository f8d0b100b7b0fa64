import type { Dialect } from '../../search/dialect.ts'
import { header } from '../context.ts'
import type { Call } from './endpoint.ts'
import { isOn } from './parameters.ts'

/** In which dialect a search is answered: `…/search/` in its own, all else as Elasticsearch 7 does, but for older clients. */
export const dialectOf = (call: Call): Dialect => ({
  totals: isOn(call, 'rest_total_hits_as_int') ? 'integer' : totalsFor(call.c.req.path, header(call.c, 'user-agent')),
  typedKeys: isOn(call, 'typed_keys'),
  ...(call.filterPath.length > 0 && { filterPath: call.filterPath }),
})

/** How totals are written where the URL does not say it: by its path, and by the client that asks. */
export const totalsFor = (path: string, client: string | undefined): Dialect['totals'] =>
  /\/search\/?$/.test(path) || isOld(client) ? 'integer' : 'object'

/**
 * Clients of Elasticsearch 6, whose users compare the total with a number. npm's `elasticsearch` tells no name; Python's tells its
 * version.
 */
const isOld = (client: string | undefined): boolean =>
  client === undefined || client === '' || /^elasticsearch-py\/[0-6]\./.test(client)
