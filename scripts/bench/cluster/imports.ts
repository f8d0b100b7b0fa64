import { rmSync } from 'node:fs'
import type { LoadWay } from '../beside/opensearch.ts'
import { inTurns } from '../beside/sides.ts'
import { type FillOptions, fill } from '../fill.ts'
import type { Note } from '../filled.ts'
import type { BenchEffort } from '../options.ts'
import { loadBare } from './load.ts'
import type { Ready } from './ready.ts'
import { openSink } from './sink.ts'
import { openTarget, type Target } from './target.ts'

/** Each round, with the processor time of our process, or of the loader, and of the cluster. */
export interface Imports {
  ours: Imported[]
  bare: (Imported & LoadWay)[]
  /** Ours where the cluster takes all at once. */
  unhindered: Imported[]
}

export interface Imported {
  seconds: number
  /** Processor time of the import, or of the loader. */
  cpuSeconds: number | undefined
  /** Of the cluster. */
  clusterSeconds: number
}

export interface ImportsOptions extends Pick<FillOptions, 'program' | 'data' | 'pack' | 'store'> {
  ours: Target
  bare: Target
  ready: Ready
  effort: Pick<BenchEffort, 'rounds'>
  note: Note
}

/** Our import and the bare loader in turns, each into indices that are not there yet. */
export const measureImports = async (options: ImportsOptions): Promise<Imports> => {
  const { ours, bare, ready, effort, note, program, data, pack, store } = options
  const filling = { program, data, pack, store }
  const imports: Imports = { ours: [], bare: [], unhindered: [] }
  await inTurns(effort.rounds, async (side, round) => {
    const way = WAYS[round % WAYS.length]!
    note(`Importing, round ${round + 1} of ${effort.rounds}: ${side === 'ours' ? 'ours' : 'bare'}`)
    if (side === 'ours') imports.ours.push(await measureOurs(ours, filling))
    else {
      await bare.remove()
      await bare.prepare([ready.blocks.first, ready.blocks.last])
      const before = process.cpuUsage()
      const { clusterSeconds, done } = await metered(bare, () => loadBare(bare, ready, way))
      const { user, system } = process.cpuUsage(before)
      imports.bare.push({ ...way, seconds: done, cpuSeconds: (user + system) / 1e6, clusterSeconds })
    }
  })
  // The last one of ours is what is asked later: it lies in the cluster, and this one nowhere.
  const sink = await openSink(ours.naming.urls[0]!)
  const dropped = openTarget(sink.url, ours.network, `${ours.naming.prefix}-dropped`)
  try {
    for (let round = 0; round < effort.rounds; round++) {
      note(`Importing, round ${round + 1} of ${effort.rounds}: ours, and nothing waits for the cluster`)
      const before = sink.documents()
      const there = { data: `${data}-dropped`, store: store.replace(data, `${data}-dropped`) }
      imports.unhindered.push(await measureOurs(dropped, { ...filling, ...there }))
      const all = Object.values(ready.kinds).reduce((sum, { documents }) => sum + documents, 0)
      if (sink.documents() - before < all) throw new Error(`${sink.documents() - before} of ${all} documents were sent`)
    }
  } finally {
    await dropped.remove()
    await dropped.close()
    sink.close()
  }
  return imports
}

const measureOurs = async (target: Target, filling: Pick<FillOptions, 'program' | 'data' | 'pack' | 'store'>) => {
  await target.remove()
  rmSync(filling.data, { recursive: true, force: true })
  const asked = { ...filling, network: target.network, flags: target.flags }
  const { clusterSeconds, done } = await metered(target, () => fill(asked))
  return { seconds: done.seconds, cpuSeconds: done.cpuSeconds, clusterSeconds }
}

const metered = async <T>(target: Target, work: () => Promise<T>): Promise<{ done: T; clusterSeconds: number }> => {
  const before = await target.cpuSeconds()
  const done = await work()
  return { done, clusterSeconds: (await target.cpuSeconds()) - before }
}

/** Sizes of bulk requests between which ours chooses. */
const WAYS: readonly LoadWay[] = [
  { bytes: 10e6, parallel: 3 },
  { bytes: 5e6, parallel: 3 },
  { bytes: 20e6, parallel: 3 },
]
