import type { OwnAbi } from '../../decode/declarations.ts'
import { errorsOf } from '../../decode/reverts.ts'
import { abiNames } from '../../engine/redecode/candidates.ts'
import { blockOf } from '../../engine/schema.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'
import type { BlockRun, RequestPart } from '../../query/request.ts'
import type { ClusterHit } from '../hits/cluster-hit.ts'
import type { Page, QueryClient } from '../query-client.ts'
import { documentsById } from '../query-client.ts'

export type Finder = ReturnType<typeof createRemoteFinder>

/** Most names in one request; an ABI with more is compared with all decoded documents. */
const MOST_NAMES = 5_000
const DEADLINE_MS = 60_000
const FINDER_PAGE = 1_000

/** Finds documents in a cluster that an ABI may decode differently, newest first. */
export const createRemoteFinder = (asker: Pick<QueryClient, 'page'>, abi: OwnAbi, owners: readonly string[] | null) => {
  const parts = candidatesOf(abi, owners)
  const options = () => ({ deadline: performance.now() + DEADLINE_MS })

  const ask = (
    parts: RequestPart[],
    order: 'asc' | 'desc',
    paging: { size: number; after?: string | undefined; at?: readonly number[]; within?: readonly BlockRun[] },
    visible: Visible,
  ): Promise<Page> => {
    const { size, after, at, within } = paging
    const { sort } = parseSearch(JSON.stringify({ sort: [{ _doc: order }] }), ['log'], 0)
    const request = { parts, sort, from: 0, size, source: true, trackTotal: false, ...(within && { within }) }
    return asker.page(request, options(), visible, { after, ...(at && { at }) })
  }

  const all = async (parts: RequestPart[], visible: Visible): Promise<ClusterHit[]> => {
    const found: ClusterHit[] = []
    for (;;) {
      const { hits } = await ask(parts, 'asc', { size: FINDER_PAGE, after: found.at(-1)?.sort }, visible)
      found.push(...hits)
      if (hits.length < FINDER_PAGE) return found
    }
  }

  return {
    /** About `size` hits up to block `up`, and the block to continue with; -1 at the end. */
    async find(up: number, size: number, visible: Visible) {
      const within = visible.ranges
        .filter(({ from }) => from <= up)
        .map(({ from, to }): BlockRun => [from, Math.min(to, up)])
      if (parts.length === 0 || within.length === 0) return { hits: [], to: -1 }
      const found: ClusterHit[] = []
      for (;;) {
        const { hits } = await ask(parts, 'desc', { size, after: found.at(-1)?.sort, within }, visible)
        found.push(...hits)
        if (hits.length < size) return { hits: found, to: -1 }
        // The last block may have more.
        const last = blockOf(found.at(-1)!.position)
        const whole = found.filter(({ position }) => blockOf(position) > last)
        if (whole.length > 0) return { hits: whole, to: last }
      }
    },
    byId: (kind: Kind, ids: readonly string[], visible: Visible) =>
      documentsById(kind, ids, { asker: asker as QueryClient, options: options(), visible }),
    /** Logs at these positions. */
    async logsAt(positions: readonly number[], visible: Visible) {
      if (positions.length === 0) return []
      const { hits } = await ask(
        [queryPart('log', { match_all: {} })],
        'asc',
        { size: positions.length, at: positions },
        visible,
      )
      return hits
    },
    /** All steps of some transactions, in the order of their execution. */
    stepsOf: async (transactions: readonly string[], visible: Visible) =>
      transactions.length === 0 ? [] : all([queryPart('trace', { terms: { transactionHash: transactions } })], visible),
  }
}

const queryPart = (kind: Kind, query: object): RequestPart =>
  parseSearch(JSON.stringify({ query }), [kind], 0).parts[0]!

const candidatesOf = (abi: OwnAbi, owners: readonly string[] | null): RequestPart[] => {
  const { topics, selectors } = abiNames(abi)
  const named = (kind: Kind, names: ReadonlySet<string>, field: string, owner: string): RequestPart[] => {
    if (names.size === 0) return []
    const ofNames = names.size > MOST_NAMES ? { exists: { field } } : { terms: { [field]: [...names] } }
    return [queryPart(kind, { bool: { filter: [ofNames, ...(owners ? [{ terms: { [owner]: owners } }] : [])] } })]
  }
  const failed = { exists: { field: 'error' } }
  return [
    ...named('log', topics, 'signature', 'address'),
    ...named('call', selectors, 'selector', 'to'),
    ...(errorsOf(abi).length > 0
      ? [queryPart('tx', { bool: { should: [failed, { term: { status: false } }] } }), queryPart('trace', failed)]
      : []),
  ]
}
