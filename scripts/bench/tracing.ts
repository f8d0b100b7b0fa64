import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { storeFile } from '../../src/engine/files.ts'
import { readStore } from '../../src/engine/open.ts'
import { type Filling, fill, generatePack, type Sizes, sizesOf } from './fill.ts'

/** What traces cost: the same blocks are imported without them and with them, in turn, as a machine that others use is not always as fast. */
export interface Tracing {
  logs: number
  traces: number
  calls: number
  without: Import[]
  with: Import[]
  /** What the store takes more with traces, in bytes, and the tables that do, the largest first. */
  bytes: number
  tables: Sizes['tables']
}

type Import = Pick<Filling, 'seconds' | 'cpuSeconds' | 'others'>

export interface TracingOptions {
  program: string
  network: string
  /** Folder for packs and stores, which are left there. */
  folder: string
  events: number
  seed: number
  /** How often each of the two imports is done. */
  runs: number
}

export const measureTracing = async ({ program, network, folder, events, seed, runs }: TracingOptions) => {
  mkdirSync(folder)
  const ways = {
    without: { pack: join(folder, 'plain.ndjson'), data: join(folder, 'plain') },
    with: { pack: join(folder, 'traced.ndjson'), data: join(folder, 'traced') },
  }
  await generatePack(ways.without.pack, { events, seed })
  await generatePack(ways.with.pack, { events, seed, traces: true })
  const imports: Record<keyof typeof ways, Import[]> = { without: [], with: [] }
  let logs = 0
  for (let run = 0; run < runs; run++)
    for (const way of ['without', 'with'] as const) {
      const { pack, data } = ways[way]
      rmSync(data, { recursive: true, force: true })
      const { seconds, cpuSeconds, others, ...held } = await fill({
        ...{ program, network, pack, data },
        store: storeFile(data, network),
      })
      logs = held.logs
      imports[way].push({ seconds, cpuSeconds, others })
    }
  const [plain, traced] = [ways.without, ways.with].map(({ data }) => storeFile(data, network)) as [string, string]
  const [before, after] = [sizesOf(plain), sizesOf(traced)]
  const bytesBefore = new Map(before.tables.map(({ name, bytes }) => [name, bytes]))
  const tracing: Tracing = {
    logs,
    ...stepsIn(traced),
    ...imports,
    bytes: after.bytes - before.bytes,
    tables: after.tables
      .map(({ name, bytes }) => ({ name, bytes: bytes - (bytesBefore.get(name) ?? 0) }))
      .sort((a, b) => b.bytes - a.bytes),
  }
  return tracing
}

const stepsIn = (store: string): { traces: number; calls: number } =>
  readStore(store, db => db.prepare('SELECT sum(trace) AS traces, sum(call) AS calls FROM segment').get() as never)
