/** Hits as they were written, for whoever asks for the same documents next: the newest ones, or those of a frequent address. */
export interface HitCache<T> {
  /** Undefined where it has to be written. */
  get(shape: HitShape, position: number): T | undefined
  set(shape: HitShape, position: number, hit: T): void
}

/** One for each way in which hits are written. */
export type HitShape = object

/** Half of it holds what was asked for last. */
const CAPACITY = 8 * 2 ** 20
/** What is kept beside the bytes. */
const OVERHEAD = 100

/** Its length in bytes. */
type Sized = { readonly length: number }
type Generation<T> = Map<HitShape, Map<number, T>>

/** `version` changes with the state of the store: what was written of another one is forgotten. */
export const createHitCache = <T extends Sized>(version: () => unknown, capacity = CAPACITY): HitCache<T> => {
  let young: Generation<T> = new Map()
  let old: Generation<T> = new Map()
  let bytes = 0
  let seen: unknown

  const forgetOthers = () => {
    const now = version()
    if (now === seen) return
    seen = now
    young = new Map()
    old = new Map()
    bytes = 0
  }

  const put = (shape: HitShape, position: number, hit: T) => {
    bytes += hit.length + OVERHEAD
    if (bytes > capacity / 2) {
      old = young
      young = new Map()
      bytes = hit.length + OVERHEAD
    }
    const hits = young.get(shape)
    if (hits) hits.set(position, hit)
    else young.set(shape, new Map([[position, hit]]))
  }

  return {
    get(shape, position) {
      forgetOthers()
      const hit = young.get(shape)?.get(position)
      if (hit) return hit
      const older = old.get(shape)?.get(position)
      if (older) put(shape, position, older)
      return older
    },
    set(shape, position, hit) {
      forgetOthers()
      if (hit.length < capacity / 8) put(shape, position, hit)
    },
  }
}
