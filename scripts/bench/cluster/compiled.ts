import type { ClusterRequest } from '../../../src/cluster/connection/cluster.ts'
import { type ClusterPlace, createClusterStores } from '../../../src/cluster/stores.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool } from '../../../src/search/pool.ts'
import { NO_ACCOUNT } from '../../../src/search/service.ts'
import { requestBytes } from '../connection.ts'
import type { Request } from '../queries.ts'
import type { Target } from './target.ts'

/** What our server asks the cluster, for each of some requests of ours. */
export interface Compiled {
  /** The bytes that ask the cluster directly: white space behind the body stays. */
  bytes(request: Request): Buffer
}

/** Has our search answer each request once over a connection that notes what goes through it. `store` is the network's file. */
export const compileAll = async (store: string, target: Target, requests: readonly Request[]): Promise<Compiled> => {
  const { cluster, naming, network } = target
  let seen: ClusterRequest[] = []
  const noting = {
    ...cluster,
    ask(request: ClusterRequest) {
      // What looks after indices is none.
      if (request.method === 'POST') seen.push(request)
      return cluster.ask(request)
    },
  }
  const place: ClusterPlace = { cluster: noting, naming, shelf: db => createShippedReader(db).visible }
  const pool = createPool({
    stores: () => new Map([[network, store]]),
    elsewhere: createClusterStores(() => place),
    ...{ threads: 1, deadlineMs: DEADLINE_MS, limits: DEFAULT_LIMITS },
  })
  const asked = new Map<string, ClusterRequest>()
  const { signal } = new AbortController()
  try {
    for (const request of requests) {
      // What is asked again may be answered without the cluster.
      if (asked.has(keyOf(request))) continue
      seen = []
      const { entities, body } = request
      const { status } = await pool.search({
        ...{ network, entities, account: NO_ACCOUNT, signal },
        body: body === undefined ? undefined : Buffer.from(body),
      })
      if (status !== 200) throw new Error(`${request.label} was answered ${status}`)
      // What is looked up first is no part of the query.
      asked.set(keyOf(request), seen.at(-1)!)
    }
  } finally {
    await pool.close()
  }
  return {
    bytes(request) {
      const { path, query = {}, body } = asked.get(keyOf(request))!
      const parameters = new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
      )
      const space = request.body?.slice(request.body.trimEnd().length) ?? ''
      return requestBytes(naming.urls[0]!, {
        ...{ method: 'POST', path: `${path}?${parameters}` },
        body: `${typeof body === 'string' ? body : JSON.stringify(body)}${space}`,
      })
    },
  }
}

const keyOf = ({ entities, body }: Request): string => `${entities} ${body?.trimEnd() ?? ''}`

const DEADLINE_MS = 600_000
