import {
  type ClusterOptions,
  type ClusterRequest,
  connect,
  DEFAULT_CLUSTER,
} from '../../../src/cluster/connection/cluster.ts'
import { createIndices } from '../../../src/cluster/indices/indices.ts'
import { aliasOf, baseOf } from '../../../src/cluster/indices/names.ts'
import { silent } from '../../../src/lib/log.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { cpuSecondsOf } from '../beside/opensearch.ts'

/** Indices of a network in a cluster, under names of their own. */
export type Target = ReturnType<typeof openTarget>

export interface Settled {
  documents: number
  bytes: number
}

export const openTarget = (url: string, network: string, prefix: string) => {
  const naming: ClusterOptions = { ...DEFAULT_CLUSTER, urls: [url], replicas: 0, prefix }
  const cluster = connect(naming)
  const base = baseOf(naming, network)
  const ask = async <T>(request: ClusterRequest): Promise<T> => {
    const { status, text } = await cluster.ask({ timeoutMs: PATIENCE_MS, ...request })
    if (status >= 300) throw new Error(`${request.method} ${request.path} answered ${status}: ${text.slice(0, 500)}`)
    return JSON.parse(text) as T
  }
  const settledOf = async (kind: Kind): Promise<Settled> => {
    const alias = aliasOf(naming, network, kind)
    const { count } = await ask<{ count: number }>({ method: 'GET', path: `/${alias}/_count` })
    // What _stats says of the store is up to ten seconds old.
    const segments = await ask<{ size: string }[]>({
      ...{ method: 'GET', path: `/_cat/segments/${alias}` },
      query: { format: 'json', bytes: 'b', h: 'size' },
    })
    return { documents: count, bytes: segments.reduce((sum, { size }) => sum + Number(size), 0) }
  }
  return {
    ...{ naming, network, cluster, ask },
    flags: [
      ...['--store', 'opensearch', '--opensearch-url', url, '--opensearch-prefix', prefix],
      ...['--opensearch-replicas', '0'],
    ],
    /** Creates the indices as our server does. */
    async prepare(blocks: readonly number[]) {
      const { prepare, ensure } = createIndices(cluster, naming, network, silent)
      await prepare()
      for (const block of blocks) await ensure(block)
    },
    /** Merges each index into one segment; bytes and documents of each kind. */
    async settle() {
      await ask({ method: 'POST', path: `/${base}-*/_forcemerge`, query: { max_num_segments: 1 } })
      await ask({ method: 'POST', path: `/${base}-*/_flush` })
      await ask({ method: 'POST', path: `/${base}-*/_refresh` })
      const settled: Partial<Record<Kind, Settled>> = {}
      for (const kind of KINDS) settled[kind] = await settledOf(kind)
      return settled as Record<Kind, Settled>
    },
    cpuSeconds: () => cpuSecondsOf(path => ask({ method: 'GET', path })),
    async remove() {
      const found = await ask<Record<string, object>>({
        method: 'GET',
        path: `/${base}-*`,
        query: { expand_wildcards: 'all' },
      })
      for (const index of Object.keys(found)) await ask({ method: 'DELETE', path: `/${index}` })
      for (const kind of KINDS)
        await cluster.ask({ method: 'DELETE', path: `/_index_template/${aliasOf(naming, network, kind)}` })
    },
    close: cluster.close,
  }
}

/** A merge into one segment is answered when it is done. */
const PATIENCE_MS = 1_800_000
