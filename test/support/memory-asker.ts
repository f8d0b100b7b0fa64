import { ClusterHit, clusterDocument } from '../../src/cluster/hits/cluster-hit.ts'
import { scanList } from '../../src/cluster/hits/scan.ts'
import { splitSource } from '../../src/cluster/indices/names.ts'
import type { QueryClient } from '../../src/cluster/query-client.ts'
import { asBigint } from '../../src/documents/show.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import type { MemoryCluster } from './memory-cluster.ts'

/** Searches a cluster in memory in the order of the chain, by asking each of its documents. */
export const memoryAsker = (memory: Pick<MemoryCluster, 'documents'>): Pick<QueryClient, 'page'> => ({
  async page(request, _, { hidden }, { after, at } = {}) {
    const tests = new Map(request.parts.map(({ kind, query }) => [kind, compilePredicate(kind, query)]))
    const sign = request.sort[0]?.order === 'desc' ? -1 : 1
    const order = (a: Place, b: Place): number => sign * (a[0] - b[0] || a[1] - b[1])
    const isHidden = ({ batch, position }: ClusterHit) =>
      hidden.some(
        ({ batches, above, below = Number.POSITIVE_INFINITY }) =>
          batch >= batches.from && batch <= batches.to && blockOf(position) > above && blockOf(position) <= below,
      )
    const found: ClusterHit[] = []
    for (const [key, source] of memory.documents()) {
      const { meta } = splitSource(source)
      if (!tests.has(KINDS[meta.kind]!)) continue
      const sort = JSON.stringify([meta.position, meta.kind])
      const [scanned] = scanList(Buffer.from(`[{"_id":"${key.split(' ')[1]}","_source":${source},"sort":${sort}}]`))
      const hit = new ClusterHit(scanned!, 1)
      const block = blockOf(hit.position)
      if (isHidden(hit) || (at && !at.includes(hit.position))) continue
      if (request.within && !request.within.some(([from, to]) => block >= from && block <= to)) continue
      if (after !== undefined && order(placeOf(sort), placeOf(after)) <= 0) continue
      if (tests.get(hit.kind)!(clusterDocument(hit, asBigint))) found.push(hit)
    }
    found.sort((a, b) => order(placeOf(a.sort!), placeOf(b.sort!)))
    const hits = found.slice(request.from, request.from + request.size)
    return { total: found.length, hits, sort: request.sort, aggregations: undefined, uniform: 1 }
  },
})

type Place = [position: number, kind: number]
const placeOf = (sort: string) => JSON.parse(sort) as Place
