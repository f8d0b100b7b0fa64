import type { Hidden } from '../../engine/shipping/shipped-ranges.ts'
import { retry } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Cluster, ClusterOptions, ClusterRequest } from '../connection/cluster.ts'
import { expectOk } from '../connection/expect-ok.ts'
import { aliasOf, META_FIELDS } from '../indices/names.ts'
import { hiddenClauses } from '../query/dsl.ts'
import { type CountsAnswer, countsBody, countsIn, TALLY_AGGREGATIONS, type TallyAnswer, talliesIn } from './tally.ts'

/** Requests of shipping, except bulk. Each throws a `retry` if its failure is temporary. */
export type ShipRequests = ReturnType<typeof createShipRequests>

/** Removing the documents of many blocks may take this long. */
const REMOVE_MS = 1_800_000
const TALLY_MS = 120_000

interface ShipAnswer {
  _shards?: { failed: number }
  aggregations?: { greatest?: { value: number | null }; kinds?: TallyAnswer; blocks?: CountsAnswer }
  failures?: object[]
  timed_out?: boolean
}

export const createShipRequests = (
  cluster: Pick<Cluster, 'ask'>,
  naming: Pick<ClusterOptions, 'prefix'>,
  network: string,
  /** Aborts requests that start from now on. */
  signal: () => AbortSignal,
) => {
  const all = KINDS.map(kind => aliasOf(naming, network, kind)).join(',')
  /** Rejects partial answers. */
  const ask = async (request: ClusterRequest, doing: string): Promise<ShipAnswer> => {
    const answer = JSON.parse(await expectOk(cluster, { ...request, signal: signal() }, doing)) as ShipAnswer
    const { _shards, failures = [], timed_out: isLate = false } = answer
    const why = failures.length > 0 ? JSON.stringify(failures[0]).slice(0, 500) : 'some of its shards do not answer'
    if ((_shards?.failed ?? 0) > 0 || failures.length > 0 || isLate)
      throw retry('cluster_busy', `the cluster cannot ${doing}: ${why}`)
    return answer
  }
  // Some kinds may have no index yet.
  const query = { ignore_unavailable: true, allow_no_indices: true }
  const refresh = async (indices: string) =>
    void (await ask({ method: 'POST', path: `/${indices}/_refresh`, query }, 'show what was written'))
  return {
    /** Greatest batch number of the documents there; 0 if there are none. */
    async greatestBatch() {
      await refresh(all)
      const body = { size: 0, track_total_hits: false, aggs: { greatest: { max: { field: META_FIELDS.batch } } } }
      const request = { method: 'POST', path: `/${all}/_search`, query, body } as const
      const { aggregations } = await ask(request, 'report what was written')
      return aggregations?.greatest?.value ?? 0
    },
    /** Makes documents in these indices visible to searches. */
    async refresh(indices: Iterable<string>) {
      const names = [...indices]
      if (names.length > 0) await refresh(names.join(','))
    },
    /** Tallies of the visible documents of some blocks, by kind. */
    async tally({ from, to }: Range, hidden: readonly Hidden[]) {
      const filter = [{ range: { [META_FIELDS.block]: { gte: from, lte: to } } }]
      const found = { bool: { filter, must_not: hiddenClauses({ hidden }) } }
      const body = { size: 0, track_total_hits: false, query: found, aggs: TALLY_AGGREGATIONS }
      const request = { method: 'POST', path: `/${all}/_search`, query, body, timeoutMs: TALLY_MS } as const
      const { aggregations } = await ask(request, 'count what is there')
      return talliesIn(aggregations?.kinds ?? { buckets: [] })
    },
    /** Counts of the visible documents of an index, in block order. */
    async *counts(index: string, kind: Kind, hidden: readonly Hidden[]) {
      for (let after: object | undefined, isFirst = true; isFirst || after; isFirst = false) {
        const body = countsBody(kind, hidden, after)
        const request = { method: 'POST', path: `/${index}/_search`, body, timeoutMs: TALLY_MS } as const
        const { aggregations } = await ask(request, 'count what is there')
        yield countsIn(aggregations!.blocks!)
        after = aggregations!.blocks!.after_key
      }
    },
    /** Removes hidden documents of one index or of all. */
    async remove(hidden: Hidden, index: string = all) {
      // Only refreshed documents are found.
      await refresh(index)
      await ask(
        {
          ...{ method: 'POST', path: `/${index}/_delete_by_query`, timeoutMs: REMOVE_MS },
          // Keeps documents that were rewritten since. No search sees the others after this answer.
          query: { ...query, conflicts: 'proceed', refresh: true },
          body: { query: { bool: { filter: hiddenClauses({ hidden: [hidden] }) } } },
        },
        'remove documents',
      )
    },
  }
}
