import assert from 'node:assert/strict'
import { parseLossless, stringifyLossless } from '../support/scenarios.ts'

type Json = Record<string, unknown>
interface Hits {
  total?: unknown
  hits: Json[]
}

/** Of two answers everything is the same that does not follow from scores, nor is an aggregation: these are the cluster's own. */
export const assertPromised = (answer: string, expected: string, message?: string): void => {
  const both = [answer, expected].map(read)
  const isByScore = both.some(body => body !== undefined && variesBy(body))
  const [ours, theirs] = both.map((body, i) => (body ? shown(body, isByScore) : [answer, expected][i]!))
  assert.equal(ours, theirs, message)
}

/** What stands in an answer behind its status. */
const read = (answer: string): Json | undefined => {
  const at = answer.indexOf('{')
  if (!/^200 \{/.test(answer)) return undefined
  try {
    return parseLossless(answer.slice(at)) as Json
  } catch {
    return undefined
  }
}

/** Whether hits have different scores and nothing else tells their order. */
const variesBy = ({ hits }: Json): boolean => {
  const all = (hits as Hits | undefined)?.hits ?? []
  const isSorted = all.some(hit => 'sort' in hit && JSON.stringify(hit._score) === 'null')
  return !isSorted && new Set(all.map(hit => String(hit._score))).size > 1
}

const shown = (body: Json, isByScore: boolean): string => {
  const { aggregations, ...rest } = body
  const hits = rest.hits as Hits | undefined
  const own: Json = isByScore && hits ? { ...rest, hits: { ...hits, hits: unordered(hits) } } : rest
  return stringifyLossless({
    ...(withoutScores(own) as Json),
    ...(aggregations !== undefined && { aggregations: Object.keys(aggregations as Json) }),
  })
}

/** Which ones are on a page of several follows from scores, too. */
const unordered = ({ total, hits }: Hits): unknown => {
  const count = (total as { value?: unknown } | null | undefined)?.value ?? total
  return Number(count) === hits.length
    ? hits.map(({ sort: _, ...hit }) => hit).toSorted((a, b) => (String(a._id) < String(b._id) ? -1 : 1))
    : hits.length
}

const SCORES: ReadonlySet<string> = new Set(['_score', 'max_score', '_explanation', 'explanation'])

const withoutScores = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutScores)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      SCORES.has(name) ? [] : [[name, name === '_source' ? inner : withoutScores(inner)]],
    ),
  )
}
