import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { stateVersion } from '../engine/store-version.ts'
import { createAnswerCache, keyOfSearch } from '../search/answer-cache.ts'
import type { BodySearch, StoreAnswer } from '../search/store.ts'
import type { Db } from '../sqlite/database.ts'

type Ask = (signal: AbortSignal) => Promise<StoreAnswer>

/** Maximum characters of a cached body: larger ones rarely repeat. */
const LARGE = 16_384

/** Caches answers of a network's cluster; a new state invalidates all. `capacity` in bytes. */
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
      // All concurrent answers are of the same state.
      if (mayShare(found) && !found.format && stateNow().number === number)
        kept.offer(key, number, found.body as Uint8Array)
      return found
    })
  }
}

/** Versioned state of a network in a cluster, on which answers depend. */
interface ClusterState {
  /** Differs for each state. */
  number: number
  visible: Visible
}

/** Maximum age: the store does not record all changes, such as an index deleted by others. */
export const STATE_MS = 5_000

/** Returns the current state: the same object until another connection commits to the store. */
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
 * Shares one answer among concurrent searches with the same key. Calls `ask` if none is pending, or
 * if the answer may not be shared. Its signal aborts once no one waits.
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
      // An error of another account may not apply to this one.
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

/** Complete, independent of the account and of the time. */
const mayShare = ({ status, body, cursor, readsNow }: StoreAnswer): boolean =>
  status === 200 && body instanceof Uint8Array && cursor === undefined && !readsNow

const drop = ({ body, pieces }: StoreAnswer): void => {
  if (pieces) pieces.cancel()
  else if (!(body instanceof Uint8Array)) void body.cancel()
}

const ignored = () => {}
