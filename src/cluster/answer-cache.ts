import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { stateVersion } from '../engine/store-version.ts'
import { createAnswerCache, keyOfSearch } from '../search/answer-cache.ts'
import type { BodySearch, StoreAnswer } from '../search/store.ts'
import type { Db } from '../sqlite/database.ts'

type Ask = (signal: AbortSignal) => Promise<StoreAnswer>

/** Letters of a body: larger ones are seldom sent twice. */
const LARGE = 16_384

/** Answers of a network in a cluster that is not asked the same twice while nothing changes. `capacity` is in bytes; `ask` asks the cluster. */
export const createClusterAnswers = (stateNow: () => ClusterState, capacity: number) => {
  const kept = createAnswerCache(capacity)
  const shared = createSharedAnswers()
  return async (
    search: BodySearch & { index: string },
    text: string,
    signal: AbortSignal,
    ask: Ask,
  ): Promise<StoreAnswer> => {
    const started = performance.now()
    const key = text.length > LARGE ? undefined : keyOfSearch(search, text)
    if (key === undefined) return ask(signal)
    const { number } = stateNow()
    const body = kept.get(key, number, Math.round(performance.now() - started))
    if (body) return { status: 200, body }
    return shared(`${number} ${key}`, signal, async ending => {
      const found = await ask(ending)
      // All that was asked meanwhile was of one state.
      if (mayShare(found) && !found.format && stateNow().number === number)
        kept.offer(key, number, found.body as Uint8Array)
      return found
    })
  }
}

/** What searches of a network in a cluster see, as long as nothing changes that an answer may depend on. */
interface ClusterState {
  /** Another one for each state. */
  number: number
  visible: Visible
}

/** The store does not tell of all that changes: of an index that somebody deleted, say, or of a cluster that is gone. That is seen after so long. */
export const STATE_MS = 5_000

/** Tells the state of this turn: the same object until another connection writes to the store, whatever it writes. */
export const createClusterStates = (
  db: Db,
  visible: () => Visible,
  now: () => number = () => performance.now(),
): (() => ClusterState) => {
  const versionNow = stateVersion(db)
  const read = db.transaction(visible)
  let known: { version: number; until: number; state: ClusterState } | undefined
  return () => {
    const version = versionNow()
    const at = now()
    if (known?.version === version && at < known.until) return known.state
    const number = (known?.state.number ?? 0) + 1
    const state = { number, visible: read() }
    known = { version, until: at + STATE_MS, state }
    return state
  }
}

interface UnderWay {
  found: Promise<StoreAnswer>
  waiting: number
  ending: AbortController
}

/**
 * One answer for all who ask the same at the same time. `ask` is called where nobody waits for an answer to this key, or where that answer is
 * for one alone. Its signal aborts when nobody waits any more.
 */
export const createSharedAnswers = () => {
  const underWay = new Map<string, UnderWay>()

  const begin = (key: string, ask: Ask): UnderWay => {
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

  const wait = (one: UnderWay, signal: AbortSignal): Promise<StoreAnswer> => {
    const { promise, resolve, reject } = Promise.withResolvers<StoreAnswer>()
    one.waiting++
    const leave = () => {
      reject(signal.reason)
      if (--one.waiting === 0) one.ending.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    one.found.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    return promise
  }

  return async (key: string, signal: AbortSignal, ask: Ask): Promise<StoreAnswer> => {
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
  }
}

/** Whole, nobody's own, and the same at any moment. */
const mayShare = ({ status, body, cursor, readsNow }: StoreAnswer): boolean =>
  status === 200 && body instanceof Uint8Array && cursor === undefined && !readsNow

const drop = ({ body, pieces }: StoreAnswer): void => {
  if (pieces) pieces.cancel()
  else if (!(body instanceof Uint8Array)) void body.cancel()
}

const ignored = () => {}
