import type { StoreStats } from '../cli/index.ts'
import type { Config } from '../config/index.ts'
import { readStats } from '../engine/stats.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { isInCluster, storesOf } from './stores.ts'

export const stats = async ({ data }: Config, network: string | undefined): Promise<StoreStats[]> =>
  storesOf(data, network).map(([name, store]) => ({
    ...{ network: name, store: isInCluster(store) ? ('opensearch' as const) : ('sqlite' as const) },
    ...readStats(store, nativeBinding(data)),
  }))
