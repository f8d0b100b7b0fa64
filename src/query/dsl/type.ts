import { known, unexpected } from '../json-node.ts'
import { onMetaField } from '../meta.ts'
import { constant } from '../score.ts'
import type { Clause } from './clause.ts'

export const type: Clause = {
  doc: 'The document is of this entity; the same as a term on _type.',
  example: { value: 'event' },
  lower(place, scope) {
    const { value } = known(place, 'an object such as {"value": "tx"}', ['value'])
    if (value === undefined) throw unexpected(place, 'an object with [value]')
    return constant(onMetaField('_type', [value], scope)!)
  },
}
