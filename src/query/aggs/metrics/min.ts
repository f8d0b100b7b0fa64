import { type Format, single } from './metric.ts'
import type { Totals } from './moments.ts'

export const minOf = ({ min }: Pick<Totals, 'min'>, format: Format) =>
  single('min', Number.isFinite(min) ? min : null, format)
