/** What an endpoint has to do, and how soon it does it. */
export interface Load {
  /** Pieces of work under way. */
  readonly active: number
  /** Mean time of a piece, and how many were under way with it; undefined while none was done. */
  readonly mean: { ms: number; active: number } | undefined
  /** How long the oldest piece has been under way. */
  ageMs(): number
  /** Called back when the piece is done, with whether it came to something. */
  begin(): (done: boolean) => void
  /** Forgets how soon it was. */
  forget(): void
}

export const createLoad = (now: () => number): Load => {
  const since = new Map<symbol, number>()
  let mean: Load['mean']
  return {
    get active() {
      return since.size
    },
    get mean() {
      return mean
    },
    ageMs() {
      const [oldest] = since.values()
      return oldest === undefined ? 0 : Math.max(0, now() - oldest)
    },
    begin() {
      const began = now()
      const piece = Symbol()
      since.set(piece, began)
      const beside = since.size
      return done => {
        since.delete(piece)
        if (!done) return
        const ms = Math.max(0, now() - began)
        mean = mean
          ? { ms: mean.ms + (ms - mean.ms) * NEWS, active: mean.active + (beside - mean.active) * NEWS }
          : { ms, active: beside }
      }
    },
    forget() {
      mean = undefined
    },
  }
}

/** What can be chosen from. */
export interface Sharer {
  readonly load: Load
  /** How much faster its budget is spent than time goes by; absent and up to 1 where it will do. */
  strain?: (() => number) | undefined
}

/**
 * The one that is likely to be done first with one more piece, if that takes as much longer as it has more to do. So each has work in
 * proportion to its speed, and one that hangs gets none as soon as the others are quicker than its oldest piece is old. One that has nothing
 * to do goes before later ones, unless it is far slower. Of those that nobody knows, the first ones get a few pieces each.
 */
export const pickSharer = <T extends Sharer>(sharers: readonly T[]): T | undefined => {
  if (sharers.length < 2) return sharers[0]
  const known = sharers.flatMap(({ load }) => (load.mean ? [load.mean.ms] : []))
  const quickest = known.length > 0 ? Math.min(...known) : undefined
  const etaOf = ({ load: { active, mean, ageMs }, strain }: T): number => {
    const strained = Math.max(1, strain?.() ?? 1)
    const age = ageMs()
    if (mean) return Math.max((mean.ms * (active + 1)) / mean.active, age > PATIENCE * mean.ms ? age : 0) * strained
    if (quickest !== undefined) return Math.max(quickest * (active + 1), age > PATIENCE * quickest ? age : 0) * strained
    return age > UNKNOWN_MS ? age : Math.floor(active / UNKNOWN_PIECES)
  }
  const etas = sharers.map(etaOf)
  const best = Math.min(...etas)
  const idle = sharers.find(
    ({ load, strain }, i) => load.active === 0 && (strain?.() ?? 1) <= 1 && etas[i]! <= FAR_SLOWER * best + NEARLY_MS,
  )
  const first = etas.indexOf(best)
  return idle && sharers.indexOf(idle) < first ? idle : sharers[first]
}

/** Weight of the last piece in a mean. */
const NEWS = 0.2
/** So many times the mean a piece may take before it is not thought to come soon. */
const PATIENCE = 3
const UNKNOWN_PIECES = 4
const UNKNOWN_MS = 1_000
const FAR_SLOWER = 2
const NEARLY_MS = 20
