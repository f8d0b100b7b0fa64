import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'

/** The demo chain as a network whose documents lie in a cluster. */
interface InCluster {
  /** Of the program, to serve the network or to import into it. */
  args: readonly string[]
  /** What is to be imported. */
  pack: string
  remove(): Promise<void>
}

/** `url`: that of an OpenSearch which may be written to. Nothing of others is touched. */
export const demoInCluster = (url: string): InCluster => {
  const prefix = `clients-${randomBytes(6).toString('hex')}`
  const place = ['--network', 'ethereum/demo/local', '--store', 'opensearch', '--opensearch-url', url]
  return {
    args: [...place, '--opensearch-prefix', prefix, '--opensearch-replicas', '0'],
    pack: fileURLToPath(new URL('../../data/demo.ndjson.gz', import.meta.url)),
    async remove() {
      const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
      for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
      await cluster.close()
    },
  }
}
