import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../../query/ast.ts'
import { compile } from '../../query/predicate.ts'
import type { Reader } from '../reader.ts'
import { type Among, among } from './among.ts'
import type { Documents } from './documents.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import { planQuery } from './plan.ts'
import type { Ask } from './segment-matcher.ts'

/** Makes a query on a kind ready to be evaluated. */
export type Evaluator = (kind: Kind, query: Node, within?: Among) => Evaluation

/** `exact` are documents whose integers can be computed with. */
export const createEvaluator =
  (reader: Reader, exact: Documents): Evaluator =>
  (kind, query, within = {}) =>
    evaluate({ kind, plan: among(within, planQuery(kind, query, reader)), reader, ask: asking(exact) })

export const asking = (documents: Documents): Ask => {
  const tests = new Map<Node, ReturnType<typeof compile>>()
  return (kind, node, positions) => {
    const test = tests.get(node) ?? compile(kind, node)
    tests.set(node, test)
    return documents.load(kind, positions).map(document => document !== undefined && test(document))
  }
}
