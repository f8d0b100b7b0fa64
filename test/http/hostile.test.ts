import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { ENDPOINTS } from '../../src/http/es/index.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'
import { appOf, MAINNET, TOKEN } from './support.ts'

const store = createTestStore(generatedBlocks(3))
const pool = createPool({
  stores: () => new Map([[MAINNET, store.path]]),
  ...{ threads: 1, deadlineMs: 10_000, limits: DEFAULT_LIMITS },
})
after(async () => {
  await pool.close()
  store.close()
})
const app = appOf({ search: pool, limits: DEFAULT_LIMITS })

const word = fc.constantFrom(
  ...[
    'tx',
    'block',
    'event',
    'tx,log',
    '*',
    '_all',
    't*,-tx',
    'nope',
    'ethereum',
    '__proto__',
    'constructor',
    '%00',
    '..',
  ],
  ...[
    'a%2Fb',
    '%2C',
    '_doc',
    '_search',
    '_source',
    '_mapping',
    '_cat',
    '_bulk',
    '_',
    '0x00',
    'x'.repeat(300),
    '%F0%9F%92%A9',
  ],
)
/** A path of an endpoint with anything in its places, or anything at all. */
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom(...ENDPOINTS.flatMap(({ paths }) => paths)), fc.array(word, { minLength: 4, maxLength: 4 }))
    .map(([pattern, words]) => pattern.replace(/\{\w+\}/g, () => words.pop() ?? 'tx')),
  fc.array(word, { maxLength: 5 }).map(words => words.join('/')),
)
const parameter = fc.tuple(
  fc.constantFrom(
    ...new Set(ENDPOINTS.flatMap(({ parameters = [] }) => parameters)),
    ...['filter_path', 'pretty', 'ignore_unavailable', 'allow_no_indices', '__proto__', 'x'],
  ),
  fc.oneof(
    fc.constantFrom(
      '',
      'true',
      'false',
      '1',
      '-1',
      '0',
      'a:desc',
      'hash',
      '**',
      '-**.x',
      '*.*',
      'json',
      'text',
      '1s',
      '{}',
    ),
    fc.string({ maxLength: 20 }),
  ),
)
const body = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{}\n{}\n',
    '\n',
    '{"ids":["a"]}',
    '{"docs":[{"_id":1}]}',
    '{"fields":["*"]}',
    '{"text":"a b"}',
  ),
  fc.constantFrom(
    '{"query":{"match_all":{}}}',
    '{"index":"tx"}\n{"size":1}\n',
    '[]',
    'null',
    '{"docs":[null]}',
    '{"text":[[]]}',
  ),
  fc.json({ maxDepth: 3 }),
)

test('whatever is sent to whichever endpoint: an answer in one of the known shapes, and never a fault', async () => {
  const asked = fc.record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE'),
    ...{ path, parameters: fc.array(parameter, { maxLength: 3 }), body },
    agent: fc.constantFrom('', 'curl/8', 'elasticsearch-py/6.8.2'),
  })
  await fc.assert(
    fc.asyncProperty(asked, async ({ method, path, parameters, body, agent }) => {
      const query = parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ''
      const hasBody = !['GET', 'HEAD'].includes(method)
      const reply = await app.request(`/${MAINNET}/es/${path}${query}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...(agent !== '' && { 'user-agent': agent }) },
        ...(hasBody && body !== '' ? { body } : {}),
      })
      const text = await reply.text()
      assert.ok(reply.status < 500, `${reply.status} ${text}`)
      if (method === 'HEAD') return assert.equal(text, '')
      if (reply.headers.get('content-type')?.startsWith('text/plain')) return
      const told = JSON.parse(text)
      if (reply.status < 400 || told.found === false || told.matched === false) return
      // Elasticsearch answers so for a template that is not there.
      if (path.startsWith('_template/') && text === '{}') return assert.equal(reply.status, 404)
      const { error, status } = told
      assert.equal(status, reply.status)
      assert.ok(
        error.reason.length > 0 &&
          error.root_cause[0].reason === error.reason &&
          error.type === error.root_cause[0].type,
      )
    }),
    { numRuns: 1_500 },
  )
})
