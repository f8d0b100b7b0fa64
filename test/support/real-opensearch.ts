import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type OpenSearch, startOpenSearch as start } from '../../scripts/opensearch/start.ts'
import { type Cluster, type ClusterOptions, connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'

/**
 * Real clusters for tests. `OPENSEARCH_URL` names one that runs, whose indices are left alone but for those of the test. `OPENSEARCH_START`
 * names a program that starts one on this machine, with PORT, number of NODES and a FOLDER, in the foreground, and prints "ready" on a line.
 */
const { OPENSEARCH_URL, OPENSEARCH_START } = process.env

/** For `{ skip }` of a test: why there is none, or false. */
export const withoutOpenSearch: string | false =
  OPENSEARCH_URL === undefined &&
  OPENSEARCH_START === undefined &&
  'neither OPENSEARCH_URL names a running OpenSearch nor OPENSEARCH_START a program that starts one'

/** The one that runs, or one of its own. */
export const runOpenSearch = async (): Promise<Pick<OpenSearch, 'url' | 'stop'>> =>
  OPENSEARCH_URL === undefined ? startOpenSearch() : { url: OPENSEARCH_URL, stop() {} }

/** Starts a cluster; it takes some ten seconds. */
export const startOpenSearch = async (nodes = 1): Promise<OpenSearch> =>
  (await start({ nodes, program: OPENSEARCH_START! })) ?? assert.fail(`${OPENSEARCH_START} ended`)

/** A connection and a prefix of its own, whose indices and templates go when the test ends. */
export const openTestCluster = async (
  t: TestContext,
  options: Partial<ClusterOptions> = {},
): Promise<{ cluster: Cluster; options: ClusterOptions }> => {
  const running = options.urls ? undefined : await runOpenSearch()
  const prefix = `bulk-${randomBytes(4).toString('hex')}`
  const all = { ...DEFAULT_CLUSTER, replicas: 0, prefix, urls: running ? [running.url] : [], ...options }
  const cluster = connect(all)
  t.after(async () => {
    const { text } = await cluster.ask({ method: 'GET', path: `/${prefix}-*` })
    for (const index of Object.keys(JSON.parse(text) as object))
      await cluster.ask({ method: 'DELETE', path: `/${index}` })
    await cluster.ask({ method: 'DELETE', path: `/_index_template/${prefix}-*` })
    await cluster.close()
    running?.stop()
  })
  return { cluster, options: all }
}
