import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import { compilePredicate } from '../../../query/predicate.ts'
import type { SearchRequest } from '../../../query/request.ts'
import { fieldOfTerm, logField, logTerms, signatureOfLogField, termOf, UNDECODED } from '../../index/terms.ts'
import type { Posting, Segment, StoreReader } from '../../reader.ts'
import { type Documents, fieldsRead } from '../documents.ts'
import { isLeaf } from '../fields/field-values.ts'
import {
  endOrdinal,
  type NumberedKind,
  numberedAs,
  ordinalsWithin,
  type SegmentView,
  viewOf,
} from '../fields/ordinals.ts'
import { type Among, among, type Plan } from '../plan/plan.ts'
import { planQuery } from '../plan/planner.ts'
import type { SearchPart } from '../search-match.ts'
import { createNested } from './arguments.ts'
import { scan } from './column-scan.ts'
import { byChildren, byParent, type JoinOptions, ofTransactions, ordinalsOfPositions } from './joins.ts'
import {
  and,
  atLeast,
  complement,
  count,
  EMPTY_SET,
  isEmptySet,
  listed,
  type OrdinalSet,
  or,
  packed,
  run,
  takeOrdinals,
} from './ordinal-set.ts'
import { byDocuments, byRecords } from './record-filter.ts'
import {
  type AskDocuments,
  byPostings,
  createTermMatcher,
  type MatchContext,
  NOWHERE,
  type SegmentMatcher,
  segmentsOf,
  type Where,
  whereAll,
  whereAny,
  whereAt,
  whereIn,
} from './segment-matcher.ts'

/** Evaluates a plan on one kind, segment by segment. */
export interface Evaluation {
  /** The matching documents of the segment, at least those among the candidates. */
  matches(segment: Segment, within?: OrdinalSet): OrdinalSet
  /** Number of matches in the segment; cheaper than `matches` if counts are stored. */
  count(segment: Segment): number
  where?: Where | undefined
}

export interface EvaluationOptions {
  kind: Kind
  plan: Plan
  reader: StoreReader
  ask: MatchContext['ask']
}

export const evaluatePlan = ({ kind, plan, reader, ask }: EvaluationOptions): Evaluation => {
  const numbered = numberedAs(kind)
  const part = build(plan, { kind, numbered, reader, ask })
  const viewOfSegment = (segment: Segment): SegmentView => viewOf(segment, numbered, reader)
  /** Matches by segment that a count has found: hits need them next. */
  const known = new Map<number, OrdinalSet>()
  const undecoded =
    kind === 'event' && !part.events
      ? createTermMatcher([{ term: termOf(0, UNDECODED), fingerprint: 0 }], { reader, among: part.where })
      : undefined
  const find = (segment: Segment, within: OrdinalSet | undefined): OrdinalSet => {
    const at = viewOfSegment(segment)
    const found = part.matches(at, within)
    if (!undecoded || isEmptySet(found)) return found
    return and(found, complement(undecoded.matches(at, undefined), at.size), at.size)
  }
  const findToCount = (segment: Segment): number => {
    const found = packed(find(segment, undefined), viewOfSegment(segment).size)
    known.set(segment.id, found)
    return count(found)
  }
  return {
    where: part.where,
    matches: (segment, within) => known.get(segment.id) ?? find(segment, within),
    count(segment) {
      const at = viewOfSegment(segment)
      const counted = part.count?.(at)
      if (!undecoded) return counted ?? findToCount(segment)
      // All or no logs match: then the stored count of named logs, which are the events, answers.
      if (counted === 0) return 0
      return counted === at.size ? segment.events : findToCount(segment)
    },
  }
}

/** Every part asks whether to go on before it looks at a segment. */
const build = (plan: Plan, context: MatchContext): SegmentMatcher => {
  const part = buildPart(plan, context)
  return {
    ...part,
    matches(at, within) {
      context.reader.check()
      return part.matches(at, within)
    },
  }
}

const buildPart = (plan: Plan, context: MatchContext): SegmentMatcher => {
  const { reader, numbered } = context
  switch (plan.by) {
    case 'all':
      return { matches: ({ size }, within) => within ?? run(0, size), count: ({ size }) => size }
    case 'none':
      return { matches: () => EMPTY_SET, count: () => 0, events: true, where: () => NOWHERE }
    case 'and':
      return conjunction(plan.of, context)
    case 'or':
    case 'atLeast': {
      const least = 'count' in plan ? plan.count : 1
      const parts = plan.of.map(inner => build(inner, context))
      const matchesOf = (at: SegmentView, within: OrdinalSet | undefined) => parts.map(part => part.matches(at, within))
      return {
        matches: (at, within) => atLeast(matchesOf(at, within), least, at.size),
        events: least > 0 && parts.every(part => part.events),
        ...(least > 0 && { where: () => whereAny(parts) }),
      }
    }
    case 'not': {
      const part = build(plan.of, context)
      return {
        matches(at, within) {
          const rest = complement(part.matches(at, within), at.size)
          return within ? and(rest, within, at.size) : rest
        },
      }
    }
    case 'positions':
      return {
        matches: at => ordinalsOfPositions(plan.positions, at, numbered),
        events: context.kind === 'event',
        where: () => whereAt(plan.positions, reader),
      }
    case 'blocks':
      return { ...inBlocks(plan.runs, numbered), where: () => whereIn(plan.runs, reader) }
    case 'headers':
      return byHeader(plan, numbered)
    case 'transactions':
      return { ...ofTransactions(plan.positions, context), where: () => whereAt(plan.positions, reader) }
    case 'terms':
      return createTermMatcher(plan.terms, context)
    case 'signatures':
      return createSignatures(plan.ids, context)
    case 'emitters':
      return createEmitters(plan, context)
    case 'termRange':
      return createTermRange(plan, context)
    case 'nested':
      return createNested(plan, context)
    case 'columns':
      return byColumn(plan, context)
    case 'children':
      return byChildren(joinOf(plan, context), plan)
    case 'parent':
      return byParent(joinOf(plan, context))
    case 'documents':
      return isLeaf(plan.node) ? byRecords(plan.node, context) : byDocuments(plan.node, context)
  }
}

const joinOf = (
  { kind, of }: Extract<Plan, { by: 'children' | 'parent' }>,
  { numbered, reader, ask }: MatchContext,
): JoinOptions => {
  const { matches, where } = evaluatePlan({ kind, plan: of, reader, ask })
  return { kind, related: (segment, within) => matches(segment, within), where, numbered, reader }
}

const conjunction = (plans: readonly Plan[], context: MatchContext): SegmentMatcher => {
  const parts: SegmentMatcher[] = []
  // A part is evaluated only where the previous ones match.
  for (const plan of plans) {
    const before = [...(context.among ? [{ where: context.among }] : []), ...parts]
    parts.push(build(plan, { ...context, among: () => whereAll(before) }))
  }
  return {
    where: () => whereAll(parts),
    matches(at, within) {
      let found = within
      for (const part of parts) {
        const matched = part.matches(at, found)
        found = found ? and(found, matched, at.size) : matched
        if (isEmptySet(found)) return EMPTY_SET
      }
      return found ?? run(0, at.size)
    },
    count(at) {
      // If all parts but the last match everything, the last one may know its count.
      for (const part of parts.slice(0, -1)) {
        if (part.count === undefined) return undefined
        const counted = part.count(at)
        if (counted === 0) return 0
        if (counted !== at.size) return undefined
      }
      return parts.at(-1)!.count?.(at)
    },
    events: parts.some(part => part.events),
  }
}

const inBlocks = (runs: readonly [number, number][], numbered: NumberedKind): SegmentMatcher => {
  const matches = ({ segment, header, size }: SegmentView): OrdinalSet => {
    const { first, last } = segment
    const inside = runs.filter(([from, to]) => to >= first && from <= last)
    return or(
      inside.map(one => run(...ordinalsWithin(header, numbered, one))),
      size,
    )
  }
  return { matches, count: at => count(matches(at)) }
}

const byHeader = ({ test }: Extract<Plan, { by: 'headers' }>, numbered: NumberedKind): SegmentMatcher => {
  const matches = ({ header, size }: SegmentView): OrdinalSet => {
    const runs: OrdinalSet[] = []
    let start = -1
    for (let index = 0; index <= header.times.length; index++) {
      const holds = index < header.times.length && test(header, index)
      if (holds && start < 0) start = index
      if (holds || start < 0) continue
      runs.push(run(endOrdinal(header, numbered, start - 1), endOrdinal(header, numbered, index - 1)))
      start = -1
    }
    return or(runs, size)
  }
  return { matches, count: at => count(matches(at)) }
}

const createTermRange = (
  { first, last, fingerprint, accept }: Extract<Plan, { by: 'termRange' }>,
  context: MatchContext,
): SegmentMatcher =>
  byPostings(context, among =>
    context.reader
      .postingsBetween(first, last, among)
      .filter(posting => posting.fingerprint === fingerprint && accept(posting.term)),
  )

/** A log has one signature and one emitter, so the lists are disjoint and their lengths add up. */
const sumLengths = (postings: readonly Posting[]): number => postings.reduce((sum, { n }) => sum + n, 0)

const createSignatures = (ids: ReadonlySet<number>, context: MatchContext): SegmentMatcher => ({
  ...byPostings(
    context,
    among => [...ids].flatMap(id => context.reader.postings(termOf(0, logField(id)), 0, among)),
    sumLengths,
  ),
  events: [...ids].every(id => context.reader.signature(id).event !== null),
})

const createEmitters = (
  { addresses, signatures }: Extract<Plan, { by: 'emitters' }>,
  context: MatchContext,
): SegmentMatcher => {
  const { reader, kind } = context
  const accept = ({ term }: Posting): boolean => {
    const id = signatureOfLogField(fieldOfTerm(term))
    const signature = reader.signature(id)
    if ((signature.of === 'call') !== (kind === 'call')) return false
    return (signatures?.has(id) ?? true) && (kind !== 'event' || signature.event !== null)
  }
  const read = (among: ReadonlySet<number> | undefined) =>
    addresses.flatMap(address => reader.postingsBetween(...logTerms(address), among).filter(accept))
  return { ...byPostings(context, read, sumLengths), events: kind === 'event' }
}

/** A column decides all but the uncertain values. */
const byColumn = (
  { source, condition, node }: Extract<Plan, { by: 'columns' }>,
  context: MatchContext,
): SegmentMatcher => {
  const { reader } = context
  const records = byRecords(node, context)
  return {
    matches(at, within) {
      const bounds = source.bounds(at)
      const { low, high, judge, edges } = condition
      if (!bounds || bounds.greatest < low || bounds.least > high) return EMPTY_SET
      if (source.between && (!judge || edges))
        return or(
          source.between(at, low, high).map(([from, to]) => run(from, to)),
          at.size,
        )
      const data = source.data(at)
      if (!data) return EMPTY_SET
      // The least bound that holds all values is the cheapest one.
      const asked = judge ? condition : { ...condition, high: Math.min(high, bounds.greatest) }
      const { found, doubtful } = scan(data, asked, within ?? run(0, at.size), reader.check)
      return isEmptySet(doubtful) ? found : or([found, records.matches(at, doubtful)], at.size)
    },
  }
}

/** Makes a query on a kind ready to be evaluated. */
export type Evaluator = (kind: Kind, query: Node, within?: Among) => Evaluation

/** `exact` are documents whose integers can be computed with. */
export const createEvaluator =
  (reader: StoreReader, exact: Documents): Evaluator =>
  (kind, query, within = {}) =>
    evaluatePlan({ kind, plan: among(within, planQuery(kind, query, reader)), reader, ask: documentTester(exact) })

export const documentTester = (documents: Documents): AskDocuments => {
  const tests = new WeakMap<Node, { test: ReturnType<typeof compilePredicate>; fields: string[] | undefined }>()
  return (kind, node, positions) => {
    const known = tests.get(node) ?? { test: compilePredicate(kind, node), fields: fieldsRead(node) }
    tests.set(node, known)
    const { test, fields } = known
    return documents.load(kind, positions, fields).map(document => document !== undefined && test(document))
  }
}

/** The first matches of each part in chain order, and whether there are more. */
export const terminated = (
  parts: readonly SearchPart[],
  most: number,
  reader: StoreReader,
): { parts: SearchPart[]; isEarly: boolean } => {
  let isEarly = false
  const first = parts.map((part): SearchPart => {
    const { evaluation } = part
    const kept = new Map<number, OrdinalSet>()
    let left = most
    for (const segment of segmentsOf([part], reader)) {
      reader.check()
      const matches = evaluation.matches(segment)
      const found = count(matches)
      if (found > left) isEarly = true
      if (left > 0 && found > 0) kept.set(segment.id, found <= left ? matches : listed(firstOrdinals(matches, left)))
      left -= Math.min(left, found)
      if (isEarly && left === 0) break
    }
    const matches = (segment: Segment) => kept.get(segment.id) ?? EMPTY_SET
    return {
      kind: part.kind,
      evaluation: { matches, count: segment => count(matches(segment)), where: evaluation.where },
    }
  })
  return { parts: first, isEarly }
}

const firstOrdinals = (set: OrdinalSet, most: number): Uint32Array => Uint32Array.from(takeOrdinals(set, most, false))
/** Number of matches up to `trackTotal`; -1 if it is off. */
export const countAll = (
  { trackTotal }: Pick<SearchRequest, 'trackTotal'>,
  parts: SearchPart[],
  reader: StoreReader,
): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of segmentsOf(parts, reader)) {
    reader.check()
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}
