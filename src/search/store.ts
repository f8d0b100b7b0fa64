import type { MessagePort } from 'node:worker_threads'
import type { StoreSearcher } from '../engine/query/searcher.ts'
import type { SimilarRequest } from '../engine/query/similar-contracts.ts'
import type { SuggestRequest } from '../engine/query/suggest.ts'
import type { Eventually } from '../lib/scheduling/event-loop.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchRequest, SeenBlocks } from '../query/request.ts'
import type { ScopeCoverage } from './coverage.ts'
import type { UsedCursor } from './cursors/scroll-and-pit.ts'
import type { ScrollState } from './cursors/state.ts'
import type { OpenStore } from './open-store.ts'
import type {
  Dialect,
  DocumentOptions,
  DocumentRef,
  Holdings,
  NetworkCaller,
  SearchAnswer,
  SearchParams,
} from './service.ts'
import type { AnswerStreams } from './streams.ts'

/**
 * Answers for one network or several; searches have no other access to documents. sqlite-stores.ts
 * reads files; remote stores are passed in. Each network has a file, which contains its blocks.
 */
export interface NetworkStore {
  /** Synchronous if the main thread answers. */
  search(search: BodySearch, asking: SearchCaller): Eventually<StoreAnswer>
  request(request: SearchRequest, asking: SearchCaller): Promise<SearchAnswer>
  get(asked: SearchCaller & { entity: string; id: string } & DocumentOptions): Promise<SearchAnswer>
  documents(wanted: readonly DocumentRef[], asked: SearchCaller & { dialect: Dialect }): Promise<SearchAnswer>
  suggest(request: SuggestRequest, asking: SearchCaller): Promise<SearchAnswer>
  similar(request: SimilarRequest, asking: SearchCaller): Promise<SearchAnswer>
  holdings(asking: SearchCaller): Promise<Holdings>
  /** The stored blocks of this moment, for a point in time. */
  seen(asking: SearchCaller): Promise<SeenBlocks>
  held(): Promise<HeldBlocks>
  /** The coverage of partial blocks, for the header of answers; undefined without such blocks. */
  coverage(): string | undefined
}

/** Networks whose documents lie elsewhere than in their files. */
export interface RemoteStores {
  /** Undefined if the network's file has its documents, and for several networks. */
  of(network: string): NetworkStore | undefined
  /** Lets a reading thread search several networks with remote ones; undefined without those. */
  among(networks: string): (() => RemoteNetworks) | undefined
  close(): void
}

/** Parts that remote stores share with stores of files. */
export interface SharedParts {
  fileOf(network: string): string
  /** Answers in reading threads: a search with a large body, or what the file alone knows. */
  inThread: {
    search(network: string, search: BodySearch, asking: SearchCaller): Promise<StoreAnswer>
    suggest(network: string, request: SuggestRequest, asking: SearchCaller): Promise<SearchAnswer>
  }
  streams: AnswerStreams
  deadlineMs: number
  limits: Limits
}

/** Remote networks among several, by index, and the port by which a thread queries them. */
export interface RemoteNetworks {
  networks: readonly (object | undefined)[]
  port: MessagePort
}

/** Opens a search in a reading thread of several networks, some of which are remote. */
export type OpenRemoteSearch = (options: {
  elsewhere: RemoteNetworks
  /** The store of each network, in order; those of remote networks hold only their blocks. */
  stores: readonly (() => OpenStore)[]
  /** Names of the networks, with commas between them. */
  index: string
  deadlineMs: number
  limits: Limits
}) => {
  searcher: StoreSearcher
  /** Called when the answer is complete, or no longer wanted. */
  close(): void
}

export type SearchCaller = Pick<NetworkCaller, 'account' | 'signal'>

/** A search by its body. Date math counts from `now`. */
export type BodySearch = Omit<SearchParams, 'scroll'> & { now: number; scroll?: ScrollState | undefined }

export interface StoreAnswer extends SearchAnswer {
  cursor?: UsedCursor | undefined
  /** The answer depends on the moment. */
  readsNow?: true
}

/** Ranges of blocks that a store holds, and its newest block with its time in epoch seconds. */
export interface HeldBlocks {
  ranges: { from: number; to: number }[]
  newest: { number: number; time: number } | null
  /** The filters of scopes, where blocks are stored in part. */
  coverage?: ScopeCoverage[]
  /** The newest block that was looked at for scopes. */
  looked?: number
}
