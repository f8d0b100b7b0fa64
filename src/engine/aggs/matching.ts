import type { Kind } from '../../mapping/index.ts'
import type { Queries } from '../../query/aggs/ast.ts'
import { ALL, type Node } from '../../query/ast.ts'
import { compile } from '../../query/predicate.ts'
import { nested } from '../../query/simplify.ts'
import { OVERFLOW_SLOT } from '../index/terms.ts'
import { numberedAs, positionOfOrdinal, type SegmentView } from '../query/fields/ordinals.ts'
import { matchRole } from '../query/match/arguments.ts'
import { type Evaluation, evaluate } from '../query/match/evaluate.ts'
import { and, count, each, has, listed, minus, type OrdinalSet, run, toArray } from '../query/match/ordinal-set.ts'
import type { Ask } from '../query/match/segment-matcher.ts'
import { isExact, type Nested, planNested } from '../query/plan/nested.ts'
import { planQuery } from '../query/plan/planner.ts'
import { type At, type Batch, emptied, filtered } from './batch.ts'
import type { Role } from './elements.ts'
import type { Stores } from './sources.ts'

/** Tells which documents, or elements of lists, match a query inside of an aggregation. */
export const createMatching = (stores: Stores & { ask: Ask }) => {
  const evaluations = new Map<Node, Evaluation>()
  const tests = new Map<Node, ReturnType<typeof createElementTest>>()
  const plans = new Map<Node, Nested>()
  const planOf = (kind: Kind, node: Node): Nested => {
    let found = plans.get(node)
    if (!found) {
      found = planNested(node, stores.reader, kind === 'call' ? 'call' : 'log')
      plans.set(node, found)
    }
    return found
  }
  const evaluationOf = (kind: Kind, node: Node): Evaluation => {
    let found = evaluations.get(node)
    if (!found) {
      found = evaluate({ kind, plan: planQuery(kind, node, stores.reader), reader: stores.reader, ask: stores.ask })
      evaluations.set(node, found)
    }
    return found
  }
  return {
    filter(queries: Queries, at: At, batch: Batch): Batch {
      const node = queries[at.kind] ?? ALL
      if (node.op === 'all' || batch.count === 0) return batch
      if (node.op === 'none') return emptied(batch)
      if (!at.elements) {
        const matched = evaluationOf(at.kind, node).matches(at.segment)
        if (batch.except && !batch.runs) return within(batch, minus(matched, listed(batch.except), at.size))
        if (!batch.except && !batch.owners && !batch.list)
          return within(batch, and(matched, run(batch.from, batch.from + batch.count), at.size))
        const set = bitsOf(matched, at.size)
        return filtered(batch, ordinal => (set[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0)
      }
      const plan = planOf(at.kind, node)
      if (at.elements.roles.every(role => plan.forRole(role.signature, role.position).op === 'all')) return batch
      let test = tests.get(node)
      if (!test) {
        test = createElementTest(at.kind, node, plan, stores)
        tests.set(node, test)
      }
      return filtered(batch, test(at))
    },
    /** Whether arguments of a role can match. */
    mayMatch(queries: Queries, kind: Kind, { signature, position }: Role): boolean {
      const node = queries[kind] ?? ALL
      return planOf(kind, node).forRole(signature, position).op !== 'none'
    },
  }
}

export type Matching = ReturnType<typeof createMatching>

/** A batch without buckets, cut down to some of its documents. */
const within = (batch: Batch, set: OrdinalSet): Batch => {
  if (count(set) === batch.count) return batch
  const shared = { owners: undefined, buckets: batch.buckets }
  if (set.form === 'run') return { ...shared, count: set.to - set.from, list: undefined, from: set.from }
  const list = toArray(set)
  return { ...shared, count: list.length, list, from: 0 }
}

const bitsOf = (set: OrdinalSet, size: number): Uint32Array => {
  if (set.form === 'bits') return set.bits
  const bits = new Uint32Array((size + 31) >>> 5)
  each(set, ordinal => {
    bits[ordinal >>> 5]! |= 1 << (ordinal & 31)
  })
  return bits
}

/** Most conditions on arguments follow from their roles, or from the index; in doubt the document is asked. */
const createElementTest = (kind: Kind, node: Node, plan: Nested, { reader, exact }: Stores) => {
  const holds = compile(kind, nested('args', node))
  return (at: At): ((element: number) => boolean) => {
    const { roles, role, documents } = at.elements!
    const numbered = numberedAs(kind)
    const ask = (element: number): boolean => {
      reader.check()
      const [document] = exact.load(kind, [positionOfOrdinal(at.header, numbered, documents[element]!)], ['args'])
      const args = document?._source.args as unknown[] | undefined
      const one = args?.[roles[role[element]!]!.position]
      return one !== undefined && holds({ _id: '', _source: { args: [one] } })
    }
    const tests = roles.map(({ signature, position }): ((element: number) => boolean) => {
      const left = plan.forRole(signature, position)
      if (left.op === 'all') return () => true
      if (left.op === 'none') return () => false
      if (!isExact(left) || position >= OVERFLOW_SLOT || hasHexRange(left)) return ask
      let set: OrdinalSet | undefined
      return element => {
        set ??= matchRole(left, { signature, position, postings: undefined, nested: plan, reader, at: viewOf(at) })
        return has(set, documents[element]!)
      }
    })
    return element => tests[role[element]!]!(element)
  }
}

const hasHexRange = (node: Node): boolean => node.op === 'range' && node.field.field === 'args.value.hex'

const viewOf = ({ segment, header, size }: At): SegmentView => ({ segment, header, size })
