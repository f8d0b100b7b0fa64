import type { Kind } from '../mapping/index.ts'
import type { Bounds, Node } from '../query/ast.ts'
import type { Posting, Reader, Segment } from '../store/reader.ts'
import { blockOf, PLACES, placeOf, positionOf } from '../store/schema.ts'
import type { SegmentHeader } from '../store/segment.ts'
import {
  argumentFacet,
  argumentOf,
  argumentSlot,
  FACETS,
  facetOf,
  logFacet,
  logTerms,
  OVERFLOW_SLOT,
  signatureOfLogFacet,
  TOO_LONG,
  termOf,
} from '../store/terms.ts'
import type { Condition } from './conditions.ts'
import type { Leaf } from './leaf.ts'
import { argumentTerm, isExact, type Nested, numbersKey, rangesOf } from './nested.ts'
import { endOf, type Numbered, numberedAs, ordinalOfPosition, positionOfOrdinal, sizeOf } from './places.ts'
import type { Plan } from './plan.ts'
import { and, atLeast, collected, count, EMPTY, each, isEmpty, listed, not, type OrdinalSet, or, run } from './sets.ts'

/** Evaluates a plan on one kind, segment by segment. */
export interface Evaluation {
  /** The documents of the segment that match. */
  matches(segment: Segment): OrdinalSet
  /** How many documents of the segment match: cheaper than `matches` where counts are kept. */
  count(segment: Segment): number
}

export interface EvaluationOptions {
  kind: Kind
  plan: Plan
  reader: Reader
  /** Asks the documents at these positions themselves. */
  ask(node: Node, positions: readonly number[]): boolean[]
}

/** A part of the plan at work: it may look at no more than the candidates that are given. */
interface Part {
  matches(at: Place, within: OrdinalSet | undefined): OrdinalSet
  /** Undefined where counting is not cheaper than matching. */
  count?(at: Place): number | undefined
  /** Matches nothing but events. */
  events?: boolean
}

interface Place {
  segment: Segment
  header: SegmentHeader
  size: number
}

export const evaluate = ({ kind, plan, reader, ask }: EvaluationOptions): Evaluation => {
  const numbered = numberedAs(kind)
  const part = build(plan, { kind, numbered, reader, ask })
  const placeOfSegment = (segment: Segment): Place => ({
    segment,
    header: reader.header(segment),
    size: sizeOf(segment, numbered),
  })
  const undecoded =
    kind === 'event' && !part.events ? createTerms([{ term: termOf(0, FACETS.undecoded), mark: 0 }], reader) : undefined
  return {
    matches(segment) {
      const at = placeOfSegment(segment)
      const found = part.matches(at, undefined)
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

interface Context {
  kind: Kind
  numbered: Numbered
  reader: Reader
  ask: EvaluationOptions['ask']
}

const build = (plan: Plan, context: Context): Part => {
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
      return ofTransactions(plan.positions, reader)
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
    case 'documents':
      return byDocuments(plan.node, context)
  }
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
  const from = positionOf(segment.first, 0)
  const to = positionOf(segment.last + 1, 0)
  const inside = positions.filter(position => position >= from && position < to)
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

const ofTransactions = (positions: readonly number[], reader: Reader): Part => {
  const range = reader.prepare('SELECT min(pos), max(pos) FROM log WHERE pos BETWEEN ? AND ? AND tx = ?').raw()
  return {
    matches({ segment, header, size }) {
      const found = positions.filter(
        position => blockOf(position) >= segment.first && blockOf(position) <= segment.last,
      )
      const runs = found.map(position => {
        const block = blockOf(position)
        const [first, last] = range.get(positionOf(block, 0), positionOf(block, PLACES - 1), placeOf(position)) as (
          | number
          | null
        )[]
        if (first == null || last == null) return EMPTY
        return run(ordinalOfPosition(header, 'log', first), ordinalOfPosition(header, 'log', last) + 1)
      })
      return or(runs, size)
    },
  }
}

/** Postings by segment, read for all segments at once when the first one asks. */
const bySegment = (read: () => Posting[]): ((segment: number) => readonly Posting[]) => {
  let found: Map<number, Posting[]> | undefined
  return segment => {
    if (!found) {
      found = new Map()
      for (const posting of read()) {
        const list = found.get(posting.segment)
        if (list) list.push(posting)
        else found.set(posting.segment, [posting])
      }
    }
    return found.get(segment) ?? NO_POSTINGS
  }
}
const NO_POSTINGS: readonly Posting[] = []

const union = (postings: readonly Posting[], reader: Reader, size: number): OrdinalSet =>
  postings.length === 0
    ? EMPTY
    : or(
        postings.map(posting => listed(reader.ordinals(posting))),
        size,
      )

const createTerms = (terms: readonly { term: number; mark: number }[], reader: Reader): Part => {
  const postings = bySegment(() => terms.flatMap(({ term, mark }) => reader.postings(term, mark)))
  return {
    matches: ({ segment, size }) => union(postings(segment.id), reader, size),
    count: ({ segment }) => (terms.length === 1 ? (postings(segment.id)[0]?.n ?? 0) : undefined),
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
    return (signatures?.has(id) ?? true) && (kind === 'log' || reader.signature(id).event !== null)
  }
  const postings = bySegment(() =>
    addresses.flatMap(address => reader.postingsBetween(...logTerms(address)).filter(accept)),
  )
  return { ...disjoint(postings, reader), events: kind === 'event' }
}

/** A candidate set this much smaller than the segment is looked up row by row instead of by a scan. */
const PROBE = 50

const byColumns = ({ table, where, params }: Condition, { reader, numbered }: Context): Part => {
  const scan = reader.prepare(`SELECT pos FROM "${table}" WHERE pos BETWEEN ? AND ? AND (${where})`).pluck()
  if (table === 'block' && numbered !== 'block') {
    const runs = ({ first, last }: Segment) =>
      scan.all(positionOf(first, 0), positionOf(last, 0), ...params).map((position): [number, number] => {
        const block = blockOf(position as number)
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
          if (probe.get(positionOfOrdinal(header, numbered, ordinal), ...params) !== undefined) found.push(ordinal)
        })
        return listed(Uint32Array.from(found))
      }
      const positions = scan.all(
        positionOf(segment.first, 0),
        positionOf(segment.last, PLACES - 1),
        ...params,
      ) as number[]
      return listed(ordinalsOf(positions, header, numbered))
    },
  }
}

/** Ordinals of ascending positions, walking the blocks beside them. */
const ordinalsOf = (positions: readonly number[], header: SegmentHeader, numbered: Numbered): Uint32Array => {
  if (header.excerpts.size > 0)
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

const byDocuments = (node: Node, { reader, numbered, ask, kind }: Context): Part => ({
  matches(at, within) {
    const found: number[] = []
    const ordinals: number[] = []
    let candidates = within ?? run(0, at.size)
    if (kind === 'event') {
      const undecoded = createTerms([{ term: termOf(0, FACETS.undecoded), mark: 0 }], reader)
      candidates = and(candidates, not(undecoded.matches(at, undefined), at.size), at.size)
    }
    each(candidates, ordinal => ordinals.push(ordinal))
    for (let i = 0; i < ordinals.length; i += 1000) {
      const some = ordinals.slice(i, i + 1000)
      const answers = ask(
        node,
        some.map(ordinal => positionOfOrdinal(at.header, numbered, ordinal)),
      )
      found.push(...some.filter((_, index) => answers[index]))
    }
    return listed(Uint32Array.from(found))
  },
  events: kind === 'event',
})

// Nested conditions: what the index tells of the arguments.

const createNested = ({ nested, signatures }: Extract<Plan, { by: 'nested' }>, context: Context): Part => {
  const documents = byDocuments({ op: 'nested', path: 'args', of: nested.node }, context)
  const { reader } = context
  const required = nested.required && bySegment(() => requiredPostings(nested, signatures, reader))

  const rolesIn = (segment: number): Map<number, Posting[]> => {
    if (!required) return new Map(facetsOf(segment, signatures, reader).map(facet => [facet, []]))
    return Map.groupBy(required(segment), ({ term }) => facetOf(term))
  }

  return {
    events: true,
    count({ segment }) {
      // One posting of the one required value, nothing else asked for: its length is the answer.
      if (nested.required?.length !== 1) return undefined
      const [only, ...others] = required!(segment.id).filter(({ term }) => mayMatch(term, nested, signatures))
      if (!only) return 0
      const { signature, slot } = argumentOf(facetOf(only.term))
      const alone = others.length === 0 && slot !== OVERFLOW_SLOT && nested.forRole(signature, slot).op === 'in'
      return alone ? only.n : undefined
    },
    matches(at) {
      const roles = rolesIn(at.segment.id)
      const found: OrdinalSet[] = []
      const doubtful: OrdinalSet[] = []
      for (const [facet, postings] of roles) {
        const { signature, slot } = argumentOf(facet)
        if (signatures && !signatures.has(signature)) continue
        const positions = nested.positions(signature, slot)
        for (const position of positions) {
          const residual = nested.forRole(signature, position)
          if (residual.op === 'none') continue
          const role = { signature, position, postings: required ? postings : undefined, nested, reader, at }
          if (positions.length > 1) doubtful.push(required ? union(postings, reader, at.size) : logsOf(role))
          else if (isExact(residual)) found.push(matchRole(residual, role))
          else doubtful.push(candidates(residual, role))
        }
      }
      const sure = or(found, at.size)
      if (doubtful.length === 0) return sure
      const unsure = and(or(doubtful, at.size), not(sure, at.size), at.size)
      return or([sure, documents.matches(at, unsure)], at.size)
    },
  }
}

/** Logs that may fulfil what the index does not tell all about. */
const candidates = (residual: Node, role: Role): OrdinalSet => {
  const told = residual.op === 'and' ? residual.of.filter(isExact) : []
  return told.length > 0 ? matchRole({ op: 'and', of: told }, role) : logsOf(role)
}

const mayMatch = (term: number, nested: Nested, signatures: ReadonlySet<number> | undefined): boolean => {
  const { signature, slot } = argumentOf(facetOf(term))
  if (signatures && !signatures.has(signature)) return false
  return nested.positions(signature, slot).some(position => nested.forRole(signature, position).op !== 'none')
}

/** So few roles are looked up one by one; more, by the range of terms that holds all roles of a value. */
const FEW_ROLES = 3

/** The postings of the values one of which every match has. */
const requiredPostings = (nested: Nested, signatures: ReadonlySet<number> | undefined, reader: Reader): Posting[] => {
  const facets =
    signatures &&
    [...signatures]
      .flatMap(id => argumentFacets(id, reader))
      .filter(facet => mayMatch(termOf(0, facet), nested, signatures))
  return nested.required!.flatMap(keys => {
    if (!facets || facets.length > FEW_ROLES)
      return rangesOf(keys).flatMap(({ first, last, mark }) =>
        reader.postingsBetween(first, last).filter(posting => posting.mark === mark),
      )
    return facets.flatMap(facet => {
      const terms = [{ term: termOf(keys.hash.value, facet), mark: keys.hash.mark }]
      if (keys.address !== undefined) terms.push({ term: termOf(keys.address, facet), mark: 0 })
      return terms.flatMap(({ term, mark }) => reader.postings(term, mark))
    })
  })
}

/** Facets of the arguments of the signatures, all or certain ones, that a segment has logs of. */
const facetsOf = (segment: number, signatures: ReadonlySet<number> | undefined, reader: Reader): number[] => {
  const [first, last] = logTerms(0)
  return reader
    .termsBetween(segment, first, last)
    .map(({ term }) => signatureOfLogFacet(facetOf(term)))
    .filter(id => signatures?.has(id) ?? true)
    .flatMap(id => argumentFacets(id, reader))
}

const argumentFacets = (signature: number, reader: Reader): number[] => {
  const { event, error } = reader.signature(signature)
  const slots = new Set((error === null ? (event?.inputs ?? []) : []).map((_, position) => argumentSlot(position)))
  return [...slots].map(slot => argumentFacet(signature, slot))
}

interface Role {
  signature: number
  position: number
  /** The postings of this role among those of the required values. */
  postings: readonly Posting[] | undefined
  nested: Nested
  reader: Reader
  at: Place
}

const matchRole = (node: Node, role: Role): OrdinalSet => {
  const { at, reader, signature } = role
  switch (node.op) {
    case 'all':
      return logsOf(role)
    case 'none':
      return EMPTY
    case 'and': {
      let found: OrdinalSet | undefined
      for (const inner of node.of) {
        const matched = matchRole(inner, role)
        found = found ? and(found, matched, at.size) : matched
        if (isEmpty(found)) return EMPTY
      }
      return found ?? EMPTY
    }
    case 'or':
      return or(
        node.of.map(inner => matchRole(inner, role)),
        at.size,
      )
    case 'atLeast':
      return and(
        atLeast(
          node.of.map(inner => matchRole(inner, role)),
          node.count,
          at.size,
        ),
        logsOf(role),
        at.size,
      )
    case 'not':
      return and(not(matchRole(node.of, role), at.size), logsOf(role), at.size)
    case 'in':
      if (node.field.field === 'args.value.hex') return hexMatches(node, role)
      return numberMatches(node, role)
    case 'exists':
      if (node.field.field === 'args.value.hex') return shortValues(role)
      return numberMatches(node, role)
    case 'range':
      return numberMatches(node, role)
    default:
      throw new Error(`${node.op} inside nested conditions of signature ${signature} in ${reader.db.name}`)
  }
}

const logsOf = ({ signature, reader, at }: Role): OrdinalSet => {
  const [posting] = reader.termsBetween(at.segment.id, termOf(0, logFacet(signature)), termOf(0, logFacet(signature)))
  return posting ? listed(reader.ordinals(posting)) : EMPTY
}

const hexMatches = (
  leaf: Leaf & { op: 'in' },
  { signature, position, postings, nested, reader, at }: Role,
): OrdinalSet => {
  const type = reader.signature(signature).event!.inputs[position]!.type
  const facet = argumentFacet(signature, argumentSlot(position))
  const found = leaf.values.flatMap((value): Posting[] => {
    const key = argumentTerm(nested.keysOf(String(value)), type, facet)
    if (!key) return []
    const known = postings?.filter(posting => posting.term === key.term && posting.mark === key.mark)
    return known ?? reader.termsBetween(at.segment.id, key.term, key.term).filter(({ mark }) => mark === key.mark)
  })
  return union(found, reader, at.size)
}

/** Logs whose argument is not longer than an index of keywords holds. */
const shortValues = (role: Role): OrdinalSet => {
  const { signature, position, reader, at } = role
  const long = termOf(TOO_LONG, argumentFacet(signature, argumentSlot(position)))
  const postings = reader.termsBetween(at.segment.id, long, long)
  return and(logsOf(role), not(union(postings, reader, at.size), at.size), at.size)
}

/** Numbers are sorted: the matches of a range lie side by side. */
const numberMatches = (leaf: Leaf, { signature, position, reader, at }: Role): OrdinalSet => {
  const numbers = reader.numbers(at.segment.id, numbersKey(leaf, signature, argumentSlot(position)))
  if (!numbers) return EMPTY
  const { values, ordinals } = numbers
  if (leaf.op === 'exists') return collected(ordinals, at.size)
  if (leaf.op === 'in') {
    const parts = (leaf.values as (bigint | number)[]).map(value => {
      const from = lowerBound(values, other => other >= value)
      return collected(
        ordinals.subarray(
          from,
          lowerBound(values, other => other > value),
        ),
        at.size,
      )
    })
    return or(parts, at.size)
  }
  const { gt, gte, lt, lte } = leaf.bounds as { [bound in keyof Bounds]: bigint | number }
  const from = lowerBound(values, other => (gte === undefined || other >= gte) && (gt === undefined || other > gt))
  const to = lowerBound(values, other => (lte !== undefined && other > lte) || (lt !== undefined && other >= lt))
  return from < to ? collected(ordinals.subarray(from, to), at.size) : EMPTY
}

/** First index from which on a condition holds that, once it holds, holds for all greater values. */
const lowerBound = (values: BigInt64Array | Float64Array, holds: (value: bigint | number) => boolean): number => {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(values[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
