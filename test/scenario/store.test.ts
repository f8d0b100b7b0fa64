import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { type Server, serve, succeed, tempFolder } from '../e2e/program.ts'
import {
  bodyText,
  checkAnswer,
  type Expectation,
  loadDocuments,
  loadScenarios,
  nameOf,
  parseLossless,
  type Scenario,
  shapeAnswer,
} from '../support/scenarios.ts'

/** The scenarios against the whole program: blocks imported from a pack, stored, and searched over HTTP. */

const NETWORK = 'ethereum/scenario/mainnet'
const documents = loadDocuments()
const names = new Map(
  KINDS.flatMap(kind => documents[kind].map(document => [`${kind} ${document._id}`, nameOf(kind, document)] as const)),
)

interface Answer {
  status: number
  error?: { type: string; reason: string }
  hits: { total: number; hits: { _type: Kind; _id: string; _source?: unknown }[] }
}

let server: Server
let cleanUp = () => {}
const scope = {
  after: (fn: () => void) => {
    cleanUp = fn
  },
}
after(() => cleanUp())

before(async () => {
  const folder = tempFolder(scope)
  const data = join(folder, 'data')
  await succeed(scope, ['import', '--network', NETWORK, fileURLToPath(new URL('blocks.ndjson', import.meta.url))], {
    data,
  })
  server = await serve(scope, data)
})

const ask = async (entities: string, body: string | undefined): Promise<{ status: number; answer: Answer }> => {
  const response = await fetch(`${server.url}/${NETWORK}/es/${entities}/search/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, answer: parseLossless(await response.text()) as Answer }
}

const answerOf = async (scenario: Scenario): Promise<Expectation> => {
  const { status, answer } = await ask(scenario.request.entities, bodyText(scenario))
  if (answer.error) return { status, error: { type: answer.error.type, reason: answer.error.reason } }
  const hits = answer.hits.hits.map(({ _type, _id, _source }) => ({
    name: names.get(`${_type} ${_id}`)!,
    source: _source,
  }))
  return shapeAnswer(scenario, answer.hits.total, hits)
}

// What the scenarios' documents say nothing of is held against others: test/documents/build.test.ts.
for (const kind of KINDS.filter(kind => !['call', 'contract', 'token'].includes(kind))) {
  test(`every ${kind} comes out as it must`, async () => {
    const { answer } = await ask(kind, '{"size":-1,"sort":"_doc"}')
    assert.deepEqual(
      answer.hits.hits.map(({ _id, _source }) => ({ _id, _source })),
      documents[kind],
    )
  })
}

for (const { file, about, cases } of loadScenarios()) {
  describe(`${file}: ${about}`, () => {
    for (const scenario of cases) {
      test(scenario.name, async () => {
        checkAnswer(scenario, await answerOf(scenario))
      })
    }
  })
}
