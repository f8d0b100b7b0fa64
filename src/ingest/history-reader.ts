import { connect } from '../cluster/client.ts'
import type { ClusterOptions } from '../cluster/options.ts'
import { openClusterReader } from '../cluster/reader.ts'
import { openDocumentReader } from '../engine/document-reader.ts'
import type { DocumentReader } from '../engine/port.ts'
import { createShelfReader } from '../engine/shelf.ts'
import { nativeBinding } from '../lib/runtime.ts'

export interface HistoryPlace {
  network: string
  /** File of its store. */
  store: string
  /** Where its documents go from there. */
  cluster?: ClusterOptions | undefined
}

/** Opens a network's documents wherever they lie. */
export const openHistoryReader = ({ network, store, cluster: naming }: HistoryPlace): DocumentReader => {
  const native = nativeBinding()
  if (!naming) return openDocumentReader(store, { native })
  const cluster = connect(naming)
  const reader = openClusterReader(store, {
    ...{ native, cluster, naming, network },
    shelf: db => createShelfReader(db).visible,
  })
  return {
    ...reader,
    async close() {
      await reader.close()
      await cluster.close()
    },
  }
}
