import type { Kind } from '../../../mapping/index.ts'
import type { SearchRequest } from '../../../query/request.ts'
import { mapParts, type Score, type Scored } from '../../../query/score.ts'
import { compileScore, together } from '../../../query/score-predicate.ts'
import { bm25, expandBeginning, expandNear, type Statistics, weightOf } from '../../../query/statistics.ts'
import type { Reader, Segment } from '../../reader.ts'
import { type Documents, nameOf } from '../documents.ts'
import { numberedAs, positionOfOrdinal, viewOf } from '../fields/ordinals.ts'
import { evaluate } from '../match/evaluate.ts'
import { linkOf, NO_PARENT } from '../match/joins.ts'
import { and, collected, listed, type OrdinalSet, packed, toArray } from '../match/ordinal-set.ts'
import type { Context } from '../match/segment-matcher.ts'
import { planQuery } from '../plan/planner.ts'
import { type Grouping, groupingOf } from './grouping.ts'
import { createStatistics, isOneWord } from './statistics.ts'

/** Scores of the documents of one kind that match. */
export interface Scorer {
  /** What all of them have, where it is the same. */
  uniform: number | undefined
  /** All matches by their scores; undefined where these are known document by document alone. */
  grouping: Grouping | undefined
  /** Of the documents at these ordinals, which ascend and match. */
  scores(segment: Segment, ordinals: Uint32Array): Float64Array
}

export interface ScorerOptions {
  kind: Kind
  reader: Reader
  ask: Context['ask']
  exact: Documents
  /** Blocks whose documents tell how frequent values are: all by default. */
  within?: SearchRequest['within']
}

export const createScorer = (score: Score, options: ScorerOptions): Scorer => {
  const known = createStatistics(options)
  const simple = simplified(score, known)
  const uniform = uniformOf(simple, known, options)
  const grouping = groupingOf(simple, {
    uniformOf: part => uniformOf(part, known, options),
    matchesOf: part => matchesOf(part, options),
    isSingle: field => field.list === undefined && isOneWord(options.kind, field, options.reader),
    sizeOf: segment => viewOf(segment, numberedAs(options.kind), options.reader).size,
  })
  if (uniform !== undefined)
    return { uniform, grouping, scores: (_, ordinals) => new Float64Array(ordinals.length).fill(uniform) }
  let scores: Scores | undefined
  return {
    uniform,
    grouping,
    scores(segment, ordinals) {
      scores ??= build(simple, known, options)
      return scores(segment, ordinals)
    },
  }
}

/** Near values and beginnings as the values that they stand for. */
export const simplified = (score: Score, known: Statistics): Score => {
  if (score.by === 'fuzzy') return expandNear(score, known)
  if (score.by === 'phrase' && score.prefix && score.words.length === 1)
    return expandBeginning(score.field, score.words[0]!, score.boost, known)
  return mapParts(score, inner => simplified(inner, known))
}

/** The score that every match has, where that is known before any is read. */
const uniformOf = (score: Score, known: Statistics, options: ScorerOptions): number | undefined => {
  switch (score.by) {
    case 'same':
      return score.value
    case 'term': {
      if (!isOneWord(options.kind, score.field, options.reader)) return undefined
      const weight = weightOf(score, known)
      return bm25(weight, 1, 1, known.averageLength(score.field))
    }
    case 'sum': {
      let sum = 0
      for (const part of score.of) {
        const one = part.node.op === 'all' && part.score ? uniformOf(part.score, known, options) : undefined
        if (one === undefined) return undefined
        sum += one
      }
      return sum
    }
    case 'nested':
      if (score.mode === 'sum' || !score.of.score) return undefined
      return uniformOf(score.of.score, known, options)
    case 'child':
    case 'parent': {
      if (!score.of.score || (score.by === 'child' && score.mode === 'sum')) return undefined
      const related = createScorer(score.of.score, { ...options, kind: score.kind }).uniform
      return related === undefined ? undefined : related * score.boost
    }
    default:
      return undefined
  }
}

type Scores = Scorer['scores']

const build = (score: Score, known: Statistics, options: ScorerOptions): Scores => {
  const uniform = uniformOf(score, known, options)
  if (uniform !== undefined) return (_, ordinals) => new Float64Array(ordinals.length).fill(uniform)
  switch (score.by) {
    case 'sum':
      return combined(score.of, known, options, (sum, one) => sum + one)
    case 'best': {
      const { tie } = score
      const most = combined(score.of, known, options, Math.max)
      if (tie === 0) return most
      const all = combined(score.of, known, options, (sum, one) => sum + one)
      return (segment, ordinals) => {
        const sums = all(segment, ordinals)
        return most(segment, ordinals).map((best, i) => best + tie * (sums[i]! - best))
      }
    }
    case 'lowered': {
      const of = build(score.of, known, options)
      const where = listedBy(matchesOf({ node: score.where, score: undefined }, options))
      return (segment, ordinals) => {
        const scores = of(segment, ordinals)
        const unwanted = where(segment, ordinals)
        for (let i = 0, j = 0; j < unwanted.length; i++)
          if (ordinals[i] === unwanted[j]) {
            scores[i]! *= score.factor
            j++
          }
        return scores
      }
    }
    case 'child':
      return byChildren(score, options)
    case 'parent':
      return byParent(score, options)
    default:
      return byDocuments(score, known, options)
  }
}

/** Parts count where they match. */
const combined = (
  parts: readonly Scored[],
  known: Statistics,
  options: ScorerOptions,
  add: (before: number, one: number) => number,
): Scores => {
  const built = parts.map(part => ({
    scores: build(part.score!, known, options),
    matches: part.node.op === 'all' ? undefined : listedBy(matchesOf(part, options)),
  }))
  return (segment, ordinals) => {
    const found = new Float64Array(ordinals.length)
    for (const { scores, matches } of built) {
      options.reader.check()
      const some = matches ? matches(segment, ordinals) : ordinals
      const own = scores(segment, some)
      for (let i = 0, j = 0; j < some.length; i++)
        if (ordinals[i] === some[j]) {
          found[i] = add(found[i]!, own[j]!)
          j++
        }
    }
    return found
  }
}

/** Those of some ordinals that match. */
export const matchesOf = ({ node }: Scored, { kind, reader, ask }: ScorerOptions) => {
  const evaluation = evaluate({ kind, plan: planQuery(kind, node, reader), reader, ask })
  return (segment: Segment, within: OrdinalSet): OrdinalSet => {
    const { size } = viewOf(segment, numberedAs(kind), reader)
    return and(packed(evaluation.matches(segment, within), size), within, size)
  }
}

const listedBy =
  (matches: ReturnType<typeof matchesOf>) =>
  (segment: Segment, ordinals: Uint32Array): Uint32Array =>
    toArray(matches(segment, listed(ordinals)))

/** What only the documents tell. */
const byDocuments = (score: Score, known: Statistics, { kind, reader, exact }: ScorerOptions): Scores => {
  const count = compileScore(score, known)
  const fields = 'field' in score ? [nameOf(score.field)] : score.by === 'nested' ? [score.path] : undefined
  return (segment, ordinals) => {
    const header = reader.header(segment)
    return Float64Array.from(ordinals, ordinal => {
      reader.check()
      const [document] = exact.load(kind, [positionOfOrdinal(header, numberedAs(kind), ordinal)], fields)
      return document ? count(document._source, document) : 0
    })
  }
}

/** Parents and children share their segment. */
const byChildren = (score: Extract<Score, { by: 'child' }>, options: ScorerOptions): Scores => {
  const { kind, reader, ask } = options
  const { kind: child, of, mode, boost } = score
  const [own, parent] = [numberedAs(child), numberedAs(kind)]
  const link = linkOf(own, parent, reader)
  const evaluation = evaluate({ kind: child, plan: planQuery(child, of.node, reader), reader, ask })
  const scorer = createScorer(of.score!, { ...options, kind: child })
  return (segment, ordinals) => {
    const at = viewOf(segment, parent, reader)
    const candidates = link.down(at, listed(ordinals))
    const size = viewOf(segment, own, reader).size
    const children = and(evaluation.matches(segment, candidates), candidates, size)
    const scores = scorer.scores(segment, toArray(children))
    const byParent = new Map<number, number[]>()
    for (const [i, ordinal] of link.up(at, children).entries()) {
      if (ordinal === NO_PARENT) continue
      const list = byParent.get(ordinal)
      if (list) list.push(scores[i]!)
      else byParent.set(ordinal, [scores[i]!])
    }
    return Float64Array.from(ordinals, ordinal => boost * together(mode, byParent.get(ordinal) ?? []))
  }
}

const byParent = (score: Extract<Score, { by: 'parent' }>, options: ScorerOptions): Scores => {
  const { kind, reader } = options
  const { kind: parent, of, boost } = score
  const link = linkOf(numberedAs(kind), numberedAs(parent), reader)
  const scorer = createScorer(of.score ?? { by: 'same', value: 0 }, { ...options, kind: parent })
  return (segment, ordinals) => {
    const at = viewOf(segment, numberedAs(kind), reader)
    const parents = link.up(at, listed(ordinals))
    const { size } = viewOf(segment, numberedAs(parent), reader)
    const distinct = toArray(
      collected(
        parents.filter(ordinal => ordinal !== NO_PARENT),
        size,
      ),
    )
    const scores = scorer.scores(segment, distinct)
    const known = new Map(Array.from(distinct, (ordinal, i) => [ordinal, scores[i]!]))
    return Float64Array.from(parents, ordinal => boost * (known.get(ordinal) ?? 0))
  }
}
