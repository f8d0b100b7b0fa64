import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface OpenSearch {
  url: string
  /** Aborts where it ends before it is stopped. */
  ended: AbortSignal
  stop(): void
}

/** Starts a cluster by `program` (see `start`). Undefined, with the reason on standard error, where it cannot be had. */
export const startOpenSearch = async ({
  nodes = 1,
  program = new URL('start', import.meta.url).pathname,
} = {}): Promise<OpenSearch | undefined> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-opensearch-'))
  const child = spawn(program, [`${port}`, `${nodes}`, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // With less, one node refuses what three test files at a time ask of it.
    env: { ...process.env, HEAP: process.env.HEAP ?? (nodes === 1 ? '2g' : '512m') },
  })
  const ended = new AbortController()
  let isStopped = false
  child.once('exit', () => isStopped || ended.abort())
  const stop = () => {
    isStopped = true
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  let errors = ''
  child.stderr.on('data', chunk => {
    errors = `${errors}${chunk}`.slice(-2_000)
  })
  const isReady = async () => {
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('ready')) return true
    return false
  }
  if (await Promise.race([isReady(), once(child, 'error').then(() => false)]))
    return { url: `http://127.0.0.1:${port}`, ended: ended.signal, stop }
  stop()
  console.error(`OpenSearch cannot be started here, so nothing that needs it is tested: ${errors.trim()}`)
  return undefined
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
