import { memoize } from '../../lib/caches.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Queries } from '../../query/aggs/ast.ts'
import { ALL_NODE, type Node } from '../../query/ast.ts'
import { compilePredicate } from '../../query/predicate.ts'
import { nestedNode } from '../../query/simplify.ts'
import { OVERFLOW_SLOT } from '../index/terms.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import { matchRole } from '../query/match/arguments.ts'
import { evaluatePlan } from '../query/match/evaluate.ts'
import { countedBits, EMPTY_SET, hasOrdinal, type OrdinalSet, run } from '../query/match/ordinal-set.ts'
import type { AskDocuments } from '../query/match/segment-matcher.ts'
import { isExact, planNested } from '../query/plan/nested.ts'
import { planQuery } from '../query/plan/planner.ts'
import { type Batch, type BatchView, maskBatch, ordinalAt } from './batch.ts'
import type { Role } from './elements.ts'
import type { ValueStores } from './value-source.ts'

/** Masks of the documents or nested elements that match a query. */
export const createMatching = ({ reader, exact, ask }: ValueStores & { ask: AskDocuments }) => {
  const evaluationsOf = byKind((kind, node) => evaluatePlan({ kind, plan: planQuery(kind, node, reader), reader, ask }))
  const plansOf = byKind((kind, node) => planNested(node, reader, kind === 'call' ? 'call' : 'log'))
  const predicatesOf = byKind((kind, node) => compilePredicate(kind, nestedNode('args', node)))

  /** Arguments are tested by role or index; only inexact conditions load documents. */
  const elementMask = (node: Node, at: BatchView, batch: Batch): OrdinalSet => {
    const { roles, size: all } = at.elements!
    const plan = plansOf(at.kind)(node)
    const residuals = roles.map(({ signature, position }) => plan.forRole(signature, position))
    if (residuals.every(({ op }) => op === 'all')) return run(0, all)
    const { role, documents } = at.elements!
    const holds = predicatesOf(at.kind)(node)
    const askDocument = (element: number): boolean => {
      reader.check()
      const position = positionOfOrdinal(at.header, numberedAs(at.kind), documents[element]!)
      const [document] = exact.load(at.kind, [position], ['args'])
      const args = document?._source.args as unknown[] | undefined
      const argument = args?.[roles[role[element]!]!.position]
      return argument !== undefined && holds({ _id: '', _source: { args: [argument] } })
    }
    const { segment, header, size } = at
    const tests = roles.map(({ signature, position }, i): ((element: number) => boolean) => {
      const residual = residuals[i]!
      if (residual.op === 'all') return () => true
      if (residual.op === 'none') return () => false
      if (!isExact(residual) || position >= OVERFLOW_SLOT || hasHexRange(residual)) return askDocument
      const role = { signature, position, postings: undefined, nested: plan, reader, at: { segment, header, size } }
      let matched: OrdinalSet | undefined
      return element => {
        matched ??= matchRole(residual, role)
        return hasOrdinal(matched, documents[element]!)
      }
    })
    const bits = new Uint32Array((all + 31) >>> 5)
    for (let i = 0; i < batch.count; i++) {
      const element = ordinalAt(batch, i)
      if (tests[role[element]!]!(element)) bits[element >>> 5]! |= 1 << (element & 31)
    }
    return countedBits(bits)
  }

  /** Covers all documents of a segment, or the elements of a batch. */
  const mask = (queries: Queries, at: BatchView, batch: Batch): OrdinalSet => {
    const node = queries[at.kind] ?? ALL_NODE
    if (node.op === 'none' || batch.count === 0) return EMPTY_SET
    if (node.op === 'all') return run(0, at.elements ? at.elements.size : at.size)
    return at.elements ? elementMask(node, at, batch) : evaluationsOf(at.kind)(node).matches(at.segment)
  }

  return {
    mask,
    filter: (queries: Queries, at: BatchView, batch: Batch): Batch => maskBatch(batch, mask(queries, at, batch), at),
    mayMatch: (queries: Queries, kind: Kind, { signature, position }: Role): boolean =>
      plansOf(kind)(queries[kind] ?? ALL_NODE).forRole(signature, position).op !== 'none',
  }
}

export type Matching = ReturnType<typeof createMatching>

const byKind = <T extends object>(make: (kind: Kind, node: Node) => T) =>
  memoize(Number.POSITIVE_INFINITY, (kind: Kind) => memoize(Number.POSITIVE_INFINITY, (node: Node) => make(kind, node)))

const hasHexRange = (node: Node): boolean => node.op === 'range' && node.field.field === 'args.value.hex'
