import { NONE } from '../ast.ts'
import { known } from '../place.ts'
import type { Clause } from './clause.ts'

export const matchNone: Clause = {
  doc: 'Matches nothing.',
  example: {},
  lower(place) {
    known(place, 'an empty object', [])
    return NONE
  },
}
