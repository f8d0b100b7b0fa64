import { type Format, single } from './metric.ts'
import type { Totals } from './moments.ts'

export const sumOf = ({ sum }: Pick<Totals, 'sum'>, format: Format) => single('sum', sum, format)
