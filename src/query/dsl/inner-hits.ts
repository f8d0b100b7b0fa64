import { refuse } from '../../lib/errors.ts'
import type { Node } from '../ast.ts'
import type { InnerHits } from '../collected.ts'
import { isObject, type JsonNode, named, scalar, unexpected, where } from '../json-node.ts'
import type { Scope } from '../scope.ts'

/** Keeps what a clause wants shown of what made a hit match. Its options beside the name are read where hits are shown. */
export const collectInnerHits = (
  body: JsonNode | undefined,
  fallback: string,
  of: InnerHits['of'],
  query: Node,
  ignoreUnmapped: boolean,
  scope: Scope,
): void => {
  if (body === undefined) return
  if (!isObject(body.value)) throw unexpected(body, 'an object such as {"size": 3}')
  const { collected, kind } = scope
  if (collected === undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(body)}: inner hits are shown of clauses of the query itself, and not of one inside of another join, of a filter of an aggregation or of a rule.`,
    )
  const title = body.value.get('name')
  const name = title === undefined ? fallback : scalar({ path: `${body.path}.name`, value: title }, 'a name')
  if (collected.innerHits.some(other => other.name === name && other.kind === kind))
    throw refuse(
      'illegal_argument_exception',
      `${where(body)}: [inner_hits] already contains an entry for key ${named(name)}. Give each a name of its own.`,
    )
  collected.innerHits.push({ name, kind, of, query, body, ignoreUnmapped })
}
