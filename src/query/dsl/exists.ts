import { known, string, unexpected } from '../json-node.ts'
import { checkIdsInSight, isMeta } from '../meta.ts'
import { fieldsBelow } from '../scope.ts'
import { constant, EVERY } from '../score.ts'
import { exists as existsNode, or } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const exists: Clause = {
  doc: 'The field has a value: it is not null, not an empty list, and not a keyword of more than 256 characters. An object exists if one of its fields does.',
  example: { field: 'error' },
  lower(place, scope) {
    const { field } = known(place, 'an object such as {"field": "error"}', ['field'])
    if (field === undefined) throw unexpected(place, 'an object with [field]')
    const name = string(field, 'the name of a field')
    if (isMeta(name)) {
      checkIdsInSight(field, scope)
      return EVERY
    }
    return constant(or(fieldsBelow(name, field, scope).map(existsNode)))
  },
}
