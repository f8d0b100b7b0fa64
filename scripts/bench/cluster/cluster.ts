import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { aliasOf } from '../../../src/cluster/names.ts'
import { storeFile } from '../../../src/engine/files.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import type { Varying } from '../anew.ts'
import { type Asked, askBoth, type Crowd, crowdBoth } from '../beside/asking.ts'
import { startClients } from '../beside/clients.ts'
import { type LoadWay, openOpenSearch } from '../beside/opensearch.ts'
import { type Both, inTurns, type Side } from '../beside/sides.ts'
import { makeTen, mixOf } from '../beside/ten.ts'
import { fill, type Held } from '../fill.ts'
import { fillStore, type Note } from '../filled.ts'
import type { Options } from '../options.ts'
import type { Request } from '../queries.ts'
import { createRandom } from '../random.ts'
import { takeSample } from '../sample.ts'
import { askIn, inProcess, searchBytes } from '../searching.ts'
import { openServer, type Streamed, streamAll } from '../serving.ts'
import { compileAll } from './compiled.ts'
import { differing, differingQuestion } from './differing.ts'
import { loadBare } from './load.ts'
import { type Ready, writeReady } from './ready.ts'
import { openTarget, type Settled, type Target } from './target.ts'

/** Our server over a cluster beside the same cluster, asked and filled directly. */
export interface OverCluster {
  version: string
  store: Held
  /** Seconds of each round, with the processor time of our process and of the cluster. */
  imports: { ours: Imported[]; bare: (Imported & LoadWay)[] }
  /** JSON of the documents that were sent. */
  sent: Ready['kinds']
  settled: Record<Kind, Settled>
  asked: Asked[]
  crowds: (Crowd & { varying: Varying })[]
  streams: Both<Omit<Streamed, 'memory'>[]>
}

export interface Imported {
  seconds: number
  /** Processor time of the import, or of the loader. */
  cpuSeconds: number | undefined
  /** Of the cluster. */
  clusterSeconds: number
}

type Against = Options & { against: string }

export const standOverCluster = async (options: Against, temporary: string, note: Note): Promise<OverCluster> => {
  const { effort, against } = options
  const { version, scroll, close } = await openOpenSearch(against)
  // Blocks as they are in SQLite: what is asked for is chosen among them, and documents are made of them.
  const { served, store, pack, held } = await fillStore(options, temporary, note)
  const { network, program } = served
  const ours = openTarget(against, network, 'chainsieve-bench-ours')
  const bare = openTarget(against, network, 'chainsieve-bench-bare')
  const data = join(temporary, 'over')
  const over = storeFile(data, network)
  try {
    note('Writing the documents')
    const ready = await writeReady(store, bare, join(temporary, 'documents.bulk'))
    const imports: OverCluster['imports'] = { ours: [], bare: [] }
    await inTurns(effort.rounds, async (side, round) => {
      const way = WAYS[round % WAYS.length]!
      note(`Importing, round ${round + 1} of ${effort.rounds}: ${side === 'ours' ? 'ours' : 'bare'}`)
      if (side === 'ours') {
        await ours.remove()
        rmSync(data, { recursive: true, force: true })
        const filling = { program, network, data, pack: pack!, store: over, flags: ours.flags }
        const { clusterSeconds, done } = await metered(ours, () => fill(filling))
        imports.ours.push({ seconds: done.seconds, cpuSeconds: done.cpuSeconds, clusterSeconds })
      } else {
        await bare.remove()
        await bare.prepare([ready.blocks.first, ready.blocks.last])
        const before = process.cpuUsage()
        const { clusterSeconds, done } = await metered(bare, () => loadBare(bare, ready, way))
        const { user, system } = process.cpuUsage(before)
        imports.bare.push({ ...way, seconds: done, cpuSeconds: (user + system) / 1e6, clusterSeconds })
      }
    })
    note('Merging segments')
    const settled = await ours.settle()
    for (const [kind, { documents }] of Object.entries(ready.kinds))
      if (settled[kind as Kind].documents !== documents)
        throw new Error(`the cluster holds ${settled[kind as Kind].documents} documents of ${documents}: ${kind}`)
    await bare.remove()

    const random = createRandom()
    random.seek(options.seed, 1, 2, 3)
    const own = inProcess(store, network)
    const tens = Array.from({ length: SAMPLES }, () => makeTen(takeSample(askIn(own), random), random))
    await own.close()
    const ten = tens[0]!.map(differingQuestion)
    const mix = mixOf(tens[0]!, random)
    const others = tens.flatMap(one => mixOf(one, random).map(differing))
    note('Noting what the cluster is asked')
    const compiled = await compileAll(over, ours, [...mix, ...others, ...ten.flatMap(({ requests }) => requests)])
    const server = await openServer({ program, data, network, flags: ['--network', network, ...ours.flags] })
    const clients = startClients()
    try {
      const sides: Both<Side> = {
        ours: {
          url: server.url,
          bytes: request => searchBytes(server.url, network, server.token, request),
          totalOf,
          cpuSeconds: async () => server.usage()?.cpuSeconds,
        },
        theirs: { url: against, bytes: compiled.bytes, totalOf, cpuSeconds: ours.cpuSeconds },
      }
      note('Warming up both')
      await crowdBoth(clients, sides, others, 4, { rounds: 1, seconds: effort.seconds * WARM }, 'number')
      const asked: Asked[] = []
      for (const question of ten) {
        note(`Asking both: ${question.name}`)
        asked.push(await askBoth(question, sides, effort, 'number'))
      }
      const crowds: OverCluster['crowds'] = []
      for (const many of CLIENTS) {
        note(`Asking both by ${many} clients`)
        const crowd = async (varying: Varying, requests: readonly Request[]) =>
          crowds.push({ varying, ...(await crowdBoth(clients, sides, requests, many, effort, varying)) })
        await crowd('number', others)
        await crowd('nothing', mix)
      }
      note('Taking all events from both')
      const streams: OverCluster['streams'] = { ours: [], theirs: [] }
      const events = aliasOf(ours.naming, network, 'event')
      await inTurns(effort.rounds, async side => {
        streams[side].push(side === 'ours' ? await streamAll(server, 'event', {}) : await scroll(events, PAGE))
      })
      return { version, store: held, imports, sent: ready.kinds, settled, asked, crowds, streams }
    } finally {
      clients.close()
      await server.stop()
    }
  } finally {
    for (const target of [ours, bare]) {
      // What failed before is what is to be told.
      await target.remove().catch(error => note(`Indices of ${version} stay: ${messageOf(error)}`))
      await target.close()
    }
    await close()
  }
}

const metered = async <T>(target: Target, work: () => Promise<T>): Promise<{ done: T; clusterSeconds: number }> => {
  const before = await target.cpuSeconds()
  const done = await work()
  return { done, clusterSeconds: (await target.cpuSeconds()) - before }
}

const totalOf: Side['totalOf'] = ({ hits: { total } }) => (typeof total === 'number' ? total : total.value)

const CLIENTS = [1, 16]
/** Of values that are asked for: 40 of each question in each. */
const SAMPLES = 5
/** Sizes of bulk requests between which ours chooses. */
const WAYS: readonly LoadWay[] = [
  { bytes: 10e6, parallel: 3 },
  { bytes: 5e6, parallel: 3 },
  { bytes: 20e6, parallel: 3 },
]
/** Hits of a page of a scroll: the most that it allows. */
const PAGE = 10_000
/** Turns' worth of time for the just-in-time compilers of both. */
const WARM = 4
