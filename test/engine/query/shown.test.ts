import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { createSearcher, type Searcher } from '../../../src/engine/query/searcher.ts'
import { KINDS, type Kind, lookup, queryPaths } from '../../../src/mapping/index.ts'
import { compareValues, type QueryValue } from '../../../src/query/ast.ts'
import { compileSourceFilter } from '../../../src/query/hits/source-filter.ts'
import type { Parameters } from '../../../src/query/parameters.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compilePredicate, indexedValuesOf } from '../../../src/query/predicate.ts'
import { answerSearch } from '../../../src/search/answer.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { arbitraryQuery } from '../../support/queries.ts'
import { parseLossless, stringifyLossless } from '../../support/scenarios.ts'
import { createTestStore, type TestStore } from '../../support/store.ts'

// What hits show beside `_source`, and which are shown: against the documents themselves.

const SEED = Number(process.env.SEED ?? 6)
const CASES = Number(process.env.CASES ?? 60)
const INDEX = 'ethereum-made-up-mainnet'
const ETH: Parameters = [['eth', 'true']]
const FLAT: Parameters = [['args', 'flat']]

type Source = Record<string, unknown>
interface Hit {
  _id: string
  _index: string
  _score: number | null
  _source: Source
  fields?: Record<string, unknown[]>
  sort?: unknown[]
  inner_hits?: Record<string, { hits: Hits }>
  [key: string]: unknown
}
interface Hits {
  total: number
  max_score: number | null
  hits: Hit[]
}

describe('hits show', () => {
  let store: TestStore
  let searcher: Searcher
  before(() => {
    const blocks = oddBlocks(24)
    store = createTestStore([...blocks.slice(0, 10), ...blocks.slice(12)], { events: oddEvents, run: [1, 3, 18] })
    searcher = createSearcher(store.reader)
  })
  after(() => store.close())

  const ask = (entities: string, body: unknown, parameters: Parameters = []): Hits => {
    const reply = answerSearch(searcher, INDEX, entities, stringifyLossless(body), {
      deadline: Number.POSITIVE_INFINITY,
      parameters,
    })
    return (parseLossless(Buffer.from(reply.body as Uint8Array).toString()) as { hits: Hits }).hits
  }
  const refusal = (entities: string, body: unknown, parameters: Parameters = []): string => {
    try {
      ask(entities, body, parameters)
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }

  /** Values at a path of `_source`, through all lists. */
  const at = (value: unknown, [step, ...rest]: string[]): unknown[] => {
    if (value === null || value === undefined) return []
    if (Array.isArray(value)) return value.flatMap(one => at(one, step === undefined ? [] : [step, ...rest]))
    return step === undefined ? [value] : at((value as Source)[step], rest)
  }
  const short = (value: unknown) => String(value).length <= 256

  for (const kind of KINDS)
    it(`fields of ${kind} as _source has them`, () => {
      const dates = (path: string) => lookup(kind, path)!.compare === 'instant'
      const paths = [...queryPaths(kind).values()].filter(({ encoding }) => encoding !== 'dec')
      for (const { _source, fields = {} } of ask(kind, { fields: ['*'], size: 60 }).hits) {
        for (const { path, field, es, list, encoding } of paths) {
          if (list?.nested || path.endsWith('.dec')) continue
          const steps = encoding === 'raw' && at(_source, path.split('.')).length === 0 ? field : path
          const due = at(_source, steps.split('.'))
          const shown = fields[path] ?? []
          if (dates(path)) {
            const [raw] = due
            assert.deepEqual(shown, [kind === 'tx' || kind === 'block' ? String(raw) : `${raw}.000Z`])
          } else assert.deepEqual(shown, es === 'keyword' ? due.filter(short) : due, path)
        }
        const args = (fields.args ?? []) as Record<string, unknown[]>[]
        const due = ((_source.args ?? []) as Source[]).map(arg =>
          Object.fromEntries(
            ['name', 'pos', 'value.hex', 'value.num', 'value.scaled', 'value.type']
              .map(path => [path, at(arg, path.split('.')).filter(short)] as const)
              .filter(([, values]) => values.length > 0),
          ),
        )
        assert.deepEqual(
          args.map(({ 'value.dec': _, ...arg }) => arg),
          due,
        )
      }
    })

  it('dates in the formats that are asked for', () => {
    const [hit] = ask('tx', {
      size: 1,
      _source: ['timestamp'],
      fields: [{ field: 'timestamp', format: 'yyyy-MM-dd HH:mm' }, 'hash'],
      docvalue_fields: ['blockNumber.num', { field: 'blockNumber.num' }, '_id'],
    }).hits
    const seconds = hit!._source.timestamp as number
    const iso = new Date(seconds * 1000).toISOString()
    assert.deepEqual(hit!.fields, {
      'blockNumber.num': [...hit!.fields!['blockNumber.num']!],
      _id: [hit!._id],
      timestamp: [iso.slice(0, 16).replace('T', ' ')],
      hash: [hit!._id],
    })
    for (const [format, due] of [
      ['epoch_millis', String(seconds * 1000)],
      ['strict_date_optional_time_nanos', iso],
      ['epoch_second||date', String(seconds)],
    ])
      assert.deepEqual(ask('tx', { size: 1, fields: [{ field: 'timestamp', format }] }).hits[0]!.fields, {
        timestamp: [due],
      })
    assert.deepEqual(ask('log', { size: 1, fields: ['timestamp'] }).hits[0]!.fields, {
      timestamp: [`${ask('log', { size: 1 }).hits[0]!._source.timestamp}.000Z`],
    })
  })

  it('doc values in order, texts each once', () => {
    for (const { fields = {}, _source } of ask('log', { docvalue_fields: ['topics', 'args.*'], size: 50 }).hits)
      assert.deepEqual(fields.topics ?? [], [...new Set(_source.topics as string[])].sort())
  })

  it('versions, sequence numbers and explanations, where they are asked for', () => {
    const [hit] = ask('event', {
      size: 1,
      version: true,
      seq_no_primary_term: true,
      explain: true,
      _source: false,
    }).hits
    const { _version, _seq_no, _primary_term, _explanation } = hit!
    assert.deepEqual([_version, typeof _seq_no, _primary_term], [1, 'number', 1])
    assert.equal((_explanation as { value: number }).value, hit!._score)
  })

  it('neither id nor source, where stored fields are switched off', () => {
    const [none] = ask('tx', { size: 1, stored_fields: '_none_', docvalue_fields: ['hash'] }).hits
    assert.deepEqual(Object.keys(none!), ['_index', '_type', '_score', 'fields'])
    const members = (stored_fields: unknown, more = {}) =>
      Object.keys(ask('tx', { size: 1, stored_fields, ...more }).hits[0]!).includes('_source')
    assert.deepEqual(
      [members(['*']), members(['hash']), members('_source'), members(['*'], { _source: true }), members([])],
      [false, false, true, true, false],
    )
    assert.match(
      refusal('tx', { stored_fields: '_none_', fields: ['hash'] }),
      /cannot be disabled when using the \[fields\]/,
    )
  })

  it('integers in digits, and arguments by their names', () => {
    const [plain] = ask('tx', { size: 1 }).hits
    const [hit] = ask('tx', { size: 1, decimals: true }).hits
    const { dec, ...value } = hit!._source.value as Source
    assert.deepEqual([dec, value], [String(BigInt(value.raw as string)), plain!._source.value])
    const named = ask('tx', { size: 1, _source: ['value.dec', 'gas.num'] }).hits[0]!._source
    assert.deepEqual(named, { gas: { num: (plain!._source.gas as Source).num }, value: { dec } })
    for (const { _source } of ask('event', { size: 200, args_by_name: true, decimals: true }).hits) {
      const args = _source.args as { name: string; pos: number; value: { dec: string | null; num: number | null } }[]
      const byName = _source.argsByName as Record<string, unknown>
      assert.equal(Object.keys(byName).length, args.length)
      for (const arg of args) {
        const same = args.filter(({ name }) => name === arg.name)
        assert.deepEqual(byName[arg.name !== '' && same.length === 1 ? arg.name : arg.pos], arg)
        if (arg.value.num !== null) assert.equal(arg.value.dec, String(arg.value.num))
      }
    }
  })

  it('arguments with literal keys, in each way that hits are written', () => {
    const flat = (source: Source): Source =>
      Array.isArray(source.args) ? { ...source, args: source.args.map(flatArgument) } : source
    const flatArgument = ({ value, ...arg }: Source) => ({
      ...arg,
      ...Object.fromEntries(Object.entries(value ?? {}).map(([name, inner]) => [`value.${name}`, inner])),
    })
    const sources = [true, ['args.value.hex', 'args.name'], ['args.v*'], ['args.pos'], ['event'], ['nothing']]
    for (const kind of ['event', 'call', 'tx'] as const)
      for (const _source of [...sources, { excludes: ['args.value.type', 'str'] }, { excludes: ['args'] }])
        for (const more of [{}, { version: true }, { args_by_name: true }, { decimals: true }]) {
          const body = { size: 200, sort: '_doc', _source, ...more }
          assert.deepEqual(
            ask(kind, body, FLAT).hits.map(hit => hit._source),
            ask(kind, body, [['args', 'nested']]).hits.map(hit => flat(hit._source)),
            JSON.stringify([kind, _source, more]),
          )
        }
    const inner = { nested: { path: 'args', query: { match_all: {} }, inner_hits: {} } }
    const [hit] = ask('event', { query: inner, size: 1 }, FLAT).hits
    assert.deepEqual(hit!.inner_hits!.args!.hits.hits[0]!._source, (hit!._source.args as Source[])[0])
    assert.equal(ask('event', { size: 1, _source: false }, FLAT).hits[0]!._source, undefined)
    assert.match(refusal('event', {}, [['args', 'flatt']]), /\[args\] has \[flatt\], and needs flat or nested/)
  })

  it('amounts with eth beside coin, in each way that hits are written', () => {
    const sources = [true, ['value.eth', 'action.value.eth'], ['value', 'action'], ['value.coin'], ['*.eth'], ['hash']]
    const ether = (path: string[], value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value) || path.length > 2
        ? value
        : Object.fromEntries(
            Object.entries(value as Source).flatMap(([name, inner]) => [
              [name, ether([...path, name], inner)],
              ...(name === 'coin' && path.length > 0 ? [['eth', inner]] : []),
            ]),
          )
    for (const kind of ['tx', 'call', 'trace', 'event'] as const)
      for (const more of [{}, { version: true }, { decimals: true }]) {
        const whole = ask(kind, { size: 200, sort: '_doc', ...more })
        const shown = ask(kind, { size: 200, sort: '_doc', ...more }, ETH)
        assert.deepEqual(
          shown.hits.map(hit => hit._source),
          whole.hits.map(hit => ether([], hit._source)),
          kind,
        )
        for (const _source of [...sources, { excludes: ['value.eth', 'action.value.eth'] }]) {
          const cut = compileSourceFilter(
            typeof _source === 'object' && !Array.isArray(_source)
              ? { includes: [], ..._source }
              : _source === true || { includes: _source as string[], excludes: [] },
          )
          assert.deepEqual(
            ask(kind, { size: 200, sort: '_doc', _source, ...more }, ETH).hits.map(hit => hit._source),
            shown.hits.map(hit => cut(hit._source)),
            JSON.stringify([kind, _source, more]),
          )
        }
      }
    const last = ask('tx', { size: 200, sort: '_doc' }, [...ETH, ['eth', 'false']])
    assert.deepEqual(last.hits, ask('tx', { size: 200, sort: '_doc' }).hits)
    assert.match(refusal('tx', {}, [['eth', 'x']]), /\[eth\] has \[x\], and needs true or false/)
  })

  for (const kind of ['tx', 'event', 'trace', 'call'] as const)
    it(`of ${kind} those that a post_filter leaves, as a filter of a bool does`, () => {
      const samples = store.all(kind).slice(0, 40)
      fc.assert(
        fc.property(arbitraryQuery(kind, samples), arbitraryQuery(kind, samples), (query, post_filter) => {
          const rest = { size: 20, sort: [{ _doc: 'asc' }] }
          assert.deepEqual(
            ask(kind, { query, post_filter, ...rest }),
            ask(kind, { query: { bool: { filter: [query, post_filter] } }, ...rest }),
          )
        }),
        { numRuns: CASES, seed: SEED },
      )
    })

  const GROUPS: Partial<Record<Kind, string[]>> = {
    tx: [
      'from.raw',
      'to.raw',
      'value.num',
      'value.coin',
      'value.raw',
      'gasPrice.num',
      'nonce.num',
      'hash',
      'blockHash',
      'blockNumber.num',
      'method',
    ],
    event: ['event.raw', 'address.raw', 'transactionHash', 'str'],
    trace: ['type', 'action.from.raw', 'action.value.num', 'subtraces'],
    call: ['selector', 'depth', 'value.raw', 'method.raw'],
    token: ['symbol.raw', 'decimals'],
  }
  for (const [kind, names] of Object.entries(GROUPS) as [Kind, string[]][])
    it(`of ${kind} one for each value that they are collapsed by`, () => {
      const documents = store.all(kind)
      const places = new Map(documents.map(({ _id }, place) => [_id, place]))
      const samples = documents.slice(0, 40)
      const sorts = fc.constantFrom<unknown[]>(
        [],
        [{ _doc: 'asc' }],
        [{ [names.at(-1)!]: 'desc' }, { _doc: 'asc' }],
        [{ [names[0]!]: { order: 'asc', missing: '_first' } }, { _doc: 'desc' }],
      )
      const known = names.filter(
        name =>
          lookup(kind, name)?.es === 'keyword' ||
          lookup(kind, name)?.es === 'long' ||
          lookup(kind, name)?.es === 'double',
      )
      fc.assert(
        fc.property(
          fc.oneof(fc.constant({ match_all: {} }), arbitraryQuery(kind, samples)),
          fc.constantFrom(...known),
          sorts,
          fc.record({ from: fc.nat(5), size: fc.nat(8) }),
          (query, field, sort, page) => {
            const inner = { name: 'group', size: 2, from: 1, sort: [{ _doc: 'desc' }], _source: false }
            const body = { query, sort, _source: false, ...page }
            const found = ask(kind, { ...body, collapse: { field, inner_hits: inner } })
            const all = ask(kind, { ...body, from: 0, size: 10_000 })
            const path = lookup(kind, field)!
            const keyOf = (id: string): QueryValue | undefined =>
              indexedValuesOf(path, documents[places.get(id)!]!._source)[0]
            const groups = Map.groupBy(all.hits, ({ _id }) => keyOf(_id))
            const due = [...groups.values()].map(([first]) => first!._id).slice(page.from, page.from + page.size)
            assert.deepEqual(
              found.hits.map(({ _id }) => _id),
              due,
            )
            assert.equal(found.total, all.total)
            for (const { _id, fields, inner_hits } of found.hits) {
              const group = groups.get(keyOf(_id))!
              const shown = fields?.[field]?.[0]
              assert.equal(shown === undefined, keyOf(_id) === undefined)
              const newest = group.map(hit => hit._id).sort((a, b) => places.get(b)! - places.get(a)!)
              assert.equal(inner_hits!.group!.hits.total, group.length)
              assert.deepEqual(
                inner_hits!.group!.hits.hits.map(hit => hit._id),
                newest.slice(1, 3),
              )
            }
          },
        ),
        { numRuns: CASES, seed: SEED },
      )
    })

  it('the arguments that a nested clause found', () => {
    const documents = store.all('event')
    const byId = new Map(documents.map(document => [document._id, document]))
    const query = arbitraryQuery('event', documents.slice(0, 40))
    const inner = fc.constantFrom(
      { range: { 'args.pos': { gte: 1 } } },
      { exists: { field: 'args.value.num' } },
      { term: { 'args.value.type': 'address' } },
      { bool: { must_not: { term: { 'args.pos': 0 } } } },
    )
    const sorts = fc.constantFrom<unknown>(
      undefined,
      [{ 'args.pos': 'desc' }],
      ['args.value.num'],
      [{ 'args.name': 'desc' }, { _doc: 'desc' }],
    )
    fc.assert(
      fc.property(query, inner, sorts, fc.nat(2), fc.nat(3), (outer, own, sort, from, size) => {
        const nested = {
          nested: { path: 'args', query: own, inner_hits: { from, size, ...(sort !== undefined && { sort }) } },
        }
        const { hits } = ask('event', { query: { bool: { filter: [outer, nested] } }, size: 10 })
        const test = compilePredicate(
          'event',
          parseSearch(stringifyLossless({ query: { nested: { path: 'args', query: own } } }), ['event'], 0).parts[0]!
            .query,
        )
        for (const { _id, _source, inner_hits } of hits) {
          const { decoding: _, ...document } = byId.get(_id)!
          const args = document._source.args as Source[]
          const matching = args.flatMap((arg, offset) => (test({ _id, _source: { args: [arg] } }) ? [offset] : []))
          const { total, hits: elements } = inner_hits!.args!.hits
          assert.equal(total, matching.length)
          if (sort === undefined)
            assert.deepEqual(
              elements.map(({ _nested }) => (_nested as { offset: number }).offset),
              matching.slice(from, from + size),
            )
          else {
            const keys = elements.map(({ sort }) => sort![0] as QueryValue)
            const sign = JSON.stringify(sort).includes('desc') ? -1 : 1
            for (let i = 1; i < keys.length; i++)
              if (typeof keys[i] === typeof keys[i - 1]) assert.ok(sign * compareValues(keys[i - 1]!, keys[i]!) <= 0)
          }
          for (const { _nested, _source: shown } of elements)
            assert.deepEqual(shown, (_source.args as Source[])[(_nested as { offset: number }).offset])
        }
      }),
      { numRuns: CASES, seed: SEED },
    )
    const [hit] = ask('event', {
      query: {
        nested: {
          path: 'args',
          query: { exists: { field: 'args.value.num' } },
          inner_hits: { name: 'n', _source: ['args.value.num'], fields: ['args.pos'], docvalue_fields: ['args.pos'] },
        },
      },
    }).hits
    const [element] = hit!.inner_hits!.n!.hits.hits
    assert.deepEqual(Object.keys(element!._source), ['value'])
    assert.deepEqual(element!.fields, {
      'args.pos': (element!.fields!.args as { pos: unknown[] }[])[0]!.pos,
      args: element!.fields!.args,
    })
  })

  it('children and parents that a clause found', () => {
    for (const [kind, child] of [
      ['tx', 'log'],
      ['tx', 'event'],
      ['tx', 'trace'],
      ['tx', 'call'],
      ['block', 'tx'],
      ['block', 'trace'],
    ] as const) {
      const children = store.all(child)
      const { hits } = ask(kind, {
        query: {
          has_child: {
            type: child,
            query: { match_all: {} },
            inner_hits: { size: 4, from: 1, _source: false, sort: [{ _doc: 'asc' }] },
          },
        },
        size: 50,
      })
      assert.ok(hits.length > 0)
      for (const { _id, inner_hits } of hits) {
        const due = children.filter(({ _parent }) => _parent === _id).map(({ _id }) => _id)
        assert.equal(inner_hits![child]!.hits.total, due.length)
        assert.deepEqual(
          inner_hits![child]!.hits.hits.map(hit => hit._id),
          due.slice(1, 5),
        )
      }
      const up = ask(child, {
        query: { has_parent: { parent_type: kind, query: { match_all: {} }, inner_hits: { name: 'of' } } },
        size: 30,
      })
      for (const { _parent, inner_hits } of up.hits)
        assert.deepEqual(
          inner_hits!.of!.hits.hits.map(hit => hit._id),
          [_parent],
        )
    }
    const sorted = {
      has_child: {
        type: 'log',
        query: { match_all: {} },
        inner_hits: { sort: [{ 'address.raw': 'desc' }, { 'logIndex.num': 'asc' }], size: 20 },
      },
    }
    for (const { inner_hits } of ask('tx', { query: sorted, size: 50 }).hits) {
      const keys = inner_hits!.log!.hits.hits.map(({ sort }) => sort as [string, number])
      assert.deepEqual(
        keys,
        keys.toSorted(([a, i], [b, j]) => compareValues(b, a) || i - j),
      )
    }
    const deep = {
      has_child: {
        type: 'tx',
        inner_hits: { _source: false },
        query: { has_child: { type: 'event', inner_hits: { size: 1 }, query: { match_all: {} } } },
      },
    }
    const [hit] = ask('block', { query: deep, size: 1 }).hits
    const [tx] = hit!.inner_hits!.tx!.hits.hits
    assert.equal(tx!.inner_hits!.event!.hits.hits[0]!._parent, tx!._id)
  })

  it('nothing of what must not be found, and nothing twice', () => {
    const nested = (name: string) => ({ nested: { path: 'args', query: { match_all: {} }, inner_hits: { name } } })
    const [hit] = ask('event', {
      query: {
        bool: { must_not: { nested: { path: 'args', query: { term: { 'args.name': 'nobody' } }, inner_hits: {} } } },
      },
    }).hits
    assert.equal(hit!.inner_hits, undefined)
    const two = ask('event', { query: { bool: { filter: [nested('a'), nested('b')] } }, size: 1 }).hits[0]!
    assert.deepEqual(Object.keys(two.inner_hits!), ['a', 'b'])
    assert.match(
      refusal('event', { query: { bool: { filter: [nested('a'), nested('a')] } } }),
      /already contains an entry for key \[a\]/,
    )
  })

  it('marks in the fields that a query is about', () => {
    const [name] = store.all('event').map(({ _source }) => _source.event as string)
    const body = { query: { match: { event: name } }, highlight: { fields: { '*': {} } }, size: 1, _source: false }
    assert.deepEqual(ask('event', body).hits[0]!.highlight, { event: [`<em>${name}</em>`] })
    const raw = {
      ...body,
      query: { bool: { must: { term: { 'event.raw': name } }, must_not: { term: { event: 'nobody' } } } },
    }
    assert.deepEqual(ask('event', raw).hits[0]!.highlight, { 'event.raw': [`<em>${name}</em>`] })
    const address = ask('log', { size: 1 }).hits[0]!._source.address as string
    const log = {
      query: { term: { address: address.toLowerCase() } },
      highlight: { fields: { address: { pre_tags: ['>'], post_tags: ['<'] } } },
      size: 1,
    }
    assert.deepEqual(ask('log', log).hits[0]!.highlight, { address: [`>${address}<`] })
    assert.equal(ask('log', { ...log, highlight: { fields: { 'blockNumber.num': {} } } }).hits[0]!.highlight, undefined)
  })

  it('or are refused by name', () => {
    const cases: [unknown, RegExp][] = [
      [{ profile: true }, /profile: \[profile\] is not supported/],
      [{ runtime_mappings: { a: {} } }, /\[runtime_mappings\]/],
      [{ script_fields: { a: {} } }, /script_fields: scripts are not supported/],
      [{ suggest: { a: {} } }, /\[suggest\]/],
      [{ fields: ['gsa'] }, /fields\[0\]: no field \[gsa\] in tx\. Did you mean "gas.num"/],
      [{ fields: ['gas'] }, /\[gas\] of tx is an object/],
      [{ fields: [{ field: 'gas.num', format: '#' }] }, /Field \[gas.num\] of type \[long\] doesn't support formats/],
      [{ fields: [{ field: 'timestamp', format: 'g' }] }, /invalid date format "g"/],
      [{ docvalue_fields: ['from'] }, /text fields have no doc values.*from\.raw/],
      [{ collapse: { field: 'from' } }, /collapse is not supported for the field \[from\] of the type \[text\]/],
      [{ collapse: { field: 'timestamp' } }, /of the type \[date\]/],
      [{ collapse: { field: 'accessList.storageKeys' } }, /several values/],
      [{ collapse: { field: 'hash' }, size: -1 }, /"size": -1/],
      [{ highlight: { fields: { from: { tpye: 1 } } } }, /unknown key \[tpye\]\. Did you mean "type"/],
      [{ highlight: { fields: { from: {} }, boundary_scanner: 'word' } }, /expected "sentence"/],
    ]
    for (const [body, message] of cases) assert.match(refusal('tx', body), message)
    const nothing = {
      profile: false,
      runtime_mappings: {},
      script_fields: {},
      indices_boost: [],
      terminate_after: 0,
      suggest: {},
      stats: ['a'],
    }
    assert.deepEqual(ask('tx', nothing), ask('tx', {}))
  })

  it('scores beside a sort, where these are tracked', () => {
    const { max_score, hits } = ask('tx', { sort: ['gas.num'], track_scores: true, size: 1 })
    assert.deepEqual([max_score, hits[0]!._score], [1, 1])
  })
})
