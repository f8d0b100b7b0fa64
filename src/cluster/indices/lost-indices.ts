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
  /** Blocks whose documents the index should contain. */
  blocks: Range[]
  /** Identity of a restored or recreated index that has this name now. */
  instead?: string
}

/** Recorded identity of an index. Recreating or restoring an index changes its identity. */
export type IdentityOf = (index: string) => string | undefined

/** Identity of an index. One restored over a closed index keeps its `uuid` but not its history. */
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

/** Indices that searches of a network use. */
interface Reached {
  /** Indices that are missing, closed, restored, recreated or without their alias. */
  lost: WantedIndex[]
  /** Shards that a search by each alias should reach. */
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

/** Returns the index if its identity changed since it was recorded. Unknown identities match. */
export const replaced = (wanted: WantedIndex, is: string | undefined, identityOf: IdentityOf): WantedIndex[] => {
  const known = identityOf(wanted.index)
  return is === undefined || known === undefined || is === known ? [] : [{ ...wanted, instead: is }]
}

/** Alias of an index, from its name. */
export const aliasIn = (index: string): string => index.slice(0, index.lastIndexOf('-'))

/** Names the first index, the blocks of its documents, and the reason. */
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

/** Splits ranges at index boundaries. */
function* piecesOf(ranges: readonly Range[], blocksPerIndex: number): Generator<Range> {
  for (const { from, to } of ranges)
    for (let at = from; at <= to; ) {
      const next = (Math.floor(at / blocksPerIndex) + 1) * blocksPerIndex
      yield { from: at, to: Math.min(to, next - 1) }
      at = next
    }
}

/** Interval of index checks while no shard is missing: an index may have been recreated. */
const INDEX_LOOK_MS = 5_000

/**
 * Fails searches by an alias from which an index is missing: the cluster would answer them from the
 * remaining indices. If fewer shards answer than expected, it checks the indices first.
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

/** Bytes at the start of an answer that contain its shard counts. */
const ANSWER_HEAD = 1_000

const headOf = ({ text, bytes }: ClusterAnswer): string => bytes?.toString('latin1', 0, ANSWER_HEAD) ?? text

/** Undefined for a partial answer; 0, which forces a check, if the cluster reports no shards. */
const shardsIn = (head: string): number | undefined => {
  const [, total] = SHARDS_PATTERN.exec(head) ?? []
  if (total !== undefined) return Number(total)
  return WITHOUT_SHARDS.test(head) ? 0 : undefined
}

const lostOf = (lost: readonly WantedIndex[], aliases: readonly string[]): WantedIndex[] =>
  lost.filter(({ index }) => aliases.includes(aliasIn(index)))

/** Path of a search, or of opening a point in time, by aliases. */
const SEARCH_BY_ALIAS = /^\/([^_/][^/]*)\/_(?:pit|search(?:\/point_in_time)?)$/
/** Matches complete answers only. */
const SHARDS_PATTERN =
  /^\{(?:"took":\d+,"timed_out":false,(?:"\w+":\w+,)*|"(?:pit_)?id":"[^"]*",)"_shards":\{"total":(\d+),[^}]*"failed":0[,}]/
const WITHOUT_SHARDS = /^\{"id":"[^"]*"\}/
