import { termOn } from '../leaves.ts'
import { onMetaField } from '../meta.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { inAnyCase } from './letter-case.ts'

export const term: Clause = {
  doc: 'The field has exactly this value. A text field is compared by its lower-case words, its .raw as it is; with case_insensitive in any letter case.',
  example: { event: 'transfer' },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('term', place)
    const { value, case_insensitive } = shortOrLong(at, 'value', ['case_insensitive'])
    const meta = onMetaField(name, [value], scope)
    if (meta) return constant(meta)
    return onField(
      name,
      at,
      scope,
      field => inAnyCase(case_insensitive, field, value, scope) ?? termOn(field, value, scope),
    )
  },
}
