import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerAggregations,
  type ClusterAggregating,
  type ClusterFound,
} from '../../../src/cluster/aggs/aggregations.ts'
import { readAnswer } from '../../../src/cluster/aggs/answer.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'

/** What a cluster is asked, one search after the other, where it answers so. */
const asked = async (aggs: object, answers: readonly object[]): Promise<{ searches: unknown[]; text: string }> => {
  const request = parseSearch(JSON.stringify({ size: 0, aggs }), ['tx'], 0)
  const searches: unknown[] = []
  const aggregating: ClusterAggregating = {
    request,
    aggregations: request.aggregations!,
    compileNode: () => ({ match_all: {} }),
    everything: { match_all: {} },
    hits: { ask: () => ({}), write: () => '', sorted: () => [], total: String },
    limits: DEFAULT_LIMITS,
    most: { few: 3, many: 6 },
    typedKeys: false,
    check() {},
    async ask(_, aggs): Promise<ClusterFound> {
      searches.push(aggs(1))
      const answer = answers[searches.length - 1]
      assert.ok(answer, 'it is asked no more than that')
      return { total: 9, aggregations: JSON.stringify(answer), uniform: 1 }
    },
  }
  return { text: await answerAggregations(aggregating), searches }
}

const termsOf = (counts: Record<string, number>, error: number, others: number) => ({
  doc_count_error_upper_bound: error,
  sum_other_doc_count: others,
  buckets: Object.entries(counts).map(([key, doc_count]) => ({ key, doc_count })),
})
const TOP = { top: { terms: { field: 'from.raw', size: 1, shard_size: 1 } } }

test('terms that the cluster may have counted too low are counted once more by their names', async () => {
  const { searches, text } = await asked(TOP, [
    { a0: termsOf({ x: 10, y: 9, z: 2 }, 2, 20) },
    { a0: termsOf({ y: 12, x: 11 }, 0, 0) },
  ])
  const [first, second] = searches as { a0: { terms: Record<string, unknown> } }[]
  assert.deepEqual(first!.a0.terms, {
    field: 'from.raw',
    ...{ size: 3, shard_size: 3, min_doc_count: 1, order: [{ _count: 'desc' }] },
  })
  assert.deepEqual(second!.a0.terms.include, ['x', 'y'])
  assert.equal(
    text,
    '{"top":{"doc_count_error_upper_bound":0,"sum_other_doc_count":29,"buckets":[{"key":"y","doc_count":12}]}}',
  )
})

test('where others may have as many, more terms are asked for, and at last none are told', async () => {
  const unclear = { a0: termsOf({ x: 5, y: 5, z: 5 }, 5, 50) }
  const counted = { a0: termsOf({ x: 6, y: 5, z: 5 }, 0, 0) }
  await assert.rejects(asked(TOP, [unclear, counted, unclear, counted]), (error: unknown) => {
    assert.ok(error instanceof ChainsieveError)
    assert.equal(
      error.message,
      'the aggregation [top] of type [terms] over so many different values does not work on a network whose documents lie in a cluster: narrow the query, order terms by their counts or keys, or page through a composite aggregation.',
    )
    return true
  })
})

test('values are counted in parts, and estimated where these are too many', async () => {
  const some = { a0: termsOf({ 1: 1, 2: 1 }, 0, 0) }
  const more = { a0: termsOf({ 1: 1 }, 0, 7) }
  const count = { n: { cardinality: { field: 'nonce.num' } } }
  const inParts = await asked(count, [more, more, some, some, some, some])
  assert.equal(inParts.text, '{"n":{"value":8}}')
  const [, , third] = inParts.searches as { a0: { terms: { include: unknown } } }[]
  assert.deepEqual(third!.a0.terms.include, { partition: 0, num_partitions: 4 })
  const estimated = await asked(count, [more, more, more, more, { a0: { value: 1_234_567 } }])
  assert.equal(estimated.text, '{"n":{"value":1234567}}')
  assert.deepEqual(estimated.searches.at(-1), {
    a0: { cardinality: { field: 'nonce.num', precision_threshold: 40_000 } },
  })
})

test('hits stay text, and integers keep their digits', () => {
  const hits = String.raw`{"total":{"value":1},"hits":[{"_source":{"a":"}\"hits\":{","b":12345678901234567890}}]}`
  assert.deepEqual(readAnswer(`{"a0":{"buckets":[{"key":9007199254740993,"a1":{"hits":${hits}}}]}}`), {
    a0: { buckets: [{ key: 9007199254740993n, a1: { hits } }] },
  })
})
