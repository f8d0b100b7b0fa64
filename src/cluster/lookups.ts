import { asJson } from '../documents/show.ts'
import {
  familyOf,
  findSimilar,
  HAPPENINGS,
  happeningOf,
  type SimilarDocument,
  type SimilarFound,
  type SimilarRequest,
} from '../engine/query/similar-contracts.ts'
import { reached, resumeFrom, stillThere } from '../engine/query/snapshot.ts'
import { readingIn, type StoreReader } from '../engine/reader.ts'
import { blockOf } from '../engine/schema.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import type { Kind } from '../mapping/index.ts'
import { ALL_NODE } from '../query/ast.ts'
import { parseSearch } from '../query/parse.ts'
import type { ResumePoint, SearchRequest, SeenBlocks } from '../query/request.ts'
import { type ClusterHit, clusterDocument } from './hits/cluster-hit.ts'
import {
  type AskOptions,
  type ById,
  type ClusterNetwork,
  documentsById,
  type Page,
  type QueryClient,
} from './query-client.ts'
import { type ConsistentRead, shippedNow, shippedUpTo } from './visibility.ts'

/** Lookups that need both the cluster and the network's store, which has its blocks. */
export type ClusterLookups = ReturnType<typeof createClusterLookups>

export interface LookupsOptions extends Pick<ClusterNetwork, 'visible'> {
  asker: QueryClient
  reader: StoreReader
  settle: ConsistentRead
}

export const createClusterLookups = ({ asker, reader, visible, settle }: LookupsOptions) => {
  const inStore = readingIn(reader)

  /** Excludes blocks that are newer than the point in time or were reorganised away since. */
  const amongSeen = (request: SearchRequest): SearchRequest => {
    const { seen, within } = request
    return typeof seen !== 'object' || within
      ? request
      : { ...request, within: inStore(() => stillThere(seen, reader)) }
  }

  const resumedPage = async (asked: SearchRequest, point: ResumePoint | 'now', options: AskOptions, now: Visible) => {
    const { request, reorganisedFrom, newest } = inStore(() => {
      const above = point === 'now' ? -1 : blockOf(point.place.position)
      const newest = shippedUpTo(now, above, reader)
      return { ...resumeFrom(asked, point, reader, newest), newest }
    })
    const { place } = request.after!
    const { after: _, ...among } = request
    const within = [[request.within![0]![0], Math.max(newest, 0)] as const]
    const page = await asker.page({ ...among, within }, options, now, { behind: place! })
    const reach = inStore(() => reached(page.hits, request, reader, newest))
    return { page, resumed: { point: reach, reorganisedFrom } }
  }

  const byIds = (kind: Kind, ids: readonly string[], options: AskOptions): Promise<ById> =>
    settle(visible => documentsById(kind, ids, { asker, options, visible }), options)

  return {
    byIds,
    /** Runs `page`, and adds the blocks that were visible if the request wants them. */
    page: (
      asked: SearchRequest,
      options: AskOptions,
      page: QueryClient['page'],
    ): Promise<Page & { seen: SeenBlocks | undefined }> =>
      settle(async now => {
        const seen = asked.seen === 'now' ? inStore(() => shippedNow(now, reader)) : asked.seen
        return { ...(await page(amongSeen(asked), options, now)), seen }
      }, options),
    /** Page after a reader's token, with the point to resume from next. */
    resumed: (asked: SearchRequest, point: ResumePoint | 'now', options: AskOptions) =>
      settle(now => resumedPage(asked, point, options, now), options),
    async documents(
      wanted: readonly { kind: Kind; id: string }[],
      options: AskOptions,
    ): Promise<ReadonlyMap<Kind, ById>> {
      const found = new Map<Kind, ById>()
      for (const [kind, some] of Map.groupBy(wanted, ({ kind }) => kind)) {
        const ids = some.map(({ id }) => id)
        found.set(kind, await byIds(kind, ids, options))
      }
      return found
    },
    /** Codes are compared in the store; documents come from the cluster. */
    similar: (request: SimilarRequest, options: AskOptions): Promise<SimilarDocument[] | undefined> =>
      settle(async now => {
        const { kind } = request
        const asked = { asker, options, visible: now, inStore, reader }
        const found =
          kind === 'contract' ? likeContract(request, asked) : await likeHappening({ ...request, kind }, asked)
        if (!found) return undefined
        const hits = await hitsAt(kind, found, asked)
        return found.flatMap(({ position, similarity }) => {
          const hit = hits.get(position)
          return hit ? { document: clusterDocument(hit, asJson), similarity } : []
        })
      }, options),
    seen: () => inStore(() => shippedNow(visible(), reader)),
  }
}

interface SimilarAsking {
  asker: QueryClient
  options: AskOptions
  visible: Visible
  /** Reads the network's store, which knows contracts and their codes. */
  inStore<T>(work: () => T): T
  reader: StoreReader
}
export const likeContract = (
  request: SimilarRequest,
  { inStore, reader }: Pick<SimilarAsking, 'inStore' | 'reader'>,
): SimilarFound[] | undefined => inStore(() => findSimilar(request, { reader, load: none, newest: none }))
const none = () => {
  throw new Error('contracts are compared by their codes alone')
}
/** Compares codes in the store; one search finds the newest document of each similar contract. */
export const likeHappening = async (
  request: SimilarRequest & { kind: 'event' | 'call' },
  asking: SimilarAsking,
): Promise<SimilarFound[] | undefined> => {
  const { kind, id, size } = request
  const { asker, options, visible, inStore, reader } = asking
  const { stored, owner, what } = HAPPENINGS[kind]
  const [named] = (await documentsById(kind, [id], asking)).values()
  if (!named) return undefined
  const own = (await hitsAt(stored, [named], asking)).get(named.position)
  if (!own) return undefined
  const happening = happeningOf(request, similarSource(own))
  const family = inStore(() => [...familyOf(happening, request, reader)])
  const body = {
    ...{ size: family.length, sort: { 'blockNumber.num': 'desc' }, collapse: { field: `${owner}.raw` } },
    query: {
      bool: { filter: [{ terms: { [owner]: family.map(one => one.address) } }, { term: { [what]: happening.value } }] },
    },
  }
  const newest = parseSearch(JSON.stringify(body), [stored], 0)
  const { hits } = family.length === 0 ? { hits: [] } : await asker.page(newest, options, visible)
  const byAddress = new Map(hits.map(hit => [happeningOf(request, similarSource(hit)).address.toLowerCase(), hit]))
  return family
    .flatMap(({ address, similarity }) => {
      const hit = byAddress.get(address.toLowerCase())
      return hit ? { position: hit.position, similarity } : []
    })
    .slice(0, size)
}
const similarSource = (hit: ClusterHit): object => clusterDocument(hit, asJson)._source
/** Finds hits by position. */
export const hitsAt = async (
  kind: Kind,
  at: readonly { position: number }[],
  { asker, options, visible }: Pick<SimilarAsking, 'asker' | 'options' | 'visible'>,
): Promise<ReadonlyMap<number, ClusterHit>> => {
  if (at.length === 0) return new Map()
  const all = {
    parts: [{ kind, query: ALL_NODE }],
    sort: [],
    from: 0,
    size: at.length,
    source: true,
    trackTotal: false,
  }
  const { hits } = await asker.page(all, options, visible, { at: at.map(({ position }) => position) })
  return new Map(hits.map(hit => [hit.position, hit]))
}
