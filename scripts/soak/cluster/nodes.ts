import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Random } from '../../lib/random.ts'
import type { LiveChain } from '../chain.ts'

/** Has nodes of a cluster die and hang; they are counted from 1. */
export interface Nodes {
  signal(node: number, signal: 'KILL' | 'STOP' | 'CONT'): Promise<void>
  start(node: number): Promise<void>
}

/** Shell commands, to which `NODE` and `SIGNAL` tell what is meant. */
export const nodesByCommands = (commands: { signal: string; start: string }): Nodes => {
  const run = async (command: string, own: Record<string, string>) => {
    await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, ...own } })
  }
  return {
    signal: (node, signal) => run(commands.signal, { NODE: `${node}`, SIGNAL: signal }),
    start: node => run(commands.start, { NODE: `${node}` }),
  }
}

interface OwnNodes extends Nodes {
  urls: readonly string[]
  close(): Promise<void>
}

const COUNT = 3
/** Ports of the nodes' own talk are so much greater. */
const TRANSPORT = 100
const NAMES = Array.from({ length: COUNT }, (_, i) => `n${i + 1}`)

/** Starts a cluster of an unpacked distribution, on loopback; it takes some 20 s until it answers. */
export const startOwnNodes = (home: string, port: number): OwnNodes => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-soak-nodes-'))
  const running = new Map<number, ChildProcess>()
  const settingsOf = (node: number): Record<string, string> => ({
    'cluster.name': 'chainsieve-soak',
    'node.name': NAMES[node - 1]!,
    'network.host': '127.0.0.1',
    'http.port': `${port + node}`,
    'transport.port': `${port + TRANSPORT + node}`,
    'discovery.seed_hosts': NAMES.map((_, i) => `127.0.0.1:${port + TRANSPORT + i + 1}`).join(),
    'cluster.initial_cluster_manager_nodes': NAMES.join(),
    // A disk that other programs fill is no finding.
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
    'path.data': join(folder, `data${node}`),
    'path.logs': join(folder, `logs${node}`),
    ...(existsSync(join(home, 'plugins', 'opensearch-security')) && { 'plugins.security.disabled': 'true' }),
  })
  const begin = (node: number) => {
    for (const name of ['data', 'logs']) mkdirSync(join(folder, `${name}${node}`), { recursive: true })
    const args = Object.entries(settingsOf(node)).map(([name, value]) => `-E${name}=${value}`)
    const env = { OPENSEARCH_JAVA_OPTS: '-Xms512m -Xmx512m', ...process.env }
    // A group of its own: the program may be a script that starts Java.
    const child = spawn(join(home, 'bin', 'opensearch'), args, { stdio: 'ignore', detached: true, env })
    child.on('error', () => {})
    running.set(node, child)
  }
  const send = (node: number, signal: NodeJS.Signals) => {
    const { pid, exitCode } = running.get(node)!
    if (pid === undefined || exitCode !== null)
      throw new Error(`node ${node} does not run: see bin/opensearch of ${home}`)
    process.kill(-pid, signal)
  }
  const killAll = () => {
    for (const { pid, exitCode, signalCode } of running.values())
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL')
  }
  process.on('exit', killAll)
  for (let node = 1; node <= COUNT; node++) begin(node)
  return {
    urls: NAMES.map((_, i) => `http://127.0.0.1:${port + i + 1}`),
    async signal(node, signal) {
      const child = running.get(node)!
      send(node, `SIG${signal}`)
      if (signal === 'KILL' && child.signalCode === null) await once(child, 'exit')
    },
    start: async node => begin(node),
    async close() {
      killAll()
      process.off('exit', killAll)
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** The cluster itself, asked beside the server. */
const askAny = async (urls: readonly string[], path: string, method = 'GET'): Promise<string | undefined> => {
  for (const url of urls) {
    const answer = await fetch(`${url}${path}`, { method, signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    if (answer?.ok) return answer.text()
  }
  return undefined
}

/** Whether all nodes are there and all documents have their copies. */
export const isGreen = async (urls: readonly string[]): Promise<boolean> => {
  const answers = await Promise.all(urls.map(url => askAny([url], '/_cluster/health')))
  return answers.every(text => {
    const health = JSON.parse(text ?? '{}') as { status?: string; number_of_nodes?: number }
    return health.status === 'green' && health.number_of_nodes === urls.length
  })
}

export const removeIndices = async (urls: readonly string[], prefix: string): Promise<void> => {
  const indices = Object.keys(JSON.parse((await askAny(urls, `/${prefix}-*`)) ?? '{}') as object)
  for (const index of indices) await askAny(urls, `/${index}`, 'DELETE')
  await askAny(urls, `/_index_template/${prefix}-*`, 'DELETE')
}

/** What happens to a node: it dies, or it stands still and goes on later. */
type NodeFault = 'kill' | 'hang'
/** By turns. What comes second happens to the same node: the others have all documents, whatever copies it lacks. */
const COURSES: readonly (readonly NodeFault[])[] = [['kill'], ['hang'], ['hang', 'kill']]
export const courseOf = (seed: number): readonly NodeFault[] => COURSES[seed % COURSES.length]!
/** Blocks that come at once: they are under way to the cluster when the node fails. */
const BURST = 15
/** Time that a dead node stays away, and that one stands still: at least, and by how much more at most. */
const DEAD_MS = { least: 2_000, more: 3_000 }
const STILL_MS = { least: 6_000, more: 9_000 }
const REST_MS = 2_000
interface Faulty {
  nodes: Nodes
  count: number
  course: readonly NodeFault[]
  random: Random
  chain: LiveChain
  counts: { nodeKills: number; nodeHangs: number }
  note(text: string): void
}

/** All of it happens, and the node runs again in the end. */
export const haveFaults = async ({ nodes, count, course, random, chain, counts, note }: Faulty): Promise<void> => {
  const wait = ({ least, more }: { least: number; more: number }) => sleep(least + more * random.unit())
  const node = 1 + random.below(count)
  const kill = async () => {
    counts.nodeKills++
    note(`kills node ${node}`)
    await nodes.signal(node, 'KILL')
    await wait(DEAD_MS)
    await nodes.start(node)
  }
  const hang = async () => {
    counts.nodeHangs++
    note(`stops node ${node}`)
    await nodes.signal(node, 'STOP')
    try {
      await wait(STILL_MS)
    } finally {
      await nodes.signal(node, 'CONT')
    }
    note(`node ${node} goes on`)
  }
  await sleep(REST_MS * random.unit())
  for (const fault of course) {
    chain.grow(BURST)
    await sleep(1_000 * random.unit())
    await { kill, hang }[fault]()
    await sleep(REST_MS)
  }
}
