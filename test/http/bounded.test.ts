import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { appOf, MAINNET, TOKEN } from './support.ts'

/** What the main thread answers itself costs no more than its limits allow, however long the lists, names and texts of a request are. */

const app = appOf({ limits: DEFAULT_LIMITS })
const ES = `/${MAINNET}/es`

const ask = async (method: string, path: string, body?: unknown) => {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await app.request(path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'user-agent': 'a client' },
    ...(text !== undefined && { body: text }),
  })
  return { status: reply.status, text: await reply.text() }
}
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const reasonOf = (text: string): string => (JSON.parse(text) as { error: { reason: string } }).error.reason

describe('beyond a limit, the error names it', () => {
  const CASES: [what: string, method: string, path: string, body: unknown, reason: RegExp][] = [
    ['patterns for fields', 'POST', '_field_caps', { fields: times(101, i => `*${i}*`) }, /more than 100 patterns/],
    ['names of fields', 'POST', '_field_caps', { fields: times(1_001, i => `f${i}`) }, /more than 1000 names/],
    ['one long pattern', 'POST', '_field_caps', { fields: '*a'.repeat(501) }, /^\[\*a.*…\] has more than 1000 char/],
    ['patterns of fields in a path', 'GET', `_mapping/field/${times(101, i => `${i}*`)}`, undefined, /100 patterns/],
    ['patterns of settings', 'GET', `_settings/${times(101, i => `${i}*`)}`, undefined, /100 patterns/],
    ['patterns of aliases', 'GET', `_alias/${times(101, i => `${i}*`)}`, undefined, /100 patterns/],
    ['patterns of columns', 'GET', `_cat/indices?h=${times(101, i => `${i}*`)}`, undefined, /100 patterns/],
    ['names of indices', 'GET', `${times(101, () => 'x*')}/_mapping`, undefined, /100 patterns/],
    [
      'names of indices of a document',
      'POST',
      '_mget',
      { docs: [{ _index: 'x*,'.repeat(101), _id: 'a' }] },
      /100 patte/,
    ],
    ['ids', 'POST', 'tx/_mget', { ids: times(10_001, String) }, /more than 10000 ids/],
    ['documents', 'POST', 'tx/_mget', { docs: times(10_001, i => ({ _id: `${i}` })) }, /more than 10000 ids/],
    ['header of a search', 'POST', '_msearch', `{"index":"${'x'.repeat(40_000)}"}\n{}\n`, /more than 32kB of JSON/],
    ['text to analyze', 'POST', '_analyze', { text: times(6_000, () => 'a') }, /more than 10000 characters/],
    ['names to filter by', 'GET', `_mapping?filter_path=${'**.'.repeat(500)}x`, undefined, /more than 500 names/],
    ['name to filter by', 'GET', `_mapping?filter_path=${'x'.repeat(1_001)}`, undefined, /more than 1000 characters/],
  ]
  for (const [what, method, path, body, reason] of CASES)
    test(what, async () => {
      const { status, text } = await ask(method, `${ES}/${path}`, body)
      if (path === '_mget' || path === '_msearch') {
        assert.equal(status, 200)
        assert.match(text, reason.source === '100 patte' ? /100 patterns/ : reason)
        assert.ok(text.length < 10_000)
      } else {
        assert.equal(status, 400, text)
        assert.match(reasonOf(text), reason)
      }
    })

  test('networks in a path', async () => {
    const { status, text } = await ask('GET', `/${times(101, () => 'e*/*/*')}/es/_mapping`)
    assert.equal(status, 400)
    assert.match(reasonOf(text), /100 patterns/)
  })

  for (const path of ['_field_caps', '_mget', '_analyze', '_search/scroll'])
    test(`a body of ${path}`, async () => {
      const { status, text } = await ask('POST', `${ES}/${path}`, { text: 'x'.repeat(1_000_001) })
      assert.equal(status, 413)
      assert.match(reasonOf(text), /no search has more than 1MB/)
    })

  test('a template that reads much and makes nothing', async () => {
    const e = times(100_000, () => '')
    const source = "{{#join delimiter=''}}e{{/join delimiter=''}}"
    for (const [count, status] of [
      [4, 200],
      [6, 413],
    ] as const) {
      const reply = await ask('POST', `${ES}/_render/template`, { source: `"${source.repeat(count)}"`, params: { e } })
      assert.equal(reply.status, status, reply.text)
      if (status === 413) assert.match(reasonOf(reply.text), /^A template has more than 4MB of output/)
    }
    const long = `{{#e}}{{${'x.'.repeat(1_000)}x}}{{/e}}`
    assert.equal((await ask('POST', `${ES}/_render/template`, { source: long, params: { e } })).status, 413)
  })
})

describe('within the limits', () => {
  test('what is listed many times is looked at once', async () => {
    const one = await ask('POST', `${ES}/_field_caps`, { fields: ['b*', 'x*', 'hash'] })
    const many = times(60_000, i => ['b*', 'x*', 'hash'][i % 3]!)
    assert.deepEqual(await ask('POST', `${ES}/_field_caps`, { fields: many }), one)
    assert.match(one.text, /"blockHash"/)
    const columns = await ask('GET', `${ES}/_cat/indices?v&h=${times(3_000, () => '*')}`)
    assert.deepEqual(columns, await ask('GET', `${ES}/_cat/indices?v&h=*`))
  })

  test('names of indices are looked up once for all documents and searches', async () => {
    const docs = times(5_000, i => ({ _index: 't*,-tr*,-tok*', _id: `${i}` }))
    const { status, text } = await ask('POST', `${ES}/_mget`, { docs })
    assert.equal(status, 200)
    assert.equal(text.match(/"kind":"tx"/g)?.length, 5_000)
    const searches = await ask('POST', `${ES}/_msearch`, '{"index":"b*"}\n{}\n'.repeat(500))
    assert.equal(searches.text.match(/"entities":"block"/g)?.length, 500)
  })

  test('an error does not repeat the names of a request without end', async () => {
    const { text } = await ask('GET', `${ES}/${times(900, i => `nope${i}`)}/_mapping`)
    assert.ok(text.length < 10_000, `${text.length}`)
  })
})

test('many searches that fail at once leave the event loop to others', async () => {
  let [turns, isDone] = [0, false]
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  const header = JSON.stringify({ index: times(900, i => `nope${String(i).padStart(20, '0')}`) })
  setImmediate(count)
  const asked = ask('POST', `${ES}/_msearch`, `${header}\n{}\n`.repeat(400))
  const { text } = await asked
  isDone = true
  assert.equal(text.match(/"status":404/g)?.length, 400)
  assert.ok(turns > 10, `${turns} turns`)
})
