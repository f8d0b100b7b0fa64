import { type Format, single } from './metric.ts'
import type { Totals } from './moments.ts'

export const maxOf = ({ max }: Pick<Totals, 'max'>, format: Format) =>
  single('max', Number.isFinite(max) ? max : null, format)
