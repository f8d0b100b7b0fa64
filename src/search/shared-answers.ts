import type { InlineAnswer } from './inline.ts'

/** One answer for all who ask the same at the same time. */
export interface SharedAnswers {
  /**
   * `ask` is called where nobody waits for an answer to this key, or where that answer is for one alone. Its signal aborts when nobody waits any more.
   */
  answer(key: string, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<InlineAnswer>): Promise<InlineAnswer>
}

interface UnderWay {
  found: Promise<InlineAnswer>
  waiting: number
  ending: AbortController
}

export const createSharedAnswers = (): SharedAnswers => {
  const underWay = new Map<string, UnderWay>()

  const begin = (key: string, ask: (signal: AbortSignal) => Promise<InlineAnswer>): UnderWay => {
    const ending = new AbortController()
    const one = { found: ask(ending.signal), waiting: 0, ending }
    underWay.set(key, one)
    const forget = () => {
      if (underWay.get(key) === one) underWay.delete(key)
    }
    ending.signal.addEventListener('abort', forget, { once: true })
    one.found.then(forget, forget)
    return one
  }

  const wait = (one: UnderWay, signal: AbortSignal): Promise<InlineAnswer> => {
    const { promise, resolve, reject } = Promise.withResolvers<InlineAnswer>()
    one.waiting++
    const leave = () => {
      reject(signal.reason)
      if (--one.waiting === 0) one.ending.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    one.found.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    return promise
  }

  return {
    async answer(key, signal, ask) {
      signal.throwIfAborted()
      const others = underWay.get(key)
      if (others) {
        // What failed for another account need not fail for this one.
        const found = await wait(others, signal).catch(() => undefined)
        signal.throwIfAborted()
        return found && mayShare(found) ? found : ask(signal)
      }
      const one = begin(key, ask)
      one.found.then(found => {
        if (signal.aborted && !mayShare(found)) drop(found)
      }, ignored)
      return wait(one, signal)
    },
  }
}

/** Whole, nobody's own, and the same at any moment. */
export const mayShare = ({ status, body, cursor, readsNow }: InlineAnswer): boolean =>
  status === 200 && body instanceof Uint8Array && cursor === undefined && !readsNow

const drop = ({ body, pieces }: InlineAnswer): void => {
  if (pieces) pieces.cancel()
  else if (!(body instanceof Uint8Array)) void body.cancel()
}

const ignored = () => {}
