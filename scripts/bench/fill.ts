import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { storeFile } from '../../src/engine/files.ts'
import { openForReading, readStore } from '../../src/engine/open.ts'
import type { Db } from '../../src/sqlite/database.ts'
import { busySeconds, type Memory, startProgram, watchUsage } from '../lib/program.ts'

/** Filling a store by the road that a user's blocks take. */
export interface Held {
  blocks: number
  txs: number
  logs: number
  events: number
}

export interface Filling extends Held {
  /** From the start of the process to its end: reading, checking, decoding, writing, and the checkpoint. */
  seconds: number
  samples: Sample[]
  cpuSeconds: number | undefined
  memory: Memory | undefined
  /** Processors that were busy with other things meanwhile, in the mean: with any of them the figures are too low. */
  others: number | undefined
  /** Rates between commits of the first fifth and of the last; undefined where the store is too small to tell. */
  pace: Pace | undefined
}

export interface Sample {
  seconds: number
  logs: number
}

export interface Pace {
  first: number
  last: number
}

/** Writes a pack in a process of its own, so that making the blocks is not part of what is measured. */
export const generatePack = async (
  file: string,
  { events, seed, traces = false }: { events: number; seed: number; traces?: boolean },
): Promise<void> => {
  const script = fileURLToPath(new URL('generate.ts', import.meta.url))
  const options = ['--events', String(events), '--seed', String(seed), '--out', file]
  await startProgram(script, traces ? [...options, '--traces'] : options).ended
}

export interface FillOptions {
  program: string
  data: string
  network: string
  pack: string
  store: string
  /** Further flags of the import. */
  flags?: readonly string[] | undefined
}

/** Runs `chainsieve import` and looks on from outside. */
export const fill = async ({ program, data, network, pack, store, flags = [] }: FillOptions): Promise<Filling> => {
  const busy = busySeconds()
  const start = performance.now()
  const running = startProgram(program, ['import', '--json', '--data', data, '--network', network, ...flags, pack])
  const watch = watchUsage(running, 100)
  const samples: Sample[] = []
  let db: Db | undefined
  const look = setInterval(() => {
    try {
      db ??= openForReading(store)
      const { logs } = heldBy(db)
      if (logs > (samples.at(-1)?.logs ?? 0)) samples.push({ seconds: (performance.now() - start) / 1000, logs })
    } catch {}
  }, LOOK_MS)
  try {
    await running.ended
  } finally {
    clearInterval(look)
    db?.close()
  }
  const seconds = (performance.now() - start) / 1000
  const usage = watch.stop()
  const all = busySeconds()
  const held = heldIn(store)
  return {
    ...held,
    seconds,
    samples,
    cpuSeconds: usage?.cpuSeconds,
    memory: usage,
    others:
      all !== undefined && busy !== undefined && usage
        ? Math.max(0, all - busy - usage.cpuSeconds) / seconds
        : undefined,
    pace: paceOf(samples, held.logs),
  }
}

export const heldIn = (store: string): Held => readStore(store, heldBy)

const heldBy = (db: Db): Held => {
  const row = db
    .prepare(
      'SELECT sum(last - first + 1) AS blocks, sum(tx) AS txs, sum(log) AS logs, sum(events) AS events FROM segment',
    )
    .get() as Record<keyof Held, number | null>
  return { blocks: row.blocks ?? 0, txs: row.txs ?? 0, logs: row.logs ?? 0, events: row.events ?? 0 }
}

/**
 * Logs arrive by the batch, so rates are taken from commit to commit. What comes before the first commit, the start of the
 * process and the filling of its queues, belongs to none.
 */
export const paceOf = (samples: readonly Sample[], logs: number): Pace | undefined => {
  if (samples.length < LEAST_COMMITS) return undefined
  const from = samples[0]!
  const to = samples.at(-1)!
  const early = samples.find((sample, i) => i > 0 && sample.logs >= logs * 0.2)
  const late = samples.findLast((sample, i) => i < samples.length - 1 && sample.logs <= logs * 0.8)
  if (!early || !late) return undefined
  const rate = (a: Sample, b: Sample) => (b.logs - a.logs) / (b.seconds - a.seconds)
  return { first: rate(from, early), last: rate(late, to) }
}

export interface Sizes {
  bytes: number
  tables: { name: string; bytes: number }[]
}

export const sizesOf = (store: string): Sizes => {
  const sizes = ['', '-wal'].map(ending => statSync(`${store}${ending}`, { throwIfNoEntry: false })?.size ?? 0)
  const all = 'SELECT name, sum(pgsize) AS bytes FROM dbstat WHERE aggregate = TRUE GROUP BY name ORDER BY bytes DESC'
  const tables = readStore(store, db => db.prepare(all).all() as Sizes['tables'])
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), tables }
}

const LOOK_MS = 50
/** With fewer commits than this, a fifth of them says nothing. */
const LEAST_COMMITS = 10

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
interface TracingOptions {
  program: string
  network: string
  /** Folder for packs and stores, which are left there. */
  folder: string
  events: number
  seed: number
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
