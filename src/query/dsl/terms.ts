import { equals } from '../conditions.ts'
import { isObject, type JsonNode, KEYS_OF_CLAUSES, list, members, unexpected } from '../json-node.ts'
import { onMetaField } from '../meta.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { or } from '../simplify.ts'
import { type Clause, onlyField } from './clause.ts'

export const terms: Clause = {
  doc: 'The field has one of these values, each compared as term does.',
  example: { event: ['transfer', 'approval'] },
  lower(place, scope) {
    const [name, at] = onlyField('terms', withoutCommon(place))
    if (isObject(at.value)) throw unexpected(at, 'a list of values (a lookup in another index is not supported)')
    const values = list(at, 'a list of values')
    scope.budget.values(values.length, at)
    const meta = onMetaField(name, values, scope)
    if (meta) return constant(meta)
    return onField(name, at, scope, field => {
      const node = or(values.map(value => equals(field, value, scope)))
      // Each value of a date is a range, and so a condition of its own.
      if (node.op === 'or') scope.budget.clauses(node.of.length, at)
      return constant(node)
    })
  },
}

const withoutCommon = (place: JsonNode): JsonNode => {
  const fields = members(place, 'an object that names a field, such as {"terms": {"event": […]}}')
  const rest = fields.filter(([name]) => !(KEYS_OF_CLAUSES as readonly string[]).includes(name))
  return { path: place.path, value: new Map(rest.map(([name, { value }]) => [name, value])) }
}
