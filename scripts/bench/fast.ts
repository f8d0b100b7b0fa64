import { setTimeout as sleep } from 'node:timers/promises'
import { newestBlock } from '../../src/engine/blocks.ts'
import { storeFile } from '../../src/engine/files.ts'
import { openForReading } from '../../src/engine/open.ts'
import { byDefault, PROGRAM, readFlags, wholeNumber } from '../lib/flags.ts'
import { startServer, withFolder } from '../lib/program.ts'
import { FIRST_BLOCK, generateBlocks } from './generate.ts'
import { startPackNode } from './node.ts'

/**
 * `node scripts/bench/fast.ts [--ms 200] [--seconds 20]` prints how far the built program lags behind a node that makes a block of mainnet's
 * size so often, and the processor time that this takes.
 */
const USAGE = 'node scripts/bench/fast.ts [--ms N] [--seconds N] [--program FILE]'
const NETWORK = 'ethereum/bench/fast'
const BEFORE = 10

const values = readFlags(USAGE, { ms: byDefault('200'), seconds: byDefault('20'), program: PROGRAM })
const [ms, seconds] = [wholeNumber('ms', values.ms, 1), wholeNumber('seconds', values.seconds, 1)]
const count = Math.ceil((seconds * 1_000) / ms)
await withFolder(async data => {
  const node = await startPackNode(generateBlocks({ seed: 1, count: BEFORE + count + 1 }), FIRST_BLOCK)
  const args = ['--data', data, '--port', '0', '--network', NETWORK, '--rpc', node.url, '--from', String(FIRST_BLOCK)]
  const server = await startServer(values.program, args)
  const db = openForReading(storeFile(data, NETWORK))
  const newest = newestBlock(db)
  while (newest() < FIRST_BLOCK) await sleep(10)
  const lags = new Map<number, number>()
  const began = performance.now()
  let usage = server.usage()
  while (node.head < FIRST_BLOCK + BEFORE + count) {
    const due = FIRST_BLOCK + 1 + Math.floor((performance.now() - began) / ms)
    if (node.head < FIRST_BLOCK + BEFORE && due >= FIRST_BLOCK + BEFORE) usage = server.usage()
    node.head = due
    await sleep(5)
    const lag = node.head - newest()
    if (node.head >= FIRST_BLOCK + BEFORE) lags.set(lag, (lags.get(lag) ?? 0) + 1)
  }
  const cpu = (server.usage()?.cpuSeconds ?? 0) - (usage?.cpuSeconds ?? 0)
  const looks = [...lags.values()].reduce((sum, it) => sum + it, 0)
  const shares = [...lags]
    .sort(([a], [b]) => a - b)
    .map(([lag, times]) => `${lag}: ${((100 * times) / looks).toFixed(1)} %`)
  console.log(`${count} blocks, one every ${ms} ms; blocks behind, by share of the time: ${shares.join(', ')}`)
  console.log(`processor time: ${((100 * cpu * 1_000) / (count * ms)).toFixed(0)} % of a core`)
  db.close()
  await server.stop()
  node.close()
})
