import fc from 'fast-check'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { AGGREGATIONS } from '../../src/query/aggs/kinds/index.ts'
import type { AggregationKind } from '../../src/query/aggs/kinds/kind.ts'
import { PIPELINES } from '../../src/query/aggs/pipelines/index.ts'
import type { PipelineKind } from '../../src/query/aggs/pipelines/pipeline.ts'
import { CASES } from '../../test/engine/aggs/cases.ts'
import { arbitraryQuestions, requestOf } from '../../test/engine/aggs/naive.ts'
import { arbitraryQuery } from '../../test/support/queries.ts'
import { stringifyLossless } from '../../test/support/scenarios.ts'
import type { Seed } from './body.ts'
import { readJson } from './json.ts'
import type { Shown } from './reading.ts'

/** Bodies that ask for more than hits of a query: aggregations of every kind, pipelines, and all that a hit can show. */
export const richSeeds = (network: string, documents: Record<Kind, readonly Shown[]>, seed: number): Seed[] => {
  const of = (entities: string, body: object): Seed => ({ network, entities, body: readJson(stringifyLossless(body)) })
  const queries = (kind: Kind, numRuns: number) =>
    fc.sample(arbitraryQuery(kind, documents[kind].slice(0, 200), { depth: 1 }), { numRuns, seed })
  const asked = KINDS.flatMap(kind => {
    const some = queries(kind, 40)
    const questions = fc.sample(arbitraryQuestions(kind), { numRuns: 40, seed })
    const aggregated = questions.map((it, i) => of(kind, { size: 0, query: some[i], aggs: requestOf(it) }))
    return [...aggregated, ...SHOWN.map((body, i) => of(kind, { query: some[i], ...body }))]
  })
  const examples = Object.entries<AggregationKind>(AGGREGATIONS).map(([name, { example, on = 'event', gives }]) =>
    of(on, {
      size: 0,
      aggs: {
        a: { [name]: example as object, ...(gives.startsWith('bucket') && { aggs: { n: { value_count: NUMBER } } }) },
      },
    }),
  )
  const pipelines = Object.entries<PipelineKind>(PIPELINES).map(([name, { example, stands }]) =>
    of('tx', {
      size: 0,
      aggs: stands === 'sibling' ? beside(name, example as object) : inside(name, example as object),
    }),
  )
  const cases = CASES.map(([, kinds, body]) => of(kinds, { size: 0, ...body }))
  return [...asked, ...examples, ...pipelines, ...pipelines, ...cases]
}

const NUMBER = { field: 'blockNumber.num' }
const INNER = { gas: { sum: { field: 'gasUsed.num' } }, n: { value_count: { field: 'gasUsed.num' } } }
const HISTOGRAM = { date_histogram: { field: 'timestamp', fixed_interval: '1m' } }

const beside = (name: string, example: object) => ({
  h: { ...HISTOGRAM, aggs: INNER },
  p: { [name]: { ...example, buckets_path: 'h>gas' } },
})
const inside = (name: string, example: object) => ({ h: { ...HISTOGRAM, aggs: { ...INNER, p: { [name]: example } } } })

/** What a hit shows, and which hits are shown. */
const SHOWN: readonly object[] = [
  { fields: ['*'], _source: false },
  { fields: ['blockNumber.num', { field: 'timestamp', format: 'yyyy-MM-dd' }], docvalue_fields: ['timestamp'] },
  { docvalue_fields: [{ field: 'timestamp', format: 'epoch_millis' }, '*.num'], stored_fields: '_none_' },
  { highlight: { fields: { '*': { number_of_fragments: 2, fragment_size: 20 } }, require_field_match: false } },
  {
    highlight: {
      fields: { '*.raw': { no_match_size: 10, type: 'plain', order: 'score' } },
      ...{ pre_tags: ['<b>'], post_tags: ['</b>'], encoder: 'html', highlight_query: { match_all: {} } },
    },
  },
  { collapse: { field: 'blockNumber.num' }, sort: [{ 'blockNumber.num': 'desc' }] },
  {
    collapse: {
      field: 'blockHash',
      inner_hits: { name: 'more', size: 2, from: 1, sort: [{ _id: 'asc' }], _source: ['blockNumber'] },
    },
  },
  { post_filter: { range: { 'blockNumber.num': { gte: 22_000_000 } } }, size: 1_000 },
  { explain: true, version: true, seq_no_primary_term: true, track_scores: true, sort: ['_doc'] },
  { min_score: 0.5, sort: ['_score', { timestamp: { order: 'desc', unmapped_type: 'long', missing: '_last' } }] },
  { timeout: '1s', track_total_hits: 3, stats: ['a'], script_fields: {}, stored_fields: ['_source'] },
  { decimals: true, args_by_name: true, _source: { includes: ['args.*', '*.dec'], excludes: '*.hex' } },
  {
    query: {
      nested: {
        ...{ path: 'args', query: { exists: { field: 'args.name' } }, score_mode: 'max' },
        inner_hits: { name: 'args', size: 3, highlight: { fields: { '*': {} } }, docvalue_fields: ['args.pos'] },
      },
    },
  },
]
