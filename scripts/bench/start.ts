import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { byDefault, readFlags, SEVERAL } from '../lib/flags.ts'
import { createToken, withFolder } from '../lib/program.ts'
import { timesOf } from '../lib/table.ts'
import type { Request } from './queries.ts'
import { startNothing, startOnce } from './serving.ts'

/**
 * `node scripts/bench/start.ts [--starts 10]` prints how soon the bundle and the executable answer a first search: in an empty folder, where
 * the demo chain is served, and on a store that is there. Each beside `node -e 0`, a process that does nothing.
 */
const USAGE = 'node scripts/bench/start.ts [--starts N] [--program FILE]...'

const network = 'ethereum/demo/local'
const NEWEST: Request = {
  label: 'newest transfers',
  entities: 'event',
  body: '{"query":{"bool":{"filter":[{"term":{"event.raw":"Transfer"}}]}},"sort":{"blockNumber.num":"desc"},"size":3}',
}

const measure = async (program: string, starts: number, temporary: string) => {
  const stored = { program, network, data: join(temporary, 'stored') }
  rmSync(stored.data, { recursive: true, force: true })
  await startOnce(stored, NEWEST)
  const token = await createToken(program, stored.data)
  const [node, empty, kept]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < starts; i++) {
    node.push(await startNothing())
    const data = join(temporary, `empty-${i}`)
    empty.push(await startOnce({ program, network, data }, NEWEST))
    rmSync(data, { recursive: true, force: true })
    kept.push(await startOnce(stored, NEWEST, token))
  }
  return { node: timesOf(node), 'empty folder, demo chain': timesOf(empty), 'stored demo chain': timesOf(kept) }
}

const values = readFlags(USAGE, { starts: byDefault('10'), program: SEVERAL })

const programs = (values.program ?? ['dist/chainsieve.mjs', 'dist/chainsieve']).filter(path => existsSync(path))
await withFolder(async temporary => {
  for (const program of programs) {
    const measured = await measure(program, Number(values.starts), temporary)
    console.log(program)
    for (const [name, { p50, p99, runs }] of Object.entries(measured))
      console.log(
        `  ${name}: p50 ${p50.toFixed(0)} ms, most ${p99.toFixed(0)} ms, ${(p50 / measured.node.p50).toFixed(2)} times node -e 0, of ${runs} starts`,
      )
  }
})
