import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { storeFile } from '../../../src/engine/files.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import { createRandom, type Random } from '../../lib/random.ts'
import { openDuckDb } from '../duckdb.ts'
import { fill, type Held } from '../fill.ts'
import { type Filled, fillStore, type Note } from '../filled.ts'
import type { Filtered } from '../filtered.ts'
import type { Options } from '../options.ts'
import { filter, type Request, search, term } from '../queries.ts'
import { type Sample, takeSample, VALUES } from '../sample.ts'
import { askIn, inProcess } from '../searching.ts'
import { measureStart, openServer, type Server, type Starting, type Streamed, streamAll } from '../serving.ts'
import { askBesideScans, type Compared, compareSearches, type Fairness } from './asking.ts'
import { INDEX_OF, type LoadWay, type OpenSearch, openOpenSearch, writeDocuments } from './opensearch.ts'
import { type AskedPanel, askFilteredPanels, askPanels, heavy } from './panels.ts'
import { type Both, inTurns, resultsInTurns, sidesOf } from './sides.ts'
import { makeScans, makeTen, mixOf } from './ten.ts'

/** Ours and a running OpenSearch with the same documents, in one run. */
export interface Beside extends Compared {
  version: string
  store: Held
  /** In theirs; ours holds calls, contracts and tokens besides. */
  documents: number
  imports: { ours: number[]; theirs: (LoadWay & { seconds: number })[] }
  streams: Both<Omit<Streamed, 'memory'>[]>
  bytes: Both<number>
  fairness: Fairness
  panels: AskedPanel[]
  filtered: Filtered
  /** As `fairness`, beside aggregations over everything. */
  besideHeavy: Fairness
  start: Starting
}

export const standBeside = async (
  options: Options & { against: string },
  temporary: string,
  note: Note,
): Promise<Beside> => {
  const theirs = await openOpenSearch(options.against)
  try {
    const filled = await fillStore(options, temporary, note)
    const random = createRandom()
    random.seek(options.seed, 1, 2, 3)
    const own = inProcess(filled.store, filled.served.network)
    const sample = takeSample(askIn(own), random)
    await own.close()
    const server = await openServer(filled.served)
    let measured: Omit<Beside, 'start'>
    try {
      measured = await measure({ options, temporary, note, theirs, filled, server, sample, random })
    } finally {
      await server.stop()
    }
    note('Starting a server, again and again')
    return { ...measured, start: await measureStart(filled.served, byId(sample), options.effort) }
  } finally {
    // What failed before is what is to be told.
    await theirs.remove().catch(error => note(`The indices of ${theirs.version} stay: ${messageOf(error)}`))
    await theirs.close()
  }
}

interface Stage {
  options: Options
  temporary: string
  note: Note
  theirs: OpenSearch
  filled: Filled
  server: Server
  sample: Sample
  random: Random
}

const measure = async (stage: Stage): Promise<Omit<Beside, 'start'>> => {
  const { note, theirs, filled, server, sample, random } = stage
  const { effort } = stage.options
  const { documents, imports } = await importBoth(stage)

  const ten = makeTen(sample, random)
  const sides = sidesOf(server, theirs)
  const mixes = [{ requests: mixOf(ten, random), varying: 'space' as const }]
  const compared = await compareSearches(sides, { questions: ten, mixes, clients: CLIENTS }, effort, note)

  note('Taking all events from both')
  const streams = await resultsInTurns(effort.rounds, {
    ours: () => streamAll(server, 'event', {}),
    theirs: () => theirs.scroll(INDEX_OF('event'), PAGE),
  })
  note('Asking by _id beside scans')
  const fairness = await askBesideScans(sides.ours, byId(sample), makeScans(sample), effort.rounds * effort.seconds)
  note('Asking both for the panels of a dashboard')
  const panels = await askPanels(sides, effort)
  note('Asking both and DuckDB for filtered aggregations')
  const duckdb = await openDuckDb(filled.store, filled.served.network, stage.temporary)
  const filtered = await askFilteredPanels(sides, duckdb)
  note('Asking by _id beside aggregations')
  const besideHeavy = await askBesideScans(sides.ours, byId(sample), heavy(), effort.rounds * effort.seconds)
  note(`Merging the segments of ${theirs.version}`)
  // Last of all, as nobody who follows a chain can do it: questions find both as imports leave them.
  const bytes = { ours: filled.sizes.bytes, theirs: await theirs.settle() }
  const held = { version: theirs.version, store: filled.held, documents, imports, bytes }
  return { ...held, ...compared, streams, fairness, panels, filtered, besideHeavy }
}

const byId = ({ txs }: Sample): Request[] =>
  txs.slice(0, VALUES).map(hash => search('tx', hash, filter(term('_id', hash))))

/**
 * Ours reads the blocks, theirs is handed the documents that we have made of them. The first import
 * of ours filled the store.
 */
const importBoth = async ({ options, temporary, note, theirs, filled, server }: Stage) => {
  const { served, pack, filling } = filled
  note('Writing the documents for both')
  const files = await writeDocuments(server, temporary)
  const imports: Beside['imports'] = { ours: [filling!.seconds], theirs: [] }
  const data = join(temporary, 'again')
  await inTurns(options.effort.rounds, async (side, round) => {
    note(`Importing, round ${round + 1} of ${options.effort.rounds}: ${side}`)
    if (side === 'theirs') {
      const way = WAYS[round % WAYS.length]!
      imports.theirs.push({ ...way, seconds: await theirs.load(files, way) })
    } else if (round > 0) {
      const { network } = served
      const { seconds } = await fill({ ...served, data, pack: pack!, store: storeFile(data, network) })
      imports.ours.push(seconds)
      rmSync(data, { recursive: true })
    }
  })
  for (const { path } of files) rmSync(path)
  return { imports, documents: files.reduce((sum, { documents }) => sum + documents, 0) }
}

const CLIENTS = [1, 16, 64]
/** In which documents are handed over, one a round: its documentation advises 5 to 15 MB. */
const WAYS: readonly LoadWay[] = [
  { bytes: 5e6, parallel: 2 },
  { bytes: 5e6, parallel: 4 },
  { bytes: 15e6, parallel: 2 },
]

/** Hits of a page of a scroll: the most that it allows. */
export const PAGE = 10_000
