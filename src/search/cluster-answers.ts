import type { ClusterState } from './cluster-state.ts'
import type { InlineAnswer, InlineSearch } from './inline.ts'
import { createKeptAnswers, keyOfSearch } from './kept-answers.ts'
import { createSharedAnswers, mayShare } from './shared-answers.ts'

/** Answers of a network in a cluster that is not asked the same twice while nothing changes. */
export interface ClusterAnswers {
  /** `ask` asks the cluster. */
  answer(
    search: InlineSearch,
    text: string,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<InlineAnswer>,
  ): Promise<InlineAnswer>
}

/** Letters of a body: larger ones are seldom sent twice. */
const LARGE = 16_384

/** `capacity` is in bytes. */
export const createClusterAnswers = (stateNow: () => ClusterState, capacity: number): ClusterAnswers => {
  const kept = createKeptAnswers(capacity)
  const shared = createSharedAnswers()
  return {
    async answer(search, text, signal, ask) {
      const started = performance.now()
      const key = text.length > LARGE ? undefined : keyOfSearch(search, text)
      if (key === undefined) return ask(signal)
      const { number } = stateNow()
      const body = kept.get(key, number, Math.round(performance.now() - started))
      if (body) return { status: 200, body }
      return shared.answer(`${number} ${key}`, signal, async ending => {
        const found = await ask(ending)
        // All that was asked meanwhile was of one state.
        if (mayShare(found) && !found.format && stateNow().number === number)
          kept.offer(key, number, found.body as Uint8Array)
        return found
      })
    },
  }
}
