import type { Kind } from '../../mapping/index.ts'
import { FACETS, facetOf, logFacet, logTerms, signatureOfLogFacet, termOf } from '../index/terms.ts'
import type { Posting, Reader, ReadHeader, Segment } from '../reader.ts'
import { blockOf, PLACES, placeOf, positionOf } from '../schema.ts'
import { createNested } from './arguments.ts'
import type { Condition } from './conditions.ts'
import { byChildren, byParent, type JoinOptions } from './joins.ts'
import { byDocuments, bySegment, type Context, createTerms, type Part, type Place, union } from './part.ts'
import {
  endOf,
  isSparse,
  type Numbered,
  numberedAs,
  ordinalOfPosition,
  positionOfOrdinal,
  sizeOf,
  stretches,
} from './places.ts'
import type { Plan } from './plan.ts'
import { createRelatives, type Inside, type Relatives } from './relatives.ts'
import { and, atLeast, count, EMPTY, each, isEmpty, listed, lowerBound, not, type OrdinalSet, or, run } from './sets.ts'

/** Evaluates a plan on one kind, segment by segment. */
export interface Evaluation {
  /** The documents of the segment that match, or at least those of them that are among the candidates. */
  matches(segment: Segment, within?: OrdinalSet): OrdinalSet
  /** How many documents of the segment match: cheaper than `matches` where counts are kept. */
  count(segment: Segment): number
}

export interface EvaluationOptions {
  kind: Kind
  plan: Plan
  reader: Reader
  ask: Context['ask']
}

export const evaluate = ({ kind, plan, reader, ask }: EvaluationOptions): Evaluation => {
  const numbered = numberedAs(kind)
  const part = build(plan, { kind, numbered, reader, ask })
  const placeOfSegment = (segment: Segment): Place => {
    const header = reader.header(segment)
    return { segment, header, size: sizeOf({ segment, header }, numbered) }
  }
  const undecoded =
    kind === 'event' && !part.events ? createTerms([{ term: termOf(0, FACETS.undecoded), mark: 0 }], reader) : undefined
  return {
    matches(segment, within) {
      const at = placeOfSegment(segment)
      const found = part.matches(at, within)
      if (!undecoded || isEmpty(found)) return found
      return and(found, not(undecoded.matches(at, undefined), at.size), at.size)
    },
    count(segment) {
      const at = placeOfSegment(segment)
      const counted = part.count?.(at)
      if (!undecoded) return counted ?? count(this.matches(segment))
      // Events are all logs but those without a name: where everything or nothing matches, that is a count which is kept.
      if (counted === 0) return 0
      return counted === at.size ? segment.events : count(this.matches(segment))
    },
  }
}

/** Every part asks whether to go on before it looks at a segment. */
const build = (plan: Plan, context: Context): Part => {
  const part = buildPart(plan, context)
  return {
    ...part,
    matches(at, within) {
      context.reader.check()
      return part.matches(at, within)
    },
  }
}

const buildPart = (plan: Plan, context: Context): Part => {
  const { reader, numbered } = context
  switch (plan.by) {
    case 'all':
      return { matches: ({ size }, within) => within ?? run(0, size), count: ({ size }) => size }
    case 'none':
      return { matches: () => EMPTY, count: () => 0, events: true }
    case 'and':
      return conjunction(plan.of.map(inner => build(inner, context)))
    case 'or': {
      const parts = plan.of.map(inner => build(inner, context))
      return {
        matches: (at, within) =>
          or(
            parts.map(part => part.matches(at, within)),
            at.size,
          ),
        events: parts.every(part => part.events),
      }
    }
    case 'atLeast': {
      const parts = plan.of.map(inner => build(inner, context))
      return {
        matches: (at, within) =>
          atLeast(
            parts.map(part => part.matches(at, within)),
            plan.count,
            at.size,
          ),
        events: plan.count > 0 && parts.every(part => part.events),
      }
    }
    case 'not': {
      const part = build(plan.of, context)
      return {
        matches(at, within) {
          const rest = not(part.matches(at, within), at.size)
          return within ? and(rest, within, at.size) : rest
        },
      }
    }
    case 'positions':
      return { matches: at => atPositions(plan.positions, at, numbered), events: context.kind === 'event' }
    case 'blocks':
      return inBlocks(plan.runs, numbered)
    case 'time':
      return atTimes(plan.test, numbered)
    case 'transactions':
      return ofTransactions(plan.positions, numbered as Inside | 'contract', reader)
    case 'terms':
      return createTerms(plan.terms, reader)
    case 'signatures':
      return createSignatures(plan.ids, context)
    case 'emitters':
      return createEmitters(plan, context)
    case 'termRange':
      return createTermRange(plan, reader)
    case 'nested':
      return createNested(plan, context)
    case 'columns':
      return byColumns(plan.condition, context)
    case 'children':
      return byChildren(joinOf(plan, context), plan)
    case 'parent':
      return byParent(joinOf(plan, context))
    case 'documents':
      return byDocuments(plan.node, context)
  }
}

const joinOf = (
  { kind, of }: Extract<Plan, { by: 'children' | 'parent' }>,
  { numbered, reader, ask }: Context,
): JoinOptions => {
  const evaluation = evaluate({ kind, plan: of, reader, ask })
  return { kind, related: (segment, within) => evaluation.matches(segment, within), numbered, reader }
}

const conjunction = (parts: Part[]): Part => ({
  matches(at, within) {
    let found = within
    for (const part of parts) {
      const matched = part.matches(at, found)
      found = found ? and(found, matched, at.size) : matched
      if (isEmpty(found)) return EMPTY
    }
    return found ?? run(0, at.size)
  },
  count(at) {
    // Where all parts but the last let everything through, that last one may know its count.
    for (const part of parts.slice(0, -1)) {
      if (part.count === undefined) return undefined
      const counted = part.count(at)
      if (counted === 0) return 0
      if (counted !== at.size) return undefined
    }
    return parts.at(-1)!.count?.(at)
  },
  events: parts.some(part => part.events),
})

const atPositions = (positions: readonly number[], { segment, header }: Place, numbered: Numbered): OrdinalSet => {
  const from = lowerBound(positions, positionOf(segment.first, 0))
  const inside = positions.slice(from, lowerBound(positions, positionOf(segment.last + 1, 0)))
  return listed(Uint32Array.from(inside, position => ordinalOfPosition(header, numbered, position)))
}

const inBlocks = (runs: readonly [number, number][], numbered: Numbered): Part => {
  const matches = ({ segment, header, size }: Place): OrdinalSet => {
    const { first, last } = segment
    const inside = runs.filter(([from, to]) => to >= first && from <= last)
    return or(
      inside.map(([from, to]) =>
        run(
          endOf(header, numbered, Math.max(from, first) - first - 1),
          endOf(header, numbered, Math.min(to, last) - first),
        ),
      ),
      size,
    )
  }
  return { matches, count: at => count(matches(at)) }
}

const atTimes = (test: (seconds: number) => boolean, numbered: Numbered): Part => {
  const matches = ({ header, size }: Place): OrdinalSet => {
    const runs: OrdinalSet[] = []
    let start = -1
    for (let index = 0; index <= header.times.length; index++) {
      const holds = index < header.times.length && test(header.times[index]!)
      if (holds && start < 0) start = index
      if (holds || start < 0) continue
      runs.push(run(endOf(header, numbered, start - 1), endOf(header, numbered, index - 1)))
      start = -1
    }
    return or(runs, size)
  }
  return { matches, count: at => count(matches(at)) }
}

const ofTransactions = (positions: readonly number[], numbered: Inside | 'contract', reader: Reader): Part => {
  const inside = numbered === 'contract' ? contractsIn(reader) : createRelatives(numbered, reader).inside
  return {
    matches({ segment, header, size }) {
      const found = positions.filter(
        position => blockOf(position) >= segment.first && blockOf(position) <= segment.last,
      )
      const runs = found.map(position => {
        reader.check()
        return inside(header, position)
      })
      return or(runs, size)
    },
  }
}

const contractsIn = (reader: Reader): Relatives['inside'] => {
  const range = reader.prepare('SELECT min(pos), max(pos) FROM contract WHERE pos BETWEEN ? AND ? AND tx = ?').raw()
  return (header, transaction) => {
    const start = positionOf(blockOf(transaction), 0)
    const [first, last] = range.get(start, start + PLACES - 1, placeOf(transaction)) as (number | null)[]
    if (first == null || last == null) return EMPTY
    return run(ordinalOfPosition(header, 'contract', first), ordinalOfPosition(header, 'contract', last) + 1)
  }
}

const createTermRange = ({ first, last, mark, accept }: Extract<Plan, { by: 'termRange' }>, reader: Reader): Part => {
  const postings = bySegment(() =>
    reader.postingsBetween(first, last).filter(posting => posting.mark === mark && accept(posting.term)),
  )
  return { matches: ({ segment, size }) => union(postings(segment.id), reader, size) }
}

/** A log has one signature and one emitter: the lists of several share nothing, and their lengths add up. */
const disjoint = (
  postings: (segment: number) => readonly Posting[],
  reader: Reader,
): Pick<Part, 'matches' | 'count'> => ({
  matches: ({ segment, size }) => union(postings(segment.id), reader, size),
  count: ({ segment }) => postings(segment.id).reduce((sum, { n }) => sum + n, 0),
})

const createSignatures = (ids: ReadonlySet<number>, { reader }: Context): Part => ({
  ...disjoint(
    bySegment(() => [...ids].flatMap(id => reader.postings(termOf(0, logFacet(id)), 0))),
    reader,
  ),
  events: [...ids].every(id => reader.signature(id).event !== null),
})

const createEmitters = (
  { addresses, signatures }: Extract<Plan, { by: 'emitters' }>,
  { reader, kind }: Context,
): Part => {
  const accept = ({ term }: Posting): boolean => {
    const id = signatureOfLogFacet(facetOf(term))
    const signature = reader.signature(id)
    if ((signature.of === 'call') !== (kind === 'call')) return false
    return (signatures?.has(id) ?? true) && (kind !== 'event' || signature.event !== null)
  }
  const postings = bySegment(() =>
    addresses.flatMap(address => reader.postingsBetween(...logTerms(address)).filter(accept)),
  )
  return { ...disjoint(postings, reader), events: kind === 'event' }
}

/** A candidate set this much smaller than the segment is looked up row by row instead of by a scan. */
const PROBE = 50

const byColumns = ({ table, where, params }: Condition, { reader, numbered }: Context): Part => {
  const select = reader.prepare(`SELECT pos FROM "${table}" WHERE pos BETWEEN ? AND ? AND (${where})`).pluck()
  const scan = (segment: Segment, size: number): number[] =>
    stretches(segment, size).flatMap(([from, to]) => {
      reader.check()
      return select.all(from, to, ...params) as number[]
    })
  if (table === 'block' && numbered !== 'block') {
    const runs = (segment: Segment) =>
      scan(segment, segment.last - segment.first + 1).map((position): [number, number] => {
        const block = blockOf(position)
        return [block, block]
      })
    return { matches: at => inBlocks(runs(at.segment), numbered).matches(at, undefined) }
  }
  const probe = reader.prepare(`SELECT pos FROM "${table}" WHERE pos = ? AND (${where})`).pluck()
  return {
    matches({ segment, header, size }, within) {
      if (within && count(within) * PROBE < size) {
        const found: number[] = []
        each(within, ordinal => {
          reader.check()
          if (probe.get(positionOfOrdinal(header, numbered, ordinal), ...params) !== undefined) found.push(ordinal)
        })
        return listed(Uint32Array.from(found))
      }
      return listed(ordinalsOf(scan(segment, size), header, numbered))
    },
  }
}

/** Ordinals of ascending positions, walking the blocks beside them. */
const ordinalsOf = (positions: readonly number[], header: ReadHeader, numbered: Numbered): Uint32Array => {
  if (header.excerpts.size > 0 || isSparse(numbered))
    return Uint32Array.from(positions, position => ordinalOfPosition(header, numbered, position))
  const ordinals = new Uint32Array(positions.length)
  let blockStart = 0
  let blockEnd = 0
  let offset = 0
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!
    if (position >= blockEnd) {
      const block = blockOf(position)
      blockStart = positionOf(block, 0)
      blockEnd = blockStart + PLACES
      offset = endOf(header, numbered, block - header.first - 1)
    }
    ordinals[i] = offset + (position - blockStart)
  }
  return ordinals
}
