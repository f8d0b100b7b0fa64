import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAnswer, checkRelations } from '../../scripts/attack/answer.ts'
import { judge } from '../../scripts/attack/evaluate.ts'
import { isRecord, readJson } from '../../scripts/attack/json.ts'
import type { Shown } from '../../scripts/attack/reading.ts'
import { differences } from '../../scripts/attack/wire.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { bodyText, kindsOf, loadDocuments, loadScenarios } from '../support/scenarios.ts'

/** With the parents that a server tells beside each hit. */
const documents = Object.fromEntries(
  Object.entries(loadDocuments()).map(([kind, all]) => [
    kind,
    all.map(({ _id, _source }): Shown => {
      const parent = kind === 'tx' ? _source.blockHash : _source.transactionHash
      return { _id, _source, ...(typeof parent === 'string' && { _parent: parent }) }
    }),
  ]),
) as Record<Kind, Shown[]>

test('the second reading of queries knows most scenarios, and is right about all that it knows', () => {
  let [known, all] = [0, 0]
  for (const { file, cases } of loadScenarios()) {
    for (const scenario of cases) {
      const { expect, request, name } = scenario
      const text = bodyText(scenario)
      const body = text === undefined ? {} : readJson(text)
      if ('error' in expect || !isRecord(body)) continue
      const kinds = kindsOf(request.entities)
      const verdicts = kinds.map(kind => judge(body.query, kind, kinds, documents))
      all++
      if (verdicts.some(verdict => 'unknown' in verdict)) continue
      known++
      const total = verdicts.reduce((sum, verdict) => ('ids' in verdict ? sum + verdict.ids.size : Number.NaN), 0)
      if (body.track_total_hits === undefined) assert.equal(total, expect.total, `${file}: ${name}`)
    }
  }
  // The others are held against the predicate of the query.
  assert.ok(known > 0.5 * all, `${known} of ${all}`)
})

const answer = (total: number, ids: readonly string[]) =>
  JSON.stringify({ hits: { total, hits: ids.map(_id => ({ _type: 'block', _id, _source: {} })) } })
const check = (body: string, text: string) => checkAnswer(body, ['block'], text, documents)
const blocks = documents.block.length

test('a wrong 200 is found', () => {
  const none = '{"_source":["x"],"query":{"match_none":{}}}'
  assert.deepEqual(check(none, answer(0, [])), { checked: true })
  assert.match(check(none, answer(1, [])).fault!, /total is 1, and 0 match/)
  assert.match(check(none, answer(0, ['0x1'])).fault!, /1 hits, and 0 are due/)
  assert.match(
    check('{"query":{"range":{"timestamp":{"gte":1,"format":"constructor"}}}}', answer(blocks, [])).fault!,
    /format/,
  )
  assert.match(check('{"query":{"term":{"hash":"0x","boots":1}}}', answer(0, [])).fault!, /2 fields/)
  assert.match(check('{"sizes":1}', answer(blocks, [])).fault!, /unknown key sizes/)
  assert.match(check('{"query":', answer(blocks, [])).fault!, /no JSON/)
})

test('a bound that vanished shows by its opposite', async () => {
  const body = readJson('{"query":{"range":{"timestamp":{"gte":"2024","format":"yyyy"}}}}')
  const totals = (vanished: boolean) => async (query: string) =>
    query.includes('must_not')
      ? query.split('must_not').length % 2
        ? 6
        : 0
      : vanished || !query.includes('"lt"')
        ? 6
        : 0
  assert.equal(await checkRelations(body, ['block'], totals(false)), undefined)
  assert.match((await checkRelations(body, ['block'], totals(true)))!, /6 on one side and 6 on the other, of 6/)
})

test('a member of a form that no node gives is told from another value', () => {
  const bad = (honest: unknown, got: unknown) => differences({ tx: honest }, { tx: got }).bad
  assert.equal(bad({ gas: '0x5' }, { gas: '0x6' }), undefined)
  assert.equal(bad({ to: '0x5' }, { to: null }), undefined)
  assert.equal(bad({ from: '0x5' }, {}), 'tx.from is missing')
  assert.equal(bad({ gas: '0x5' }, { gas: '0x05' }), 'tx.gas is "0x05"')
  assert.equal(bad({ gas: '0x5' }, { gas: ['0x5'] }), 'tx.gas is ["0x5"]')
  assert.equal(bad({ input: '0x05' }, { input: '0x056' }), 'tx.input is "0x056"')
  assert.equal(bad({ status: '0x1' }, { status: '0x5' }), 'tx.status is "0x5"')
})
