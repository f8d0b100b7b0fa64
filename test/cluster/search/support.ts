import { createClusterStores } from '../../../src/cluster/stores.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool, type Pool, type PoolOptions } from '../../../src/search/pool.ts'
import type { SearchAnswer, SearchParams } from '../../../src/search/service.ts'
import { type FilledCluster, fillCluster, shelve } from '../../support/cluster-fill.ts'
import type { TestStore } from '../../support/store.ts'

/** One network twice: its documents in a cluster, and in its store. */
export interface Both {
  filled: FilledCluster
  cluster: Pool
  store: Pool
  close(): Promise<void>
}

export const never = new AbortController().signal
export const NETWORK = 'ethereum/made-up/mainnet'

export const setUp = async (store?: TestStore, options: Partial<PoolOptions> = {}): Promise<Both> => {
  const filled = await fillCluster(store, { prefix: 'answers' })
  // Reading threads know from the store what lies in the cluster.
  shelve(filled)
  const given = {
    ...{ stores: () => new Map([[NETWORK, filled.store.path]]), threads: 1, deadlineMs: 60_000 },
    limits: DEFAULT_LIMITS,
    ...options,
  }
  const place = { cluster: filled.cluster, naming: filled.naming, shelf: () => () => filled.visible }
  const cluster = createPool({ ...given, elsewhere: createClusterStores(() => place) })
  const one = createPool(given)
  return {
    ...{ filled, cluster, store: one },
    async close() {
      await cluster.close()
      await one.close()
      await filled.close()
    },
  }
}

/** The moment that date math counts from is that of the question. */
export const ask = (pool: Pool, entities: string, body: string | undefined, more: Partial<SearchParams> = {}) =>
  told(() =>
    pool.search({
      ...{ network: NETWORK, entities, account: 1, signal: never },
      body: body === undefined ? undefined : Buffer.from(body),
      ...more,
    }),
  )

/** An answer as text, without the time that it took; of an error its code and message. */
export const told = async (
  answer: () => Promise<SearchAnswer>,
  see: (text: string) => void = () => {},
): Promise<string> => {
  try {
    const { status, body } = await answer()
    const text =
      body instanceof Uint8Array
        ? Buffer.from(body).toString()
        : await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text()
    see(text)
    return `${status} ${text
      .replace(/"took":\d+/, '"took":0')
      .replace(/"_scroll_id":"[^"]*"/, '"_scroll_id":"…"')
      .replace(/"pit_id":"[^"]*"/, '"pit_id":"…"')}`
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === undefined) throw error
    return `${code}: ${message}`
  }
}

export const REFUSED = 'does not work on a network whose documents lie in a cluster'
