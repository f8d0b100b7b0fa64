import { isRecord } from '../lib/record.ts'

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
  return WATERMARKS.findLast(mark => isOver(disk, set[mark] ?? USUAL[mark], set[`${mark}${HEADROOM}`])) ?? null
}

/** Elasticsearch has so many bytes free at most, however large the disk is. */
const HEADROOM = '.max_headroom'

type Marks = Partial<Record<Watermark | `${Watermark}${typeof HEADROOM}` | 'threshold_enabled', string>>

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
    for (const mark of WATERMARKS) {
      const share = watermark[mark]
      const headroom = isRecord(share) ? share.max_headroom : watermark[`${mark}${HEADROOM}`]
      if (typeof share === 'string') marks[mark] = share
      if (typeof headroom === 'string') marks[`${mark}${HEADROOM}`] = headroom
    }
    if (typeof threshold_enabled === 'string') marks.threshold_enabled = threshold_enabled
  }
  return marks
}

/** A mark is the share of the disk that is used, or the bytes that are free. */
const isOver = ({ total_in_bytes: total, available_in_bytes: free }: Disk, mark: string, headroom = '-1'): boolean => {
  const share = shareIn(mark)
  if (share === undefined) return free < (bytesIn(mark) ?? 0)
  return 1 - free / total > share && free < (bytesIn(headroom) ?? total)
}

const shareIn = (mark: string): number | undefined => {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(mark.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) / (percent === '%' ? 100 : 1)
}

const bytesIn = (mark: string): number | undefined => {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)([kmgtp]?b)$/i.exec(mark.trim()) ?? []
  if (digits === undefined) return undefined
  return Number(digits) * 1024 ** ['b', 'kb', 'mb', 'gb', 'tb', 'pb'].indexOf(unit.toLowerCase())
}
