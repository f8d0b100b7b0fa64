import { NONE } from '../ast.ts'
import { elements, known, scalar, string, unexpected } from '../json-node.ts'
import { canonicalId, checkIdsInSight } from '../meta.ts'
import { constant } from '../score.ts'
import { ids as idsNode } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const ids: Clause = {
  doc: 'The document has one of these ids. Their hashes match in any letter case. With type, only documents of that entity.',
  example: { values: ['0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060_e_0'] },
  lower(place, scope) {
    const { values, type } = known(place, 'an object such as {"values": ["0x…"]}', ['values', 'type'])
    if (values === undefined) throw unexpected(place, 'an object with [values]')
    checkIdsInSight(place, scope)
    const list = elements(values)
    scope.budget.values(list.length, values)
    const node = idsNode(list.map(value => canonicalId(scalar(value, 'an id'))))
    const types = type && elements(type).map(at => string(at, 'an entity'))
    return constant(types === undefined || types.length === 0 || types.includes(scope.kind) ? node : NONE)
  },
}
