import { join } from 'node:path'
import { aliasOf } from '../../../src/cluster/indices/names.ts'
import { storeFile } from '../../../src/engine/files.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { createRandom } from '../../lib/random.ts'
import { differing, differingQuestion } from '../anew.ts'
import { type Compared, compareSearches, type Mix } from '../beside/asking.ts'
import { PAGE } from '../beside/beside.ts'
import { openOpenSearch } from '../beside/opensearch.ts'
import { type Both, resultsInTurns, sidesOf } from '../beside/sides.ts'
import { makeTen, mixOf } from '../beside/ten.ts'
import type { Held } from '../fill.ts'
import { fillStore, type Note } from '../filled.ts'
import type { Options } from '../options.ts'
import { takeSample } from '../sample.ts'
import { askIn, inProcess } from '../searching.ts'
import { openServer, type Streamed, streamAll } from '../serving.ts'
import { compileAll } from './compiled.ts'
import { type Imports, measureImports, type Ready, writeReady } from './imports.ts'
import { openTarget, type Settled } from './target.ts'

/** Our import into a cluster beside a loader that only sends. */
export interface OnlyImports {
  version: string
  store: Held
  imports: Imports
  sent: Ready['kinds']
}

/** Our server over a cluster beside the same cluster, asked and filled directly. */
export interface OverCluster extends OnlyImports, Compared {
  settled: Record<Kind, Settled>
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
    try {
      const theirs = { url: against, bytes: compiled.bytes, cpuSeconds: ours.cpuSeconds }
      const mixes: Mix[] = [
        { requests: others, varying: 'number' },
        { requests: mix, varying: 'nothing' },
      ]
      const sides = sidesOf(server, theirs)
      const compared = await compareSearches(sides, { questions: ten, mixes, clients: CLIENTS }, effort, note)
      note('Taking all events from both')
      const streams = await resultsInTurns(effort.rounds, {
        ours: () => streamAll(server, 'event', {}),
        theirs: () => scroll(aliasOf(ours.naming, network, 'event'), PAGE),
      })
      return { version, store: held, imports, sent: ready.kinds, settled, ...compared, streams }
    } finally {
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

const CLIENTS = [1, 16]
/** Of values that are asked for: 40 of each question in each. */
const SAMPLES = 5
