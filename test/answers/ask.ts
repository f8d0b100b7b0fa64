import { createSearcher } from '../../src/engine/query/searcher.ts'
import { createSuggester, type NamedContract } from '../../src/engine/query/suggest.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { answerGet, answerSearch, answerSimilar, answerSuggest, type Reply } from '../../src/search/answer.ts'
import type { TestStore } from '../support/store.ts'

/** A request as the fixture keeps it. */
export type Ask =
  | { op: 'search'; entities: string; body?: string; limits?: Partial<Limits>; mayStream?: false; resumeAfter?: number }
  | { op: 'get'; entity: Kind; id: string }
  | { op: 'similar'; address: string; size: number }
  | { op: 'suggest'; q: string; size: number; contracts?: NamedContract[] }

export interface Answer {
  status: number | ChainsieveError['next']
  /** `took` is 0 in it. Of an error its code and message. */
  text: string
}

/** The moment that date math counts from. */
export const NOW = Date.UTC(2025, 0, 1, 1)
const INDEX = 'ethereum-made-up-mainnet'

/** Asks a store by the way that a request of a client takes, from the text of its body to that of its answer. */
export const createAsker = ({ reader }: TestStore): ((ask: Ask) => Answer) => {
  const searcher = createSearcher(reader)
  const suggester = createSuggester(reader, () => [])

  const search = ({ entities, body, limits, mayStream, resumeAfter }: Extract<Ask, { op: 'search' }>): Answer => {
    const asked = {
      deadline: Number.POSITIVE_INFINITY,
      now: NOW,
      limits: { ...DEFAULT_LIMITS, ...limits },
      ...(mayStream === false && { mayStream }),
    }
    const by = limits ? createSearcher(reader, asked.limits) : searcher
    const reply = answerSearch(by, INDEX, entities, body, asked)
    if (resumeAfter === undefined) return whole(reply)
    if (reply.body instanceof Uint8Array) throw new Error('an answer that is not in parts cannot be resumed')
    const rest = reply.body.parts[Symbol.iterator]()
    const begun = Array.from({ length: resumeAfter }, () => textOf(rest.next().value))
    const after = reply.body.at()
    rest.return?.()
    return masked(
      reply.status,
      begun.join('') + whole(answerSearch(by, INDEX, entities, body, { ...asked, after })).text,
    )
  }

  const answer = (ask: Ask): Answer => {
    switch (ask.op) {
      case 'search':
        return search(ask)
      case 'get':
        return whole(answerGet(searcher, INDEX, ask.entity, ask.id))
      case 'similar':
        return whole(
          answerSimilar(
            searcher,
            INDEX,
            { kind: 'contract', id: ask.address, size: ask.size },
            { deadline: Number.POSITIVE_INFINITY },
          ),
        )
      case 'suggest':
        return whole(answerSuggest(reader, suggester, { contracts: [], ...ask }))
    }
  }

  return ask => {
    try {
      return answer(ask)
    } catch (error) {
      if (!(error instanceof ChainsieveError)) throw error
      return { status: error.next, text: `${error.code}: ${error.message}` }
    }
  }
}

const whole = ({ status, body }: Reply): Answer =>
  masked(status, body instanceof Uint8Array ? textOf(body) : Array.from(body.parts, textOf).join(''))

const textOf = (part: Uint8Array | undefined): string => (part === undefined ? '' : Buffer.from(part).toString())

const masked = (status: number, text: string): Answer => ({ status, text: text.replace(/^\{"took":\d+/, '{"took":0') })
