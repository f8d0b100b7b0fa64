import type { Clause } from './clause.ts'
import { term } from './term.ts'

export const spanTerm: Clause = {
  doc: 'As term. Alone it finds the same: other clauses of spans are refused.',
  example: { event: 'transfer' },
  fieldwise: true,
  lower: (place, scope, inner) => term.lower(place, scope, inner),
}
