import { ask } from './client.ts'
import type { Account, Hit, SearchAnswer, Status } from './wire.ts'

/** One function for each endpoint that several pages ask; a page has its own beside it. */
export const getStatus = (signal?: AbortSignal) => ask<Status>('status', signal ? { signal } : {})

export const getAccount = (signal?: AbortSignal) => ask<Account>('account', signal ? { signal } : {})

/** `body` is an object, or the text of one. */
export const search = (network: string, kinds: readonly string[], body: unknown, signal?: AbortSignal) =>
  ask<SearchAnswer>(`${network}/es/${kinds.join()}/search/`, { body, ...(signal && { signal }) })

export const getDocument = (network: string, kind: string, id: string, signal?: AbortSignal) =>
  ask<Hit>(`${network}/es/${kind}/${encodeURIComponent(id)}/`, signal ? { signal } : {})
