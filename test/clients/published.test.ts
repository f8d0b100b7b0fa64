import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUBLISHED } from '../../scripts/clients/published.ts'
import { readPublished } from '../../scripts/clients/recordings.ts'
import { replayBodies, send } from '../../scripts/clients/replay.ts'
import { startDemo } from '../../scripts/clients/run.ts'

// What public scripts ask, against what an OpenSearch and an Elasticsearch with the same documents answered. They are asked again by
// `node scripts/clients/beside.ts --against URL --record`.

/** What is answered otherwise, and why. */
const OTHERWISE: readonly RegExp[] = [
  // OpenSearch 3 estimates percentiles otherwise than Elasticsearch 7, and knows no runtime fields.
  /^opensearch.*\.percentiles\w+\.values\./,
  /^opensearch.*runtime fields: 400, here 200/,
  // Counts are exact, also in this order.
  /doc_count_error_upper_bound: -1, here 0$/,
]

const bodies = readPublished()

test('each search has answers that are recorded', () => {
  assert.deepEqual(
    bodies.map(({ name, path, body }) => ({ name, path, body })),
    PUBLISHED,
  )
})

test('public scripts get what OpenSearch and Elasticsearch answer', async t => {
  const server = await startDemo(t)
  const names = new Set(bodies.flatMap(({ answers }) => Object.keys(answers)))
  assert.equal(names.size, 2)
  for (const name of names) {
    const outcomes = await replayBodies(server, { bodies }, name)
    const faults = outcomes.flatMap(({ call, fault }) => (fault === undefined ? [] : [`${name}: ${call}: ${fault}`]))
    assert.deepEqual(
      faults.filter(fault => !OTHERWISE.some(pattern => pattern.test(fault))),
      [],
    )
  }
  const path = '/ethereum/demo/local/es/tx/_search?doc_type=tx&search_type=scan&size=0'
  const { text } = await send(server, { method: 'POST', path, headers: {}, body: '' })
  assert.equal(JSON.parse(text).hits.total, 1717, 'types as an old client of JavaScript names them')
})
