import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { anvilPath } from '../../test/support/anvil.ts'
import { freePort } from '../lib/program.ts'

/** A real node on loopback that makes a block each second. */
export interface RealNode {
  name: NodeName
  url: string
  wsUrl: string
  /** Undefined where it has none. */
  ipc: string | undefined
  hasTraces: boolean
  call<T = unknown>(method: string, ...params: unknown[]): Promise<T>
  /** Takes so many blocks back; others come in their place. */
  reorganise(depth: number): Promise<unknown>
  stop(): Promise<void>
}

export const NODES = ['geth', 'anvil', 'hardhat'] as const
export type NodeName = (typeof NODES)[number]

/** Starts a node, or says why it cannot be had. */
export const startRealNode = async (name: NodeName): Promise<RealNode | string> => {
  const folder = mkdtempSync(join(tmpdir(), `chainsieve-${name}-`))
  folders.push(folder)
  const port = await freePort()
  const ipc = join(folder, `${name}.ipc`)
  try {
    if (name === 'geth') return await start(name, port, port + 1, ipc, gethCommand(folder, port, ipc), folder)
    if (name === 'hardhat') return await start(name, port, port, undefined, hardhatCommand(port), hardhatFolder())
    if (anvilPath === undefined) return 'there is no anvil for this platform'
    const command = [anvilPath, '--port', `${port}`, '--host', '127.0.0.1', '--block-time', '1', '--ipc', ipc]
    return await start(name, port, port, ipc, command, folder)
  } catch (error) {
    return (error as Error).message.split('\n')[0]!
  }
}

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'chainsieve-nodes')

const GETH = 'v1.16.9'
const gethCommand = (folder: string, port: number, ipc: string): string[] => {
  const bin = process.env.GETH ?? join(cache, `geth-${GETH}`, 'geth')
  if (!existsSync(bin)) {
    console.error(`builds geth ${GETH}, which takes some minutes`)
    const env = { ...process.env, GOBIN: join(cache, `geth-${GETH}`), GOFLAGS: '-mod=mod' }
    execFileSync('go', ['install', `github.com/ethereum/go-ethereum/cmd/geth@${GETH}`], { env, stdio: 'ignore' })
  }
  const api = 'eth,net,web3,debug'
  return [
    ...[bin, '--dev', '--dev.period', '1', '--datadir', folder, '--nodiscover', '--maxpeers', '0', '--ipcpath', ipc],
    ...['--http', '--http.addr', '127.0.0.1', '--http.port', `${port}`, '--http.api', api],
    ...['--ws', '--ws.addr', '127.0.0.1', '--ws.port', `${port + 1}`, '--ws.api', api],
    ...['--authrpc.addr', '127.0.0.1', '--authrpc.port', `${port + 2}`, '--gcmode', 'archive', '--rpc.txfeecap', '0'],
  ]
}

const HARDHAT = '2.29.1'
const hardhatFolder = (): string => {
  const folder = join(cache, `hardhat-${HARDHAT}`)
  if (!existsSync(join(folder, 'node_modules/hardhat'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private": true}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', `hardhat@${HARDHAT}`], { cwd: folder, stdio: 'ignore' })
  }
  const network = '{ throwOnTransactionFailures: false, mining: { auto: false, interval: 0 } }'
  const config = `module.exports = { solidity: '0.8.28', networks: { hardhat: ${network} } }\n`
  writeFileSync(join(folder, 'hardhat.config.js'), config)
  return folder
}

const hardhatCommand = (port: number): string[] => {
  const main = join(hardhatFolder(), 'node_modules/hardhat/internal/cli/bootstrap.js')
  return [process.execPath, main, 'node', '--hostname', '127.0.0.1', '--port', `${port}`]
}

const PATIENCE_MS = 120_000
const children = new Set<ChildProcess>()
const folders: string[] = []
// Whatever ends this process ends the nodes, and removes their files.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const start = async (
  name: NodeName,
  port: number,
  wsPort: number,
  ipc: string | undefined,
  [program, ...args]: string[],
  cwd: string,
): Promise<RealNode> => {
  const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const child = spawn(program!, args, { cwd, env, stdio: 'ignore' })
  children.add(child)
  const exited = once(child, 'exit').then(() => children.delete(child))
  const url = `http://127.0.0.1:${port}`
  const call = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error) throw new Error(`${name}: ${method}: ${error.message}`)
    return result
  }
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
  }
  const head = async () => Number(await call('eth_blockNumber'))
  // After `evm_revert` its own timer does not go on.
  if (name === 'hardhat') setInterval(() => call('evm_mine').catch(() => {}), 1_000).unref()
  const end = Date.now() + PATIENCE_MS
  while (!((await head().catch(() => 0)) > 0)) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop()
      throw new Error(`${name} does not start`)
    }
    await sleep(100)
  }
  const reorganisations: Record<NodeName, (depth: number) => Promise<unknown>> = {
    geth: async depth => call('debug_setHead', `0x${((await head()) - depth).toString(16)}`),
    anvil: depth => call('anvil_reorg', depth, []),
    async hardhat(depth) {
      // It goes back to where it was, and no further.
      const at = await head()
      const snapshot = await call('evm_snapshot')
      while ((await head()) < at + depth) await sleep(100)
      return call('evm_revert', snapshot)
    },
  }
  const wsUrl = `ws://127.0.0.1:${wsPort}`
  return { name, url, wsUrl, ipc, hasTraces: name !== 'hardhat', call, reorganise: reorganisations[name], stop }
}
