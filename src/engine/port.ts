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
 * What the program asks of a store of one network. SQLite in this folder answers at once. A
 * remote store does not, so callers await the answers and know nothing of tables.
 */

export type Awaitable<T> = T | Promise<T>

export interface Replacement {
  /** Ascending. They hold all that is to stay of the segments that they replace. */
  batches: readonly SegmentBatch[]
  /** Numbers of segments. */
  replaces: readonly number[]
  notes: CoverageNotes
}

/**
 * Writes what rules found. SQLite commits it with the blocks. An engine elsewhere calls it once the blocks are durable,
 * and again for a batch that it has to repeat: alerts have ids, so that the second call changes nothing.
 */
export type Within = () => void

/** Finds documents of a network for what goes through its history. Each answer is of one state of them. */
export interface DocumentReader {
  search(request: SearchRequest, options: SearchControl): Awaitable<{ hits: Hit[] }>
  /** All hits, page by page. Each page is of the state of its moment. */
  pages(request: SearchRequest, options: SearchControl): Awaitable<{ pages: Iterable<Hit[]> | AsyncIterable<Hit[]> }>
  close(): Awaitable<void>
}

/**
 * What indexing asks of the stored documents for each block, several times a transaction. These answers are
 * synchronous: a promise for each would cost more than the answer, and between the last look at the rules and the moment
 * a block counts as held, indexing must not wait. An engine elsewhere loads in `prefetch` what it will be asked.
 */
export interface Lookups extends BlockLookups {
  /** Called before anything is asked about the contracts in these blocks. */
  prefetch(blocks: readonly RawBlock[]): Awaitable<void>
  /** Of 40 lower-case digits. */
  token(address: string): StoredToken | undefined
  /** Of a lower-case address. */
  link(address: string): StoredLink | undefined
  upgrades(address: string): StoredUpgrade[]
  /** What a code has in common with others. Undefined for a proxy's code: that they are alike says nothing. */
  features(codeHash: string): Int8Array | undefined
  /** Which blocks were looked at for scopes. */
  readonly coverage: CoverageReader
  /** Segments of partial blocks of which some lie within a range. */
  partial(range: Range): { id: number; first: number; last: number }[]
}

/** The stored blocks. Hashes are lower-case. */
export interface BlockLookups {
  /** EIP-155 chain id, where it is known. */
  chainId(): number | undefined
  hash(number: number): string | undefined
  parentHash(number: number): string | undefined
  /** What a stored header states of the logs of its block. */
  bloom(number: number): string | undefined
  ranges(): Range[]
  /** Blocks below this one were pruned, and are not to be indexed again; 0 where none were. */
  floor(): number
}

/** What is stored of a token. */
export interface StoredToken extends Partial<TokenFacts> {
  standard?: TokenStandard | null
  /** Whether the contract itself has answered. */
  asked: boolean
  /** Of the lowest stored block in which it was seen. */
  position?: number | undefined
}

/** What a contract was found to run. */
export interface StoredLink {
  /** Of its own code, as `0x` hex; null where it has none. */
  codeHash: string | null
  delegation: Delegation | null
  /** Up to where the chain was known when it was asked. */
  position: number
}

/** At its position the contract begins to run the code of `implementation`, or of another one that is not told. */
export interface StoredUpgrade {
  position: number
  implementation: string | null
}

/** Finds the documents that one ABI decodes otherwise than they are stored. */
export interface Redecoder {
  /** Addresses of the contracts that the ABI holds for; null where it may hold for any. */
  owners(): Awaitable<string[] | null>
  /** Looks at `size` documents, the newest up to a block first. */
  take(from: number, size: number, decoding: Decoding): Awaitable<RedecodingStep>
  close(): Awaitable<void>
}

export interface RedecodingStep {
  /** Undefined where nothing changes. */
  revision: Revision | undefined
  /** The newest block that is still to be looked at, -1 where none is. */
  to: number
  blocksLeft: number
}
