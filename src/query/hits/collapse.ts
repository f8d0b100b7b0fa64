import { refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { bracketName, elements, type JsonNode, toText, where } from '../json-node.ts'
import { itself, neededKey, nodeKey, readBodyKeys } from '../keys.ts'
import type { Collapse } from '../request.ts'
import { checkKnown } from '../scope.ts'
import type { HitScope } from './hit-options.ts'
import { parseGroupHits } from './inner-hits.ts'
import type { SortScope } from './sort.ts'

/** `{"field": "from.raw", "inner_hits": {"name": "newest", …}}`. */
export const parseCollapse = (place: JsonNode, scope: HitScope & SortScope): Collapse => {
  const { kinds } = scope
  const keys = readBodyKeys(place, 'an object such as {"field": "from.raw"}', COLLAPSE_KEYS, [])
  const name = toText(keys.field, 'the name of a field')
  const fields: Collapse['fields'] = {}
  for (const kind of kinds) {
    const field = lookup(kind, name)
    if (field === undefined) continue
    checkSingle(field, keys.field)
    fields[kind] = field
  }
  if (Object.keys(fields).length === 0) checkKnown(name, keys.field, { kinds })
  const innerHits = keys.inner_hits ? elements(keys.inner_hits).map(at => parseGroupHits(at, kinds, scope)) : []
  const names = new Set(innerHits.map(({ name: own }) => own))
  if (names.size < innerHits.length)
    throw refuse(
      'illegal_argument_exception',
      `${where(keys.inner_hits!)}: each of the inner_hits needs its own [name].`,
    )
  return { name, fields, innerHits }
}

const COLLAPSE_KEYS = {
  field: neededKey(itself),
  inner_hits: nodeKey,
  /** Groups are found one after another, whatever number of them may be searched for at once. */
  max_concurrent_group_searches: nodeKey,
}

const COLLAPSED_TYPES: readonly FieldPath['es'][] = ['keyword', 'long', 'double']

const checkSingle = ({ path, es, kind, list, field }: FieldPath, place: JsonNode): void => {
  const why = !COLLAPSED_TYPES.includes(es)
    ? `of the type [${es}]${es === 'text' ? `. Collapse by [${field}.raw]` : '. Collapse by a keyword or a number'}`
    : list || kind === 'hexList' || kind === 'integers'
      ? ', since it has several values. Collapse by a field of one value'
      : undefined
  if (why !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: collapse is not supported for the field ${bracketName(path)} ${why}.`,
    )
}
