import { ask } from '../../api/client.ts'
import type { Suggestion } from './suggest.ts'

/** Names that someone who types `q` may mean. */
export const askSuggestions = async (network: string, q: string, signal: AbortSignal): Promise<Suggestion[]> => {
  const path = `${network}/es/suggest?q=${encodeURIComponent(q.slice(0, 100))}&size=8`
  return (await ask<{ suggestions: Suggestion[] }>(path, { signal })).suggestions
}
