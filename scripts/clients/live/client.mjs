/**
 * Calls of the JavaScript clients, of all that have `openPointInTime` or scroll helpers and of `elasticsearch` 16. Plain JavaScript: it runs on the packages of
 * `CLIENT_FOLDER`, and prints a line of JSON for each call.
 */
import { BASE, report, require, TOKEN, withToken } from './tools/report.mjs'

const { TX, CLIENT_NAME } = process.env
const legacy = CLIENT_NAME === 'elasticsearch'
const major = Number(process.env.CLIENT_VERSION.split('.')[0])
/** From version 8 on, what stood in `body` stands beside the rest, and answers come without an envelope. */
const flat = CLIENT_NAME === '@elastic/elasticsearch' && major >= 8
/** Clients that take the path of Elasticsearch 6 for `existsSource`, and ask for a type. */
const withType = CLIENT_NAME === '@elastic/elasticsearch' ? major === 7 : major === 2
const client = legacy
  ? new (require(CLIENT_NAME).Client)({ host: withToken(BASE), apiVersion: '7.7', log: 'error' })
  : CLIENT_NAME === '@opensearch-project/opensearch'
    ? new (require(CLIENT_NAME).Client)({ node: withToken(BASE) })
    : new (require(CLIENT_NAME).Client)({ node: BASE, auth: { username: 'any', password: TOKEN } })

const asked = (index, body, rest = {}) => ({ ...(index && { index }), ...(flat ? body : { body }), ...rest })
const read = answer => answer?.body ?? answer
const ids = answer => read(answer).hits.hits.map(hit => hit._id)
const total = answer => {
  const { total } = read(answer).hits
  return total?.value ?? total
}
const transfers = { query: { bool: { filter: [{ term: { 'event.raw': 'Transfer' } }] } } }
const list = async stream => {
  const all = []
  for await (const one of stream) all.push(one)
  return all
}

const calls = {
  info: async () => read(await client.info()).tagline,
  ping: async () => read(await client.ping()),
  search: async () => total(await client.search(asked('event', { ...transfers, size: 2 }))),
  'search of several': async () => total(await client.search(asked(['tx', 'block'], { size: 0 }))),
  'search of the whole name': async () => total(await client.search(asked('ethereum-demo-local-tx', { size: 0 }))),
  'search by a pattern': async () => total(await client.search(asked('ethereum-demo-local-t*', { size: 0 }))),
  'search by q': async () => total(await client.search({ index: 'event', q: 'event:transfer' })),
  'search in order': async () =>
    ids(
      await client.search(
        asked('tx', { size: 2, sort: [{ 'blockNumber.num': 'asc' }, { 'transactionIndex.num': 'asc' }] }),
      ),
    ),
  count: async () => read(await client.count(asked('event', transfers))).count,
  get: async () => read(await client.get({ index: 'tx', id: TX }))._source.hash,
  'get what is not there': () =>
    client.get({ index: 'tx', id: '0x00' }).then(
      () => 'found',
      error => error.statusCode ?? error.meta?.statusCode,
    ),
  exists: async () => read(await client.exists({ index: 'tx', id: TX })),
  mget: async () => read(await client.mget(asked('tx', { ids: [TX, '0x00'] }))).docs.map(({ found }) => found),
  msearch: async () => {
    const lines = [{ index: 'event' }, { ...transfers, size: 0 }, { index: 'tx' }, { size: 1 }]
    const key = flat ? 'searches' : 'body'
    return read(await client.msearch({ [key]: lines })).responses.map(one => one.hits.total.value ?? one.hits.total)
  },
  scroll: async () => {
    let page = read(await client.search(asked('tx', { size: 1000 }, { scroll: '1m' })))
    let found = 0
    while (page.hits.hits.length > 0) {
      found += page.hits.hits.length
      page = read(
        await client.scroll(
          legacy || !flat
            ? { body: { scroll_id: page._scroll_id, scroll: '1m' } }
            : { scroll_id: page._scroll_id, scroll: '1m' },
        ),
      )
    }
    await client.clearScroll(flat ? { scroll_id: page._scroll_id } : { body: { scroll_id: page._scroll_id } })
    return found
  },
  'terms with avg inside': async () => {
    const aggs = {
      names: { terms: { field: 'event.raw', size: 2 }, aggs: { mean: { avg: { field: 'blockNumber.num' } } } },
    }
    const { buckets } = read(await client.search(asked('event', { size: 0, aggs }))).aggregations.names
    return buckets.map(({ key, doc_count, mean }) => [key, doc_count, mean.value])
  },
  date_histogram: async () => {
    const aggs = { hours: { date_histogram: { field: 'timestamp', [legacy ? 'interval' : 'fixed_interval']: '1h' } } }
    const { buckets } = read(await client.search(asked('tx', { size: 0, aggs }))).aggregations.hours
    return buckets.map(({ key, doc_count }) => [key, doc_count])
  },
  'nested terms': async () => {
    const aggs = { args: { nested: { path: 'args' }, aggs: { names: { terms: { field: 'args.name', size: 2 } } } } }
    const { names } = read(await client.search(asked('event', { size: 0, aggs }))).aggregations.args
    return names.buckets.map(({ key, doc_count }) => [key, doc_count])
  },
  'a query that is not known': () =>
    client.search(asked('tx', { query: { foo: {} } })).then(
      () => 'answered',
      error => error.statusCode ?? error.meta?.statusCode,
    ),
  'an index that is not there': () =>
    client.search(asked('nope', {})).then(
      () => 'answered',
      error => error.statusCode ?? error.meta?.statusCode,
    ),
  'indices.exists': async () => read(await client.indices.exists({ index: 'tx' })),
  'indices.getMapping': async () => Object.keys(read(await client.indices.getMapping({ index: 'tx' }))),
  fieldCaps: async () =>
    Object.keys(read(await client.fieldCaps({ index: 'tx', fields: ['timestamp'] })).fields.timestamp),
  'cat.indices': async () => read(await client.cat.indices({ format: 'json' })).length,
  'cluster.health': async () => read(await client.cluster.health()).timed_out,
}

const modern = {
  ...(!withType && { existsSource: async () => read(await client.existsSource({ index: 'tx', id: TX })) }),
  getSource: async () => read(await client.getSource({ index: 'tx', id: TX })).hash,
  'helpers.search': async () => (await client.helpers.search(asked('tx', { size: 3 }))).length,
  'helpers.scrollDocuments': async () =>
    (await list(client.helpers.scrollDocuments(asked('tx', { size: 1000, query: { match_all: {} } })))).length,
  'point in time': async () => {
    const opensearch = CLIENT_NAME === '@opensearch-project/opensearch'
    const opened = opensearch
      ? read(await client.createPit({ index: 'tx', keep_alive: '1m' })).pit_id
      : read(await client.openPointInTime({ index: 'tx', keep_alive: '1m' })).id
    let found = 0
    let after
    for (;;) {
      const body = {
        size: 1000,
        pit: { id: opened, keep_alive: '1m' },
        sort: [{ 'blockNumber.num': 'asc' }, { hash: 'asc' }],
        ...(after && { search_after: after }),
      }
      const { hits } = read(await client.search(asked(undefined, body))).hits
      if (hits.length === 0) break
      found += hits.length
      after = hits.at(-1).sort
    }
    if (opensearch) await client.deletePit({ body: { pit_id: [opened] } })
    else await client.closePointInTime(flat ? { id: opened } : { body: { id: opened } })
    return found
  },
  'cat.indices as text': async () => read(await client.cat.indices({ v: true })).split('\n').length > 8,
}

await report(legacy ? calls : { ...calls, ...modern })
