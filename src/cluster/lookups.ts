import { asJson } from '../documents/show.ts'
import type { SimilarDocument, SimilarRequest } from '../engine/query/similar.ts'
import { reached, resumeFrom, stillThere } from '../engine/query/snapshot.ts'
import { type Reader, readingIn } from '../engine/reader.ts'
import { blockOf } from '../engine/schema.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import type { Kind } from '../mapping/index.ts'
import type { ResumePoint, SearchRequest, Seen } from '../query/request.ts'
import { documentOf } from './hits/found.ts'
import {
  type Asker,
  type AskOptions,
  type ById,
  type ClusterNetwork,
  documentsById,
  type Page,
} from './query-client.ts'
import { shelvedNow, shelvedUpTo } from './shipped-blocks.ts'
import { hitsAt, likeContract, likeHappening } from './similar.ts'
import type { Settle } from './visibility.ts'

/** What is asked of a cluster together with the network's store, which knows its blocks. */
export interface Lookups {
  /** `page` asks for it; with the blocks that were seen where the request wants to know them. */
  page(request: SearchRequest, options: AskOptions, page: Asker['page']): Promise<Page & { seen: Seen | undefined }>
  /** What came behind a reader's token, and how far the reader is then. */
  resumed(request: SearchRequest, point: ResumePoint | 'now', options: AskOptions): Promise<Resumed>
  byIds(kind: Kind, ids: readonly string[], options: AskOptions): Promise<ById>
  documents(wanted: readonly { kind: Kind; id: string }[], options: AskOptions): Promise<ReadonlyMap<Kind, ById>>
  /** Codes are compared in the store; documents come from the cluster. */
  similar(request: SimilarRequest, options: AskOptions): Promise<SimilarDocument[] | undefined>
  seen(): Seen
}

export interface Resumed {
  page: Page
  resumed: { point: ResumePoint; reorganisedFrom: number | undefined }
}

export interface LookupsOptions extends Pick<ClusterNetwork, 'visible'> {
  asker: Asker
  reader: Reader
  settle: Settle
}

export const createLookups = ({ asker, reader, visible, settle }: LookupsOptions): Lookups => {
  const inStore = readingIn(reader)

  /** What was reorganised away since, and what came since, is left out. */
  const amongSeen = (request: SearchRequest): SearchRequest => {
    const { seen, within } = request
    return typeof seen !== 'object' || within
      ? request
      : { ...request, within: inStore(() => stillThere(seen, reader)) }
  }

  const page: Lookups['page'] = (asked, options, page) =>
    settle(async now => {
      const seen = asked.seen === 'now' ? inStore(() => shelvedNow(now, reader)) : asked.seen
      return { ...(await page(amongSeen(asked), options, now)), seen }
    }, options)

  const resumed: Lookups['resumed'] = (asked, point, options) =>
    settle(now => resumedPage(asked, point, options, now), options)

  const resumedPage = async (
    asked: SearchRequest,
    point: ResumePoint | 'now',
    options: AskOptions,
    now: Visible,
  ): Promise<Resumed> => {
    const { request, reorganisedFrom, newest } = inStore(() => {
      const above = point === 'now' ? -1 : blockOf(point.place.position)
      const newest = shelvedUpTo(now, above, reader)
      return { ...resumeFrom(asked, point, reader, newest), newest }
    })
    const { place } = request.after!
    const { after: _, ...among } = request
    const within = [[request.within![0]![0], Math.max(newest, 0)] as const]
    const page = await asker.page({ ...among, within }, options, now, { behind: place! })
    const reach = inStore(() => reached(page.hits, request, reader, newest))
    return { page, resumed: { point: reach, reorganisedFrom } }
  }

  const similar: Lookups['similar'] = (request, options) =>
    settle(async now => {
      const { kind } = request
      const asked = { asker, options, visible: now, inStore, reader }
      const found =
        kind === 'contract' ? likeContract(request, asked) : await likeHappening({ ...request, kind }, asked)
      if (!found) return undefined
      const hits = await hitsAt(kind, found, asked)
      return found.flatMap(({ position, similarity }) => {
        const hit = hits.get(position)
        return hit ? { document: documentOf(hit, asJson), similarity } : []
      })
    }, options)

  const byIds: Lookups['byIds'] = (kind, ids, options) =>
    settle(visible => documentsById(kind, ids, { asker, options, visible }), options)

  const documents: Lookups['documents'] = async (wanted, options) => {
    const found = new Map<Kind, ById>()
    for (const [kind, some] of Map.groupBy(wanted, ({ kind }) => kind)) {
      const ids = some.map(({ id }) => id)
      found.set(kind, await byIds(kind, ids, options))
    }
    return found
  }

  return { page, resumed, byIds, documents, similar, seen: () => inStore(() => shelvedNow(visible(), reader)) }
}
