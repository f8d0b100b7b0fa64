export type HitShape = object

/** Half of it holds what was used last. */
const HIT_CACHE_BYTES = 8 * 2 ** 20
/** Bytes of an entry beside the hit. */
const HIT_OVERHEAD = 100

type CachedValue = { readonly length: number }
type Generation<T> = Map<HitShape, Map<number, T>>

/** A new version empties it. */
export const createHitCache = <T extends CachedValue>(version: () => unknown, capacity = HIT_CACHE_BYTES) => {
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
    bytes += hit.length + HIT_OVERHEAD
    if (bytes > capacity / 2) {
      old = young
      young = new Map()
      bytes = hit.length + HIT_OVERHEAD
    }
    const hits = young.get(shape)
    if (hits) hits.set(position, hit)
    else young.set(shape, new Map([[position, hit]]))
  }

  return {
    get(shape: HitShape, position: number): T | undefined {
      forgetOthers()
      const hit = young.get(shape)?.get(position)
      if (hit) return hit
      const older = old.get(shape)?.get(position)
      if (older) put(shape, position, older)
      return older
    },
    set(shape: HitShape, position: number, hit: T) {
      forgetOthers()
      if (hit.length < capacity / 8) put(shape, position, hit)
    },
  }
}
