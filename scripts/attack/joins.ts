import { KINDS, type Kind } from '../../src/mapping/index.ts'
import type { Value } from './json.ts'
import { only, type Reader, type Reading, refuse, type Shown, type Test } from './reading.ts'

/** The test of the inner query on documents of another kind. */
type Inner = (query: Value, reading: Reading) => Test

const kindOf = (value: Value | undefined): Kind => KINDS.find(kind => kind === value) ?? refuse('no entity')

const passing = (kind: Kind, query: Value | undefined, reading: Reading, inner: Inner): (() => Shown[]) => {
  const test = inner(query ?? refuse('no query'), { ...reading, kind, kinds: [kind] })
  let found: Shown[] | undefined
  return () => (found ??= reading.documents[kind].filter(document => test(document._source, document)))
}

export const hasChild =
  (inner: Inner): Reader =>
  (body, list, reading) => {
    const keys = only(body, [
      'type',
      'query',
      'min_children',
      'max_children',
      'score_mode',
      'ignore_unmapped',
      'inner_hits',
    ])
    if (keys.inner_hits !== undefined) return reading.unknown('inner_hits')
    if (list !== undefined) return refuse('a child of an element')
    if (keys.min_children !== undefined || keys.max_children !== undefined || keys.ignore_unmapped !== undefined)
      return reading.unknown('options of has_child')
    const children = passing(kindOf(keys.type), keys.query, reading, inner)
    let parents: Set<string | undefined> | undefined
    return (_, { _id }) => {
      parents ??= new Set(children().map(({ _parent }) => _parent))
      return parents.has(_id)
    }
  }

export const hasParent =
  (inner: Inner): Reader =>
  (body, list, reading) => {
    const keys = only(body, ['parent_type', 'type', 'query', 'score', 'score_mode', 'ignore_unmapped', 'inner_hits'])
    if (keys.inner_hits !== undefined) return reading.unknown('inner_hits')
    if (list !== undefined) return refuse('a parent of an element')
    if (keys.ignore_unmapped !== undefined || keys.score !== undefined) return reading.unknown('options of has_parent')
    if (keys.parent_type !== undefined && keys.type !== undefined) return refuse('two types')
    const parents = passing(kindOf(keys.parent_type ?? keys.type), keys.query, reading, inner)
    let ids: Set<string> | undefined
    return (_, { _parent }) => {
      ids ??= new Set(parents().map(({ _id }) => _id))
      return _parent !== undefined && ids.has(_parent)
    }
  }
