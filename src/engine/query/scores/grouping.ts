import type { FieldPath } from '../../../mapping/index.ts'
import type { Value } from '../../../query/ast.ts'
import type { Score, Scored } from '../../../query/score.ts'
import type { Segment } from '../../reader.ts'
import { and, count, EMPTY, isEmpty, minus, type OrdinalSet, or, toArray } from '../match/ordinal-set.ts'

/** Matches that score the same. */
export interface Group {
  score: number
  set: OrdinalSet
}

export interface Grouping {
  /** The matches of one segment by their scores: each is in one group, and no group is empty. */
  in(segment: Segment, matches: OrdinalSet): readonly Group[]
  /** No document scores more. */
  greatest: number
}

export interface GroupingOptions {
  /** The score that all have, where it is the same. */
  uniformOf(score: Score): number | undefined
  /** Those of some documents that match. */
  matchesOf(part: Scored): (segment: Segment, within: OrdinalSet) => OrdinalSet
  sizeOf(segment: Segment): number
  /** Whether a document has no more than one value of the field. */
  isSingle(field: FieldPath): boolean
}

/**
 * Scores by sets, where all parts score the same wherever they match: no document is looked at. Undefined where a part's score depends
 * on more than whether it matches. Numbers are added in the order of the parts, as they are document by document.
 */
export const groupingOf = (score: Score, options: GroupingOptions): Grouping | undefined => {
  const uniform = options.uniformOf(score)
  if (uniform !== undefined)
    return {
      in: (_, matches) => (isEmpty(matches) ? [] : [{ score: uniform, set: matches }]),
      greatest: uniform >= 0 ? uniform : Number.POSITIVE_INFINITY,
    }
  switch (score.by) {
    case 'sum': {
      const parts = partsOf(score.of, options)
      if (!parts) return undefined
      const greatest = areExclusive(score.of, options) ? most(parts) : parts.reduce((sum, one) => sum + bound(one), 0)
      return { in: combined(parts, (sum, one) => sum + one, options), greatest }
    }
    case 'best': {
      const parts = partsOf(score.of, options)
      if (!parts) return undefined
      const { tie } = score
      const byBest = combined(parts, Math.max, options)
      if (tie === 0) return { in: byBest, greatest: most(parts) }
      const all = combined(parts, (sum, one) => sum + one, options)
      const both: Grouping['in'] = (segment, matches) => {
        const bySum = all(segment, matches)
        return merged(
          byBest(segment, matches).flatMap(({ score: best, set }) =>
            bySum.map(({ score: sum, set: other }) => ({
              score: best + tie * (sum - best),
              set: and(set, other, options.sizeOf(segment)),
            })),
          ),
          options.sizeOf(segment),
        )
      }
      return { in: both, greatest: Number.POSITIVE_INFINITY }
    }
    case 'lowered': {
      const of = groupingOf(score.of, options)
      if (!of) return undefined
      const where = options.matchesOf({ node: score.where, score: undefined })
      const lowered: Grouping['in'] = (segment, matches) => {
        const size = options.sizeOf(segment)
        const unwanted = where(segment, matches)
        return merged(
          of.in(segment, matches).flatMap(({ score: before, set }) => {
            const [inside, outside] = split(set, unwanted, size)
            return [
              { score: before * score.factor, set: inside },
              { score: before, set: outside },
            ]
          }),
          size,
        )
      }
      return { in: lowered, greatest: of.greatest * Math.max(1, score.factor) }
    }
    default:
      return undefined
  }
}

interface Part {
  grouping: Grouping
  /** Undefined where all match. */
  matches: ((segment: Segment, within: OrdinalSet) => OrdinalSet) | undefined
}

/** Parts beyond which groups may be too many to be told apart by sets. */
const MOST_PARTS = 8

const partsOf = (of: readonly Scored[], options: GroupingOptions): Part[] | undefined => {
  if (of.length > MOST_PARTS) return undefined
  const parts: Part[] = []
  for (const part of of) {
    const grouping = groupingOf(part.score!, options)
    if (!grouping) return undefined
    parts.push({ grouping, matches: part.node.op === 'all' ? undefined : latest(options.matchesOf(part)) })
  }
  return parts
}

const bound = ({ grouping }: Part) => grouping.greatest
const most = (parts: readonly Part[]) => Math.max(...parts.map(bound))

/** Whether no document matches two of the parts, since each wants another value of the same field. */
const areExclusive = (of: readonly Scored[], { isSingle }: GroupingOptions): boolean => {
  const [first] = of
  if (first?.node.op !== 'in' || !isSingle(first.node.field)) return false
  const { path } = first.node.field
  const values: Value[] = []
  for (const { node } of of) {
    if (node.op !== 'in' || node.field.path !== path) return false
    values.push(...node.values)
  }
  return new Set(values).size === values.length
}

/** The answer to the question that was asked last is kept. */
const latest = (find: NonNullable<Part['matches']>): NonNullable<Part['matches']> => {
  let asked: [segment: number, within: OrdinalSet] | undefined
  let found = EMPTY
  return (segment, within) => {
    if (asked?.[0] !== segment.id || asked[1] !== within) {
      found = find(segment, within)
      asked = [segment.id, within]
    }
    return found
  }
}

/** Parts count where they match. */
const combined =
  (parts: readonly Part[], add: (before: number, one: number) => number, { sizeOf }: GroupingOptions): Grouping['in'] =>
  (segment, matches) => {
    if (isEmpty(matches)) return []
    const size = sizeOf(segment)
    let groups: Group[] = [{ score: 0, set: matches }]
    for (const { grouping, matches: find } of parts) {
      const own = find ? find(segment, matches) : matches
      if (isEmpty(own)) continue
      const scores = grouping.in(segment, own)
      groups = merged(
        groups.flatMap(({ score: before, set }) => {
          const [inside, outside] = split(set, own, size, set === matches)
          return [
            ...scores.map(one => ({
              score: add(before, one.score),
              set: scores.length === 1 ? inside : and(inside, one.set, size),
            })),
            { score: before, set: outside },
          ]
        }),
        size,
      )
    }
    return groups
  }

/** Those of a set that lie in another one, which may be known to be a part of it, and those that do not. */
const split = (
  set: OrdinalSet,
  other: OrdinalSet,
  size: number,
  isPart = false,
): [inside: OrdinalSet, outside: OrdinalSet] => {
  const inside = isPart ? other : and(set, other, size)
  if (isEmpty(inside)) return [EMPTY, set]
  return count(inside) === count(set) ? [set, EMPTY] : [inside, minus(set, inside, size)]
}

/** Equal scores become one group. */
const merged = (groups: readonly Group[], size: number): Group[] => {
  const found: Group[] = []
  for (const group of groups) {
    if (isEmpty(group.set)) continue
    const same = found.find(({ score }) => score === group.score)
    if (same) same.set = or([same.set, group.set], size)
    else found.push({ ...group })
  }
  return found
}

/** What each of all matches scores, by ordinal. */
export const spread = (groups: readonly Group[], size: number): Float64Array => {
  const all = new Float64Array(size)
  for (const { score, set } of groups)
    if (set.form === 'run') all.fill(score, set.from, set.to)
    else for (const ordinal of toArray(set)) all[ordinal] = score
  return all
}
