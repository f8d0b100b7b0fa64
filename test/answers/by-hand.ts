import { childKindsOf, KINDS, type Kind, parentKindsOf } from '../../src/mapping/index.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'
import { bodyText, loadScenarios } from '../support/scenarios.ts'
import type { Ask } from './ask.ts'
import { type Drawn, some } from './drawn.ts'
import { type Named, searchOf } from './fields.ts'

/** Everything that is stored, whole: by search, in parts, and by its ids. */
export const wholeRequests = (drawn: Drawn, count: number): Named[] =>
  KINDS.flatMap(kind => {
    const all = drawn[kind]
    return [
      ...Array.from(
        { length: Math.ceil(Math.min(all.length, count) / 50) },
        (_, i): Named => [`${kind} from ${i * 50}`, searchOf(kind, { sort: '_doc', from: i * 50, size: 50 })],
      ),
      ...some(all, 8).flatMap(({ _id }, i): Named[] => [
        [`get ${kind} ${i}`, { op: 'get', entity: kind, id: _id }],
        [`get ${kind} ${i} in capitals`, { op: 'get', entity: kind, id: _id.toUpperCase().replace('0X', '0x') }],
        [`ids ${kind} ${i}`, searchOf(KINDS.join(','), { query: { ids: { values: [_id, ` ${_id}`, `${_id}_0`] } } })],
        [
          `a hash ${kind} ${i}`,
          searchOf(KINDS.join(','), { query: { term: { _id: _id.slice(0, 66) } }, _source: false }),
        ],
      ]),
      ...NO_IDS.map((id, i): Named => [`get ${kind} by no id ${i}`, { op: 'get', entity: kind, id }]),
    ]
  })

const NO_IDS = [
  '',
  '0x',
  'x',
  `0x${'00'.repeat(32)}`,
  `0x${'00'.repeat(20)}`,
  `0x${'ab'.repeat(32)}_l_0`,
  `0x${'ab'.repeat(33)}`,
]

/** All hits at once, in the chain's order and others, also gone on with behind a part. */
export const streamRequests = (): Named[] =>
  KINDS.flatMap(kind => {
    const timed = { sort: { timestamp: 'asc' }, _source: ['timestamp', '*Number.num'] }
    const bodies: object[] = [
      { _source: false },
      { sort: '_doc', _source: false },
      timed,
      { sort: [{ [kind === 'block' ? 'gasUsed.num' : 'timestamp']: 'desc' }, '_doc'], from: 3, _source: false },
      { sort: { _id: 'asc' } },
      { query: { match_none: {} } },
      { track_total_hits: false, _source: ['*.num', 'args.name'] },
    ]
    return [
      ...bodies.map((body, i): Named => [`${kind} all ${i}`, searchOf(kind, { ...body, size: -1 })]),
      [`${kind} all in vain`, { ...searchOf(kind, { size: -1 }), mayStream: false } as Ask],
    ]
  })

/** Of more hits than one part holds. */
export const resumedRequests = (kinds: readonly string[]): Named[] =>
  kinds.flatMap(entities =>
    ['_doc', 'timestamp', { 'blockNumber.num': 'desc' }, [{ 'transactionIndex.num': 'desc' }, 'timestamp']].map(
      (sort, i): Named => [
        `${entities} resumed ${i}`,
        { ...searchOf(entities, { size: -1, sort, _source: false }), resumeAfter: 1 + (i % 2) } as Ask,
      ],
    ),
  )

export const relationRequests = (drawn: Drawn): Named[] =>
  KINDS.flatMap(kind => [
    ...[...KINDS, 'nothing'].flatMap((type, i): Named[] => [
      [
        `${kind} has_child ${type}`,
        searchOf(kind, { query: { has_child: { type, query: { match_all: {} } } }, _source: false }),
      ],
      [
        `${kind} has_parent ${type}`,
        searchOf(kind, { query: { has_parent: { parent_type: type, query: { match_all: {} } } }, size: 3 }),
      ],
      [
        `${kind} has_child ${type} ignored`,
        searchOf(kind, {
          query: {
            has_child: { type, query: { match_all: {} }, min_children: i, max_children: 3, ignore_unmapped: true },
          },
          _source: false,
        }),
      ],
      [
        `${kind} parent_id ${type}`,
        searchOf(kind, { query: { parent_id: { type, id: drawn.tx[i]?._id ?? '0x' } }, size: 2 }),
      ],
    ]),
    ...childKindsOf(kind).flatMap(child =>
      [0, 1, 2, 5].map(
        (min_children): Named => [
          `${kind} of ${min_children} ${child}`,
          searchOf(kind, {
            query: { has_child: { type: child, query: { match_all: {} }, min_children } },
            _source: false,
            size: 20,
          }),
        ],
      ),
    ),
    ...parentKindsOf(kind).flatMap(parent =>
      some(drawn[parent], 4).map(
        ({ _id }, i): Named => [
          `${kind} of ${parent} ${i}`,
          searchOf(kind, { query: { parent_id: { type: kind, id: _id } }, _source: false, size: 100 }),
        ],
      ),
    ),
  ])

/** The examples of the reference, and clauses that are wrong in themselves. */
export const clauseRequests = (): Named[] => {
  const bodies: [string, Kind, unknown][] = Object.entries(CLAUSES).flatMap(([name, { example, on = 'event' }]) =>
    [example, null, {}, [], 'text', { unknown: 1 }].map((body): [string, Kind, unknown] => [
      name,
      on as Kind,
      { [name]: body },
    ]),
  )
  return [
    ...bodies.map(([name, on, query], i): Named => [`clause ${name} ${i}`, searchOf(on, { query })]),
    ...QUERIES.map((query, i): Named => [`query ${i}`, searchOf('event', { query, _source: false })]),
    ...BODIES.map(
      (body, i): Named => [`body ${i}`, { op: 'search', entities: 'tx', ...(body !== undefined && { body }) }],
    ),
    ...SPECS.flatMap((spec, i): Named[] => [
      [
        `minimum_should_match ${i}`,
        searchOf('tx,log', { query: { bool: { should: SHOULD, minimum_should_match: spec } }, _source: false }),
      ],
      [
        `match of at least ${i}`,
        searchOf('event', {
          query: { match: { event: { query: 'transfer bare wide', minimum_should_match: spec } } },
          size: 1,
        }),
      ],
    ]),
    ...LIMITED.map(([limits, body], i): Named => [`limit ${i}`, { ...searchOf('tx', body), limits } as Ask]),
  ]
}

const SHOULD = [
  { term: { 'blockNumber.num': 101 } },
  { range: { 'transactionIndex.num': { gte: 1 } } },
  { exists: { field: 'contractAddress' } },
  { range: { timestamp: { gte: '2023-11-14T22:14:00' } } },
]
const SPECS = [0, 1, 2, 4, 5, -1, -4, '2', '50%', '-50%', '1<50%', '2<-1 3<75%', 'x', '1<', true, 1.5, null]

const QUERIES: unknown[] = [
  {},
  null,
  [],
  { bool: {} },
  { bool: { must_not: [] } },
  { bool: { must_not: { match_all: {} }, adjust_pure_negative: false } },
  { bool: { must_not: { match_none: {} }, adjust_pure_negative: true } },
  { bool: { filter: [{ match_all: {} }, { match_none: {} }] } },
  { term: { event: 'bare' }, terms: { event: ['bare'] } },
  { term: { event: 'bare', str: 'x' } },
  { term: { evnt: 'bare' } },
  { term: { args: 'bare' } },
  { term: { 'args.type': 'uint256' } },
  { term: { value: 1 } },
  { term: { constructor: 1 } },
  { term: { __proto__: 1 } },
  { ['__proto__']: {} },
  { constructor: {} },
  { wildcard: { event: 'b*' } },
  { query_string: { query: 'event:bare' } },
  { nested: { path: 'args', query: { ids: { values: [] } } } },
  { nested: { path: 'args', query: { nested: { path: 'args', query: { match_all: {} } } } } },
  { nested: { path: 'arg', query: { match_all: {} } } },
  { nested: { path: 'withdrawals', query: { match_all: {} }, ignore_unmapped: true } },
  {
    nested: { path: 'args', query: { bool: { must_not: { exists: { field: 'args.value.num' } } } }, score_mode: 'avg' },
  },
  { nested: { path: 'args', query: { has_parent: { parent_type: 'tx', query: { match_all: {} } } } } },
  { nested: { path: 'args', query: { match_all: {} }, inner_hits: {} } },
  { ids: { values: ['0x', 1, true], type: ['event', 'log'] } },
  { ids: { values: [], type: 'tx' } },
  { terms: { _id: [] } },
  { terms: { _type: ['event', 'tx'] } },
  { term: { _type: 'tx' } },
  { type: { value: 'nothing' } },
  { terms: { event: ['bare', 'shapes'], boost: 2 } },
  { terms: { event: { index: 'a', id: 1, path: 'b' } } },
  { prefix: { _id: '0x' } },
  { range: { _id: { gte: '0x' } } },
  { exists: { field: '_id' } },
  { exists: { field: 'args' } },
  { exists: { field: 'blockNumber' } },
  { exists: { field: 'nothing' } },
  { range: { timestamp: { from: 1, to: 2 } } },
  { range: { 'blockNumber.num': { gte: 1, format: 'yyyy' } } },
  { match: { event: { query: 'Bare Shapes', operator: 'xor' } } },
  { match: { event: { query: 'shaeps', fuzziness: 'AUTO:2,4', prefix_length: 2, fuzzy_transpositions: false } } },
  { match: { event: { query: 'shaeps', fuzziness: 3 } } },
  { match: { address: { query: '0x1', fuzziness: 1 } } },
  { match: { _id: { query: '0x1', fuzziness: 1 } } },
  { constant_score: { filter: { exists: { field: 'error' } }, boost: 3 } },
  { dis_max: { queries: [{ exists: { field: 'error' } }, { term: { event: 'wide' } }], tie_breaker: 0.5 } },
]

const BODIES: (string | undefined)[] = [
  undefined,
  ...['', ' ', '{}', '[]', '1', '"x"', 'null', '{', '{"query":}', '{"query":{},"query":{}}', '{"qery":{}}', '\u0000'],
  ...[
    '{"size":10001}',
    '{"size":9999,"from":2}',
    '{"size":-2}',
    '{"size":"3"}',
    '{"size":1.5}',
    '{"size":null}',
    '{"from":-1}',
  ],
  ...[
    '{"from":10000,"size":0}',
    '{"from":9990}',
    '{"from":"1","size":1,"_source":false}',
    '{"size":1e1}',
    '{"size":0}',
  ],
  ...[
    '{"sort":[]}',
    '{"sort":{}}',
    '{"sort":"nonce"}',
    '{"sort":{"nonce.num":"up"}}',
    '{"sort":{"nonce.num":{"order":"asc","mode":"max"}}}',
  ],
  ...[
    '{"sort":{"nonce.num":{"missing":0}}}',
    '{"sort":{"nothing":{"unmapped_type":"long"}},"size":2}',
    '{"sort":[{"nonce.num":"desc","gas.num":"asc"}],"size":2}',
  ],
  ...[
    '{"sort":"args.pos"}',
    '{"sort":"method"}',
    '{"sort":{"_score":"asc"},"size":1}',
    '{"sort":{"_doc":{"order":"desc"}},"size":1}',
    '{"sort":7}',
  ],
  ...[
    '{"_source":1}',
    '{"_source":{"include":"hash","exclude":["a"]},"size":1}',
    '{"_source":{"only":"hash"}}',
    '{"_source":[1]}',
    '{"_source":"","size":1}',
    '{"_source":[],"size":1}',
  ],
  ...[
    '{"track_total_hits":-1}',
    '{"track_total_hits":"true","size":1}',
    '{"track_total_hits":"x"}',
    '{"track_total_hits":2,"size":1}',
    '{"track_total_hits":1.5,"size":0}',
  ],
  ...[
    '{"timeout":"1s","version":true,"explain":true,"highlight":{},"size":1}',
    '{"aggs":{}}',
    '{"search_after":[1]}',
    '{"min_score":1}',
    '{"collapse":{"field":"from"}}',
  ],
  `{"query":${'{"bool":{"must":'.repeat(60)}{"match_all":{}}${'}}'.repeat(60)}}`,
]

const LIMITED: [object, unknown][] = [
  [{ clauses: 2 }, { query: { bool: { filter: [{ match_all: {} }, { match_all: {} }] } } }],
  [{ clauses: 3 }, { query: { bool: { filter: [{ match_all: {} }, { match_all: {} }] } }, size: 0 }],
  [{ values: 2 }, { query: { terms: { 'nonce.num': [1, 2, 3] } } }],
  [{ jsonValues: 5 }, { query: { terms: { 'nonce.num': [1, 2, 3] } } }],
  [{ nesting: 3 }, { query: { terms: { 'nonce.num': [1, 2, 3] } } }],
  [{ text: 4 }, { query: { term: { method: 'transfer' } } }],
  [{ text: 4 }, { _source: 'transactionHash' }],
  [{ sorts: 1 }, { sort: ['nonce.num', '_doc'] }],
  [{ sourcePatterns: 1 }, { _source: ['a', 'b'] }],
  [{ timeZones: 0 }, { query: { range: { timestamp: { gte: '2020', time_zone: 'Europe/Berlin' } } } }],
  [{ dateFormats: 1 }, { query: { range: { timestamp: { gte: '2020', format: 'yyyy||epoch_millis' } } } }],
  [{ queryMemory: 500 }, { size: 1000, sort: 'nonce.num' }],
  [{ queryMemory: 500 }, { size: -1, sort: 'nonce.num' }],
]

export const otherRequests = (drawn: Drawn, words: readonly string[]): Named[] => [
  ...[...some(drawn.contract, 25).map(({ _id }) => _id), `0x${'12'.repeat(20)}`, 'x'].flatMap((address, i): Named[] => [
    [`similar ${i}`, { op: 'similar', address, size: 1 + (i % 7) }],
    [`similar to capitals ${i}`, { op: 'similar', address: address.toUpperCase().replace('0X', '0x'), size: 100 }],
  ]),
  ...words.flatMap((q, i): Named[] => [
    [`suggest ${q}`, { op: 'suggest', q, size: 1 + (i % 9) }],
    [
      `suggest ${q} among contracts`,
      { op: 'suggest', q, size: 20, contracts: [{ name: 'Harbour Vault', address: `0x${'ab'.repeat(20)}` }] },
    ],
  ]),
]

/** Those of the scenarios, of which OpenSearch agrees to most. */
export const scenarioRequests = (): Named[] =>
  loadScenarios().flatMap(({ file, cases }) =>
    cases.map((scenario): Named => {
      const body = bodyText(scenario)
      const { entities } = scenario.request
      return [`${file} ${scenario.name}`, { op: 'search', entities, ...(body !== undefined && { body }) }]
    }),
  )
