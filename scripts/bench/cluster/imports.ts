import { once } from 'node:events'
import { createWriteStream, rmSync } from 'node:fs'
import { FILTER_PATH, readBulkAnswer } from '../../../src/cluster/bulk/answer.ts'
import type { ClusterOptions } from '../../../src/cluster/connection/cluster.ts'
import { baseOf } from '../../../src/cluster/indices/names.ts'
import { bulkLine } from '../../../src/cluster/ship/sending.ts'
import { createBlocks } from '../../../src/engine/blocks.ts'
import { openDocuments } from '../../../src/engine/reader.ts'
import { createDocumentLines } from '../../../src/engine/show/document-stream.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { bodiesIn, type LoadWay } from '../beside/opensearch.ts'
import { inTurns } from '../beside/sides.ts'
import { type FillOptions, fill } from '../fill.ts'
import type { Note } from '../filled.ts'
import type { BenchEffort } from '../options.ts'
import type { Target } from './target.ts'

/** Each round, with the processor time of our process, or of the loader, and of the cluster. */
export interface Imports {
  ours: Imported[]
  bare: (Imported & LoadWay)[]
}

interface Imported {
  seconds: number
  /** Processor time of the import, or of the loader. */
  cpuSeconds: number | undefined
  clusterSeconds: number
}

interface ImportsOptions extends Pick<FillOptions, 'program' | 'data' | 'pack' | 'store'> {
  ours: Target
  bare: Target
  ready: Ready
  effort: Pick<BenchEffort, 'rounds'>
  note: Note
}

/** Our import and the bare loader in turns, each into indices that are not there yet. */
export const measureImports = async (options: ImportsOptions): Promise<Imports> => {
  const { ours, bare, ready, effort, note, ...filling } = options
  const imports: Imports = { ours: [], bare: [] }
  await inTurns(effort.rounds, async (side, round) => {
    const way = WAYS[round % WAYS.length]!
    note(`Importing, round ${round + 1} of ${effort.rounds}: ${side === 'ours' ? 'ours' : 'bare'}`)
    if (side === 'ours') {
      await ours.remove()
      rmSync(filling.data, { recursive: true, force: true })
      imports.ours.push(await metered(ours, () => fill({ ...filling, network: ours.network, flags: ours.flags })))
    } else {
      await bare.remove()
      await bare.prepare([ready.blocks.first, ready.blocks.last])
      imports.bare.push({ ...way, ...(await metered(bare, () => loadBare(bare, ready, way))) })
    }
  })
  return imports
}

const metered = async (target: Target, work: () => Promise<Omit<Imported, 'clusterSeconds'>>): Promise<Imported> => {
  const before = await target.cpuSeconds()
  const { seconds, cpuSeconds } = await work()
  return { seconds, cpuSeconds, clusterSeconds: (await target.cpuSeconds()) - before }
}

/** A loader that does nothing but send what is ready, until all of it can be found. */
const loadBare = async (
  { naming, network, cluster, ask }: Target,
  { path }: Ready,
  { bytes, parallel }: LoadWay,
): Promise<Omit<Imported, 'clusterSeconds'>> => {
  const [start, busy] = [performance.now(), process.cpuUsage()]
  const bodies = bodiesIn(path, bytes)
  const worker = async () => {
    for (;;) {
      const { value: lines, done } = await bodies.next()
      if (done) return
      const query = { filter_path: FILTER_PATH }
      const answer = await cluster.ask({ method: 'POST', path: '/_bulk', lines, query, timeoutMs: 600_000, retries: 0 })
      const items = answer.text.match(/"status"/g)?.length ?? 0
      const { again, fault, why } = readBulkAnswer(answer, items, at => `document ${at}`)
      if (fault !== undefined || again.length > 0 || items === 0) throw fault ?? new Error(`not all was taken: ${why}`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  await ask({ method: 'POST', path: `/${baseOf(naming, network)}-*/_refresh` })
  const { user, system } = process.cpuUsage(busy)
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 }
}

/** Sizes of bulk requests between which ours chooses. */
const WAYS: readonly LoadWay[] = [
  { bytes: 10e6, parallel: 3 },
  { bytes: 5e6, parallel: 3 },
  { bytes: 20e6, parallel: 3 },
]

/** All documents of a store as our import sends them, ready for `_bulk`, in one file. */
export interface Ready {
  path: string
  kinds: Record<Kind, { documents: number; bytes: number }>
  blocks: { first: number; last: number }
}

export const writeReady = async (
  store: string,
  { naming, network }: Pick<Target, 'network'> & { naming: Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'> },
  path: string,
): Promise<Ready> => {
  const kinds = Object.fromEntries(KINDS.map(kind => [kind, { documents: 0, bytes: 0 }])) as Ready['kinds']
  const reader = openDocuments(store)
  const lines = createDocumentLines(reader)
  const out = createWriteStream(path, { highWaterMark: 1 << 22 })
  reader.begin()
  try {
    const ranges = createBlocks(reader.db).ranges()
    const all = function* () {
      for (const { from, to } of ranges) for (let block = from; block <= to; block++) yield* lines.block(block)
      for (const range of ranges) yield* lines.tokens(range, Number.MAX_SAFE_INTEGER, () => false)
    }
    for (const document of all()) {
      const { index, id, version, source, tail } = bulkLine(naming, network, BATCH, document)
      const held = kinds[document.kind]
      held.documents++
      held.bytes += source.length - 1 + tail.length
      const action = `{"index":{"_id":"${id}","_index":"${index}","version":${version},"version_type":"external_gte"}}\n`
      out.write(action)
      out.write(Buffer.from(source.subarray(0, -1)))
      if (!out.write(`${tail}\n`)) await once(out, 'drain')
    }
    out.end()
    await once(out, 'close')
    return { path, kinds, blocks: { first: ranges[0]!.from, last: ranges.at(-1)!.to } }
  } finally {
    reader.end()
    reader.close()
  }
}

const BATCH = { number: 1, tokens: 1 }
