import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Has nodes of a cluster die and hang; they are counted from 1. */
export interface Nodes {
  signal(node: number, signal: 'KILL' | 'STOP' | 'CONT'): Promise<void>
  /** Starts one that was killed; it need not be ready then. */
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

export interface OwnNodes extends Nodes {
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
