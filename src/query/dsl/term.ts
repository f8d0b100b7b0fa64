import { equals } from '../conditions.ts'
import { onField, onMetaField } from '../scope.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { foldCase } from './letter-case.ts'

export const term: Clause = {
  doc: 'The field has this very value. A text field is compared by its lower-cased words, its .raw as it is.',
  example: { event: 'transfer' },
  lower(place, scope) {
    const [name, at] = onlyField('term', place)
    const { value, case_insensitive } = shortOrLong(at, 'value', ['case_insensitive'])
    return (
      onMetaField(name, [value], scope) ??
      onField(name, at, scope, field => {
        const folded = foldCase(case_insensitive, field, value, scope)
        return equals(folded.field, folded.value, scope)
      })
    )
  },
}
