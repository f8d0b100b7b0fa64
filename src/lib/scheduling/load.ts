export type Load = ReturnType<typeof createWorkLoad>

/** What an endpoint has to do, and how soon it does it. */
export const createWorkLoad = (now: () => number) => {
  const since = new Map<symbol, number>()
  let mean: Mean | undefined
  let times: number[] = []
  let endedAt = 0
  const forget = () => {
    mean = undefined
    times = []
  }
  return {
    get active(): number {
      return since.size
    },
    /** Milliseconds that a piece takes with so many under way, it included; undefined while none was done. */
    msOf(active: number): number | undefined {
      // It had nothing to do for long, as it seemed slow: that may be over, or may never have been so.
      if (mean && since.size === 0 && now() - endedAt > STALE * mean.ms) forget()
      if (!mean) return undefined
      const more = active - mean.active
      // With more than there were, as if they were done one by one; with fewer, as it was seen to be.
      const slope = more > 0 ? mean.ms / mean.active : slopeOf(mean)
      return Math.max(Math.min(...times), mean.ms + more * slope)
    },
    /** How long the oldest piece has been under way. */
    ageMs(): number {
      const [oldest] = since.values()
      return oldest === undefined ? 0 : Math.max(0, now() - oldest)
    },
    /** Returns a callback for the end of the piece, with whether it succeeded. */
    begin(): (done: boolean) => void {
      const began = now()
      const piece = Symbol()
      since.set(piece, began)
      const beside = since.size
      return done => {
        since.delete(piece)
        endedAt = now()
        if (!done) return
        const ms = Math.max(0, endedAt - began)
        times.push(ms)
        if (times.length > MAX_TIMES) times.shift()
        mean = mean ? addToMean(mean, ms, beside) : { ms, active: beside, spread: 0, together: 0, pieces: 1 }
      }
    },
    forget,
  }
}

/** Means of time, of pieces in progress, of its square, and of their product. */
interface Mean {
  ms: number
  active: number
  spread: number
  together: number
  pieces: number
}

const addToMean = (mean: Mean, ms: number, active: number): Mean => {
  const pieces = mean.pieces + 1
  const news = Math.max(NEWS, 1 / pieces)
  const [byMs, byActive] = [ms - mean.ms, active - mean.active]
  return {
    ms: mean.ms + news * byMs,
    active: mean.active + news * byActive,
    spread: (1 - news) * (mean.spread + news * byActive * byActive),
    together: (1 - news) * (mean.together + news * byActive * byMs),
    pieces,
  }
}

/** Milliseconds that each further piece adds, between none and all. */
const slopeOf = ({ ms, active, spread, together }: Mean): number =>
  Math.min(ms / active, Math.max(0, together / (spread + SPREAD_DOUBT)))

export interface Sharer {
  readonly load: Load
  /** How much faster its budget is spent than time goes by; absent and up to 1 where it will do. */
  strain?: (() => number) | undefined
}

/**
 * The one that is likely to be done first with one more piece, if that takes as much longer as it has more to do. So each has work in
 * proportion to its speed, and one that hangs gets none as soon as the others are quicker than its oldest piece is old. While
 * there is little to do, earlier ones go before later ones, unless they are far slower. One that nobody
 * knows gets two pieces, and more once the first is done: undefined where all have theirs.
 */
export const pickSharer = <T extends Sharer>(sharers: readonly T[]): T | undefined => {
  if (sharers.length < 2) return sharers[0]
  const known = sharers.flatMap(({ load }) => load.msOf(1) ?? [])
  const quickest = known.length > 0 ? Math.min(...known) : 0
  const etaOf = ({ load, strain }: T): number => {
    const age = load.ageMs()
    const ms = load.msOf(load.active + 1)
    if (ms !== undefined)
      return Math.max(ms, age > PATIENCE_FACTOR * load.msOf(load.active)! ? age : 0) * Math.max(1, strain?.() ?? 1)
    if (load.active >= UNKNOWN_PIECES) return Number.POSITIVE_INFINITY
    return age > MAX_UNKNOWN_MS ? age : quickest * (load.active + 1)
  }
  const etas = sharers.map(etaOf)
  const best = Math.min(...etas)
  if (best === Number.POSITIVE_INFINITY) return undefined
  const first = etas.indexOf(best)
  if (sharers[first]!.load.active > 0) return sharers[first]
  const isNear = (eta: number, strain = 0) => eta <= FAR_SLOWER * best + NEARLY_MS && strain <= 1
  return sharers.find(({ load, strain }, i) => i === first || (load.active === 0 && isNear(etas[i]!, strain?.())))
}

/** Recent times, of which the quickest is a lower bound. */
const MAX_TIMES = 16
/** Multiple of the mean after which an idle node is measured again. */
const STALE = 10
/** Weight of the last piece in a mean. */
const NEWS = 0.05
/** Multiple of the mean up to which a piece is expected soon. */
const PATIENCE_FACTOR = 3
/** Spread of pieces in progress at which half of the measurement is trusted. */
const SPREAD_DOUBT = 1
const UNKNOWN_PIECES = 2
const MAX_UNKNOWN_MS = 1_000
const FAR_SLOWER = 2
const NEARLY_MS = 20
