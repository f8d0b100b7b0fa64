import { asBigint, asJson, readDocument } from '../documents/show.ts'
import { checkDeadline, type SearchControl } from '../engine/query/search.ts'
import type { SearchMatch } from '../engine/query/search-match.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import type { ChainPlace, SearchRequest } from '../query/request.ts'
import { idsNode } from '../query/simplify.ts'
import type { Cluster, ClusterAnswer, ClusterRequest } from './connection/cluster.ts'
import { beforeDeadline, searchFault, unavailable } from './connection/faults.ts'
import { ClusterHit } from './hits/cluster-hit.ts'
import { type ScannedAnswer, scanAnswer } from './hits/scan.ts'
import { aliasOf, type IndexNaming, META_FIELDS } from './indices/names.ts'
import type { AskCluster } from './query/joins.ts'
import { type Compiled, prepareSearch } from './query/search.ts'
import type { VisibilitySource } from './visibility.ts'

/** A network whose documents are in a cluster. */
export interface ClusterNetwork extends VisibilitySource {
  cluster: Cluster
  naming: IndexNaming
  network: string
}

export interface AskOptions extends Pick<SearchControl, 'deadline'> {
  /** Aborts when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined
}

/** Page of hits from the cluster. */
export interface Page {
  /** -1 if not counted. */
  total: number
  maxScore?: number
  /** Whether a search that may end early did. */
  isEarly?: boolean | undefined
  hits: ClusterHit[]
  sort: SearchRequest['sort']
  /** `sort` as a hit shows it. */
  sortOf?: ((hit: SearchMatch) => unknown[]) | undefined
  /** JSON text from the cluster. */
  aggregations: string | undefined
  /** Score of all matches; undefined if each hit has its own. */
  uniform: number | undefined
}

export interface Paging {
  /** Sort values of the previous page's last hit, as JSON text. */
  after?: string | undefined
  /** Only hits after this place in the chain; unlike `after`, it also limits the total. */
  behind?: ChainPlace
  /** Only documents at these positions. */
  at?: readonly number[]
  /** Only children of the document with this id. */
  under?: string
  size?: number
  /** Builds `aggs` from the common score of all hits; undefined if each hit has its own. */
  aggs?: ((uniform: number | undefined) => Record<string, object>) | undefined
  pit?: string | undefined
}

export interface QueryClient {
  page(request: SearchRequest, options: AskOptions, visible: Visible, paging?: Paging): Promise<Page>
  /** Sends any other request; resolves to the text of the answer. */
  send(request: ClusterRequest, options: AskOptions): Promise<string>
  /** Aliases of these kinds, joined for a path. */
  target(kinds: readonly Kind[]): string
}

export const createQueryClient = ({
  cluster,
  naming,
  network,
}: Omit<ClusterNetwork, keyof VisibilitySource>): QueryClient => {
  const target = (kinds: readonly Kind[]) => kinds.map(kind => aliasOf(naming, network, kind)).join()

  const exchange = async (request: ClusterRequest, options: AskOptions): Promise<ClusterAnswer> => {
    // The client retries when a node does not answer: the deadline covers all attempts.
    const answer = await beforeDeadline(signal => cluster.ask({ ...request, signal }), options)
    if (answer.status >= 300) throw searchFault(answer)
    return answer
  }
  const send: QueryClient['send'] = async (request, options) => (await exchange(request, options)).text

  /** `kinds`: none with a point in time, which knows them. */
  const search = async (
    kinds: readonly Kind[] | undefined,
    asked: Record<string, unknown>,
    options: AskOptions,
    parameters: Compiled['parameters'] = {},
  ): Promise<Buffer> => {
    const { deadline } = options
    const left = deadline - performance.now()
    const body = JSON.stringify(
      deadline === Number.POSITIVE_INFINITY ? asked : { ...asked, timeout: `${Math.max(1, Math.ceil(left))}ms` },
    )
    const path = kinds ? `/${target(kinds)}/_search` : '/_search'
    const query = { ...WHOLE_ANSWERS, ...(kinds && AVAILABLE), ...parameters }
    const { text, bytes = Buffer.from(text) } = await exchange(
      { method: 'POST', path, query, body, raw: true },
      options,
    )
    const head = bytes.toString('latin1', 0, bytes.indexOf(SHARDS_MEMBER) + SHARDS_HEAD_BYTES)
    if (head.includes('"timed_out":true')) checkDeadline({ deadline: 0 })
    if (!head.includes('"failed":0')) throw unavailable('parts of its indices did not answer.')
    return bytes
  }

  return {
    target,
    send,
    async page(request, options, visible, { after, behind, at, under, size, pit, aggs } = {}) {
      if (request.parts.length === 0) return { ...NO_PAGE, total: request.trackTotal === false ? -1 : 0 }
      const ask: AskCluster = async (kinds, body, parameters) =>
        JSON.parse((await search(kinds, { ...body }, options, parameters)).toString())
      const compiled = await prepareSearch(request, { ask, visible })
      const { body, parameters } = compiled
      if (compiled.kinds.length === 0 && !aggs)
        return {
          ...{ ...NO_PAGE, total: request.trackTotal === false ? -1 : 0 },
          ...(request.size < 0 && isScored(request) && { maxScore: compiled.uniform ?? 0 }),
        }
      // Aggregations may need kinds without possible hits.
      const kinds = aggs ? request.parts.map(({ kind }) => kind) : compiled.kinds
      const narrowed = [
        ...(kinds.length > compiled.kinds.length ? [ofKinds(compiled.kinds)] : []),
        ...(behind ? [behindPlace(behind)] : []),
        ...(at ? [{ terms: { [META_FIELDS.position]: at } }] : []),
        ...(under === undefined ? [] : [{ term: { [META_FIELDS.parent]: under } }]),
      ]
      const asked = {
        ...body,
        ...(size !== undefined && { size }),
        ...(after !== undefined && { search_after: readDocument(after, asJson) }),
        ...(narrowed.length > 0 && { query: { bool: { must: [body.query], filter: narrowed } } }),
        ...(pit !== undefined && { pit: { id: pit, keep_alive: KEEP_ALIVE } }),
        ...(aggs && { aggs: aggs(compiled.uniform) }),
      }
      const scanned = scanAnswer(await search(pit === undefined ? kinds : undefined, asked, options, parameters))
      return pageOf(request, compiled, scanned)
    },
  }
}

export const KEEP_ALIVE = '2m'

/** Part of an answer is none. */
const WHOLE_ANSWERS = { allow_partial_search_results: false }
/** An index is made with the first document in it. */
const AVAILABLE = { ignore_unavailable: true }

const NO_PAGE = { hits: [], aggregations: undefined, sort: [], uniform: 1 }

/** Stands before all that is found, with how many bytes of it. */
const SHARDS_MEMBER = '"_shards":{'
const SHARDS_HEAD_BYTES = 100

const pageOf = (request: SearchRequest, compiled: Compiled, scanned: ScannedAnswer): Page => {
  const { uniform, sort, read, isEarly } = compiled
  const scored = isScored(request)
  const { total, maxScore, aggregations } = scanned
  const hits = scanned.hits.map(hit => new ClusterHit(hit, scored ? uniform : 1))
  // A long answer without hits has a greatest score, too.
  const greatest = uniform ?? maxScore ?? (request.size < 0 ? 0 : null)
  return {
    ...{ total: countedIn(request, total), hits, aggregations, sort, uniform },
    ...(isEarly !== undefined && { isEarly }),
    sortOf: hit => read(readDocument((hit as ClusterHit).sort!, asBigint) as unknown[]).shown,
    ...(scored && greatest !== null && { maxScore: greatest }),
  }
}

/** The cluster may have counted more than the request wants. */
const countedIn = ({ trackTotal }: SearchRequest, total = 0): number =>
  trackTotal === false ? -1 : trackTotal === true ? total : Math.min(total, trackTotal)

const isScored = ({ minScore, parts }: SearchRequest): boolean =>
  minScore !== undefined || parts.some(({ score }) => score !== undefined)

const ofKinds = (kinds: readonly Kind[]): object => ({
  terms: { [META_FIELDS.kind]: kinds.map(kind => KINDS.indexOf(kind)) },
})

const behindPlace = ({ kind, position }: ChainPlace): object => ({
  bool: {
    should: [
      { range: { [META_FIELDS.position]: { gt: position } } },
      {
        bool: {
          filter: [
            { term: { [META_FIELDS.position]: position } },
            { range: { [META_FIELDS.kind]: { gt: KINDS.indexOf(kind) } } },
          ],
        },
      },
    ],
  },
})

/** Documents of one kind by their ids. Letter case does not count. */
export type ById = ReadonlyMap<string, ClusterHit>

/** Ids of one request. */
const IDS_PER_REQUEST = 1_000

export const documentsById = async (
  kind: Kind,
  wanted: readonly string[],
  { asker, options, visible }: { asker: QueryClient; options: AskOptions; visible: Visible },
): Promise<ById> => {
  const found = new Map<string, ClusterHit>()
  const all = [...new Set(wanted.map(id => id.toLowerCase()))].filter(id => id !== '')
  for (let at = 0; at < all.length; at += IDS_PER_REQUEST) {
    const some = all.slice(at, at + IDS_PER_REQUEST)
    const before = found.size
    const request = {
      ...{ parts: [{ kind, query: idsNode(some) }], sort: [], from: 0, source: true, trackTotal: false },
      size: some.length,
    }
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { hits } = await asker.page(request, options, visible, { after })
      // The newest come first: of what was created several times the newest counts.
      for (const hit of hits) if (!found.has(hit.id)) found.set(hit.id, hit)
      isLast = hits.length < some.length || found.size - before === some.length
      after = hits.at(-1)?.sort
    }
  }
  return found
}
