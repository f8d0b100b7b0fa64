import { callApi } from './client.ts'
import type { SearchAnswer, Status } from './wire.ts'

/** One function for each endpoint that several pages ask; a page has its own beside it. */
export const getStatus = (signal?: AbortSignal) => callApi<Status>('status', { signal })

/** `body` is an object, or the text of one. */
export const searchDocuments = (network: string, kinds: readonly string[], body: unknown, signal?: AbortSignal) =>
  callApi<SearchAnswer>(`${network}/es/${kinds.join()}/search/`, { body, signal })

/** To be asked for by `useGet`. */
export const documentPath = (network: string, kind: string, id: string) =>
  `${network}/es/${kind}/${encodeURIComponent(id)}/`
