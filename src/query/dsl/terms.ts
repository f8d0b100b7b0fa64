import { refuse } from '../../lib/errors.ts'
import { equals } from '../conditions.ts'
import { IGNORED_IN_CLAUSES, isObject, list, members, type Place, unexpected, where } from '../place.ts'
import { onField, onMetaField } from '../scope.ts'
import { or } from '../simplify.ts'
import { type Clause, onlyField } from './clause.ts'

export const terms: Clause = {
  doc: 'The field has one of these values, each compared as term does.',
  example: { event: ['transfer', 'approval'] },
  lower(place, scope) {
    const [name, at] = onlyField('terms', withoutIgnored(place))
    if (isObject(at.value)) throw unexpected(at, 'a list of values (a lookup in another index is not supported)')
    const values = list(at, 'a list of values')
    if (values.length > MAX_TERMS) {
      throw refuse(
        'illegal_argument_exception',
        `${where(at)}: ${values.length} values, and the maximum is ${MAX_TERMS}. Ask in several requests.`,
      )
    }
    return (
      onMetaField(name, values, scope) ??
      onField(name, at, scope, field => or(values.map(value => equals(field, value, scope.now))))
    )
  },
}

const MAX_TERMS = 65_536

const withoutIgnored = (place: Place): Place => {
  const fields = members(place, 'an object that names a field, such as {"terms": {"event": […]}}')
  const rest = fields.filter(([name]) => !(IGNORED_IN_CLAUSES as readonly string[]).includes(name))
  return { path: place.path, value: new Map(rest.map(([name, { value }]) => [name, value])) }
}
