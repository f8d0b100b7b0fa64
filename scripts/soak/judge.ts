import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerStatus } from '../../src/ingest/status/status.ts'

export type Curve = 'memory' | 'files' | 'threads' | 'store' | 'ledger' | 'log'

interface Flatness {
  /** Whether a new process begins anew: then the curve is judged within lives, and from one to the next. */
  perLife: boolean
  /** What it may grow by while it is judged: a share of its median, or so much if that is more. */
  share: number
  least: number
}

const FLAT: Record<Curve, Flatness> = {
  memory: { perLife: true, share: 0.1, least: 24e6 },
  files: { perLife: true, share: 0.1, least: 6 },
  threads: { perLife: true, share: 0.1, least: 3 },
  store: { perLife: false, share: 0.1, least: 8e6 },
  ledger: { perLife: false, share: 0.1, least: 4e6 },
  // A checkpoint empties it, and a reader or a backup holds a checkpoint up.
  log: { perLife: true, share: 0.1, least: 64e6 },
}

export interface Judgement {
  curve: Curve
  /** How many samples were judged, over how long a time in all. */
  samples: number
  milliseconds: number
  median: number
  /** By the slope, over the longest stretch that was judged. */
  growth: number
  /** From the first life to the last, of the medians. */
  between: number
  allowed: number
  flat: boolean
}

interface JudgeOptions {
  /** Part of a life, and of the soak, that is not judged. */
  warmMs: { life: number; soak: number }
}

const LEAST_SAMPLES = 12

/** Those curves for which there is enough to judge. */
export const judge = (samples: readonly Sample[], options: JudgeOptions): Judgement[] =>
  (Object.keys(FLAT) as Curve[]).flatMap(curve => judgeOne(curve, samples, options) ?? [])

const judgeOne = (curve: Curve, samples: readonly Sample[], { warmMs }: JudgeOptions): Judgement | undefined => {
  const { perLife, share, least } = FLAT[curve]
  const warm = samples.filter(it => (perLife ? it.age >= warmMs.life : it.at >= warmMs.soak))
  const stretches = [...Map.groupBy(warm, ({ life }) => (perLife ? life : 0)).values()].filter(
    it => it.length >= LEAST_SAMPLES,
  )
  if (stretches.length === 0) return undefined
  const judged = stretches.flat()
  const middle = median(judged.map(it => it[curve]))
  const spans = stretches.map(it => it.at(-1)!.at - it[0]!.at)
  const growth = median(stretches.flatMap(stretch => slopes(stretch, curve))) * Math.max(...spans)
  const [first, last] = [stretches[0]!, stretches.at(-1)!].map(it => median(it.map(one => one[curve])))
  const between = last! - first!
  const allowed = Math.max(share * middle, least)
  return {
    ...{ curve, samples: judged.length, milliseconds: spans.reduce((sum, it) => sum + it, 0), median: middle },
    ...{ growth, between, allowed, flat: growth <= allowed && (!perLife || between <= 2 * allowed) },
  }
}

/** Of every pair of samples: their median is Theil and Sen's slope, which outliers do not move. */
const slopes = (stretch: readonly Sample[], curve: Curve): number[] => {
  const found: number[] = []
  for (let i = 0; i < stretch.length; i++)
    for (let j = i + 1; j < stretch.length; j++) {
      const [a, b] = [stretch[i]!, stretch[j]!]
      found.push((b[curve] - a[curve]) / (b.at - a.at))
    }
  return found
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** What a server takes at a moment. Sizes are in bytes. */
export interface Sample {
  at: number
  /** Number of the process: each kill begins another one. */
  life: number
  age: number
  memory: number
  files: number
  threads: number
  store: number
  ledger: number
  log: number
  lag: number | null
  /** Deliveries that were taken, and queries that were answered, since the soak began. */
  delivered: number
  answered: number
}

/** From Linux's /proc; undefined where the process or /proc is not there. */
export const lookAt = (pid: number): Pick<Sample, 'memory' | 'files' | 'threads'> | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1])
    return {
      memory: number('RssAnon') * 1024,
      threads: number('Threads'),
      files: readdirSync(`/proc/${pid}/fd`).length,
    }
  } catch {
    return undefined
  }
}

/** The networks' files, that of deliveries, and the write-ahead logs. */
export const sizesOf = (data: string): Pick<Sample, 'store' | 'ledger' | 'log'> => {
  const networks = join(data, 'networks')
  const isLog = (name: string) => name.endsWith('-wal')
  return {
    store: sum(networks, name => !isLog(name)),
    ledger: sum(data, name => name === 'deliveries.sqlite'),
    log: sum(networks, isLog) + sum(data, isLog),
  }
}

const sum = (folder: string, counts: (name: string) => boolean): number => {
  let bytes = 0
  try {
    for (const name of readdirSync(folder).filter(counts)) {
      try {
        bytes += statSync(join(folder, name)).size
      } catch {}
    }
  } catch {}
  return bytes
}

export const lagOf = (status: ServerStatus | undefined): number | null => status?.networks[0]?.lag ?? null
