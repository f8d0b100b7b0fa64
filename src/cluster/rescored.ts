import { combined } from '../engine/query/score/rescored.ts'
import { comparePlaces } from '../engine/query/sort-places.ts'
import type { Rescore, SearchRequest } from '../query/request.ts'
import type { Asker, AskOptions } from './asker.ts'
import type { ClusterHit } from './hits/found.ts'
import type { Visible } from './visible.ts'

/** The best hits are scored once more here: the cluster would do so in each shard by itself. */
export const rescoring = (asker: Asker): Asker => ({
  ...asker,
  async page({ rescores = [], ...request }, options, visible, paging) {
    const { from, size } = request
    if (rescores.length === 0 || size === 0 || paging?.size === 0) return asker.page(request, options, visible, paging)
    const most = Math.max(from + size, ...rescores.map(({ window }) => window))
    const page = await asker.page({ ...request, from: 0, size: most }, options, visible, paging)
    const hits = page.hits.map(hit => Object.assign(hit, { score: Math.fround(hit.score ?? 1) }))
    for (const rescore of rescores) {
      const anew = await scoresOf(rescore, hits.slice(0, rescore.window), request, { asker, options, visible })
      for (const hit of hits) hit.score = combined(rescore, hit.score, anew.get(hit.position))
      hits.sort((a, b) => b.score - a.score || comparePlaces(a, b, true))
    }
    const [best] = hits
    return { ...page, hits: hits.slice(from, from + size), sortOf: undefined, ...(best && { maxScore: best.score }) }
  },
})

/** Of those hits that match the second query, by their positions: one entity is searched. */
const scoresOf = async (
  { query }: Rescore,
  hits: readonly ClusterHit[],
  { within }: SearchRequest,
  { asker, options, visible }: { asker: Asker; options: AskOptions; visible: Visible },
): Promise<ReadonlyMap<number, number>> => {
  const kind = hits[0]?.kind
  const scored = kind && query[kind]
  if (!scored) return new Map()
  const { node, score } = scored
  const parts = [{ kind, query: node, ...(score && { score }) }]
  const all = { parts, sort: [], from: 0, size: hits.length, source: false, trackTotal: false, within }
  const found = await asker.page(all, options, visible, { at: hits.map(({ position }) => position) })
  return new Map(found.hits.map(hit => [hit.position, score ? (hit.score ?? 1) : 0]))
}
