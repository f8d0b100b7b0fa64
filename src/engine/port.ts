import type { RawBlock } from '../chain/wire.ts'
import type { Decoding } from '../decode/decoding.ts'
import type { Delegation } from '../decode/proxies.ts'
import type { TokenFacts, TokenStandard } from '../documents/tokens.ts'
import type { Range } from '../lib/ranges.ts'
import type { SearchRequest } from '../query/request.ts'
import type { CoverageNotes, CoverageReader } from './coverage.ts'
import type { SegmentBatch } from './documents/batch.ts'
import type { Revision } from './index/redecode-patch.ts'
import type { Hit } from './query/hits.ts'
import type { SearchControl } from './query/search.ts'

/**
 * Interface to a store of one network. SQLite in this folder answers synchronously. A remote store
 * does not, so callers await the answers and do not use tables.
 */

export type Awaitable<T> = T | Promise<T>

export interface Replacement {
  /** Ascending; contain everything that remains of the replaced segments. */
  batches: readonly SegmentBatch[]
  /** Numbers of segments. */
  replaces: readonly number[]
  notes: CoverageNotes
}

/**
 * Writes alerts. SQLite commits them with the blocks. A remote engine calls it once the blocks are
 * durable, and again for a repeated batch; alerts have ids, so a second call changes nothing.
 */
export type Within = () => void

/** Searches a network's documents for jobs over its history. Each answer is consistent. */
export interface DocumentReader {
  search(request: SearchRequest, options: SearchControl): Awaitable<{ hits: Hit[] }>
  /** All hits, page by page. Each page is of the state of its moment. */
  pages(request: SearchRequest, options: SearchControl): Awaitable<{ pages: Iterable<Hit[]> | AsyncIterable<Hit[]> }>
  close(): Awaitable<void>
}

/**
 * Lookups during indexing, several per transaction. They are synchronous: promises would cost more
 * than the answers, and indexing must not wait between checking the rules and registering a block.
 * A remote engine preloads the answers in `prefetch`.
 */
export interface Lookups extends BlockLookups {
  /** Called before any lookup of the contracts in these blocks. */
  prefetch(blocks: readonly RawBlock[]): Awaitable<void>
  /** `address`: 40 lower-case digits. */
  token(address: string): StoredToken | undefined
  /** `address`: lower case. */
  link(address: string): StoredLink | undefined
  upgrades(address: string): StoredUpgrade[]
  /** Similarity vector of a code; undefined for a proxy's code, whose similarity means nothing. */
  features(codeHash: string): Int8Array | undefined
  /** Blocks that were checked for scopes. */
  readonly coverage: CoverageReader
  /** Segments of partial blocks that overlap a range. */
  partial(range: Range): { id: number; first: number; last: number }[]
}

/** The stored blocks. Hashes are lower-case. */
export interface BlockLookups {
  /** EIP-155 chain id; undefined if unknown. */
  chainId(): number | undefined
  hash(number: number): string | undefined
  parentHash(number: number): string | undefined
  /** Bloom filter of the block's logs, from its stored header. */
  bloom(number: number): string | undefined
  ranges(): Range[]
  /** Blocks below this one were pruned and must not be indexed again; 0 if none. */
  floor(): number
}

/** Stored facts of a token. */
export interface StoredToken extends Partial<TokenFacts> {
  standard?: TokenStandard | null
  /** Whether the contract itself has answered. */
  asked: boolean
  /** Position in the lowest stored block that contains it. */
  position?: number | undefined
}

/** Code and delegation of a contract. */
export interface StoredLink {
  /** Hash of its own code, `0x` hex; null without code. */
  codeHash: string | null
  delegation: Delegation | null
  /** Head of the chain when the node was queried. */
  position: number
}

/** The contract's code changes at this position, to `implementation`, or unknown if null. */
export interface StoredUpgrade {
  position: number
  implementation: string | null
}

/** Finds the documents that one ABI decodes otherwise than they are stored. */
export interface Redecoder {
  /** Addresses of the ABI's contracts; null if it may apply to any. */
  owners(): Awaitable<string[] | null>
  /** Looks at `size` documents, the newest up to a block first. */
  take(from: number, size: number, decoding: Decoding): Awaitable<RedecodingStep>
  close(): Awaitable<void>
}

export interface RedecodingStep {
  /** Undefined if nothing changes. */
  revision: Revision | undefined
  /** The newest block that is still to be checked; -1 if none. */
  to: number
  blocksLeft: number
}
