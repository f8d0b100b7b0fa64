import { KINDS } from '../../mapping/index.ts'
import { parentsOf } from '../../mapping/joins.ts'
import { NONE } from '../ast.ts'
import { boolean, known, named, scalar, unexpected } from '../json-node.ts'
import { canonicalId } from '../meta.ts'
import { constant } from '../score.ts'
import { ids, or, parent } from '../simplify.ts'
import type { Clause } from './clause.ts'
import { checkOutsideOfLists, kindNamed, noRelation } from './join.ts'

export const parentId: Clause = {
  doc: 'The document is of this entity (type) and its parent has this id.',
  example: { type: 'event', id: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060' },
  lower(place, scope) {
    const keys = known(place, 'an object such as {"type": "event", "id": "0x…"}', ['type', 'id', 'ignore_unmapped'])
    const { type, id, ignore_unmapped } = keys
    if (type === undefined) throw unexpected(place, "an object with [type]: [parent_id] requires 'type' field")
    if (id === undefined) throw unexpected(place, "an object with [id]: [parent_id] requires 'id' field")
    const ignoresUnmapped = ignore_unmapped !== undefined && boolean(ignore_unmapped)
    checkOutsideOfLists('parent_id', place, scope)
    const { name, kind } = kindNamed(type)
    const node = ids([canonicalId(scalar(id, 'an id'))])
    if (kind !== undefined && parentsOf(kind).length > 0)
      return constant(kind === scope.kind ? or(parentsOf(kind).map(of => parent(of, node))) : NONE)
    if (ignoresUnmapped) return constant(NONE)
    const possible = KINDS.filter(kind => parentsOf(kind).length > 0)
    throw noRelation(type, `[parent_id] no relation found for child ${named(name)}.`, name, possible)
  },
}
