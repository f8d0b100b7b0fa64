import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { connect } from '../../src/cluster/client.ts'
import type { Cluster } from '../../src/cluster/cluster.ts'
import { type ClusterOptions, DEFAULT_CLUSTER } from '../../src/cluster/options.ts'

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

/** The same for a test that needs one of several nodes, or one that it may stop. */
export const withoutOwnOpenSearch: string | false =
  OPENSEARCH_START === undefined && 'OPENSEARCH_START does not name a program that starts OpenSearch'

export interface RunningOpenSearch {
  url: string
  stop(): Promise<void>
}

/** The one that runs, or one of its own. */
export const runOpenSearch = async (): Promise<RunningOpenSearch> =>
  OPENSEARCH_URL === undefined ? startOpenSearch() : { url: OPENSEARCH_URL, stop: async () => {} }

/** Starts a cluster; it takes some ten seconds. */
export const startOpenSearch = async (nodes = 1): Promise<RunningOpenSearch> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-opensearch-'))
  const child = spawn(OPENSEARCH_START!, [`${port}`, `${nodes}`, folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, HEAP: process.env.HEAP ?? '512m' },
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid!, 'SIGKILL')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const early = once(child, 'exit').then(([code]) => {
    throw new Error(`${OPENSEARCH_START} ended with ${code}`)
  })
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('ready')) return
  })()
  try {
    await Promise.race([ready, early])
    early.catch(() => {})
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

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
    await running?.stop()
  })
  return { cluster, options: all }
}
