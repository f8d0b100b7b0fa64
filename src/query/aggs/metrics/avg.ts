import { type Format, single } from './metric.ts'
import type { Totals } from './moments.ts'

export const avgOf = ({ count, sum }: Pick<Totals, 'count' | 'sum'>, format: Format) =>
  single('avg', count === 0 ? null : sum / count, format)
