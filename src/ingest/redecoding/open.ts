import { createAsker } from '../../cluster/asker.ts'
import { connect } from '../../cluster/client.ts'
import { openReader } from '../../engine/reader.ts'
import { createShelfReader } from '../../engine/shelf.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Clustered } from '../redecode.ts'
import type { Work } from '../work.ts'
import { createClusterRedecoder } from './clustered.ts'

/** Decoding again of what lies in the cluster of a network; undefined where it has none. */
export const redecodingInCluster = ({
  cluster: naming,
  network,
  store,
  pipeline,
  preparer,
  tokens,
}: Pick<Work, 'cluster' | 'network' | 'store' | 'pipeline' | 'preparer' | 'tokens'>): Clustered | undefined =>
  naming && {
    open(abi, owners) {
      const reader = openReader(store, nativeBinding())
      const cluster = connect(naming)
      const redecoder = createClusterRedecoder({
        asker: createAsker({ cluster, naming, network }),
        ...{ reader, visible: createShelfReader(reader.db).visible, abi, owners },
        ...{ decimals: tokens.of, revise: preparer.revise },
      })
      return {
        ...redecoder,
        async close() {
          reader.close()
          await cluster.close()
        },
      }
    },
    patch: pipeline.patch,
  }
