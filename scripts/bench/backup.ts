import { randomFillSync } from 'node:crypto'
import { rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { byDefault, PROGRAM, readFlags } from '../lib/flags.ts'
import { createToken, startProgram, startServer, withFolder } from '../lib/program.ts'
import { type Times, timesOf } from '../lib/table.ts'
import { fill, generatePack } from './fill.ts'
import type { Request } from './queries.ts'
import { overHttp } from './searching.ts'

/** `node scripts/bench/backup.ts` prints how long cheap queries take while `chainsieve backup` copies the data folder, and while it does not. */
const USAGE =
  'node scripts/bench/backup.ts [--megabytes 2000] [--events 200000] [--clients 4] [--program FILE]: needs npm run build'

const NETWORK = 'ethereum/bench/backup'
const GAP_MS = 5
const LEAST_MS = 10_000
/** No query may take longer because of a backup. */
const SLOW_MS = 50

type Asked = Times & { slow: number }

/** Pages that nobody asks for: a backup copies them like all others, and they are made in a hundredth of the time. */
const padStore = (store: string, bytes: number) => {
  const db = openForWriting(store)
  const blob = Buffer.alloc(1 << 20)
  db.exec('CREATE TABLE padding (bytes BLOB)')
  const insert = db.prepare('INSERT INTO padding VALUES (?)')
  for (let at = 0; at < bytes; at += blob.length) {
    insert.run(randomFillSync(blob))
    db.settle()
  }
  db.close()
}

const CHEAP: readonly Request[] = [
  {
    label: 'newest transfers',
    entities: 'event',
    body: '{"query":{"bool":{"filter":[{"term":{"event.raw":"Transfer"}}]}},"sort":{"blockNumber.num":"desc"},"size":3}',
  },
  { label: 'newest blocks', entities: 'block', body: '{"sort":{"number.num":"desc"},"size":1}' },
  { label: 'ten transactions', entities: 'tx', body: '{}' },
]

/** Asks until the work is done; each answer's milliseconds. */
const askWhile = async (url: string, token: string, clients: number, work: Promise<unknown>): Promise<Asked> => {
  let goesOn = true
  const ended = work.finally(() => {
    goesOn = false
  })
  const times: number[] = []
  const client = async (first: number) => {
    const way = overHttp(url, NETWORK, token)
    for (let i = first; goesOn; i++) {
      const start = performance.now()
      await way.run(CHEAP[i % CHEAP.length]!)
      times.push(performance.now() - start)
      await sleep(GAP_MS)
    }
    await way.close()
  }
  await Promise.all([ended, ...Array.from({ length: clients }, (_, i) => client(i))])
  return { ...timesOf(times), slow: times.filter(time => time > SLOW_MS).length }
}

const show = (name: string, { runs, p50, p99, max, slow }: Asked) =>
  console.log(
    `${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(1)} ms, ${slow} over ${SLOW_MS} ms, of ${runs} queries; load ${loadavg()[0]!.toFixed(1)}`,
  )

const main = async () => {
  const values = readFlags(USAGE, {
    ...{ megabytes: byDefault('2000'), events: byDefault('200000'), clients: byDefault('4'), program: PROGRAM },
  })
  const { program } = values
  await withFolder(async folder => {
    const [data, pack] = [join(folder, 'data'), join(folder, 'pack.ndjson')]
    const store = storeFile(data, NETWORK)
    console.error('Fills a store')
    await generatePack(pack, { events: Number(values.events), seed: 1 })
    await fill({ program, data, network: NETWORK, pack, store })
    rmSync(pack)
    padStore(store, Number(values.megabytes) * 1e6)
    const token = await createToken(program, data)
    const server = await startServer(program, ['--data', data, '--port', '0'])
    const ask = (work: Promise<unknown>) => askWhile(server.url, token, Number(values.clients), work)
    await ask(sleep(LEAST_MS / 5))
    for (const round of [1, 2, 3]) {
      show(`${round}: without a backup`, await ask(sleep(LEAST_MS)))
      const start = performance.now()
      const backup = startProgram(program, ['backup', '--full', join(folder, 'backup'), '--data', data])
      show(`${round}: during a backup`, await ask(backup.ended))
      console.log(`${(await backup.ended).trim()} ${((performance.now() - start) / 1000).toFixed(1)} s`)
    }
    await server.stop()
  })
}

await main()
