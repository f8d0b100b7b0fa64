import type { MessagePort } from 'node:worker_threads'
import type { StoreSearcher } from '../engine/query/searcher.ts'
import type { SimilarRequest } from '../engine/query/similar.ts'
import type { SuggestRequest } from '../engine/query/suggest.ts'
import type { Eventually } from '../lib/scheduling/event-loop.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchRequest, SeenBlocks } from '../query/request.ts'
import type { ScopeCoverage } from './coverage.ts'
import type { UsedCursor } from './cursors/answer.ts'
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
 * Answers for one network, or for several together. Searches ask for documents in no other way: sqlite-stores.ts reads the file of a network,
 * and whoever keeps documents elsewhere hands in a store of his own. Any network has its file, which holds its blocks.
 */
export interface NetworkStore {
  /** At once where the main thread answers. */
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
  /** Undefined where the network's file has its documents, and of several networks. */
  of(network: string): NetworkStore | undefined
  /** What a reading thread needs to search some of these networks together; undefined where all lie in files. */
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

/** The remote ones among several networks, by index, and the port by which a thread asks for them. */
export interface RemoteNetworks {
  networks: readonly (object | undefined)[]
  port: MessagePort
}

/** In a reading thread: a search of several networks of which some lie elsewhere. */
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
