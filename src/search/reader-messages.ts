import type { HitCursor } from '../engine/query/pages.ts'
import type { SimilarRequest } from '../engine/query/similar-contracts.ts'
import type { SuggestRequest } from '../engine/query/suggest.ts'
import type { TransferredError } from '../lib/errors.ts'
import type { SearchRequest, SeenBlocks } from '../query/request.ts'
import type { Reply } from './answer.ts'
import type { Dialect, DocumentOptions, DocumentRef, Holdings, RenderedTemplate } from './service.ts'
import type { BodySearch, HeldBlocks, RemoteNetworks } from './store.ts'

/** Requests to a reading thread. `store` is the file of the network's store. */
export type ToReader =
  | SearchTask
  | ({ type: 'get'; id: number; store: string; index: string; entity: string; document: string } & DocumentOptions)
  | {
      type: 'documents'
      id: number
      store: string
      index: string
      deadlineMs: number
      wanted: readonly DocumentRef[]
      dialect: Dialect
    }
  | { type: 'render'; id: number; deadlineMs: number; body: Uint8Array; isJson: boolean }
  | { type: 'holdings'; id: number; store: string }
  | { type: 'suggest'; id: number; store: string; request: SuggestRequest }
  | { type: 'similar'; id: number; store: string; index: string; deadlineMs: number; request: SimilarRequest }
  | { type: 'held'; id: number; store: string }
  | { type: 'seen'; id: number; store: string }
  /** Asks for the next part of the answer to the search that had the number `stream`. */
  | ({ type: 'more'; id: number; stream: number; after: HitCursor | undefined } & Into)
  /** Resumes the answer after the last hit sent, on a thread that has not begun it. */
  | ({ type: 'resume'; id: number; stream: number; search: SearchTask; after: HitCursor | undefined } & Into)
  /** Discards the rest of an answer. */
  | { type: 'drop'; stream: number }

/** Memory for a part of an answer; a part that does not fit gets memory of its own. */
interface Into {
  into: SharedArrayBuffer | undefined
}

/** A search by its body, or one that was read from something else, such as a rule. */
export type SearchTask = {
  id: number
  store: string
  /** Index names of all searched networks, comma-joined. */
  index: string
  /** Files of further networks, in the order of their names. */
  more?: readonly string[]
  elsewhere?: RemoteNetworks | undefined
  now: number
  deadlineMs: number
  mayStream: boolean
} & (({ type: 'search' } & BodySearch) | { type: 'request'; request: SearchRequest })

export type FromReader =
  | { type: 'ready' }
  /** `isApart`: each part can be built without those before it. */
  | ({
      type: 'answer'
      id: number
      body: Uint8Array
      more: boolean
      at: HitCursor | undefined
      isApart?: boolean
    } & Omit<Reply, 'body'>)
  /** `at`: the part's last hit. `body`: number of bytes in the provided memory, or the bytes. */
  | { type: 'part'; id: number; body: Uint8Array | number; more: boolean; at: HitCursor | undefined }
  /** The part in work will end with this hit; another thread may start behind it. */
  | { type: 'reached'; id: number; at: HitCursor }
  /** The task yielded to others and must restart. */
  | { type: 'yielded'; id: number }
  | { type: 'held'; id: number; held: HeldBlocks }
  | ({ type: 'rendered'; id: number } & RenderedTemplate)
  | { type: 'holdings'; id: number; holdings: Holdings }
  | { type: 'seen'; id: number; seen: SeenBlocks }
  | { type: 'failed'; id: number; failure: TransferredError }
