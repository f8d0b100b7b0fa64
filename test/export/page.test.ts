import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseHit } from '../../src/export/lines.ts'
import { readHits, readPage } from '../../src/export/page.ts'
import { pageBody } from '../../src/export/run.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'

const answerOf = (hits: readonly string[], token: string) =>
  Buffer.from(
    `{"took":1,"hits":{"total":${hits.length},"max_score":null,"hits":[${hits.join(',')}]},"resume":{"token":${JSON.stringify(token)},"reorganised_from":7}}`,
  )

test('a page is taken apart into the very bytes of its hits', () => {
  const hit = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { minKeys: 1 }).map(it => JSON.stringify(it))
  const nasty = fc.constantFrom('{"a":"}]\\\\","b":["\\"",{"hits":[{}]}]}', '{"\\\\\\"":"]}"}')
  fc.assert(
    fc.property(fc.array(fc.oneof(hit, nasty), { maxLength: 6 }), fc.string(), (hits, token) => {
      const answer = answerOf(hits, token)
      assert.deepEqual(readHits(answer).map(String), hits)
      const page = readPage(answer)
      assert.deepEqual(
        { ...page, hits: page.hits.map(String) },
        { hits, token, reorganisedFrom: 7, total: hits.length },
      )
    }),
  )
})

test('what is not a page is refused', () => {
  for (const text of [
    '',
    '<html>',
    '{"hits":{"hits":[',
    '{"hits":{"hits":[{"a":"',
    '{"hits":{"hits":[]}}',
    '{"hits":[]}',
  ])
    assert.throws(
      () => readPage(Buffer.from(text)),
      (error: unknown) => error instanceof ChainsieveError && error.code === 'not_an_answer',
    )
})

test('integers keep every digit', () => {
  const text = '{"_id":"1","_source":{"a":9223372036854775807,"b":[-12345678901234567,1.5,"9223372036854775807",12]}}'
  assert.equal(JSON.stringify(parseHit(Buffer.from(text))), text)
})

test('members are added in front of the text of a body', () => {
  assert.equal(pageBody(' { } ', { size: 1 }), '{"size":1 } ')
  assert.equal(pageBody('{"query":{"term":{"a":1e400}}}', { size: 1 }), '{"size":1,"query":{"term":{"a":1e400}}}')
})
