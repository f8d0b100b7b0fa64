export type Load = ReturnType<typeof createWorkLoad>

/** Backlog and speed of an endpoint. */
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
    /** Milliseconds of a piece among `active` ones, itself included; undefined before the first. */
    msOf(active: number): number | undefined {
      // Measures again after a long idle time, since slowness may be over or was an outlier.
      if (mean && since.size === 0 && now() - endedAt > STALE * mean.ms) forget()
      if (!mean) return undefined
      const more = active - mean.active
      // Above the measured load, time grows as in serial work; below, as observed.
      const slope = more > 0 ? mean.ms / mean.active : slopeOf(mean)
      return Math.max(Math.min(...times), mean.ms + more * slope)
    },
    /** Age of the oldest piece under way. */
    ageMs(): number {
      const [oldest] = since.values()
      return oldest === undefined ? 0 : Math.max(0, now() - oldest)
    },
    /** Returns a callback for the end of the piece, which takes its success. */
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

/** Means of time, of pieces under way, of the latter's square, and of the product. */
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

/** Milliseconds that each further piece adds, from 0 to the mean time per piece. */
const slopeOf = ({ ms, active, spread, together }: Mean): number =>
  Math.min(ms / active, Math.max(0, together / (spread + SPREAD_DOUBT)))

export interface Sharer {
  readonly load: Load
  /** Ratio of budget spent to time passed; absent or up to 1 if the budget will do. */
  strain?: (() => number) | undefined
}

/**
 * Picks the sharer that is likely to finish one more piece first, so load follows speed. One that
 * hangs gets none once others are quicker than its oldest piece is old. With little work, earlier
 * ones go first unless they are far slower. An unmeasured one gets two pieces until the first is
 * done; undefined if all have theirs.
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

/** Recent times; the shortest is a lower bound. */
const MAX_TIMES = 16
/** Multiple of the mean after which an idle node is measured again. */
const STALE = 10
/** Weight of the newest piece in a mean. */
const NEWS = 0.05
/** Multiple of the mean up to which a piece is expected soon. */
const PATIENCE_FACTOR = 3
/** Spread of pieces in progress at which half of the measurement is trusted. */
const SPREAD_DOUBT = 1
const UNKNOWN_PIECES = 2
const MAX_UNKNOWN_MS = 1_000
const FAR_SLOWER = 2
const NEARLY_MS = 20
