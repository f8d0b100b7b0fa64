import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeChain } from '../../test/support/pack.ts'
import { byDefault, readFlags, TEXT } from '../lib/flags.ts'
import { startServer } from '../lib/program.ts'
import { startPackNode } from './node.ts'

/** What a server takes that follows many networks at once: node scripts/bench/many.ts --networks 10 --seconds 40 [--txs 20] [--logs 2] */
interface Options {
  networks: number
  seconds: number
  txs: number
  logs: number
}

const BEFORE = 20
const WARM = 10

/** Plays the nodes of all networks, in a process of their own: each has a new block every second. */
const playNodes = async ({ networks, seconds, txs, logs }: Options) => {
  const blocks = BEFORE + WARM + seconds + 30
  const nodes = []
  for (let i = 0; i < networks; i++) {
    const chain = makeChain({ blocks, txs, logs, chainId: 1_000 + i, salt: String(i) })
    nodes.push(await startPackNode(chain, BEFORE))
  }
  process.send!(nodes.map(({ url }) => url))
  for (const [i, node] of nodes.entries())
    setTimeout(
      () =>
        setInterval(() => {
          node.head = Math.min(node.head + 1, blocks - 1)
        }, 1_000),
      (i * 1_000) / networks,
    )
  process.on('disconnect', () => process.exit())
}

const measure = async (options: Options) => {
  const { networks, seconds } = options
  const child = fork(import.meta.filename, ['--play', JSON.stringify(options)])
  const urls = await new Promise<string[]>(resolve => child.once('message', message => resolve(message as string[])))
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-bench-many-'))
  const tables = urls.map((url, i) => `[[networks]]\nnetwork = "ethereum/chain-${i}/net"\nrpc = ["${url}"]\nfrom = 0\n`)
  const config = join(data, 'chainsieve.toml')
  writeFileSync(config, tables.join('\n'))
  const server = await startServer('dist/chainsieve.mjs', ['--data', data, '--config', config, '--port', '0'])
  try {
    await sleep(WARM * 1_000)
    const before = server.usage()!
    const began = performance.now()
    await sleep(seconds * 1_000)
    const after = server.usage()!
    const elapsed = (performance.now() - began) / 1_000
    const threads = readdirSync(`/proc/${server.pid}/task`).length
    const status = (await (await fetch(`${server.url}/health`)).text()).slice(0, 40)
    const told = {
      ...{ networks, threads, status },
      cores: Math.round(((after.cpuSeconds - before.cpuSeconds) / elapsed) * 1_000) / 1_000,
      ownMb: Math.round(after.own / 2 ** 20),
      peakMb: Math.round(after.peak / 2 ** 20),
    }
    process.stdout.write(`${JSON.stringify(told)}\n`)
  } finally {
    await server.stop()
    child.disconnect()
    rmSync(data, { recursive: true })
  }
}

const values = readFlags('node scripts/bench/many.ts --networks 10 --seconds 40 [--txs 20] [--logs 2]', {
  ...{ networks: byDefault('10'), seconds: byDefault('40'), txs: byDefault('20'), logs: byDefault('2'), play: TEXT },
})
if (values.play !== undefined) await playNodes(JSON.parse(values.play) as Options)
else {
  const [networks, seconds, txs, logs] = [values.networks, values.seconds, values.txs, values.logs].map(Number)
  await measure({ networks: networks!, seconds: seconds!, txs: txs!, logs: logs! })
}
