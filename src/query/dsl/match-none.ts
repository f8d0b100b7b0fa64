import { known } from '../json-node.ts'
import { NEVER } from '../score.ts'
import type { Clause } from './clause.ts'

export const matchNone: Clause = {
  doc: 'Matches nothing.',
  example: {},
  lower(place) {
    known(place, 'an empty object', [])
    return NEVER
  },
}
