import { createAsker } from '../../cluster/asker.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { ClusterOptions } from '../../cluster/options.ts'
import { openPages } from '../../cluster/pages.ts'
import { createSettling } from '../../cluster/settled.ts'
import { EMPTIED_KINDS } from '../../engine/returning.ts'
import type { Shelf } from '../../engine/shelf.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'

/** A document as the cluster has it. */
export interface Fetched {
  kind: Kind
  id: string
  position: number
  /** `_source` as it was shown before it was shipped. */
  source: string
}

/** Documents of some blocks in the order of the chain. */
export type Fetch = (run: Range) => Promise<Fetched[]>

/** Time for one request. */
const MOST_MS = 60_000

export const createFetch = (
  cluster: Cluster,
  naming: ClusterOptions,
  { network, visible, signal }: { network: string; visible(): Shelf; signal: AbortSignal },
): Fetch => {
  const asker = createAsker({ cluster, naming, network })
  const settle = createSettling({ visible })
  const body = JSON.stringify({ sort: [{ _doc: 'asc' }], size: -1 })
  return async ({ from, to }) => {
    const request = { ...parseSearch(body, EMPTIED_KINDS, Date.now()), within: [[from, to] as const] }
    const options = () => ({ deadline: performance.now() + MOST_MS, signal })
    const pages = await openPages(request, { asker, options, visible, settle })
    const found: Fetched[] = []
    try {
      for (;;) {
        await pages.ready()
        const page = pages.take()
        if (!page) return found
        for (const { kind, id, position, source } of page.hits) found.push({ kind, id, position, source })
      }
    } finally {
      pages.close()
    }
  }
}
