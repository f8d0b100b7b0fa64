import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { asFloat, bm25, inverseFrequency } from '../../../src/query/similarity.ts'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { bodyText, loadDocuments, loadScenarios } from '../../support/scenarios.ts'
import { ask, type Both, REFUSED, setUp } from './support.ts'

describe('a cluster answers the scenarios as a store does', { skip: withoutCluster }, () => {
  let both: Both
  before(async () => {
    both = await setUp()
  })
  after(() => both?.close())

  for (const { file, cases } of loadScenarios())
    test(file, async () => {
      const refused: string[] = []
      for (const scenario of cases) {
        const { entities } = scenario.request
        const body = bodyText(scenario)
        const [answer, expected] = [await ask(both.cluster, entities, body), await ask(both.store, entities, body)]
        if (answer.includes(REFUSED)) refused.push(scenario.name)
        else if (OTHER_SCORES.has(scenario.name)) {
          assert.equal(unscored(answer), unscored(expected), scenario.name)
          assert.deepEqual(scoresIn(answer), [scoreOfTopic(scenario.request.body)], scenario.name)
        } else assert.equal(answer, expected, scenario.name)
      }
      assert.deepEqual(refused, NOT_IN_CLUSTER[file] ?? [])
    })
})

/** Requests that a cluster is not asked, each refused by name: a new one is to be seen here. */
const NOT_IN_CLUSTER: Readonly<Record<string, readonly string[]>> = {
  '0020-patterns': [
    '{"regexp": {"event.raw": {"value": "~(Trans.*)"}}}',
    '{"regexp": {"event.raw": {"value": "[A-Z].*&.*[a-m]", "flags": "INTERSECTION"}}}',
  ],
}

/** A value that a list has twice counts once in the length of that list, as in Elasticsearch; a store counts what events declare. */
const OTHER_SCORES: ReadonlySet<string> = new Set(['a list of hashes', 'a field that one has'])
const unscored = (answer: string): string => answer.replace(/"(?:_|max_)score":[\d.]+/g, '"score":0')

const scoresIn = (answer: string): number[] => [
  ...new Set(Array.from(answer.matchAll(/"_score":([\d.]+)/g), ([, score]) => Number(score))),
]

/** Lucene counts each value of a keyword once in a document. */
const scoreOfTopic = (body: unknown): number => {
  const { topics } = (body as { query: { term: { topics: string } } }).query.term
  const lists = loadDocuments()
    .log.map(({ _source }) => new Set(_source.topics as string[]))
    .filter(({ size }) => size > 0)
  const frequency = lists.filter(list => list.has(topics)).length
  const average = Math.fround(lists.reduce((sum, { size }) => sum + size, 0) / lists.length)
  return asFloat(bm25(inverseFrequency(lists.length, frequency), 1, 1, average))
}
