import type { Code } from '../../decode/abi-finder.ts'
import { similarityOf } from '../../decode/code-similarity.ts'
import type { Lookups } from '../../engine/port.ts'
import { createRecentCache } from '../../lib/caches.ts'

export type Similarity = ReturnType<typeof createSimilarity>

interface Like {
  holder: string
  /** 1: equal except for values filled in at deployment; 0: unlike. */
  similarity: number
}

const MIN_SIMILARITY = 0.5
const VECTORS_PER_GENERATION = 5_000

/** Finds codes similar to one with an ABI; ignores proxies, whose similarity means nothing. */
export const createSimilarity = (stored: Lookups['features']) => {
  const vectors = createRecentCache<Int8Array>(VECTORS_PER_GENERATION)
  const answers = createRecentCache<{ like: Like | null }>(VECTORS_PER_GENERATION)
  let holders: { codeHash: string; holder: string }[] = []

  const vectorOf = (codeHash: string): Int8Array | undefined => {
    const known = vectors.get(codeHash) ?? stored(codeHash)
    if (known) vectors.set(codeHash, known)
    return known
  }

  return {
    note({ hash, proxy, features }: Code) {
      if (proxy === null) vectors.set(hash, features)
    },
    compareWith(given: ReadonlyMap<string, string>) {
      const same = given.size === holders.length && holders.every(it => given.get(it.codeHash) === it.holder)
      if (same) return
      holders = [...given].map(([codeHash, holder]) => ({ codeHash, holder }))
      answers.clear()
    },
    /** Most similar code of another hash; null if none is near or the code is unknown. */
    nearest(codeHash: string) {
      if (holders.length === 0) return null
      const before = answers.get(codeHash)
      if (before) return before.like
      const vector = vectorOf(codeHash)
      // Not cached, since the code may become known later.
      if (!vector) return null
      let like: Like | null = null
      for (const other of holders) {
        const its = other.codeHash === codeHash ? undefined : vectorOf(other.codeHash)
        const similarity = its ? similarityOf(vector, its) : 0
        if (similarity >= MIN_SIMILARITY && similarity > (like?.similarity ?? 0))
          like = { holder: other.holder, similarity }
      }
      answers.set(codeHash, { like })
      return like
    },
  }
}
