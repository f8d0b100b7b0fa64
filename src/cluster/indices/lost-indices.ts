import type { Range } from '../../lib/ranges.ts'
import { coalesce } from '../../lib/scheduling/coalesce.ts'
import { KINDS } from '../../mapping/index.ts'
import type { Cluster, ClusterAnswer } from '../connection/cluster.ts'
import { expectOk } from '../connection/expect-ok.ts'
import { unavailable } from '../connection/faults.ts'
import type { ClusterNetwork } from '../query-client.ts'
import { baseOf, type IndexNaming, indexNameOf } from './names.ts'

/** An index that should hold documents. */
export interface WantedIndex {
  index: string
  /** Those of the blocks whose documents lie in it. */
  blocks: Range[]
  /** The identity of another one that stands in its place, restored from a snapshot or made anew. */
  instead?: string
}

/** By which an index is told from one that was made, or restored, in its place later. */
export type IdentityOf = (index: string) => string | undefined

/** What an index tells of that. One that was restored in the place of a closed one has the same `uuid`. */
export const identityIn = (uuid: string | undefined, history: string | undefined): string | undefined =>
  uuid === undefined || history === undefined ? uuid : `${uuid} ${history}`

/** The indices that hold documents of these blocks. */
export const wantedIndices = (naming: IndexNaming, network: string, ranges: readonly Range[]): WantedIndex[] => {
  const wanted = new Map<string, Range[]>()
  for (const blocks of piecesOf(ranges, naming.blocksPerIndex))
    for (const kind of KINDS) {
      const index = indexNameOf(naming, network, kind, blocks.from)
      wanted.set(index, [...(wanted.get(index) ?? []), blocks])
    }
  return [...wanted].map(([index, blocks]) => ({ index, blocks }))
}

/** What searches of a network reach. */
interface Reached {
  /** Indices that should hold documents of visible blocks and on which no search can count: gone, closed, without their alias, created again, or restored. */
  lost: WantedIndex[]
  /** How many shards a search by an alias asks. */
  shards: ReadonlyMap<string, number>
}

interface IndexInfo {
  aliases?: Record<string, object>
  mappings?: { _meta?: { byItself?: boolean } }
  settings?: { index?: { number_of_shards?: string; uuid?: string; history?: { uuid?: string } } }
}

const INDEX_FILTER =
  '*.aliases,*.mappings._meta.byItself,*.settings.index.number_of_shards,*.settings.index.uuid,*.settings.index.history.uuid'
const INDEX_LIST_TIMES = { timeoutMs: 5_000, retries: 1 }

export const reachedBySearches = async (
  cluster: Pick<Cluster, 'ask'>,
  naming: IndexNaming,
  network: string,
  ranges: readonly Range[],
  identityOf: IdentityOf = () => undefined,
): Promise<Reached> => {
  const query = { expand_wildcards: 'open', filter_path: INDEX_FILTER }
  const request = { method: 'GET', path: `/${baseOf(naming, network)}-*`, query, ...INDEX_LIST_TIMES } as const
  const all = new Map(
    Object.entries(JSON.parse(await expectOk(cluster, request, 'list its indices')) as Record<string, IndexInfo>),
  )
  const shards = new Map<string, number>()
  for (const { aliases = {}, settings } of all.values())
    for (const alias of Object.keys(aliases))
      shards.set(alias, (shards.get(alias) ?? 0) + Number(settings?.index?.number_of_shards ?? 1))
  const lostOf = (wanted: WantedIndex): WantedIndex[] => {
    const { index } = wanted
    const { aliases = {}, mappings, settings } = all.get(index) ?? {}
    if (!(aliasIn(index) in aliases) || mappings?._meta?.byItself === true) return [wanted]
    const is = identityIn(settings?.index?.uuid, settings?.index?.history?.uuid)
    return replaced(wanted, is, identityOf)
  }
  return { lost: wantedIndices(naming, network, ranges).flatMap(lostOf), shards }
}

/** An index in whose place another one stands, as its identity tells; none where it is the same. Where one is not known, it is taken for the same. */
export const replaced = (wanted: WantedIndex, is: string | undefined, identityOf: IdentityOf): WantedIndex[] => {
  const known = identityOf(wanted.index)
  return is === undefined || known === undefined || is === known ? [] : [{ ...wanted, instead: is }]
}

/** The alias that an index stands behind, by its name. */
export const aliasIn = (index: string): string => index.slice(0, index.lastIndexOf('-'))

/** Names the first ones, with the blocks whose documents lay there. */
const lostText = (lost: readonly WantedIndex[]): string => {
  const [first, ...more] = lost
  const { from } = first!.blocks[0]!
  const { to } = first!.blocks.at(-1)!
  const why = first!.instead
    ? 'was restored or recreated, and lacks some of them or has yet to be compared'
    : 'is gone, closed or without its alias'
  return `index ${first!.index}, which holds documents of blocks ${from} to ${to}, ${why}${
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

/** Time after which indices are looked at anew, though no shard is missing: one may have been created again in the place of another. */
const INDEX_LOOK_MS = 5_000

/**
 * A cluster that answers no search by an alias from which an index is missing: the cluster itself would answer it from those that are left. Each answer
 * tells how many shards were asked; where these are fewer than they were, the indices are looked at before it counts.
 */
export const guardMissingIndices = (
  { cluster, naming, network, visible }: ClusterNetwork,
  identityOf?: IdentityOf,
): Cluster => {
  let known: (Reached & { at: number }) | undefined
  const look = coalesce(async () => {
    const { ranges } = visible()
    known = { ...(await reachedBySearches(cluster, naming, network, ranges, identityOf)), at: performance.now() }
    return known
  })
  const isEnough = (aliases: readonly string[], asked: number): boolean =>
    known !== undefined &&
    lostOf(known.lost, aliases).length === 0 &&
    asked >= aliases.reduce((sum, alias) => sum + (known!.shards.get(alias) ?? 0), 0)

  const checkShards = async (aliases: readonly string[], asked: number) => {
    if (!isEnough(aliases, asked)) {
      const lost = lostOf((await look()).lost, aliases)
      if (lost.length > 0)
        throw unavailable(
          `its ${lostText(lost)}. Restore it from a snapshot of the cluster, or run chainsieve prune --lost, which has these blocks indexed again.`,
        )
    } else if (performance.now() - known!.at > INDEX_LOOK_MS) look().catch(() => {})
  }

  return {
    async ask(request) {
      const answer = await cluster.ask(request)
      const aliases = SEARCH_BY_ALIAS.exec(request.path)?.[1]
      const asked = aliases === undefined || answer.status >= 300 ? undefined : shardsIn(headOf(answer))
      if (asked !== undefined) await checkShards(aliases!.split(','), asked)
      return answer
    },
    close: cluster.close,
  }
}

/** How many shards were asked stands there. */
const ANSWER_HEAD = 1_000

const headOf = ({ text, bytes }: ClusterAnswer): string => bytes?.toString('latin1', 0, ANSWER_HEAD) ?? text

/** Undefined where the answer is not whole. Some versions of Elasticsearch tell no shards of a point in time: indices are looked at then. */
const shardsIn = (head: string): number | undefined => {
  const [, total] = SHARDS_PATTERN.exec(head) ?? []
  if (total !== undefined) return Number(total)
  return WITHOUT_SHARDS.test(head) ? 0 : undefined
}

const lostOf = (lost: readonly WantedIndex[], aliases: readonly string[]): WantedIndex[] =>
  lost.filter(({ index }) => aliases.includes(aliasIn(index)))

/** A search, or a point in time of one, by aliases. */
const SEARCH_BY_ALIAS = /^\/([^_/][^/]*)\/_(?:pit|search(?:\/point_in_time)?)$/
/** Of an answer that is whole; of others who asked tells. */
const SHARDS_PATTERN =
  /^\{(?:"took":\d+,"timed_out":false,(?:"\w+":\w+,)*|"(?:pit_)?id":"[^"]*",)"_shards":\{"total":(\d+),[^}]*"failed":0[,}]/
const WITHOUT_SHARDS = /^\{"id":"[^"]*"\}/
