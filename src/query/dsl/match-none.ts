import { NONE } from '../ast.ts'
import { known } from '../json-node.ts'
import type { Clause } from './clause.ts'

export const matchNone: Clause = {
  doc: 'Matches nothing.',
  example: {},
  lower(place) {
    known(place, 'an empty object', [])
    return NONE
  },
}
