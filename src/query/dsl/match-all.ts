import { known } from '../json-node.ts'
import { EVERY } from '../score.ts'
import type { Clause } from './clause.ts'

export const matchAll: Clause = {
  doc: 'Matches everything.',
  example: {},
  lower(place) {
    known(place, 'an empty object', [])
    return EVERY
  },
}
