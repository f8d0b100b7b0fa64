import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { storedNetworks, storeFile } from '../../src/engine/files.ts'
import { messageOf, refuse } from '../../src/lib/errors.ts'
import { fill, generatePack, heldIn, sizesOf } from './fill.ts'
import { measureHead } from './head.ts'
import { type Answer, MILLION, makeQueries, type Query, transfersIn } from './queries.ts'
import { createRandom } from './random.ts'
import { type Results, type Row, rowsOf, showRows } from './report.ts'
import { type Effort, inProcess, type Measured, measureQuery, type Way } from './searching.ts'
import { measureHealth, measureStart, measureStream, openServer } from './serving.ts'
import { measureTracing } from './tracing.ts'

const USAGE = `Measures how fast blocks go in, what they take on disk, and how fast queries are answered.

npm run bench -- [--events N] [--seed S] [--pack FILE] [--keep DIR | --data DIR] [--program FILE] [--json FILE] [--traces] [--quick]

--events   logs of the made-up chain (default 1000000; a million take 1.9 GB for the pack while they are read)
--seed     of the made-up chain (default 1)
--pack     reads this block pack instead of making one
--keep     data folder to fill and to leave; without it a temporary one
--data     data folder that is filled already: nothing is imported
--program  what is measured (default dist/chainsieve.mjs; dist/chainsieve is the executable)
--json     where all figures go; - for standard output, in place of the table
--traces   imports the same blocks without their traces and with them, too (4.1 GB more for a million logs)
--quick    a few runs of everything: shows that all of it works, not how fast it is`

export interface Options {
  events: number
  seed: number
  pack: string | undefined
  keep: string | undefined
  data: string | undefined
  program: string
  /** Whether to measure what traces cost. */
  traces: boolean
  /** Runs of each query, starts of a server, and imports with traces. */
  effort: Effort & { starts: number; imports: number }
  /** Told what is done now. */
  note: (what: string) => void
}

/** Fills a store, asks it, serves it, and at last lets it follow a chain. */
export const bench = async (options: Options): Promise<Results> => {
  const { events, seed, pack, keep, data, program, traces, effort, note } = options
  const temporary = mkdtempSync(join(tmpdir(), 'chainsieve-bench-'))
  const remove = () => rmSync(temporary, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const folder = resolve(data ?? keep ?? join(temporary, 'data'))
    const [network = NETWORK] = storedNetworks(folder)
    const store = storeFile(folder, network)
    if (data !== undefined && !existsSync(store))
      throw refuse('no_store', `${data} holds no store: leave --data out to fill one, and keep it by --keep`)
    if (keep !== undefined && existsSync(store))
      throw refuse('store_exists', `${keep} holds a store already: measure it by --data, or name another folder`)
    const served = { program, data: folder, network }

    let filling: Results['filling']
    if (data === undefined) {
      const file = pack ?? join(temporary, 'pack.ndjson')
      if (pack === undefined) {
        note(`Making blocks with ${events} logs`)
        await generatePack(file, { events, seed })
      }
      note(`Importing ${file}`)
      filling = await fill({ ...served, pack: file, store })
      if (pack === undefined) rmSync(file)
    }
    note('Measuring the size')
    const held = heldIn(store)
    const sizes = sizesOf(store)

    const random = createRandom()
    random.seek(seed, 1, 2, 3)
    const own = inProcess(store, network)
    const ask = (entities: string, body?: object) =>
      JSON.parse(own.run({ label: '', entities, ...(body && { body: JSON.stringify(body) }) }) as string) as Answer
    note('Choosing values to ask for')
    const queries = makeQueries(ask, random)
    const queried = await measureQueries(queries, own, 'in process', effort, note)
    const wide = queries.find(({ group }) => group === 'wide')!.requests[0]!
    const all = ask('event', { ...transfersIn(undefined), size: 0 }).hits.total
    const million = all > MILLION ? (JSON.parse(wide.body!) as object) : transfersIn(undefined)
    await own.close()

    const server = await openServer(served)
    queried.push(...(await measureQueries(queries, server.way, 'HTTP', effort, note)))
    const health = await measureHealth(server, effort.runs)
    await server.stop()

    note('Starting a server, again and again')
    const sorted = queries.find(({ name }) => name.endsWith('newest first'))!
    const start = await measureStart(served, sorted.requests, effort.starts)
    note(`Streaming ${Math.min(all, MILLION)} hits or more`)
    const stream = await measureStream(served, 'event', million)

    // Following adds blocks: a store that is to stay is left as it is.
    const stays = data !== undefined || keep !== undefined
    const followed = stays ? copyStore(store, join(temporary, 'followed'), network) : served
    note('Following a node')
    const head = await measureHead({
      ...served,
      ...followed,
      store: storeFile(followed.data, network),
      seed,
      blocks: headBlocks(held.logs),
    })
    if (traces) note('Importing without traces and with them')
    const tracing = traces
      ? await measureTracing({
          ...{ program, network, events, seed },
          folder: join(temporary, 'tracing'),
          runs: effort.imports,
        })
      : undefined
    return { store: held, filling, sizes, queries: inPairs(queried), health, start, stream, head, tracing }
  } finally {
    remove()
    process.off('exit', remove)
  }
}

const NETWORK = 'ethereum/ethereum/mainnet'
const FULL = { runs: 400, budgetMs: 15_000, warmMs: 300, starts: 7, imports: 3 }
export const QUICK = { runs: 20, budgetMs: 500, warmMs: 0, starts: 1, imports: 1 }

const measureQueries = async (
  queries: Query[],
  way: Way,
  name: Measured['way'],
  effort: Effort,
  note: Options['note'],
) => {
  const measured: Measured[] = []
  for (const query of queries) {
    note(`Asking ${name}: ${query.name}`)
    measured.push(await measureQuery(query, way, name, effort))
  }
  return measured
}

/** Each query's two ways one after the other. */
const inPairs = (queried: Measured[]): Measured[] =>
  [...new Set(queried.map(({ query }) => query))].flatMap(name => queried.filter(({ query }) => query === name))

/** A few seconds at the speed that is due. */
const headBlocks = (logs: number): number => Math.min(400, Math.max(20, Math.round(logs / 3000)))

const copyStore = (store: string, data: string, network: string): { data: string } => {
  const copy = storeFile(data, network)
  mkdirSync(dirname(copy), { recursive: true })
  // Free where the file system can share blocks between files.
  for (const ending of ['', '-wal'])
    if (existsSync(`${store}${ending}`))
      copyFileSync(`${store}${ending}`, `${copy}${ending}`, constants.COPYFILE_FICLONE)
  return { data }
}

export const main = async (args: string[]): Promise<void> => {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      pack: { type: 'string' },
      keep: { type: 'string' },
      data: { type: 'string' },
      program: { type: 'string', default: 'dist/chainsieve.mjs' },
      json: { type: 'string' },
      traces: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const number = (name: string, text: string): number => {
    if (/^[0-9]+$/.test(text)) return Number(text)
    throw refuse('bad_option', `--${name} must be a whole number, not ${JSON.stringify(text)}`)
  }
  const { pack, keep, data, json } = values
  if (data !== undefined && (keep !== undefined || pack !== undefined))
    throw refuse('bad_option', '--data measures a store that is filled already: leave --keep and --pack out')
  if (values.traces && (data !== undefined || pack !== undefined))
    throw refuse('bad_option', '--traces measures blocks that are made with traces: leave --data and --pack out')
  const program = resolve(values.program)
  if (!existsSync(program))
    throw refuse(
      'no_program',
      `${values.program} is not there: build it by npm run build, or name another by --program`,
    )
  if (pack !== undefined && !existsSync(pack))
    throw refuse('no_pack', `${pack} is not there: leave --pack out to make one`)
  const options = {
    effort: values.quick ? QUICK : FULL,
    events: number('events', values.events),
    seed: number('seed', values.seed),
    pack,
    keep,
    data,
    program,
    traces: values.traces,
  }

  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    node: process.version,
    load: [loadavg()[0]!],
  }
  const results = await bench({ ...options, note: what => console.error(what) })
  machine.load.push(loadavg()[0]!)
  const rows = rowsOf(results)
  const text = JSON.stringify({ options, machine, rows, ...results }, null, 2)
  if (json === '-') console.log(text)
  else {
    console.log(`${headline(results, machine)}\n\n${showRows(rows)}\n\n${verdict(rows)}`)
    if (json !== undefined) writeFileSync(json, `${text}\n`)
  }
}

interface Machine {
  processors: number
  model: string
  node: string
  /** Processes that wanted to run in the last minute, before and after. */
  load: number[]
}

const headline = ({ store }: Results, { processors, model, node, load }: Machine): string => {
  const { blocks, txs, logs, events } = store
  const [from, to] = load.map(one => one.toFixed(1))
  return (
    `${count(blocks)} blocks with ${count(txs)} transactions, ${count(logs)} logs and ${count(events)} events; ` +
    `${processors} processors (${model.trim()}), load ${from} before and ${to} after, Node ${node}`
  )
}

const verdict = (rows: readonly Row[]): string => {
  const judged = rows.filter(({ ok, applies }) => ok !== undefined && applies)
  const missed = judged.filter(({ ok }) => !ok)
  return `${judged.length - missed.length} of ${judged.length} targets reached.`
}

const count = (n: number) => n.toLocaleString('en')

if (import.meta.main) {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => process.exit(code))
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    console.error(messageOf(error))
    process.exitCode = 1
  }
}
