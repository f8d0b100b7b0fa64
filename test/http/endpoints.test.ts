import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AppServices } from '../../src/http/app.ts'
import { refuse } from '../../src/lib/errors.ts'
import type { SearchService } from '../../src/search/service.ts'
import { appOf, COUNTS, echo, MAINNET, TOKEN } from './support.ts'

const ES = `/${MAINNET}/es`
const NAME = 'ethereum-ethereum-mainnet'
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'elasticsearch-js/7.17.14' }
const ALL = 'block,tx,log,event,trace,call,contract,token'

const call = async (
  method: string,
  path: string,
  {
    body,
    headers = {},
    search = echo,
    ...services
  }: { body?: string; headers?: Record<string, string> } & Partial<AppServices> = {},
) => {
  const reply = await appOf({ search, ...services }).request(`${ES}/${path}`, {
    method,
    headers: { ...HEADERS, ...headers },
    ...(body === undefined ? {} : { body }),
  })
  const text = await reply.text()
  const isJson = text !== '' && reply.headers.get('content-type')?.includes('json')
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text }
}
const bodyOf = async (...asked: Parameters<typeof call>) => (await call(...asked)).body

describe('names of indexes', () => {
  const OF: [names: string, entities: string | undefined][] = [
    ['tx', 'tx'],
    ['tx,block', 'tx,block'],
    ['tx%2Cblock', 'tx,block'],
    [`${NAME}-tx`, 'tx'],
    [`0006-${NAME}-tx`, 'tx'],
    [`${NAME}-*`, ALL],
    [NAME, ALL],
    ['ethereum', ALL],
    ['_all', ALL],
    ['*', ALL],
    ['t*', 'tx,trace,token'],
    ['*-t*', 'tx,trace,token'],
    ['*o*,-token,-lo*', 'block,contract'],
    ['x*', ''],
    ['nope', undefined],
    ['tx,nope', undefined],
    ['-tx', undefined],
    [`ethereum-gnosis-mainnet-tx`, undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
  ]
  for (const [names, entities] of OF)
    test(names, async () => {
      const { status, body } = await call('POST', `${names}/_search`)
      if (entities === undefined && names.startsWith('_')) assert.equal(status, 400)
      else if (entities === undefined) assert.deepEqual([status, body.error.type], [404, 'index_not_found_exception'])
      else assert.equal(body.entities, entities)
    })

  test('none means all, and a document type narrows down', async () => {
    assert.equal((await bodyOf('POST', '_search')).entities, ALL)
    assert.equal((await bodyOf('POST', 'tx/tx/_search')).entities, 'tx')
    assert.equal((await bodyOf('POST', 'ethereum/tx,log/_search')).entities, 'tx,log')
    assert.equal((await bodyOf('POST', '_search?type=tx')).entities, 'tx')
    assert.equal((await bodyOf('POST', 'log/tx/_search')).entities, '')
  })

  test('ignore_unavailable and allow_no_indices', async () => {
    assert.equal((await bodyOf('POST', 'nope/_search?ignore_unavailable=true')).entities, '')
    assert.equal((await bodyOf('POST', 'tx,nope/_search?ignore_unavailable')).entities, 'tx')
    assert.equal((await call('POST', 'x*/_search?allow_no_indices=false')).status, 404)
    assert.equal((await call('POST', 'nope/_search?ignore_unavailable=true&allow_no_indices=false')).status, 404)
    assert.equal((await call('POST', 'tx/_search?ignore_unavailable=maybe')).status, 400)
  })
})

describe('paths', () => {
  test('no name of an endpoint is taken for the id of a document', async () => {
    const names = ['_bulk', '_nope', '_search', '_async_search', '_sql', '_xpack', '_pit', '_cat', '_']
    for (const name of names)
      for (const path of [`tx/${name}`, name, `tx/${name}/1`, `tx/tx/${name}`])
        for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
          const { status, body } = await call(method, path)
          assert.notEqual(body.found, false)
          assert.equal(body.id, undefined, `${method} ${path}`)
          assert.ok(status !== 404 && status < 500, `${method} ${path} ${status}`)
        }
  })

  test('what would change something is refused as that', async () => {
    const changes: [string, string][] = [
      ...(['_bulk', 'tx/_bulk', 'tx/_update/1', 'tx/_doc', 'tx/_doc/1', 'tx/_create/1'] as const).map(
        path => ['POST', path] as [string, string],
      ),
      ...(['tx/_delete_by_query', 'tx/_update_by_query', '_reindex', '_aliases', 'tx/_close'] as const).map(
        path => ['POST', path] as [string, string],
      ),
      ...(['tx', 'new', 'tx/_doc/1', 'tx/_mapping', 'tx/_settings', 'tx/_alias/a', '_template/x'] as const).map(
        path => ['PUT', path] as [string, string],
      ),
      ...(['tx', 'tx/_doc/1', '*'] as const).map(path => ['DELETE', path] as [string, string]),
    ]
    for (const [method, path] of changes) {
      const { status, body, headers } = await call(method, path, { body: '{}' })
      assert.deepEqual([status, body.error.type], [405, 'method_not_allowed_exception'], `${method} ${path}`)
      assert.match(body.error.reason, /read only/)
      assert.ok(headers.has('allow'))
    }
  })

  test('what is not supported is refused by name', async () => {
    for (const path of [
      '_sql',
      '_query',
      'tx/_async_search',
      'tx/_search/template/x',
      '_plugins/_sql',
      'tx/_terms_enum',
    ]) {
      const { status, body } = await call('POST', path, { body: '{}' })
      assert.deepEqual([status, body.error.type], [400, 'illegal_argument_exception'], path)
      assert.match(body.error.reason, /^The endpoint \[_[\w/]+\] is not supported\. \w/)
    }
  })

  test('unknown parameters are named with the nearest', async () => {
    const { status, body } = await call('GET', 'tx/_mapping?prety&x=1')
    assert.equal(status, 400)
    assert.equal(
      body.error.reason,
      `request [${ES}/tx/_mapping] contains unrecognized parameters: [prety] -> did you mean [pretty]?, [x]`,
    )
  })

  test('HEAD answers wherever GET does, without a body', async () => {
    for (const [path, status] of [
      ...([
        ['', 200],
        ['tx', 200],
        ['nope', 404],
        ['tx/_doc/1', 200],
        ['tx/_doc/absent', 404],
      ] as const),
      ...([
        ['tx/_source/1', 200],
        ['tx/_search', 200],
        ['tx/_doc/1?stored_fields=_none_&_source=false', 200],
      ] as const),
    ]) {
      const reply = await call('HEAD', path)
      assert.deepEqual([reply.status, reply.body], [status, ''], path)
      if (status === 200) assert.equal(reply.headers.get('x-elastic-product'), 'Elasticsearch', path)
    }
  })

  test('a path that is no URL encoding', async () => {
    assert.equal((await call('GET', 'tx/%zz')).status, 400)
  })
})

describe('searches', () => {
  test('filter_path and typed_keys go to the service', async () => {
    const { dialect } = await bodyOf('POST', 'tx/_search?filter_path=hits.hits._id,-took&typed_keys=true')
    assert.deepEqual(dialect, {
      totals: 'object',
      typedKeys: true,
      parents: false,
      filterPath: ['hits.hits._id', '-took'],
    })
  })

  test('the body may stand in the URL', async () => {
    const source = encodeURIComponent('{"size":1}')
    assert.equal(
      (await bodyOf('GET', `tx/_search?source=${source}&source_content_type=application/json`)).body,
      '{"size":1}',
    )
  })

  test('count, validity and explanation are forms of a search', async () => {
    const forms = async (method: string, path: string) => {
      const { entities, form, parameters } = await bodyOf(method, path, method === 'POST' ? { body: '{}' } : {})
      return { entities, form, parameters }
    }
    const parameters = undefined
    assert.deepEqual(await forms('POST', 'tx/_count'), { entities: 'tx', form: { tell: 'count' }, parameters })
    assert.deepEqual(await forms('GET', 'tx/count'), { entities: 'tx', form: { tell: 'count' }, parameters })
    assert.deepEqual(await forms('GET', '_count?q=a'), {
      entities: ALL,
      form: { tell: 'count' },
      parameters: [['q', 'a']],
    })
    assert.deepEqual(await forms('POST', 'tx/_validate/query?explain=true'), {
      ...{ entities: 'tx', form: { tell: 'validity', why: true }, parameters },
    })
    for (const path of ['tx/_explain/0x1', 'tx/tx/0x1/_explain'])
      assert.deepEqual(await forms('POST', path), {
        ...{ entities: 'tx', form: { tell: 'match', kind: 'tx', id: '0x1' }, parameters },
      })
  })

  test('documents by old and new paths, with what of them is wanted', async () => {
    const of = async (path: string) => {
      const { network: _, ...asked } = await bodyOf('GET', path)
      return asked
    }
    for (const path of ['tx/_doc/1', 'tx/1', 'tx/tx/1', `${NAME}-tx/_doc/1`, 'ethereum/tx/1'])
      assert.deepEqual(await of(path), { entity: 'tx', id: '1' }, path)
    assert.deepEqual(await of('tx/_doc/1?_source_includes=a'), {
      ...{ entity: 'tx', id: '1', source: { includes: ['a'], excludes: [] } },
    })
    assert.deepEqual(await of('tx/_doc/1?_source=false'), { entity: 'tx', id: '1', source: false })
    assert.deepEqual(await of('tx/_doc/_search'), { entity: 'tx', id: '_search' })
    assert.deepEqual(await of('tx/_source/1'), { entity: 'tx', id: '1', source: true, bare: true })
    assert.equal((await call('GET', 'tx/_doc/1?stored_fields=hash')).status, 400)
    assert.equal((await call('GET', 'tx/_source/1?_source=false')).status, 400)
    assert.deepEqual(await of('tx/_doc/1?filter_path=id'), { id: '1' })
  })

  test('mget reads ids and documents of any index', async () => {
    const wanted = async (path: string, body: unknown) =>
      (await bodyOf('POST', path, { body: JSON.stringify(body) })).wanted
    assert.deepEqual(await wanted('tx/_mget', { ids: ['a', 'b'] }), [
      { kind: 'tx', id: 'a', source: true },
      { kind: 'tx', id: 'b', source: true },
    ])
    assert.deepEqual(
      await wanted('_mget?_source=x', {
        docs: [
          { _index: 'tx', _id: 'a', _source: ['hash'] },
          { _index: 'log', _id: 'b', _type: null, version: -3, version_type: 'internal', _source: null, routing: null },
          { _index: 'log', _id: 'c', _source: false },
        ],
      }),
      [
        { kind: 'tx', id: 'a', source: { includes: ['hash'], excludes: [] } },
        { kind: 'log', id: 'b', source: { includes: ['x'], excludes: [] } },
        { kind: 'log', id: 'c', source: false },
      ],
    )
    const [absent] = (await wanted('_mget', { docs: [{ _index: 'nope', _id: 'a' }] })) as [{ instead: string }]
    const told = JSON.parse(absent.instead)
    assert.deepEqual([told._index, told._id, told.error.type], ['nope', 'a', 'index_not_found_exception'])
    for (const [path, body] of [
      ...([
        ['tx/_mget', {}],
        ['_mget', { ids: ['a'] }],
        ['tx/_mget', { ids: [] }],
      ] as const),
      ...([
        ['tx/_mget', { docs: [{}] }],
        ['tx/_mget', { docs: [{ _id: 'a', stored_fields: ['x'] }] }],
      ] as const),
    ])
      assert.equal((await call('POST', path, { body: JSON.stringify(body) })).status, 400, JSON.stringify(body))
  })
})

describe('parameters that a network has by default', () => {
  const defaults: Partial<AppServices> = {
    defaultParameters: network => (network === MAINNET ? [['eth', 'true'] as const] : []),
  }
  const ETH = { includes: [], excludes: [], eth: true }

  test('go to searches, before those of the request', async () => {
    const of = async (path: string, body?: string) =>
      await bodyOf('POST', path, { ...defaults, ...(body !== undefined && { body }) })
    assert.deepEqual((await of('tx/search')).parameters, [['eth', 'true']])
    for (const path of ['tx/_search', 'tx/_explain/1'])
      assert.deepEqual((await of(`${path}?eth=false&q=a`)).parameters, [
        ['eth', 'true'],
        ['eth', 'false'],
        ['q', 'a'],
      ])
    const { responses } = await of('tx/_msearch', '{}\n{}\n')
    assert.deepEqual(responses[0].parameters, [['eth', 'true']])
  })

  test('decide what of documents is shown', async () => {
    const sourceOf = async (path: string) => (await bodyOf('GET', path, defaults)).source
    assert.deepEqual(await sourceOf('tx/_doc/1'), ETH)
    assert.deepEqual(await sourceOf('tx/_source/1?_source=a'), { ...ETH, includes: ['a'] })
    assert.equal(await sourceOf('tx/_doc/1?eth=false'), undefined)
    const { wanted } = await bodyOf('POST', 'tx/_mget', { ...defaults, body: '{"ids": ["a"]}' })
    assert.deepEqual(wanted, [{ kind: 'tx', id: 'a', source: ETH }])
    const { form } = await bodyOf('POST', 'tx/_explain/1?q=a&_source=true', defaults)
    assert.deepEqual(form.source, ETH)
  })
})

describe('msearch', () => {
  const lines = (...all: unknown[]) =>
    `${all.map(it => (typeof it === 'string' ? it : JSON.stringify(it))).join('\n')}\n`

  test('each search is answered in its place, and so is what is wrong with one', async () => {
    const search: SearchService = {
      ...echo,
      async search(asking) {
        const text = asking.body && Buffer.from(asking.body).toString()
        if (text === '{"bad":1}') throw refuse('parsing_exception', 'unknown key [bad]')
        return echo.search(asking)
      },
    }
    const body = lines(
      { index: 'tx' },
      { size: 1 },
      {},
      '{}',
      { index: 'nope' },
      '{}',
      { index: ['log', 'tx'] },
      '{"bad":1}',
      '',
      '{}',
    )
    const { status, body: told } = await call('POST', 'event/_msearch', { body, search })
    assert.equal(status, 200)
    assert.equal(typeof told.took, 'number')
    const shown = told.responses.map(
      (it: { entities?: string; error?: { type: string } }) => it.entities ?? it.error?.type,
    )
    assert.deepEqual(shown, ['tx', 'event', 'index_not_found_exception', 'parsing_exception', 'event'])
    const statuses = told.responses.map(({ status }: { status: number }) => status)
    assert.deepEqual(statuses, [200, 200, 404, 400, 200])
    assert.deepEqual(told.responses[0].dialect, { totals: 'object', typedKeys: false, parents: false })
  })

  test('headers as clients write them', async () => {
    const { responses } = await bodyOf('GET', '_msearch?max_concurrent_shard_requests=5', {
      body: undefined as never,
    }).catch(() => ({ responses: [] }))
    assert.equal(responses, undefined)
    const header = { ignore_unavailable: true, index: 'tx,nope', search_type: 'query_then_fetch', preference: 'x' }
    const { responses: found } = await bodyOf('POST', '_msearch', { body: lines(header, '{}', '{}', '{}') })
    assert.deepEqual(
      found.map((it: { entities: string }) => it.entities),
      ['tx', ALL],
    )
  })

  test('is read whole or not at all', async () => {
    for (const body of ['{}\n{}', '{}\n', '', '\n'])
      assert.equal((await call('POST', '_msearch', { body })).status, 400, JSON.stringify(body))
    const { status, body } = await call('POST', '_msearch', { body: '{}\n{}' })
    assert.equal(status, 400)
    assert.match(body.error.reason, /must be terminated by a newline/)
  })

  test('all hits are not given in it', async () => {
    let cancelled = false
    const cancel = () => {
      cancelled = true
    }
    const search: SearchService = {
      ...echo,
      search: async () => ({ status: 200, body: new ReadableStream({ cancel }) }),
    }
    const { responses } = await bodyOf('POST', 'tx/_msearch', { body: lines('{}', '{"size":-1}'), search })
    assert.match(responses[0].error.reason, /"size": -1/)
    assert.ok(cancelled)
  })

  test('filter_path is of the whole answer', async () => {
    const body = lines('{}', '{}', '{"index":"nope"}', '{}')
    assert.deepEqual(await bodyOf('POST', 'tx/_msearch?filter_path=responses.status', { body }), {
      responses: [{ status: 200 }, { status: 404 }],
    })
    assert.deepEqual(await bodyOf('POST', 'tx/_msearch?filter_path=responses.error.type', { body }), {
      responses: [{ error: { type: 'index_not_found_exception' } }],
    })
    assert.deepEqual(Object.keys(await bodyOf('POST', 'tx/_msearch?filter_path=took', { body })), ['took'])
    assert.deepEqual(await bodyOf('POST', 'tx/_msearch?filter_path=nothing', { body }), {})
    const left = await bodyOf('POST', 'tx/_msearch?filter_path=-took,-responses.hits', { body })
    assert.deepEqual([Object.keys(left), left.responses.length, 'hits' in left.responses[0]], [['responses'], 2, false])
  })
})

describe('what there is', () => {
  test('mappings: of version 7, by type, of fields', async () => {
    const { tx } = await bodyOf('GET', 'tx/_mapping')
    const { properties } = tx.mappings
    assert.deepEqual(properties.timestamp, { type: 'date', format: 'epoch_second' })
    const keyword = { type: 'keyword', ignore_above: 256 }
    assert.deepEqual(properties.from, { type: 'text', fields: { raw: keyword, keyword } })
    assert.deepEqual(properties.hash, keyword)
    assert.deepEqual(properties.value.properties.coin, { type: 'double' })
    const event = (await bodyOf('GET', 'event/_mappings')).event.mappings.properties
    assert.equal(event.args.type, 'nested')
    assert.deepEqual(Object.keys(event.args.properties.value.properties), ['hex', 'num', 'dec', 'scaled', 'type'])
    for (const path of ['tx/_mapping?include_type_name=true', 'tx/tx/_mapping', 'tx/_mapping/tx'])
      assert.deepEqual(await bodyOf('GET', path), { tx: { mappings: { tx: tx.mappings } } }, path)
    assert.equal(Object.keys(await bodyOf('GET', '_mapping')).length, 8)
    assert.deepEqual(await bodyOf('GET', 'tx/_mapping/field/hash,from.raw,no'), {
      tx: {
        mappings: {
          'from.raw': { full_name: 'from.raw', mapping: { raw: { type: 'keyword', ignore_above: 256 } } },
          hash: { full_name: 'hash', mapping: { hash: { type: 'keyword', ignore_above: 256 } } },
        },
      },
    })
  })

  test('other names of fields are told to whom names them', async () => {
    const capability = (type: string) => ({
      [type]: { type, metadata_field: false, searchable: true, aggregatable: true },
    })
    const { fields } = await bodyOf(
      'GET',
      'event,tx/_field_caps?fields=event.keyword,hash.keyword,value.eth,no.keyword',
    )
    assert.deepEqual(fields, {
      'event.keyword': capability('keyword'),
      'hash.keyword': capability('keyword'),
      'value.eth': capability('double'),
    })
    const { tx } = await bodyOf('GET', 'tx/_mapping/field/from.keyword,value.eth')
    assert.deepEqual(tx.mappings, {
      'from.keyword': { full_name: 'from.keyword', mapping: { keyword: { type: 'keyword', ignore_above: 256 } } },
      'value.eth': { full_name: 'value.eth', mapping: { eth: { type: 'double' } } },
    })
  })

  test('field_caps by URL and by body', async () => {
    const caps = await bodyOf('GET', 'tx,trace/_field_caps?fields=type*,from,timestamp')
    assert.deepEqual(caps.indices, [`${NAME}-tx`, `${NAME}-trace`])
    assert.deepEqual(Object.keys(caps.fields), ['from', 'timestamp', 'type', 'type.num', 'type.raw', 'type.dec'])
    const sub = await bodyOf('GET', 'event,tx/_field_caps?fields=*,event.keyword')
    assert.deepEqual(sub.fields['event.keyword'], sub.fields['event.raw'])
    assert.equal(sub.fields['hash.keyword'], undefined)
    const flags = { metadata_field: false, searchable: true, aggregatable: true }
    assert.deepEqual(caps.fields.timestamp, { date: { type: 'date', ...flags } })
    assert.deepEqual(caps.fields.from, { text: { type: 'text', ...flags, aggregatable: false } })
    assert.deepEqual(caps.fields.type, {
      object: { type: 'object', ...flags, searchable: false, aggregatable: false, indices: [`${NAME}-tx`] },
      keyword: { type: 'keyword', ...flags, indices: [`${NAME}-trace`] },
    })
    const body = JSON.stringify({ fields: ['type*', 'from', 'timestamp'] })
    assert.deepEqual(await bodyOf('POST', 'tx,trace/_field_caps', { body }), caps)
    assert.equal((await call('POST', 'tx/_field_caps')).status, 400)
    const unmapped = await bodyOf('GET', 'tx,trace/_field_caps?fields=from&include_unmapped')
    assert.deepEqual(unmapped.fields.from.unmapped.indices, [`${NAME}-trace`])
  })

  test('index, settings, aliases, names', async () => {
    const tx = (await bodyOf('GET', 'tx')).tx
    assert.deepEqual(tx.aliases, { [NAME]: {}, [`${NAME}-tx`]: {} })
    assert.equal(tx.settings.index.provided_name, `${NAME}-tx`)
    assert.deepEqual((await bodyOf('GET', `${NAME}-tx/_settings`))[`${NAME}-tx`].settings, tx.settings)
    const flat = await bodyOf('GET', 'tx/_settings/index.number*?flat_settings')
    assert.deepEqual(flat, {
      tx: { settings: { 'index.number_of_shards': '1', 'index.number_of_replicas': '0' } },
    })
    assert.equal(Object.keys(await bodyOf('GET', '*/_alias')).length, 8)
    assert.deepEqual(await bodyOf('GET', '_alias/tx'), { [`${NAME}-tx`]: { aliases: { tx: {} } } })
    assert.equal((await call('GET', '_alias/nope')).status, 404)
    const { indices, aliases } = await bodyOf('GET', '_resolve/index/t*')
    assert.deepEqual(indices[0], { name: `${NAME}-tx`, aliases: [NAME, 'tx'], attributes: ['open'] })
    assert.deepEqual(aliases.at(-1), { name: 'tx', indices: [`${NAME}-tx`] })
  })

  test('counts and bytes', async () => {
    const stats = await bodyOf('GET', 'tx,log/_stats')
    assert.deepEqual(stats._all.total.docs, { count: COUNTS.tx + COUNTS.log, deleted: 0 })
    assert.equal(stats.indices[`${NAME}-tx`].primaries.store.size_in_bytes, COUNTS.tx * 1_000)
    assert.deepEqual(Object.keys((await bodyOf('GET', 'tx/_stats/store'))._all.total), ['store'])
    const cluster = await bodyOf('GET', '_cluster/stats')
    assert.deepEqual([cluster.indices.docs.count, cluster.indices.store.size_in_bytes], [36, 36_000])
    assert.equal((await bodyOf('GET', '_cluster/health?wait_for_status=yellow')).status, 'green')
    assert.deepEqual(await bodyOf('GET', '_cluster/settings'), { persistent: {}, transient: {} })
  })

  test('tables as text and as JSON', async () => {
    const plain = await call('GET', '_cat/indices/tx,log?v=true&s=docs.count:desc')
    assert.equal(plain.headers.get('content-type'), 'text/plain; charset=UTF-8')
    assert.deepEqual(plain.body.replace(/[\w-]{22}( +1)/g, 'the-uuid-of-this-index$1').split('\n'), [
      'health status index                         uuid                   pri rep docs.count docs.deleted store.size pri.store.size',
      `green  open   ${NAME}-log the-uuid-of-this-index   1   0          3            0      2.9kb          2.9kb`,
      `green  open   ${NAME}-tx  the-uuid-of-this-index   1   0          2            0      1.9kb          1.9kb`,
      '',
    ])
    assert.deepEqual(
      await bodyOf('GET', '_cat/indices?h=index,docs.count,nope&format=json'),
      Object.entries(COUNTS).map(([kind, count]) => ({ index: `${NAME}-${kind}`, 'docs.count': String(count) })),
    )
    const accepts = async (accept: string) => typeof (await bodyOf('GET', '_cat/health', { headers: { accept } }))
    assert.equal(await accepts('application/vnd.elasticsearch+json;compatible-with=8'), 'object')
    assert.equal(await accepts('application/json'), 'object')
    assert.equal(await accepts('application/vnd.elasticsearch+json; compatible-with=8,text/plain'), 'string')
    assert.equal(await accepts('*/*'), 'string')
    assert.equal((await bodyOf('GET', '_cat/count/tx?h=count')).trim(), String(COUNTS.tx))
    assert.equal((await bodyOf('GET', '_cat/aliases?format=json')).length, 16)
    assert.match(await bodyOf('GET', '_cat/indices?help'), /docs\.count +dc,docsCount +available docs/)
    assert.equal((await call('GET', '_cat/indices?s=nope')).status, 400)
    assert.equal((await call('GET', '_cat/indices?format=yaml')).status, 400)
  })

  test('what clients ask for on connecting', async () => {
    const { version } = await bodyOf('GET', '')
    assert.deepEqual([version.number, version.distribution, version.build_flavor], ['7.17.0', 'opensearch', 'default'])
    for (const path of ['_nodes', '_nodes/http', '_nodes/_all/http'])
      assert.equal(Object.keys((await bodyOf('GET', path)).nodes).length, 1)
    assert.equal((await bodyOf('GET', 'tx/_search_shards')).shards[0][0].index, 'tx')
    assert.equal((await call('POST', 'tx/_refresh')).status, 200)
  })

  test('words of a text', async () => {
    const words = async (body: object) =>
      (await bodyOf('POST', 'tx/_analyze', { body: JSON.stringify(body) })).tokens.map((it: Record<string, unknown>) =>
        Object.values(it),
      )
    assert.deepEqual(await words({ analyzer: 'standard', text: 'Transfer(a_b, 12) 漢' }), [
      ['transfer', 0, 8, '<ALPHANUM>', 0],
      ['a_b', 9, 12, '<ALPHANUM>', 1],
      ['12', 14, 16, '<NUM>', 2],
      ['漢', 18, 19, '<IDEOGRAPHIC>', 3],
    ])
    assert.deepEqual(await words({ text: ['a', 'B'] }), [
      ['a', 0, 1, '<ALPHANUM>', 0],
      ['b', 2, 3, '<ALPHANUM>', 1],
    ])
    assert.deepEqual(await words({ field: 'from.raw', text: 'A b' }), [['A b', 0, 3, 'word', 0]])
    assert.equal((await call('POST', '_analyze', { body: '{"analyzer":"english","text":"a"}' })).status, 400)
  })

  test('pretty and filter_path', async () => {
    const { body } = await call('GET', '_cluster/health?filter_path=status,number*')
    assert.deepEqual(body, {
      status: 'green',
      number_of_nodes: 1,
      number_of_data_nodes: 1,
      number_of_pending_tasks: 0,
      number_of_in_flight_fetch: 0,
    })
    const reply = await appOf().request(`${ES}/_cluster/settings?pretty`, { headers: HEADERS })
    assert.equal(await reply.text(), '{\n  "persistent": {},\n  "transient": {}\n}')
  })
})
