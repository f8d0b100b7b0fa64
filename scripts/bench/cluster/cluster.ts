import { join } from 'node:path'
import { aliasOf } from '../../../src/cluster/names.ts'
import { storeFile } from '../../../src/engine/files.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import type { Varying } from '../anew.ts'
import { type Asked, askBoth, type Crowd, crowdBoth } from '../beside/asking.ts'
import { startClients } from '../beside/clients.ts'
import { openOpenSearch } from '../beside/opensearch.ts'
import { type Both, inTurns, type Side } from '../beside/sides.ts'
import { makeTen, mixOf } from '../beside/ten.ts'
import type { Held } from '../fill.ts'
import { fillStore, type Note } from '../filled.ts'
import type { Options } from '../options.ts'
import type { Request } from '../queries.ts'
import { createRandom } from '../random.ts'
import { takeSample } from '../sample.ts'
import { askIn, inProcess, searchBytes } from '../searching.ts'
import { openServer, type Streamed, streamAll } from '../serving.ts'
import { compileAll } from './compiled.ts'
import { differing, differingQuestion } from './differing.ts'
import { type Imports, measureImports } from './imports.ts'
import { type Ready, writeReady } from './ready.ts'
import { openTarget, type Settled } from './target.ts'

/** Our import into a cluster beside a loader that only sends. */
export interface OnlyImports {
  version: string
  store: Held
  imports: Imports
  /** JSON of the documents that were sent. */
  sent: Ready['kinds']
}

/** Our server over a cluster beside the same cluster, asked and filled directly. */
export interface OverCluster extends OnlyImports {
  settled: Record<Kind, Settled>
  asked: Asked[]
  crowds: (Crowd & { varying: Varying })[]
  streams: Both<Omit<Streamed, 'memory'>[]>
}

type Against = Options & { against: string }

export const standOverCluster = async (
  options: Against,
  temporary: string,
  note: Note,
): Promise<OverCluster | OnlyImports> => {
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
    const imports = await measureImports({ ours, bare, ready, program, data, pack: pack!, store: over, effort, note })
    if (options.only === 'import') return { version, store: held, imports, sent: ready.kinds }
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

const totalOf: Side['totalOf'] = ({ hits: { total } }) => (typeof total === 'number' ? total : total.value)

const CLIENTS = [1, 16]
/** Of values that are asked for: 40 of each question in each. */
const SAMPLES = 5
/** Hits of a page of a scroll: the most that it allows. */
const PAGE = 10_000
/** Turns' worth of time for the just-in-time compilers of both. */
const WARM = 4
