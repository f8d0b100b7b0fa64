import { coalesce } from '../lib/scheduling/coalesce.ts'
import type { ClusterNetwork } from './asker.ts'
import type { Cluster, ClusterAnswer } from './cluster.ts'
import { unavailable } from './faults.ts'
import { aliasIn, type IdentityOf, lostText, type Reached, reachedBySearches, type WantedIndex } from './lost.ts'

/** Time after which indices are looked at anew, though no shard is missing: one may have been created again in the place of another. */
const LOOK_MS = 5_000

/**
 * A cluster that answers no search by an alias from which an index is missing: the cluster itself would answer it from those that are left. Each answer
 * tells how many shards were asked; where these are fewer than they were, the indices are looked at before it counts.
 */
export const guarded = ({ cluster, naming, network, visible }: ClusterNetwork, identityOf?: IdentityOf): Cluster => {
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
    } else if (performance.now() - known!.at > LOOK_MS) look().catch(() => {})
  }

  return {
    async ask(request) {
      const answer = await cluster.ask(request)
      const aliases = SEARCH.exec(request.path)?.[1]
      const asked = aliases === undefined || answer.status >= 300 ? undefined : shardsIn(headOf(answer))
      if (asked !== undefined) await checkShards(aliases!.split(','), asked)
      return answer
    },
    close: cluster.close,
  }
}

/** How many shards were asked stands there. */
const HEAD = 1_000

const headOf = ({ text, bytes }: ClusterAnswer): string => bytes?.toString('latin1', 0, HEAD) ?? text

/** Undefined where the answer is not whole. Some versions of Elasticsearch tell no shards of a point in time: indices are looked at then. */
const shardsIn = (head: string): number | undefined => {
  const [, total] = SHARDS.exec(head) ?? []
  if (total !== undefined) return Number(total)
  return SILENT.test(head) ? 0 : undefined
}

const lostOf = (lost: readonly WantedIndex[], aliases: readonly string[]): WantedIndex[] =>
  lost.filter(({ index }) => aliases.includes(aliasIn(index)))

/** A search, or a point in time of one, by aliases. */
const SEARCH = /^\/([^_/][^/]*)\/_(?:pit|search(?:\/point_in_time)?)$/
/** Of an answer that is whole; of others who asked tells. */
const SHARDS =
  /^\{(?:"took":\d+,"timed_out":false,(?:"\w+":\w+,)*|"(?:pit_)?id":"[^"]*",)"_shards":\{"total":(\d+),[^}]*"failed":0[,}]/
const SILENT = /^\{"id":"[^"]*"\}/
