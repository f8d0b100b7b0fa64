/** Hits as they were written, for whoever asks for the same documents next: the newest ones, or those of a frequent address. */
export interface HitCache {
  /** Undefined where it has to be written. */
  get(shape: HitShape, position: number): Uint8Array | undefined
  set(shape: HitShape, position: number, hit: Uint8Array): void
}

/** One for each way in which hits are written. */
export type HitShape = object

/** Half of it holds what was asked for last. */
const CAPACITY = 8 * 2 ** 20
/** What is kept beside the bytes. */
const OVERHEAD = 100

type Generation = Map<HitShape, Map<number, Uint8Array>>

/** `version` changes with the state of the store: what was written of another one is forgotten. */
export const createHitCache = (version: () => unknown, capacity = CAPACITY): HitCache => {
  let young: Generation = new Map()
  let old: Generation = new Map()
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

  const put = (shape: HitShape, position: number, hit: Uint8Array) => {
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
