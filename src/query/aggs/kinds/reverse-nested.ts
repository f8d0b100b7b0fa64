import { refuse } from '../../../lib/errors.ts'
import { known, where } from '../../json-node.ts'
import type { AggregationKind } from './kind.ts'

export const reverseNested: AggregationKind = {
  doc: 'Back from the elements of a nested list to their documents, each of which counts once.',
  example: {},
  buckets: true,
  read(place, scope, { name }) {
    const { path } = known(place, 'an empty object', ['path'], [])
    if (path !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `${where(path)}: no nested list lies in another: leave [path] out, which leads to the documents.`,
      )
    if (scope.nested !== undefined) return { kind: 'reverse_nested' }
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: Reverse nested aggregation [${name}] can only be used inside a [nested] aggregation`,
    )
  },
  inside: (_, scope) => ({ ...scope, nested: undefined }),
}
