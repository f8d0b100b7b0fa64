import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { SCOPES, type TokenScope } from '../../src/accounts/index.ts'
import type { OpenApi } from '../../src/http/description.ts'
import { AGGREGATIONS } from '../../src/query/aggs/kinds/index.ts'
import type { AggregationKind } from '../../src/query/aggs/kinds/kind.ts'
import { PIPELINES } from '../../src/query/aggs/pipelines/index.ts'
import type { Clause } from '../../src/query/dsl/clause.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'
import { createChecker, responseOf } from '../support/openapi.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { serve, tempFolder } from './program.ts'

const ES = '/{technology}/{blockchain}/{network}/es'

const ABI = [{ type: 'event', name: 'Moored', inputs: [] }]

interface Asked {
  /** What stands for the parts of the path. */
  path?: Record<string, string>
  query?: string
  body?: unknown
  status?: number
}

/** A request for each operation that needs more than its path; `ids` are those that the server has given. */
/** What stands around aggregations that need it. */
const AROUND: Record<string, object> = {
  reverse_nested: { nested: { path: 'args' } },
  rate: { date_histogram: { field: 'timestamp', calendar_interval: 'day' } },
}

const asked = (ids: Record<string, string>, rule: object): Record<string, Asked> => {
  const [tx, event] = [ids.tx!, ids.event!]
  const doc = { index: 'tx', id: tx, document: tx, type: 'tx' }
  const keep = { query: 'keep_alive=1m' }
  const all = { fields: '*' }
  const list = { path: { name: 'whales' } }
  const query = { query: { match_all: {} } }
  const msearch = '{"index":"tx"}\n{"size":1}\n{"index":"log"}\n{"query":{"no":1}}\n'
  return {
    '/metrics get': {},
    '/mcp post': { body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
    // Nothing has these names.
    ...Object.fromEntries(
      ['_tasks/{id}', ...['_template', '_component_template', '_index_template'].map(it => `${it}/{names}`)].map(it => [
        `${ES}/${it} get`,
        { status: 404 },
      ]),
    ),
    '/status/storage get': { query: `network=${ids.network}` },
    '/abis post': { body: ABI, status: 201 },
    '/abis/{id} get': { path: { id: ids.abi! } },
    '/abis/{id} delete': { path: { id: ids.abi! }, status: 204 },
    '/redecodings post': { body: { abis: [ids.abi] }, status: 202 },
    // None goes on, and nothing was found yet.
    '/redecodings/{id} delete': { path: { id: 'none' }, status: 404 },
    '/alerting/deliveries/{id} get': { path: { id: '1000' }, status: 404 },
    '/alerting/deliveries/redeliver post': { body: { dead: true } },
    '/{technology}/{blockchain}/{network}/abi/{address} get': { path: { address: `0x${'00'.repeat(20)}` } },
    ...Object.fromEntries(
      ['', '/values', '/add', '/remove'].flatMap(at => [
        [`/alerting/lists/{name}${at} get`, list],
        [`/alerting/lists/{name}${at} post`, { ...list, body: `${WATCHED}\n` }],
      ]),
    ),
    '/alerting/lists/{name} put': { ...list, body: `${WATCHED}\n` },
    '/alerting/lists/{name} delete': { ...list, status: 204 },
    '/alerting/silences post': {
      body: { matcher: { fields: { address: WATCHED } }, to: '2999-01-01T00:00:00Z', reason: 'none' },
      status: 201,
    },
    '/alerting/silences/{id} put': {
      path: { id: '1' },
      body: { matcher: { fields: { address: WATCHED } }, to: '2999-01-01T00:00:00Z', reason: 'others' },
    },
    '/alerting/silences/{id} delete': { path: { id: '1' }, status: 204 },
    '/alerting/rules post': { body: rule, status: 201 },
    '/alerting/rules/bulk post': { body: `${JSON.stringify(rule)}\n`, status: 201 },
    '/alerting/rules/simulate post': { body: { ...rule, size: 1 } },
    '/alerting/rules/test post': { body: rule },
    '/alerting/rules/{id} put': { body: { name: 'Another' } },
    '/alerting/rules/{id}/redeliver post': { body: { dead: true } },
    '/alerting/rules/{id} delete': { status: 204 },
    ...Object.fromEntries(
      ['get', 'post'].flatMap(method => [
        ...['', '/{id}'].map(id => [
          `${ES}/_search/scroll${id} ${method}`,
          { path: { id: ids.scroll! }, body: id === '' ? { scroll_id: ids.scroll, scroll: '1m' } : undefined },
        ]),
        ...['', '/{index}', '/{index}/{type}'].flatMap(at => [
          [`${ES}${at}/_msearch ${method}`, { path: doc, body: msearch }],
          [`${ES}${at}/_search/template ${method}`, { path: doc, body: { source: query } }],
          [`${ES}${at}/_msearch/template ${method}`, { path: doc, body: '{}\n{"source":{"size":1}}\n' }],
          [`${ES}${at}/_mget ${method}`, { path: doc, body: { docs: [{ _index: 'tx', _id: tx }] } }],
          [`${ES}${at}/_validate/query ${method}`, { path: doc, body: query }],
          [`${ES}${at}/_field_caps ${method}`, { path: doc, body: { fields: ['*'] } }],
          [`${ES}${at}/_analyze ${method}`, { path: doc, body: { text: 'One two' } }],
        ]),
        [`${ES}/_render/template ${method}`, { body: { source: query } }],
        // None are stored.
        [`${ES}/_render/template/{id} ${method}`, { path: { id: 'mine' }, body: { source: query }, status: 400 }],
        [`${ES}/{index}/_explain/{id} ${method}`, { path: doc, body: query }],
        [`${ES}/{index}/{type}/{id}/_explain ${method}`, { path: doc, body: query }],
      ]),
    ),
    [`${ES}/_search/scroll delete`]: { body: { scroll_id: ids.scroll } },
    [`${ES}/_search/scroll/{id} delete`]: { path: { id: ids.scroll! } },
    [`${ES}/{index}/_pit post`]: { path: doc, ...keep },
    [`${ES}/_pit delete`]: { body: { id: ids.pit } },
    [`${ES}/{index}/_search/point_in_time post`]: { path: doc, ...keep },
    [`${ES}/_search/point_in_time delete`]: { body: { pit_id: [ids.pit] } },
    [`${ES}/{index}/_source/{id} get`]: { path: { index: 'event', id: event } },
    [`${ES}/contract/{id}/similar get`]: { path: { id: `0x${'00'.repeat(20)}` }, status: 404 },
    [`${ES}/event/{id}/similar get`]: { path: { id: `0x${'00'.repeat(32)}_e_0` }, status: 404 },
    [`${ES}/call/{id}/similar get`]: { path: { id: `0x${'00'.repeat(32)}_c` }, status: 404 },
    [`${ES}/suggest get`]: { query: 'q=trans' },
    [`${ES}/_nodes/{names} get`]: { path: { names: '_all' } },
    [`${ES}/_nodes/{name}/{names} get`]: { path: { name: '_all', names: 'http' } },
    [`${ES}/_field_caps get`]: { query: 'fields=*', body: all },
  }
}

/** A value of a watch list. */
const WATCHED = `0x${'00'.repeat(20)}`

const DEFAULTS: Record<string, string> = { index: 'tx', type: 'tx', names: '_all', id: '', document: '' }

/** A server with the demo chain, and what it says of itself. */
const serveDemo = async (t: TestContext, scopes?: readonly TokenScope[]) => {
  const server = await serve(t, tempFolder(t), ['--metrics', 'open', '--allow-target', '127.0.0.1'], { scopes })
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await server.send(path, body, { method, headers: { 'content-type': 'text/plain', ...headers } })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const api = JSON.parse((await send('GET', '/openapi.json')).text) as OpenApi
  return { send, api, check: createChecker(api) }
}

const DEMO = { technology: 'ethereum', blockchain: 'demo', network: 'local' }
const filled = (path: string, parts: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent({ ...DEFAULTS, ...DEMO, ...parts }[name]!))

describe('a client that is made from the description', () => {
  it('sends every example and every listed value, and is answered', async t => {
    const { send, api, check } = await serveDemo(t)
    const es = filled(ES, {})
    const hit = JSON.parse((await send('GET', `${es}/tx/_search?size=1`)).text).hits.hits[0]
    assert.equal((await send('POST', '/alerting/rules', exampleOf(api, '/alerting/rules', 'post'))).status, 201)
    const parts = { id: hit._id, document: hit._id }
    const faults: string[] = []
    let sent = 0
    const expect = async (what: string, good: boolean, ...asked: Parameters<typeof send>) => {
      sent++
      const { status, text } = await send(...asked)
      if (good ? status >= 300 : status !== 400) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
    }

    for (const [path, methods] of Object.entries(api.paths))
      for (const [method, { requestBody, parameters = [] }] of Object.entries(methods)) {
        const own = path.startsWith('/alerting') ? { ...parts, id: '1' } : parts
        const target = filled(path, own)
        for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
          // fetch sends no body with GET, and nothing is stored under the id of a template or of a test.
          if (example === undefined || method === 'get' || /\/test$|_render\/template\/\{id\}/.test(path)) continue
          assert.equal(check.body(path, method, example, type), undefined, `${method} ${path}`)
          await expect(`${method} ${path}`, true, method.toUpperCase(), target, example)
        }
        // One path of each kind is enough: all share the code.
        if (
          method !== 'get' ||
          !/alerts$|_cat\/indices$|\{index\}\/(_search|_mapping|_settings|_field_caps)$/.test(path)
        )
          continue
        for (const shown of parameters) {
          const whole = shown.$ref === undefined ? shown : api.components.parameters[shown.$ref.split('/').at(-1)!]
          const { name, schema } = whole as unknown as Parameter
          const ask = (value: string) =>
            `${target}?${new URLSearchParams({ ...(path.endsWith('_field_caps') && { fields: '*' }), q: 'a', [name]: value })}`
          if (schema.enum === undefined) continue
          const query = (value: string) => (path.endsWith('_search') ? ask(value) : ask(value).replace(/q=a&?/, ''))
          for (const value of schema.enum) await expect(`${name}=${value} of ${path}`, true, 'GET', query(value))
          await expect(`${name}=nonsense of ${path}`, false, 'GET', query('nonsense'))
        }
      }

    const { Query, Aggregation, SearchBody } = api.components.schemas as unknown as Record<string, Exampled>
    for (const body of SearchBody!.examples!) await expect('SearchBody', true, 'POST', `${es}/event/_search`, body)
    for (const [name, { examples = [] }] of Object.entries(Query!.properties))
      for (const example of examples) {
        const on = Object.hasOwn(CLAUSES, name) ? (CLAUSES[name as keyof typeof CLAUSES] as Clause).on : undefined
        await expect(name, true, 'POST', `${es}/${on ?? 'event'}/_search`, { query: { [name]: example } })
      }
    for (const [name, { examples = [] }] of Object.entries(Aggregation!.properties))
      for (const example of examples) {
        if (Object.hasOwn(PIPELINES, name)) continue
        const { on = 'event' } = AGGREGATIONS[name as keyof typeof AGGREGATIONS] as AggregationKind
        const one = { a: { [name]: example } }
        const outer = AROUND[name]
        const aggs = outer ? { n: { ...outer, aggs: one } } : one
        await expect(name, true, 'POST', `${es}/${on}/_search`, { size: 0, aggs })
      }
    assert.deepEqual(faults, [])
    assert.ok(sent > 120, String(sent))
  })

  it('is told of errors as described', async t => {
    const { send, api, check } = await serveDemo(t)
    const faults: string[] = []
    for (const [path, methods] of Object.entries(api.paths))
      for (const [method, { security, responses }] of Object.entries(methods)) {
        // Metrics are open here.
        if (security?.length === 0 || path === '/metrics') continue
        const { status, headers, text } = await send(method.toUpperCase(), filled(path, { id: '1' }), undefined, {
          authorization: 'Bearer cs_no',
        })
        const known = status in responses ? check.answer(path, method, status, JSON.parse(text)) : 'not described'
        // An address that shows a bad token again and again is told to wait.
        if ((status !== 401 && status !== 429) || known !== undefined)
          faults.push(`${method} ${path}: ${status} ${known}`)
        const due = Object.keys(responseOf(api, responses[status]!).headers ?? {}).slice(0, 1)
        for (const name of due) if (!headers.has(name)) faults.push(`${method} ${path}: ${status} has no ${name}`)
      }
    assert.deepEqual(faults, [])
  })
})

interface Parameter {
  name: string
  schema: { enum?: readonly string[] }
}

interface Exampled {
  examples?: readonly unknown[]
  properties: Record<string, { examples?: readonly unknown[] }>
}

const exampleOf = (api: OpenApi, path: string, method: string): unknown =>
  Object.values(api.paths[path]![method]!.requestBody!.content)[0]!.example

describe('the description of a server', () => {
  it('holds of what it answers to a request of each operation', async t => {
    const { send, api, check } = await serveDemo(t, SCOPES)
    const { networks } = JSON.parse((await send('GET', '/status')).text) as { networks: { network: string }[] }
    const [technology, blockchain, network] = networks[0]!.network.split('/') as [string, string, string]
    const es = `/${networks[0]!.network}/es`
    const first = async (kind: string) =>
      JSON.parse((await send('GET', `${es}/${kind}/_search?size=1`)).text).hits.hits[0]._id
    const added = JSON.parse((await send('POST', '/abis', ABI)).text) as { abis: { id: string }[] }
    const ids: Record<string, string> = {
      ...{ tx: await first('tx'), event: await first('event') },
      ...{ network: networks[0]!.network, abi: added.abis[0]!.id },
    }
    const fresh = async () => {
      ids.scroll = JSON.parse((await send('GET', `${es}/tx/_search?scroll=1m&size=1`)).text)._scroll_id
      ids.pit = JSON.parse((await send('POST', `${es}/tx/_pit?keep_alive=1m`)).text).id
    }
    const receiver = await startReceiver(t)
    const alerts = [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }]
    const rule = ruleBody({ technology, blockchain, network, config: ruleConfig({ alerts }) })
    await send('POST', '/alerting/rules', rule)
    await send('PUT', '/alerting/lists/whales', `${WATCHED}\n`)

    const faults: string[] = []
    // What removes something comes last.
    const order = ['get', 'post', 'put', 'delete']
    const operations = Object.entries(api.paths)
      .flatMap(([path, methods]) => Object.keys(methods).map(method => ({ path, method })))
      .toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))
    for (const { path, method } of operations) {
      if (/scroll|pit|point_in_time/.test(path)) await fresh()
      const own = asked(ids, rule)[`${path} ${method}`] ?? {}
      const isRule = path.startsWith('/alerting')
      const parts = {
        ...DEFAULTS,
        id: isRule ? '1' : ids.tx!,
        document: ids.tx!,
        ...own.path,
        technology,
        blockchain,
        network,
      }
      const target = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(parts[name as keyof typeof parts]!),
      )
      // fetch sends no body with GET: curl and clients do, which other tests show.
      const body = method === 'get' ? undefined : own.body
      if (method === 'get' && own.body !== undefined) continue
      if (body !== undefined) {
        const type = Object.keys(api.paths[path]![method]!.requestBody!.content)[0]!
        const wrong = check.body(path, method, body, type)
        if (wrong) faults.push(`the body of ${method} ${path}: ${wrong}`)
      }
      const reply = await send(method.toUpperCase(), `${target}${own.query ? `?${own.query}` : ''}`, body)
      const type = (reply.headers.get('content-type') ?? '').split(';')[0]!
      const { responses } = api.paths[path]![method]!
      const known = Object.hasOwn(responses, reply.status) ? reply.status : 'default'
      if ((own.status ?? 200) !== reply.status)
        faults.push(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
      const { content } = responseOf(api, responses[known]!)
      if (content === undefined) {
        if (reply.text !== '') faults.push(`${method} ${path}: ${reply.status} has a body`)
        continue
      }
      if (!Object.hasOwn(content, type)) faults.push(`${method} ${path}: answers ${type}`)
      else {
        const wrong = check.answer(
          path,
          method,
          known,
          type === 'application/json' ? JSON.parse(reply.text) : reply.text,
          type,
        )
        if (wrong) faults.push(`${method} ${path}: ${wrong} ${reply.text.slice(0, 200)}`)
      }
    }
    assert.deepEqual(faults, [])

    const wrong = await send('POST', `${es}/tx/_search`, { query: { no: 1 } })
    assert.equal(wrong.status, 400)
    assert.equal(check.answer(`${ES}/{index}/_search`, 'post', 'default', JSON.parse(wrong.text)), undefined)
    assert.notEqual(check.answer(`${ES}/{index}/_search`, 'post', 200, JSON.parse(wrong.text)), undefined)
  })
})
