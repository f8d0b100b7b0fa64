import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asLines, fillUrl, select, tokensInAuthority } from '../../src/delivery/payload.ts'
import { readSource } from '../../src/rules/notify/values.ts'
import type { PayloadItem } from '../../src/rules/rule.ts'

const EVENT = `{
  "event": "Transfer",
  "args": [
    {"name": "from", "pos": 0, "value": {"hex": "0xAb00000000000000000000000000000000000000", "num": null, "scaled": null, "type": "address"}},
    {"name": "value", "pos": 1, "value": {"hex": "0x3635c9adc5dea00000", "num": null, "scaled": 1000, "type": "uint256"}},
    {"name": "delta", "pos": 2, "value": {"hex": "0xfffffe", "num": -2, "scaled": null, "type": "int24"}},
    {"name": "note", "pos": 3, "value": {"hex": "0x48c3a9", "num": null, "scaled": null, "type": "string"}},
    {"name": "", "pos": 4, "value": {"hex": "0x1", "num": 1, "scaled": null, "type": "bool"}}
  ],
  "blockNumber": {"num": 9007199254740993, "raw": "0x20000000000001"},
  "transactionHash": "0xab12",
  "error": null,
  "timestamp": "2026-01-01T00:00:00"
}`

const BLOCK = `{"number": {"num": 7, "raw": "0x7"}, "difficulty": {"padded": "0x00ff", "raw": "0xffffffffffffffffff"},
  "value": {"num": 1500000000000000000, "coin": 1.5, "padded": "0x0", "raw": "0x14d1120d7b160000"},
  "transactions": ["0x1", "0x2"], "withdrawals": [{"index": 18446744073709551615, "address": "0xa"}, {"index": 2, "address": "0xb"}]}`

const field = (fieldName: string): PayloadItem => ({ fieldType: 'Field', fieldName, subPayloads: null })
const sub = (fieldName: string, ...subPayloads: PayloadItem[]): PayloadItem => ({
  fieldType: 'Sub Field',
  fieldName,
  subPayloads,
})
const chosen = (text: string, ...items: PayloadItem[]) => JSON.stringify(select(readSource(text), items))

test('a source is read and written again digit by digit', () => {
  for (const text of [EVENT, BLOCK]) {
    const compact = text.replace(/\s+/g, '')
    assert.equal(JSON.stringify(readSource(compact)), compact)
    assert.equal(JSON.stringify(select(readSource(compact), undefined)), compact)
  }
  const odd = '{"a":1.0,"b":1e400,"c":-0,"d":0.1000,"e":[12345678901234567890],"__proto__":{"x":1},"f":"1e400"}'
  assert.equal(JSON.stringify(readSource(odd)), odd)
  fc.assert(
    fc.property(fc.bigInt(), n => assert.equal(JSON.stringify(readSource(`{"n":${n}}`)), `{"n":${n}}`)),
    { seed: 3, numRuns: 500 },
  )
})

test('fields by name, to three levels; arguments by theirs; what is absent is left out', () => {
  assert.equal(chosen(EVENT, field('event'), field('error'), field('nothing')), '{"event":"Transfer","error":null}')
  assert.equal(
    chosen(EVENT, sub('args', field('delta'))),
    '{"args":{"delta":{"hex":"0xfffffe","num":-2,"scaled":null,"type":"int24"}}}',
  )
  assert.equal(
    chosen(EVENT, sub('args', sub('value', field('hex'), field('scaled'), field('gone')), sub('from', field('hex')))),
    '{"args":{"value":{"hex":"0x3635c9adc5dea00000","scaled":1000},"from":{"hex":"0xAb00000000000000000000000000000000000000"}}}',
  )
  assert.equal(chosen(EVENT, sub('blockNumber', field('num'))), '{"blockNumber":{"num":9007199254740993}}')
  assert.equal(
    chosen(EVENT, field('blockNumber.num'), field('event.raw'), field('args.value.scaled')),
    '{"blockNumber.num":9007199254740993,"event.raw":"Transfer","args.value.scaled":1000}',
  )
  // An argument without a name goes by its position.
  assert.equal(chosen(EVENT, sub('args', sub('4', field('num')))), '{"args":{"4":{"num":1}}}')
  // A name of the list's own structure is no argument.
  assert.equal(chosen(EVENT, sub('args', field('pos'))), '{}')
  assert.equal(chosen(EVENT, sub('nothing', field('x')), sub('event', field('x'))), '{}')
  assert.equal(chosen(EVENT), '{}')
})

test('lists of objects are looked into element by element, and two items may step into one field', () => {
  assert.equal(
    chosen(BLOCK, sub('withdrawals', field('index'))),
    '{"withdrawals":[{"index":18446744073709551615},{"index":2}]}',
  )
  assert.equal(
    chosen(BLOCK, sub('withdrawals', field('index')), sub('withdrawals', field('address'))),
    '{"withdrawals":[{"index":18446744073709551615,"address":"0xa"},{"index":2,"address":"0xb"}]}',
  )
  assert.equal(
    chosen(BLOCK, sub('number', field('num')), sub('number', field('raw'))),
    '{"number":{"num":7,"raw":"0x7"}}',
  )
  assert.equal(chosen(BLOCK, field('transactions')), '{"transactions":["0x1","0x2"]}')
  assert.equal(chosen(BLOCK, sub('transactions', field('hash'))), '{}')
})

test('names that every object inherits are no fields', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
    assert.equal(chosen(BLOCK, field(name), sub(name, field(name)), sub('number', field(name))), '{}')
  const own = '{"__proto__":{"polluted":1}}'
  assert.equal(chosen(own, field('__proto__')), own)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
})

const filled = (template: string, source = EVENT) => {
  const url = fillUrl(template, readSource(source))
  return typeof url === 'string' ? url : url.href
}

test('tokens of a URL become values, encoded, in one pass', () => {
  const cases: [string, string][] = [
    ['https://x.org/{transactionHash}', 'https://x.org/0xab12'],
    ['https://x.org/?n={blockNumber.num}&b={blockNumber}', 'https://x.org/?n=9007199254740993&b=9007199254740993'],
    ['https://x.org/{args.value}/{args.value.scaled}', 'https://x.org/1000000000000000000000/1000'],
    ['https://x.org/{args#value}/{args.value#scaled}#{args#to}', 'https://x.org/1000000000000000000000/1000#'],
    ['https://x.org/{args.from}', 'https://x.org/0xAb00000000000000000000000000000000000000'],
    ['https://x.org/?d={args.delta}&n={args.note}&f={args.4}', 'https://x.org/?d=-2&n=H%C3%A9&f=1'],
    ['https://x.org/?a={nothing}&b={args.nothing}&c={error}', 'https://x.org/?a=&b=&c='],
    ['https://x.org/?a={not a token}{}', 'https://x.org/?a={not%20a%20token}{}'],
    ['https://x.org/', 'https://x.org/'],
  ]
  for (const [template, expected] of cases) assert.equal(filled(template), expected, template)
  const hostile = JSON.stringify({ a: '{b}&x=1#/?', b: 'B', c: '$&', d: '\ud800', e: [1, 'a/b'] })
  assert.equal(
    filled('https://x.org/{a}?q={a}&c={c}&d={d}&e={e}', hostile),
    'https://x.org/%7Bb%7D%26x%3D1%23%2F%3F?q=%7Bb%7D%26x%3D1%23%2F%3F&c=%24%26&d=%EF%BF%BD&e=%5B1%2C%22a%2Fb%22%5D',
  )
})

test('no value changes where a URL leads', () => {
  const refused = [
    'https://{host}/',
    'https://x{a}.org/',
    'https://x.org{a}/',
    'https://x.org:{a}/',
    'https://x.org:8{a}/',
    '{a}://x.org/',
    'http{a}://x.org/',
    'https://{a}@x.org/',
    'https://u:{a}@x.org/',
    'https:{a}',
    'https:/{a}/x',
    'https:\\\\{a}',
    '{a}',
    'https://x.org{a}',
    'https://[::{a}]/',
    'ht\ntp://{a}',
    'https://x{a}y',
    'https://1.2.3.{a}/',
  ]
  for (const url of refused) assert.equal(tokensInAuthority(url), true, url)
  for (const url of [
    'https://x.org/{a}',
    'https://x.org?{a}',
    'https://x.org#{a}',
    'https://x.org',
    'https://x.org/a@{a}',
    'https://x.org\\{a}',
    'https://{}/',
  ])
    assert.equal(tokensInAuthority(url), false, url)
  assert.match(filled('https://{event}/'), /token before the path/)
  for (const dots of ['.', '..'])
    assert.match(filled('https://x.org/a/{d}/b', JSON.stringify({ d: dots })), /would change the destination/)
  assert.equal(filled('ftp://x.org/'), 'its URL is neither http nor https')
  assert.equal(filled('x.org'), 'its URL is not valid')

  const part = fc.constantFrom(
    '{a}',
    '{b}',
    '/',
    '//',
    '\\',
    '@',
    ':',
    '?',
    '#',
    'x.org',
    'https:',
    'http:',
    '.',
    '..',
    '[',
    ']',
    '%2e',
    '\t',
    '80',
    'a',
  )
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '.', '..', '/', '//evil.org', '@evil.org', ':1', 'evil.org#'),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), value, value, (parts, a, b) => {
      const template = `https://${parts.join('')}`
      const url = fillUrl(template, { a, b })
      if (typeof url === 'string') return
      const bare = new URL(template.replaceAll('{a}', 'zz').replaceAll('{b}', 'zz'))
      assert.equal(url.origin, bare.origin)
      assert.deepEqual([url.username, url.password], [bare.username, bare.password])
      assert.equal(url.pathname.split('/').length, bare.pathname.split('/').length)
    }),
    { seed: 5, numRuns: 5_000 },
  )
})

test('fields line by line for people', () => {
  assert.deepEqual(asLines(readSource(EVENT)), [
    ['event', 'Transfer'],
    ['args.from', '0xAb00000000000000000000000000000000000000'],
    ['args.value', '1000 (1000000000000000000000)'],
    ['args.delta', '-2'],
    ['args.note', 'Hé'],
    ['args.4', 'true'],
    ['blockNumber', '9007199254740993'],
    ['transactionHash', '0xab12'],
    ['error', 'null'],
    ['timestamp', '2026-01-01T00:00:00'],
  ])
  // Beyond 64 bits there is no `num`: two's complement of its width.
  const wide = { hex: `0x${'f'.repeat(63)}0`, num: null, scaled: null }
  assert.deepEqual(
    asLines({ a: { ...wide, type: 'int256' }, b: { ...wide, type: 'uint256' }, c: { ...wide, type: 'bytes32' } }),
    [
      ['a', '-16'],
      ['b', String(2n ** 256n - 16n)],
      ['c', wide.hex],
    ],
  )
  assert.deepEqual(asLines(readSource(BLOCK)), [
    ['number', '7'],
    ['difficulty', '4722366482869645213695'],
    ['value', '1.5 (1500000000000000000)'],
    ['transactions', '0x1, 0x2'],
    ['withdrawals.0.index', '18446744073709551615'],
    ['withdrawals.0.address', '0xa'],
    ['withdrawals.1.index', '2'],
    ['withdrawals.1.address', '0xb'],
  ])
})

test('rules of old reach a trace through the list that it was in', () => {
  const trace = readSource('{"transactionHash":"0xab","action":{"to":"0xAb","value":{"num":5,"raw":"0x5"}}}')
  const payload = [field('transactionHash'), sub('trace', sub('action', field('to')))]
  assert.deepEqual(select(trace, payload, 'Trace'), { transactionHash: '0xab', trace: { action: { to: '0xAb' } } })
  assert.deepEqual(select(trace, payload, 'Event'), { transactionHash: '0xab' })
  assert.equal(select(trace, undefined, 'Trace'), trace)
  assert.equal(String(fillUrl('https://x.org/{trace.action#value}', trace, 'Trace')), 'https://x.org/5')
})
