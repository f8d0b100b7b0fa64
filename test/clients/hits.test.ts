import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openSearchIndex } from '../../scripts/scenario-mapping.ts'
import { createSearcher, type Searcher } from '../../src/engine/query/searcher.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../support/store.ts'

// What a hit shows, against a real Elasticsearch 7.17 that holds the same documents. Where none runs, these are skipped.

const URL_OF_IT = process.env.ELASTICSEARCH_7 ?? 'http://127.0.0.1:9717'
const INDEX = `hits-oracle-${process.pid}`
const KIND_OF = { tx: `${INDEX}-tx`, event: `${INDEX}-event` } as const
type Indexed = keyof typeof KIND_OF

const reachable = await fetch(URL_OF_IT, { signal: AbortSignal.timeout(2000) })
  .then(async answer => ((await answer.json()) as { version: { number: string } }).version.number.startsWith('7.17'))
  .catch(() => false)

interface Hit {
  _id: string
  fields?: Record<string, unknown>
  highlight?: unknown
  inner_hits?: Record<string, { hits: { total: unknown; hits: Hit[] } }>
  [key: string]: unknown
}

const call = async (method: string, path: string, body?: string, type = 'application/json') => {
  const answer = await fetch(`${URL_OF_IT}/${path}`, {
    method,
    headers: { 'content-type': type },
    ...(body !== undefined && { body }),
  })
  return (await answer.json()) as Record<string, unknown>
}

describe('hits are those of Elasticsearch 7.17', {
  skip: reachable ? false : `there is no Elasticsearch 7.17 at ${URL_OF_IT}`,
}, () => {
  let store: TestStore
  let searcher: Searcher

  before(async () => {
    store = createTestStore(demoBlocks().slice(0, 60), { events: demoEvents() })
    searcher = createSearcher(store.reader)
    for (const kind of ['tx', 'event'] as const) {
      const { settings, mappings } = openSearchIndex(kind)
      // As the service's own mapping has them: no normalizer changes what is shown, and each date has one format.
      const text = JSON.stringify({ settings, mappings })
        .replaceAll(',"normalizer":"lower_case"', '')
        .replaceAll('epoch_second||strict_date_optional_time', 'epoch_second')
        .replaceAll('strict_date_optional_time||epoch_second', 'strict_date_optional_time')
      await call('PUT', KIND_OF[kind], text)
      const lines = store
        .all(kind)
        .flatMap(({ _id, _source }) => [
          JSON.stringify({ index: { _id } }),
          JSON.stringify(_source, (_, value) =>
            typeof value === 'bigint'
              ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value))
              : value,
          ),
        ])
      const { errors } = await call(
        'POST',
        `${KIND_OF[kind]}/_bulk?refresh=true`,
        `${lines.join('\n')}\n`,
        'application/x-ndjson',
      )
      assert.equal(errors, false)
    }
  })
  after(async () => {
    for (const index of Object.values(KIND_OF)) await call('DELETE', index)
    store.close()
  })

  const ours = (kind: Kind, body: unknown): { total: number; hits: Hit[] } => {
    const { body: whole } = answerSearch(searcher, INDEX, kind, JSON.stringify(body), {
      deadline: Number.POSITIVE_INFINITY,
    })
    return (JSON.parse(Buffer.from(whole as Uint8Array).toString()) as { hits: { total: number; hits: Hit[] } }).hits
  }
  const theirs = async (kind: Indexed, body: unknown): Promise<{ total: number; hits: Hit[] }> => {
    const answer = await call('POST', `${KIND_OF[kind]}/_search?rest_total_hits_as_int=true`, JSON.stringify(body))
    assert.ok(answer.hits, JSON.stringify(answer).slice(0, 500))
    return answer.hits as { total: number; hits: Hit[] }
  }

  /** Chain order, which both have in the same way. */
  const ORDER: Record<Indexed, unknown[]> = {
    tx: [{ 'blockNumber.num': 'desc' }, { 'transactionIndex.num': 'desc' }],
    event: [{ 'blockNumber.num': 'desc' }, { 'logIndex.num': 'desc' }],
  }
  /** What both show, without what differs by contract: the document's own envelope, and scores. */
  const shown = (
    { _id, fields, highlight, inner_hits, _source, _nested, _version, sort }: Hit,
    isInner = false,
  ): unknown => ({
    ...{ _id, highlight, _source, _nested, _version },
    sort: isInner ? sort : undefined,
    // Digits are no field of Elasticsearch.
    fields: fields && withoutDigits(fields),
    inner_hits:
      inner_hits &&
      Object.fromEntries(
        Object.entries(inner_hits).map(([name, { hits }]) => [
          name,
          { total: hits.total, hits: hits.hits.map(hit => shown(hit, true)) },
        ]),
      ),
  })
  const withoutDigits = (fields: Record<string, unknown>): unknown =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, values]) => {
        if (name.endsWith('.dec')) return []
        const isObject = Array.isArray(values) && typeof values[0] === 'object'
        return [[name, isObject ? (values as Record<string, unknown>[]).map(withoutDigits) : values]]
      }),
    )

  const CASES: [name: string, kind: Indexed, body: Record<string, unknown>][] = [
    [
      'fields',
      'tx',
      {
        fields: ['hash', 'value.*', { field: 'timestamp', format: 'strict_date_optional_time_nanos' }],
        _source: false,
      },
    ],
    ['all fields of transactions', 'tx', { fields: ['*'], _source: false }],
    ['all fields of events', 'event', { fields: ['*'], _source: false }],
    ['fields of arguments', 'event', { fields: ['args.*'], _source: false }],
    ['fields by old and wild names', 'event', { fields: ['*.raw', 'args.value.h*', '*Index.num'], _source: ['event'] }],
    ['dates without a format', 'tx', { fields: ['timestamp'], docvalue_fields: ['blockNumber.num'], _source: false }],
    [
      'dates of events',
      'event',
      { docvalue_fields: ['timestamp'], fields: [{ field: 'timestamp', format: 'epoch_millis' }], _source: false },
    ],
    [
      'dates as doc values',
      'tx',
      {
        docvalue_fields: ['timestamp', { field: 'timestamp', format: 'epoch_millis' }, 'gasUsed.num', 'from.raw'],
        _source: false,
      },
    ],
    ...[
      'yyyy-MM-dd HH:mm:ss',
      "yyyy/M/d 'at' h:mm a",
      'EEE, dd MMM yyyy HH:mm:ss.SSS Z',
      'EEEE d MMMM uuuu xxx',
      'D k K H X',
      'yy-MM-dd VV'.slice(0, 8),
      'date',
      'year_month',
      'strict_date_hour_minute_second',
      'basic_date_time_no_millis',
      'basic_date',
      'date_time',
      'strict_date_time_no_millis',
      'epoch_second',
      'hour_minute_second',
      'time',
      'date_hour_minute_second_millis',
      'HHmmssSSSSSS',
      'yyyy-MM-dd||epoch_millis',
    ].map((format): [string, Indexed, Record<string, unknown>] => [
      `the date format ${format}`,
      'event',
      { size: 2, fields: [{ field: 'timestamp', format }], _source: false },
    ]),
    [
      'a page of what Grafana asks',
      'tx',
      {
        script_fields: {},
        docvalue_fields: ['timestamp'],
        fields: [{ field: 'timestamp', format: 'strict_date_optional_time_nanos' }],
        highlight: { fields: { '*': {} } },
      },
    ],
    [
      'doc values of a list',
      'event',
      { docvalue_fields: ['args.name', 'address.raw', 'logIndex.num'], _source: false },
    ],
    ['stored fields', 'tx', { stored_fields: ['*'] }],
    ['stored fields with a source', 'tx', { stored_fields: ['_source'], _source: ['hash'] }],
    ['the version', 'tx', { version: true, _source: false }],
    ['collapse', 'tx', { collapse: { field: 'from.raw' }, _source: false }],
    ['the second page of collapse', 'tx', { collapse: { field: 'from.raw' }, _source: ['from'], from: 2, size: 2 }],
    ['collapse by numbers', 'tx', { collapse: { field: 'value.num' }, _source: false }],
    [
      'collapse by what some do not have',
      'tx',
      {
        collapse: {
          field: 'contractAddress.raw',
          inner_hits: {
            name: 'c',
            size: 2,
            _source: false,
            sort: [{ 'blockNumber.num': 'asc' }, { 'transactionIndex.num': 'asc' }],
          },
        },
        _source: false,
      },
    ],
    [
      'collapse with its groups',
      'event',
      {
        collapse: {
          field: 'event.raw',
          inner_hits: [
            {
              name: 'a',
              size: 2,
              _source: ['event'],
              sort: [{ 'blockNumber.num': 'desc' }, { 'logIndex.num': 'desc' }],
            },
            {
              name: 'b',
              from: 1,
              size: 1,
              fields: ['event.raw'],
              _source: false,
              sort: [{ 'blockNumber.num': 'asc' }, { 'logIndex.num': 'asc' }],
            },
          ],
        },
        _source: false,
      },
    ],
    ['a post filter', 'event', { post_filter: { term: { 'event.raw': 'Transfer' } }, _source: false }],
    [
      'a post filter under collapse',
      'event',
      {
        post_filter: { term: { event: 'transfer' } },
        collapse: {
          field: 'address.raw',
          inner_hits: { name: 'h', _source: false, sort: [{ 'blockNumber.num': 'desc' }, { 'logIndex.num': 'desc' }] },
        },
        _source: false,
      },
    ],
    [
      'inner hits of arguments',
      'event',
      { query: { nested: { path: 'args', query: { term: { 'args.name': 'to' } }, inner_hits: {} } }, _source: false },
    ],
    [
      'sorted inner hits',
      'event',
      {
        query: {
          nested: {
            path: 'args',
            query: { exists: { field: 'args.value.hex' } },
            inner_hits: { sort: [{ 'args.pos': 'desc' }], size: 2, _source: ['args.name', 'args.value.hex'] },
          },
        },
        _source: false,
      },
    ],
    [
      'inner hits sorted by what some do not have',
      'event',
      {
        query: {
          nested: {
            path: 'args',
            query: { match_all: {} },
            inner_hits: { sort: [{ 'args.value.num': 'asc' }, { 'args.pos': 'asc' }], size: 5, _source: false },
          },
        },
        _source: false,
      },
    ],
    [
      'inner hits with fields and marks',
      'event',
      {
        query: {
          nested: {
            path: 'args',
            query: { terms: { 'args.name': ['from', 'to'] } },
            inner_hits: {
              name: 'n',
              size: 1,
              _source: { excludes: ['args.value'] },
              fields: ['args.name'],
              docvalue_fields: ['args.pos'],
              highlight: { fields: { 'args.name': {} } },
            },
          },
        },
        _source: false,
      },
    ],
    [
      'inner hits under must_not',
      'event',
      {
        query: {
          bool: { must_not: [{ nested: { path: 'args', query: { term: { 'args.name': 'to' } }, inner_hits: {} } }] },
        },
        _source: false,
      },
    ],
    [
      'a highlight',
      'event',
      { query: { match: { event: 'transfer' } }, highlight: { fields: { event: {} } }, _source: false },
    ],
    [
      'highlights by a pattern',
      'event',
      {
        query: {
          bool: {
            filter: [{ term: { event: 'transfer' } }, { exists: { field: 'address' } }],
            should: [{ prefix: { 'event.raw': 'Tr' } }],
          },
        },
        highlight: { pre_tags: ['@'], post_tags: ['/@'], fields: { '*': {} } },
        _source: false,
      },
    ],
    [
      'highlights of arguments',
      'event',
      {
        query: { nested: { path: 'args', query: { term: { 'args.name': 'from' } } } },
        highlight: { fields: { '*': {} } },
        _source: false,
      },
    ],
    [
      'highlights of any field',
      'event',
      {
        query: { term: { event: 'transfer' } },
        highlight: { require_field_match: false, fields: { event: {}, address: { no_match_size: 10 } } },
        _source: false,
      },
    ],
    [
      'highlights of a query of their own',
      'event',
      {
        highlight: {
          highlight_query: { match: { event: 'sync swap transfer' } },
          tags_schema: 'styled',
          encoder: 'html',
          order: 'score',
          fields: [{ event: { number_of_fragments: 0 } }],
        },
        _source: false,
      },
    ],
    ['a track of scores', 'tx', { track_scores: true, _source: false }],
  ]
  for (const [name, kind, body] of CASES)
    it(`in ${name}`, async () => {
      const asked = { size: 12, sort: ORDER[kind], ...body }
      const [own, due] = [ours(kind, asked), await theirs(kind, asked)]
      assert.equal(own.total, due.total)
      assert.ok(due.hits.length > 0)
      assert.deepEqual(
        own.hits.map(hit => shown(hit)),
        due.hits.map(hit => shown(hit)),
      )
    })

  const REFUSED: [Indexed, unknown][] = [
    ['tx', { fields: [{ field: 'gas.num', format: 'date' }] }],
    ['tx', { fields: [{ field: 'timestamp', format: 'QQQQQQ' }] }],
    ['tx', { docvalue_fields: ['from'] }],
    ['tx', { collapse: { field: 'from' } }],
    ['tx', { collapse: { field: 'timestamp' } }],
    ['tx', { collapse: { field: 'status' } }],
    ['tx', { collapse: { field: 'nobody' } }],
    ['tx', { stored_fields: '_none_', _source: ['hash'] }],
    ['tx', { stored_fields: '_none_', fields: ['hash'] }],
    ['event', { query: { nested: { path: 'args', query: { match_all: {} }, inner_hits: { size: 101 } } } }],
    [
      'event',
      { query: { nested: { path: 'args', query: { match_all: {} }, inner_hits: { seq_no_primary_term: true } } } },
    ],
    ['event', { highlight: { fields: { event: { fragments: 1 } } } }],
  ]
  it('and what it refuses is refused', async () => {
    for (const [kind, body] of REFUSED) {
      const answer = await call('POST', `${KIND_OF[kind]}/_search`, JSON.stringify(body))
      assert.ok(answer.error, JSON.stringify(body))
      assert.throws(() => ours(kind, body), JSON.stringify(body))
    }
  })
})
