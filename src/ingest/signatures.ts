import type { Signature } from '../decode/types.ts'
import type { Numbered } from '../engine/index/indexing.ts'
import { SIGNATURES, UNLISTED, UNLISTED_CALL } from '../engine/index/terms.ts'

/** Gives signatures their ids. */
export interface SignatureIds {
  find(key: string): number | undefined
  /** Gives it the next id; undefined where that would not be below `most`. */
  add(signature: Signature, most: number): number | undefined
}

export interface AddedSignatures {
  first: number
  entries: Signature[]
}

/** Signatures without a declaration are kept apart up to here; the room behind is for those with one. */
export const UNKNOWN_SIGNATURES = Math.floor(SIGNATURES * 0.75)

/**
 * Numbers signatures. Anyone can emit logs under any topic; when too many unknown ones were seen, further ones share a
 * signature.
 */
export const createSignatures = (ids: SignatureIds, listed: number): ((signature: Signature) => Numbered) => {
  const known = new Map<Signature, Numbered>()
  const idOf = (signature: Signature, most: number) => ids.find(signature.key) ?? ids.add(signature, most)

  const listedId = (signature: Signature): number | undefined => {
    const { of, event } = signature
    // Anything can be called by any selector, too: calls of functions that nobody knows are not kept apart.
    if (!event && of === 'call') return undefined
    return idOf(signature, event ? SIGNATURES - 1 : listed)
  }

  return signature => {
    let found = known.get(signature)
    if (!found) {
      const id = listedId(signature)
      found =
        id !== undefined
          ? { id, unlisted: false }
          : { id: idOf(signature.of === 'call' ? unlistedCall : unlisted, SIGNATURES + 1)!, unlisted: true }
      if (known.size > SIGNATURES) known.clear()
      known.set(signature, found)
    }
    return found
  }
}

const unlisted: Signature = {
  of: 'log',
  key: UNLISTED,
  topic: null,
  indexed: 0,
  event: null,
  probability: 0,
  error: null,
}
const unlistedCall: Signature = { ...unlisted, of: 'call', key: UNLISTED_CALL }
