/**
 * From the mildest on: a node over `low` gets no new shards, one over `high` loses some to others, and one over `flood_stage` has indices that
 * cannot be written.
 */
export const WATERMARKS = ['low', 'high', 'flood_stage'] as const

export type Watermark = (typeof WATERMARKS)[number]

/** Shares of the disk that are used, where the cluster does not tell its own. */
const USUAL: Readonly<Record<Watermark, string>> = { low: '85%', high: '90%', flood_stage: '95%' }

interface Disk {
  total_in_bytes: number
  available_in_bytes: number
}

/** The worst watermark that a disk is over; `settings` is what `_cluster/settings` answers. */
export const watermarkOf = (disk: Disk, settings: string): Watermark | null => {
  const set = marksIn(settings)
  if (set.threshold_enabled === 'false') return null
  return WATERMARKS.findLast(mark => isOver(disk, set[mark] ?? USUAL[mark])) ?? null
}

type Marks = Partial<Record<Watermark | 'threshold_enabled', string>>

interface Settings {
  cluster?: {
    routing?: { allocation?: { disk?: { threshold_enabled?: unknown; watermark?: Record<string, unknown> } } }
  }
}

const marksIn = (settings: string): Marks => {
  const { defaults, persistent, transient } = JSON.parse(settings) as Record<string, Settings | undefined>
  const marks: Marks = {}
  for (const source of [defaults, persistent, transient]) {
    const { watermark = {}, threshold_enabled } = source?.cluster?.routing?.allocation?.disk ?? {}
    for (const mark of WATERMARKS) if (typeof watermark[mark] === 'string') marks[mark] = watermark[mark]
    if (typeof threshold_enabled === 'string') marks.threshold_enabled = threshold_enabled
  }
  return marks
}

/** A mark is the share of the disk that is used, or the bytes that are free. */
const isOver = ({ total_in_bytes: total, available_in_bytes: free }: Disk, mark: string): boolean => {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(%|[kmgtp]?b)?$/i.exec(mark.trim()) ?? []
  if (digits === undefined) return false
  if (unit === '%') return 1 - free / total > Number(digits) / 100
  if (unit === '') return 1 - free / total > Number(digits)
  return free < Number(digits) * 1024 ** ['b', 'kb', 'mb', 'gb', 'tb', 'pb'].indexOf(unit.toLowerCase())
}
