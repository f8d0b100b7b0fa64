import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import { compile } from '../../../query/predicate.ts'
import type { Reader } from '../../reader.ts'
import { type Documents, fieldsIn } from '../documents.ts'
import { planQuery } from '../plan/planner.ts'
import { type Among, among } from './block-filter.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import type { Ask } from './segment-matcher.ts'

/** Makes a query on a kind ready to be evaluated. */
export type Evaluator = (kind: Kind, query: Node, within?: Among) => Evaluation

/** `exact` are documents whose integers can be computed with. */
export const createEvaluator =
  (reader: Reader, exact: Documents): Evaluator =>
  (kind, query, within = {}) =>
    evaluate({ kind, plan: among(within, planQuery(kind, query, reader)), reader, ask: asking(exact) })

export const asking = (documents: Documents): Ask => {
  const tests = new WeakMap<Node, { test: ReturnType<typeof compile>; fields: string[] | undefined }>()
  return (kind, node, positions) => {
    const known = tests.get(node) ?? { test: compile(kind, node), fields: fieldsIn(node) }
    tests.set(node, known)
    const { test, fields } = known
    return documents.load(kind, positions, fields).map(document => document !== undefined && test(document))
  }
}
