import { rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { storeFile } from '../../src/engine/files.ts'
import { runMain } from '../lib/flags.ts'
import { withFolder } from '../lib/program.ts'
import { createRandom } from '../lib/random.ts'
import { count } from '../lib/table.ts'
import { standBeside } from './beside/beside.ts'
import { showBeside } from './beside/report.ts'
import { standOverCluster } from './cluster/cluster.ts'
import { showOverCluster } from './cluster/report.ts'
import { openDuckDb } from './duckdb.ts'
import { measureTracing } from './fill.ts'
import { copyStore, fillStore, type Note } from './filled.ts'
import { askFiltered, showFiltered } from './filtered.ts'
import { measureHead } from './head.ts'
import { type BenchEffort, type Options, readOptions, USAGE } from './options.ts'
import { MILLION, makeQueries, type Query, transfersIn } from './queries.ts'
import { type Results, rowsOf, showRows, verdict } from './report.ts'
import { askIn, inProcess, type Measured, measureQuery, type Way } from './searching.ts'
import { measureHealth, measureStart, measureStream, openServer } from './serving.ts'

const bench = async (options: Options, temporary: string, note: Note): Promise<Results> => {
  const { events, seed, keep, data, program, traces, effort } = options
  const { served, store, pack, filling, held, sizes } = await fillStore(options, temporary, note)
  if (pack !== undefined && options.pack === undefined) rmSync(pack)
  const { network } = served

  const random = createRandom()
  random.seek(seed, 1, 2, 3)
  const own = inProcess(store, network)
  const ask = askIn(own)
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
  note('Asking for filtered aggregations, and DuckDB too')
  const asksOurs = async (entities: string, body: object) =>
    server.way.run({ label: entities, entities, body: JSON.stringify(body) })
  const filtered = await askFiltered({ ours: asksOurs }, await openDuckDb(store, network, temporary))
  await server.stop()

  note('Starting a server, again and again')
  const sorted = queries.find(({ name }) => name.endsWith('newest first'))!
  const start = await measureStart(served, sorted.requests, effort)
  note(`Streaming ${Math.min(all, MILLION)} hits or more`)
  const stream = await measureStream(served, 'event', million)

  // Following adds blocks: a store that is to stay is left as it is.
  const stays = data !== undefined || keep !== undefined
  const followed = stays ? copyStore(store, join(temporary, 'followed'), network) : served
  note('Following a node')
  const head = await measureHead({
    ...{ ...served, ...followed, seed },
    store: storeFile(followed.data, network),
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
  return { store: held, filling, sizes, queries: inPairs(queried), health, start, stream, head, tracing, filtered }
}

const measureQueries = async (queries: Query[], way: Way, name: Measured['way'], effort: BenchEffort, note: Note) => {
  const measured: Measured[] = []
  for (const query of queries) {
    note(`Asking ${name}: ${query.name}`)
    measured.push(await measureQuery(query, way, name, effort))
  }
  return measured
}

const inPairs = (queried: Measured[]): Measured[] =>
  [...new Set(queried.map(({ query }) => query))].flatMap(name => queried.filter(({ query }) => query === name))

const headBlocks = (logs: number): number => Math.min(400, Math.max(20, Math.round(logs / 3000)))

export const main = async (args: string[]): Promise<void> => {
  const read = readOptions(args)
  if (!read) return console.log(USAGE)
  const { options, json } = read
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    node: process.version,
    load: [loadavg()[0]!],
  }
  const note: Note = what => console.error(what)
  const { results, tables } = await withFolder(async folder => {
    if (options.against !== undefined && options.store === 'opensearch') {
      const results = await standOverCluster({ ...options, against: options.against }, folder, note)
      return { results, tables: showOverCluster(results) }
    }
    if (options.against !== undefined) {
      const results = await standBeside({ ...options, against: options.against }, folder, note)
      return { results, tables: showBeside(results) }
    }
    const results = await bench(options, folder, note)
    const rows = rowsOf(results)
    return {
      results: { rows, ...results },
      tables: `${showFiltered(results.filtered, undefined)}\n\n${showRows(rows)}\n\n${verdict(rows)}`,
    }
  })
  machine.load.push(loadavg()[0]!)
  const text = JSON.stringify({ options, machine, ...results }, null, 2)
  if (json === '-') console.log(text)
  else {
    console.log(`${headline(results, machine)}\n\n${tables}`)
    if (json !== undefined) writeFileSync(json, `${text}\n`)
  }
}

interface Machine {
  processors: number
  model: string
  node: string
  load: number[]
}

const headline = ({ store }: Pick<Results, 'store'>, { processors, model, node, load }: Machine): string => {
  const { blocks, txs, logs, events } = store
  const [from, to] = load.map(one => one.toFixed(1))
  return (
    `${count(blocks)} blocks with ${count(txs)} transactions, ${count(logs)} logs and ${count(events)} events; ` +
    `${processors} processors (${model.trim()}), load ${from} before and ${to} after, Node ${node}`
  )
}

if (import.meta.main) {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => process.exit(code))
  runMain(() => main(process.argv.slice(2)))
}
