import type { Range } from '../lib/ranges.ts'
import { KINDS } from '../mapping/index.ts'
import type { Cluster } from './cluster.ts'
import { baseOf, indexNameOf } from './names.ts'
import { okay } from './okay.ts'
import type { ClusterOptions } from './options.ts'

type Naming = Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>

/** An index that should hold documents. */
export interface WantedIndex {
  index: string
  /** Those of the blocks whose documents lie in it. */
  blocks: Range[]
}

/** The indices that hold documents of these blocks. */
export const wantedIndices = (naming: Naming, network: string, ranges: readonly Range[]): WantedIndex[] => {
  const wanted = new Map<string, Range[]>()
  for (const blocks of piecesOf(ranges, naming.blocksPerIndex))
    for (const kind of KINDS) {
      const index = indexNameOf(naming, network, kind, blocks.from)
      wanted.set(index, [...(wanted.get(index) ?? []), blocks])
    }
  return [...wanted].map(([index, blocks]) => ({ index, blocks }))
}

/** What searches of a network reach. */
export interface Reached {
  /** Indices that should hold documents of visible blocks and that no search reaches: gone, closed, without their alias, or created again. */
  lost: WantedIndex[]
  /** How many shards a search by an alias asks. */
  shards: ReadonlyMap<string, number>
}

interface Told {
  aliases?: Record<string, object>
  mappings?: { _meta?: { byItself?: boolean } }
  settings?: { index?: { number_of_shards?: string } }
}

const TOLD = '*.aliases,*.mappings._meta.byItself,*.settings.index.number_of_shards'
const PATIENCE = { timeoutMs: 5_000, retries: 1 }

export const reachedBySearches = async (
  cluster: Pick<Cluster, 'ask'>,
  naming: Naming,
  network: string,
  ranges: readonly Range[],
): Promise<Reached> => {
  const query = { expand_wildcards: 'open', filter_path: TOLD }
  const request = { method: 'GET', path: `/${baseOf(naming, network)}-*`, query, ...PATIENCE } as const
  const all = new Map(
    Object.entries(JSON.parse(await okay(cluster, request, 'list its indices')) as Record<string, Told>),
  )
  const shards = new Map<string, number>()
  for (const { aliases = {}, settings } of all.values())
    for (const alias of Object.keys(aliases))
      shards.set(alias, (shards.get(alias) ?? 0) + Number(settings?.index?.number_of_shards ?? 1))
  const isReached = (index: string): boolean => {
    const { aliases = {}, mappings } = all.get(index) ?? {}
    return aliasIn(index) in aliases && mappings?._meta?.byItself !== true
  }
  return { lost: wantedIndices(naming, network, ranges).filter(({ index }) => !isReached(index)), shards }
}

/** The alias that an index stands behind, by its name. */
export const aliasIn = (index: string): string => index.slice(0, index.lastIndexOf('-'))

/** Names the first ones, with the blocks whose documents lay there. */
export const lostText = (lost: readonly WantedIndex[]): string => {
  const [first, ...more] = lost
  const { from } = first!.blocks[0]!
  const { to } = first!.blocks.at(-1)!
  return `index ${first!.index}, which holds documents of blocks ${from} to ${to}, is gone, closed or without its alias${
    more.length === 0 ? '' : `, and so are ${more.length} more`
  }`
}

/** Ranges of blocks, cut where another index begins. */
function* piecesOf(ranges: readonly Range[], blocksPerIndex: number): Generator<Range> {
  for (const { from, to } of ranges)
    for (let at = from; at <= to; ) {
      const next = (Math.floor(at / blocksPerIndex) + 1) * blocksPerIndex
      yield { from: at, to: Math.min(to, next - 1) }
      at = next
    }
}
