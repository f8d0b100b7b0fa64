import type { BlockPoint } from '../../config/kinds.ts'
import type { WantedScope } from '../../config/scopes.ts'
import type { Lookups } from '../../engine/port.ts'
import type { Scope } from '../../scopes/factory.ts'
import { type Question, questionsOf } from '../../scopes/questions.ts'

export const blockAt = (point: BlockPoint | undefined, head: number): number | undefined =>
  point && ('block' in point ? point.block : Math.max(0, head - point.latest))

/** Scopes whose ends are numbers. */
export const scopesAt = (wanted: readonly WantedScope[], head: number): Scope[] =>
  wanted.map(scope => ({ ...scope, from: blockAt(scope.from, head) ?? 0, to: blockAt(scope.to, head) }))

/** What of scopes is not pruned. */
export const scopesFrom = (scopes: readonly Scope[], floor: number): Scope[] =>
  scopes.map(scope => ({ ...scope, from: Math.max(scope.from, floor) }))

/** All that scopes want, by the children of factories that are known. */
export const questionsIn = ({ coverage }: Pick<Lookups, 'coverage'>, scopes: readonly Scope[]): Question[] => {
  const children = Map.groupBy(coverage.children(), ({ factory }) => factory)
  return questionsOf(scopes, text => children.get(text) ?? [])
}
