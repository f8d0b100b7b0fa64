import { callApi } from './client.ts'

/** A name of the network: of a token, a contract, an event, a method or a field. */
export interface Suggestion {
  text: string
  /** Of a token, beside its symbol. */
  name?: string | null
  kind: string
  field: string
  entity: string
  address?: string
}

const PAUSE_MS = 120

/** Rejects if the user types on meanwhile. */
export const pauseForTyping = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve()), PAUSE_MS)
  })

/** Names that match `q`. */
export const askSuggestions = async (network: string, q: string, signal: AbortSignal): Promise<Suggestion[]> => {
  const path = `${network}/es/suggest?q=${encodeURIComponent(q.slice(0, 100))}&size=8`
  return (await callApi<{ suggestions: Suggestion[] }>(path, { signal })).suggestions
}
