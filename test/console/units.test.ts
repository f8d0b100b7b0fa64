import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { membersOf, parseJson, toJson } from '../../src/console/api/json.ts'
import { readQuestion } from '../../src/console/pages/explore/query.ts'
import { ago, plain, since, visible } from '../../src/console/parts/format.ts'
import { findPage } from '../../src/console/routes.ts'

test('integers beyond 2^53 keep their digits', () => {
  const text = '{"a":9007199254740993,"b":[1,-18446744073709551616,1.5,1e3],"__proto__":{"c":2}}'
  const value = parseJson(text) as { a: unknown }
  assert.equal(value.a, 9007199254740993n)
  assert.equal(toJson(value), text.replace('1e3', '1000'))
})

test('membersOf splits what JSON.parse reads, and keeps every text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
      const members = membersOf(JSON.stringify(object, null, indent))
      assert.deepEqual(
        members.map(([name, raw]) => [name, JSON.parse(raw)]),
        Object.entries(JSON.parse(JSON.stringify(object))),
      )
    }),
  )
})

test('a query in JSON passes as it was typed', () => {
  const clause = '{"term": {"value.dec": 90071992547409931}}'
  assert.equal(readQuestion(clause, ['tx']).query, clause)
  assert.equal(readQuestion(`{"query": ${clause}}`, ['tx']).query, clause)
  assert.throws(() => readQuestion(`{"query": ${clause}, "size": 3}`, ['tx']), /cannot use "size"/)
  assert.throws(() => readQuestion(`{"query": {}, "query": {}}`, ['tx']), /cannot use "query"/)
})

test('characters that are not seen are named, and nothing is lost', () => {
  assert.equal(plain('a\u202eb\u0000c\u00a0d\ud800'), 'a[U+202E]b[U+0000]c[U+00A0]d[U+D800]')
  assert.equal(plain('Grüße, 世界!'), 'Grüße, 世界!')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const parts = visible(text)
      assert.equal(parts.map(({ text }) => text).join(''), text)
    }),
  )
})

test('addresses find their page and its parameters', () => {
  const load = () => Promise.reject(new Error())
  const pages = [
    { name: 'a', title: 'A', paths: ['/', '/a'], load },
    { name: 'b', title: 'B', paths: ['/:x/b/:id'], load },
  ]
  const found = (path: string) => {
    const it = findPage(path, pages)
    return it && [it.page.name, Object.fromEntries(it.parameters)]
  }
  assert.deepEqual(found('/'), ['a', {}])
  assert.deepEqual(found('/a/'), ['a', {}])
  assert.deepEqual(found('/n/b/%2F1'), ['b', { x: 'n', id: '/1' }])
  assert.equal(found('/n/b/%ff'), undefined)
  assert.equal(found('/n/c/1'), undefined)
})

test('what has happened is never still to come', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  const MINUTE = 60_000
  for (const ahead of [0, 1, 500, 2_000, 12_000, 59_000, 5 * MINUTE]) assert.equal(since(now + ahead, now), 'just now')
  assert.equal(since(now - 30_000, now), ago(now - 30_000, now))
  assert.match(since(now - 5 * MINUTE, now), /5 min/)
  // Of a chain whose clock was turned, as in tests of contracts.
  assert.match(since(now + 366 * 24 * 60 * MINUTE, now), /1 yr|next yr|year/)
  // What is due may be.
  assert.match(ago(now + 12_000, now), /in 12 sec/)
})
