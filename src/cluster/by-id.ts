import type { Kind } from '../mapping/index.ts'
import { ids } from '../query/simplify.ts'
import type { Asker, AskOptions } from './asker.ts'
import type { ClusterHit } from './hits/found.ts'
import type { Visible } from './visible.ts'

/** Documents of one kind by their ids. Letter case does not count. */
export type ById = ReadonlyMap<string, ClusterHit>

/** Ids of one request. */
const TOGETHER = 1_000

export const documentsById = async (
  kind: Kind,
  wanted: readonly string[],
  { asker, options, visible }: { asker: Asker; options: AskOptions; visible: Visible },
): Promise<ById> => {
  const found = new Map<string, ClusterHit>()
  const all = [...new Set(wanted.map(id => id.toLowerCase()))].filter(id => id !== '')
  for (let at = 0; at < all.length; at += TOGETHER) {
    const some = all.slice(at, at + TOGETHER)
    const before = found.size
    const request = {
      ...{ parts: [{ kind, query: ids(some) }], sort: [], from: 0, source: true, trackTotal: false },
      size: some.length,
    }
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { hits } = await asker.page(request, options, visible, { after })
      // The newest come first: of what was created several times the newest counts.
      for (const hit of hits) if (!found.has(hit.id)) found.set(hit.id, hit)
      isLast = hits.length < some.length || found.size - before === some.length
      after = hits.at(-1)?.sort
    }
  }
  return found
}
