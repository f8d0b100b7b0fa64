import { refuse } from '../../lib/errors.ts'
import { isObject, type JsonNode, members, named, scalar, where } from '../json-node.ts'
import { readDouble } from '../numbers.ts'
import type { Scope } from '../scope.ts'
import { type Scored, times } from '../score.ts'
import type { Clause } from './clause.ts'

/** What every clause may say beside what it means: how much its score counts, and a name for itself. */
export const withCommon = (
  name: string,
  { fieldwise }: Clause,
  body: JsonNode,
  scope: Scope,
  scored: Scored,
): Scored => {
  const holder = fieldwise ? members(body, 'an object')[0]?.[1] : body
  if (holder === undefined || !isObject(holder.value)) return scored
  const [boost, title] = [holder.value.get('boost'), holder.value.get('_name')]
  if (title !== undefined && scope.nested === undefined) {
    const place = { path: `${holder.path}._name`, value: title }
    const name = scope.budget.name(scalar(place, 'a name'), place)
    scope.collected?.names.push({ name, kind: scope.kind, query: scored.node })
  }
  if (boost === undefined) return scored
  return { ...scored, score: times(scored.score, readBoost({ path: `${holder.path}.boost`, value: boost }, name)) }
}

/** How many times a score counts. */
export const readBoost = (place: JsonNode, clause: string): number => {
  const boost = readDouble(place)
  if (boost >= 0) return boost
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: negative [boost] are not allowed in ${named(clause)}, use a value between 0 and 1 to deboost.`,
  )
}
