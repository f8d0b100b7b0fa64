import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { type Kind, lookup } from '../../src/mapping/index.ts'
import { ALL_NODE, NONE_NODE, type Node } from '../../src/query/ast.ts'
import { BODY_KEY_NAMES, IGNORED_KEYS } from '../../src/query/body-keys.ts'
import type { Clause } from '../../src/query/dsl/clause.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import type { SearchRequest } from '../../src/query/request.ts'
import type { Score } from '../../src/query/score.ts'
import { stringifyLossless } from '../support/scenarios.ts'

const NOW = Date.parse('2024-02-29T12:34:56Z')
const ALICE = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'

const parse = (body: unknown, ...kinds: Kind[]): SearchRequest =>
  parseSearch(typeof body === 'string' || body === undefined ? body : stringifyLossless(body), kinds, NOW)

const query = (clause: unknown, kind: Kind): Node => parse({ query: clause }, kind).parts[0]!.query

const refusal = (body: unknown, ...kinds: Kind[]): string => {
  try {
    parse(body, ...kinds)
  } catch (error) {
    assert.ok(error instanceof ChainsieveError, String(error))
    assert.equal(error.next, 'refuse')
    return `${error.code}: ${error.message}`
  }
  return 'accepted'
}

test('no body and empty ones ask for ten hits of anything', () => {
  const anything: SearchRequest = {
    parts: [{ kind: 'tx', query: ALL_NODE }],
    sort: [],
    from: 0,
    size: 10,
    source: true,
    trackTotal: true,
  }
  for (const body of [
    undefined,
    '',
    ' \n',
    '{}',
    '{"query":{}}',
    '{"query":{"match_all":{}}}',
    '{"query":{"bool":{}}}',
  ]) {
    assert.deepEqual(parse(body, 'tx'), anything, body)
  }
})

test('the example of the events of an argument, as a tree', () => {
  const clause = {
    bool: {
      filter: [
        { term: { event: 'transfer' } },
        { term: { 'address.raw': ALICE } },
        {
          nested: {
            path: 'args',
            query: { bool: { filter: [{ term: { 'args.name': 'to' } }, { term: { 'args.value.hex': ALICE } }] } },
          },
        },
        { range: { 'blockNumber.num': { gte: 5, lt: '9' } } },
        { range: { timestamp: { gte: 'now-1d/d' } } },
      ],
      must_not: { exists: { field: 'error' } },
    },
  }
  const field = (path: string) => lookup('event', path)!
  const expected: Node = {
    op: 'and',
    of: [
      { op: 'in', field: field('event'), values: ['transfer'] },
      { op: 'in', field: field('address.raw'), values: [ALICE] },
      {
        op: 'nested',
        path: 'args',
        of: {
          op: 'and',
          of: [
            { op: 'in', field: field('args.name'), values: ['to'] },
            { op: 'in', field: field('args.value.hex'), values: [ALICE.toLowerCase()] },
          ],
        },
      },
      { op: 'not', of: { op: 'exists', field: field('error') } },
      { op: 'range', field: field('blockNumber.num'), bounds: { gte: 5n, lte: 8n } },
      { op: 'range', field: field('timestamp'), bounds: { gte: Date.UTC(2024, 1, 28) } },
    ],
  }
  assert.deepEqual(query(clause, 'event'), expected)
})

test('each kind reads the query by its own fields', () => {
  const body = { query: { bool: { should: [{ term: { from: ALICE } }, { ids: { values: ['0xAB'] } }] } } }
  const ids: Node = { op: 'ids', values: ['0xab'] }
  const from: Node = { op: 'in', field: lookup('tx', 'from')!, values: [ALICE.toLowerCase()] }
  const one: Score = { by: 'same', value: 1 }
  const rare: Score = { by: 'term', field: lookup('tx', 'from')!, value: ALICE.toLowerCase(), boost: 1 }
  const either: Score = {
    by: 'sum',
    of: [
      { node: from, score: rare },
      { node: ids, score: one },
    ],
  }
  assert.deepEqual(parse(body, 'block', 'tx').parts, [
    { kind: 'block', query: ids },
    { kind: 'tx', query: { op: 'or', of: [ids, from] }, score: either },
  ])
  assert.deepEqual(parse({ query: { term: { _type: 'tx' } } }, 'block', 'tx').parts, [
    { kind: 'block', query: NONE_NODE },
    { kind: 'tx', query: ALL_NODE },
  ])
})

test('numbers of a body keep every digit', () => {
  const values = (text: string) => {
    const node = query(JSON.parse(`{"term":{"value.num":"${text}"}}`), 'tx')
    assert.deepEqual(parse(`{"query":{"term":{"value.num":${text}}}}`, 'tx').parts[0]!.query, node)
    return node.op === 'in' ? node.values : node.op
  }
  assert.deepEqual(values('9223372036854775807'), [9223372036854775807n])
  assert.deepEqual(values('-9223372036854775808'), [-9223372036854775808n])
  assert.deepEqual(values('9007199254740993'), [9007199254740993n])
  assert.deepEqual(values('9007199254740993.0'), [9007199254740993n])
  assert.deepEqual(values('9007199254740993.5'), 'none')
  assert.deepEqual(values('1e18'), [10n ** 18n])
  assert.deepEqual(values('1.5e1'), [15n])
  assert.deepEqual(values('1e-1'), 'none')
  assert.deepEqual(values('0e999999999'), [0n])
  assert.deepEqual(values('1e-999999999'), 'none')
})

test('0x text is an integer where one is due', () => {
  assert.deepEqual(query({ term: { 'gas.num': '0x5208' } }, 'tx'), query({ term: { 'gas.num': 21000 } }, 'tx'))
  assert.deepEqual(
    query({ range: { 'gas.num': { gt: '0XFF' } } }, 'tx'),
    query({ range: { 'gas.num': { gte: 256 } } }, 'tx'),
  )
})

test('bounds between two integers move inwards', () => {
  const bounds = (given: unknown) => {
    const node = query({ range: { 'gas.num': given } }, 'tx')
    return node.op === 'range' ? node.bounds : node
  }
  assert.deepEqual(bounds({ gt: 1.5 }), { gte: 2n })
  assert.deepEqual(bounds({ gte: 1.5 }), { gte: 2n })
  assert.deepEqual(bounds({ lt: 1.5 }), { lte: 1n })
  assert.deepEqual(bounds({ lte: 1.5 }), { lte: 1n })
  assert.deepEqual(bounds({ gte: -1.5, lte: '-0.5' }), { op: 'in', field: lookup('tx', 'gas.num')!, values: [-1n] })
  assert.deepEqual(bounds({ gt: '9223372036854775807' }), NONE_NODE)
  assert.deepEqual(bounds({ gte: '9223372036854775807.5' }), NONE_NODE)
  assert.deepEqual(bounds({ lte: '-9223372036854775808.5' }), NONE_NODE)
})

test('older names of fields mean those of today', () => {
  const pairs: [Kind, string, string, unknown][] = [
    ['event', 'event.keyword', 'event.raw', 'Transfer'],
    ['tx', 'from.keyword', 'from.raw', ALICE],
    ['tx', 'hash.keyword', 'hash', '0xab'],
    ['tx', 'value.eth', 'value.coin', 1.5],
    ['tx', 'value.raw.keyword', 'value.raw', '0x1'],
  ]
  for (const [kind, older, name, value] of pairs) {
    assert.deepEqual(query({ term: { [older]: value } }, kind), query({ term: { [name]: value } }, kind), older)
  }
})

test('every clause has an example that is a query on events, and a description', () => {
  for (const [name, { doc, example, on = 'event' }] of Object.entries<Clause>(CLAUSES)) {
    assert.equal(typeof query({ [name]: example }, on).op, 'string')
    assert.match(doc, /^[A-Z].*\.$/, name)
  }
})

test('parents and children are asked by their own fields', () => {
  const transfer: Node = { op: 'in', field: lookup('event', 'event')!, values: ['transfer'] }
  const sent: Node = { op: 'in', field: lookup('tx', 'from')!, values: [ALICE.toLowerCase()] }
  const event = { term: { event: 'transfer' } }
  const from = { term: { from: ALICE } }
  const some = { min: 1, max: Number.POSITIVE_INFINITY }
  const cases: [unknown, Kind, Node][] = [
    [{ has_child: { type: 'event', query: event } }, 'tx', { op: 'child', kind: 'event', of: transfer, ...some }],
    [
      { has_child: { type: 'event', query: event, min_children: '2', max_children: 4, score_mode: 'none', boost: 2 } },
      'tx',
      { op: 'child', kind: 'event', of: transfer, min: 2, max: 4 },
    ],
    [
      { has_child: { type: 'event', query: event, min_children: 0 } },
      'tx',
      { op: 'child', kind: 'event', of: transfer, ...some },
    ],
    [
      { has_child: { type: 'tx', query: { has_child: { type: 'event', query: event } } } },
      'block',
      { op: 'child', kind: 'tx', of: { op: 'child', kind: 'event', of: transfer, ...some }, ...some },
    ],
    [{ has_parent: { parent_type: 'tx', query: from, score: false } }, 'event', { op: 'parent', kind: 'tx', of: sent }],
    [{ has_parent: { type: 'tx', query: from } }, 'trace', { op: 'parent', kind: 'tx', of: sent }],
    [
      { parent_id: { type: 'log', id: '0xAB' } },
      'log',
      { op: 'parent', kind: 'tx', of: { op: 'ids', values: ['0xab'] } },
    ],
    [
      { parent_id: { type: 'trace', id: '0xAB' } },
      'trace',
      {
        op: 'or',
        of: [
          { op: 'parent', kind: 'tx', of: { op: 'ids', values: ['0xab'] } },
          { op: 'parent', kind: 'block', of: { op: 'ids', values: ['0xab'] } },
        ],
      },
    ],
    [{ has_child: { type: 'event', query: { match_none: {} } } }, 'tx', NONE_NODE],
    [{ has_parent: { parent_type: 'tx', query: { match_none: {} } } }, 'event', NONE_NODE],
    [{ bool: { must_not: { has_child: { type: 'event', query: { match_none: {} } } } } }, 'tx', ALL_NODE],
  ]
  for (const [clause, kind, node] of cases) assert.deepEqual(query(clause, kind), node, JSON.stringify(clause))
  assert.deepEqual(parse({ query: cases[0]![0] }, 'block', 'tx', 'event').parts, [
    { kind: 'block', query: NONE_NODE },
    { kind: 'tx', query: cases[0]![2] },
    { kind: 'event', query: NONE_NODE },
  ])
})

test('what no parent or child can be is refused', () => {
  const all = { match_all: {} }
  const refused: [clause: unknown, kind: Kind, message: RegExp][] = [
    [{ has_child: [] }, 'tx', /^parsing_exception: query\.has_child: expected an object/],
    [
      { has_child: { type: ['event'], query: all } },
      'tx',
      /^parsing_exception: query\.has_child\.type: expected the name/,
    ],
    [{ has_child: { type: 7, query: all } }, 'tx', /^parsing_exception: query\.has_child\.type: .*received 7/],
    [{ has_child: { type: 'event', query: [] } }, 'tx', /^parsing_exception: query\.has_child\.query: /],
    [{ has_child: { type: 'event', query: {} } }, 'tx', /^parsing_exception: query\.has_child\.query: /],
    [{ has_child: { type: 'event', query: all, min_childen: 1 } }, 'tx', /Did you mean "min_children"\?/],
    [
      { has_child: { type: 'event', query: all, min_children: 1.5 } },
      'tx',
      /^parsing_exception: .*min_children: expected/,
    ],
    [
      { has_child: { type: 'event', query: all, min_children: null } },
      'tx',
      /^parsing_exception: .*min_children: expected/,
    ],
    [{ has_child: { type: 'event', query: all, max_children: 0 } }, 'tx', /requires positive 'max_children'.*must_not/],
    [
      { has_child: { type: 'event', query: all, ignore_unmapped: 'so' } },
      'tx',
      /ignore_unmapped: expected true or false/,
    ],
    [{ has_child: { type: 'constructor', query: all } }, 'tx', /no children of type \[constructor\]/],
    [{ has_parent: { parent_type: 'tx', type: 'tx', query: all } }, 'event', /its old name, type/],
    [{ has_parent: { parent_type: 'tx', query: all, score: 1 } }, 'event', /score: expected true or false/],
    [
      { has_parent: { parent_type: 'tx', query: all, inner_hits: { sise: 1 } } },
      'event',
      /inner_hits\.sise: unknown key \[sise\]\. Did you mean "size"/,
    ],
    [{ has_parent: { parent_type: 'xt', query: all } }, 'event', /Did you mean "tx"\?/],
    [
      { parent_id: { type: 'evnt', id: '0x1' } },
      'event',
      /\[parent_id\] no relation found for child \[evnt\]\. Did you mean "event"/,
    ],
    [{ parent_id: { type: 'event', id: {} } }, 'event', /^parsing_exception: query\.parent_id\.id: expected an id/],
    [
      { nested: { path: 'args', query: { parent_id: { type: 'event', id: '0x1' } } } },
      'event',
      /not to the elements of \[args\]/,
    ],
  ]
  for (const [clause, kind, message] of refused)
    assert.match(refusal({ query: clause }, kind), message, JSON.stringify(clause))
})

test('sort, page, source and total', () => {
  const field = (kind: Kind, path: string) => ({ [kind]: lookup(kind, path)! })
  const body = {
    sort: ['_doc', '_score', { timestamp: 'desc' }, { 'value.num': { order: 'ASC', missing: '_first' } }],
    from: 5,
    size: '7',
    _source: ['hash', 'value'],
    track_total_hits: 1000,
  }
  assert.deepEqual(parse(body, 'block', 'tx'), {
    parts: [
      { kind: 'block', query: ALL_NODE },
      { kind: 'tx', query: ALL_NODE },
    ],
    sort: [
      { by: '_doc', fields: {}, order: 'asc', missing: '_last' },
      { by: '_score', fields: {}, order: 'desc', missing: '_last' },
      {
        by: 'field',
        fields: { ...field('block', 'timestamp'), ...field('tx', 'timestamp') },
        order: 'desc',
        missing: '_last',
      },
      { by: 'field', fields: field('tx', 'value.num'), order: 'asc', missing: '_first' },
    ],
    from: 5,
    size: 7,
    source: { includes: ['hash', 'value'], excludes: [] },
    trackTotal: 1000,
  })
  assert.equal(parse({ size: -1 }, 'tx').size, -1)
  assert.equal(parse({ size: -1, from: 20_000 }, 'tx').from, 20_000)
  assert.equal(parse({ track_total_hits: false }, 'tx').trackTotal, false)
  const sources: [unknown, SearchRequest['source']][] = [
    [false, false],
    ['hash', { includes: ['hash'], excludes: [] }],
    [
      { includes: 'a', excludes: ['b', 'c*'] },
      { includes: ['a'], excludes: ['b', 'c*'] },
    ],
    [
      { include: ['a'], exclude: 'b' },
      { includes: ['a'], excludes: ['b'] },
    ],
    [{}, { includes: [], excludes: [] }],
  ]
  for (const [_source, expected] of sources) assert.deepEqual(parse({ _source }, 'tx').source, expected)
})

test('keys that have no effect are accepted', () => {
  const body = Object.fromEntries(Object.keys(IGNORED_KEYS).map(key => [key, {}]))
  assert.deepEqual(parse(body, 'tx'), parse({}, 'tx'))
})

const KNOWN = `Known are ${BODY_KEY_NAMES.join(', ')}.`

test('a refusal names place, received value and remedy', () => {
  const tx = (clause: unknown) => ({ query: { bool: { filter: [{ match_all: {} }, clause] } } })
  const cases: [unknown, string][] = [
    [
      tx({ term: { gsa: 1 } }),
      'query_shard_exception: query.bool.filter[1].term.gsa: no field [gsa] in tx. Did you mean "gas.num"?',
    ],
    [
      tx({ term: { 'gas.nmu': 1 } }),
      'query_shard_exception: query.bool.filter[1].term.gas.nmu: no field [gas.nmu] in tx. Did you mean "gas.num"?',
    ],
    [
      tx({ term: { 'gas.num': '' } }),
      'number_format_exception: query.bool.filter[1].term.gas.num: expected an integer, as a number, as decimal text or as 0x-hex text, received "".',
    ],
    [
      tx({ term: { 'gas.num': '1'.repeat(401) } }),
      `number_format_exception: query.bool.filter[1].term.gas.num: expected a number of at most 400 characters, received "${'1'.repeat(98)}….`,
    ],
    [
      tx({ term: { 'value.coin': '1e999' } }),
      'illegal_argument_exception: query.bool.filter[1].term.value.coin: "1e999" is too large for a double.',
    ],
    [
      tx({ term: { status: 1 } }),
      "illegal_argument_exception: query.bool.filter[1].term.status: can't parse boolean value [1], expected [true] or [false].",
    ],
    [
      tx({ term: { timestamp: 'soon' } }),
      'parse_exception: query.bool.filter[1].term.timestamp: failed to parse date "soon" with format [epoch_second||epoch_millis||strict_date_optional_time]. Write epoch seconds (1583971200), ISO-8601 (2020-03-12T00:00:00Z) or date math (now-7d/d).',
    ],
    [
      tx({ tern: {} }),
      'parsing_exception: query.bool.filter[1].tern: unknown query [tern]. Did you mean "term"? Supported are bool, term, terms, terms_set, range, ids, nested, has_child, has_parent, parent_id, exists, match, match_phrase, match_phrase_prefix, match_bool_prefix, multi_match, query_string, simple_query_string, prefix, wildcard, regexp, fuzzy, match_all, match_none, constant_score, dis_max, boosting, span_term, wrapper, type.',
    ],
    [
      tx({ constructor: {} }),
      'parsing_exception: query.bool.filter[1].constructor: unknown query [constructor]. Supported are bool, term, terms, terms_set, range, ids, nested, has_child, has_parent, parent_id, exists, match, match_phrase, match_phrase_prefix, match_bool_prefix, multi_match, query_string, simple_query_string, prefix, wildcard, regexp, fuzzy, match_all, match_none, constant_score, dis_max, boosting, span_term, wrapper, type.',
    ],
    [tx(5), 'parsing_exception: query.bool.filter[1]: expected a query clause, such as {"term": {…}}, received 5.'],
    [
      tx({ term: { 'from.raw': { value: 'a', case_insensitive: true, fuzzy: 1 } } }),
      'parsing_exception: query.bool.filter[1].term.from.raw.fuzzy: unknown key [fuzzy]. Known are value, case_insensitive.',
    ],
    [
      tx({ term: { status: { value: 'a', case_insensitive: true } } }),
      'illegal_argument_exception: query.bool.filter[1].term.status.case_insensitive: [status] does not support case insensitive queries.',
    ],
    [
      tx({ range: { 'gas.num': { from: 1, gte: 2 } } }),
      'parsing_exception: query.bool.filter[1].range.gas.num.gte: [gte] and [from] exclude each other. Keep one of them.',
    ],
    [
      tx({ range: { 'gas.num': { gte: 2, include_lower: true } } }),
      'parsing_exception: query.bool.filter[1].range.gas.num.include_lower: [include_lower] works with [from] and [to], not with [gte].',
    ],
    [
      { sort: { _type: 'asc' } },
      'illegal_argument_exception: sort._type: sorting by [_type] is not supported. [_doc] sorts in the order of the chain.',
    ],
    [
      { sort: { hash: { order: 'asc', mode: 'avg' } } },
      'query_shard_exception: sort.hash.mode: we only support AVG, MEDIAN and SUM on number based fields, and [hash] is not one. Its modes are min and max.',
    ],
    [
      { size: 1e300 },
      'parsing_exception: size: expected an integer: the number of hits, or -1 for all, received 1e+300.',
    ],
    [
      { track_total_hits: -1 },
      'parsing_exception: track_total_hits: expected true, false or a number from 0 on, received -1.',
    ],
    [{ quary: {} }, `parsing_exception: quary: unknown key [quary]. Did you mean "query"? ${KNOWN}`],
    [{ ['x'.repeat(5000)]: {} }, `parsing_exception: ${'x'.repeat(99)}…: unknown key [${'x'.repeat(99)}…]. ${KNOWN}`],
    [
      '[1,2]',
      'parsing_exception: the body: expected an object such as {"query": {"match_all": {}}}, received a list of 2.',
    ],
  ]
  for (const [body, expected] of cases) assert.equal(refusal(body, 'tx'), expected)
})

test('a number beyond 64 bits is refused with the hex that finds it', () => {
  const number = 2n ** 255n
  const hex = `0x8${'0'.repeat(63)}`
  assert.equal(
    refusal({ query: { range: { 'value.num': { gte: number } } } }, 'tx'),
    `illegal_argument_exception: query.range.value.num.gte: ${number} is out of range for a long: [value.num] holds the numbers from -9223372036854775808 to 9223372036854775807. Larger ones are found by value.raw (${hex}), and their ranges by value.padded (${hex}).`,
  )
  assert.equal(
    refusal({ query: { nested: { path: 'args', query: { term: { 'args.value.num': hex } } } } }, 'event'),
    `illegal_argument_exception: query.nested.query.term.args.value.num: "${hex}" is out of range for a long: [args.value.num] holds the numbers from -9223372036854775808 to 9223372036854775807. Larger ones are found by args.value.hex (${hex}).`,
  )
  assert.match(
    refusal({ query: { term: { 'args.pos': '-1e30' } } }, 'event'),
    /^illegal_argument_exception: .* 9223372036854775807\.$/,
  )
  assert.match(refusal('{"query":{"term":{"gas.num":1e999999999}}}', 'tx'), /out of range for a long/)
})

test('65,536 values are the limit', () => {
  const terms = (count: number) => ({
    query: { terms: { hash: Array.from({ length: count }, (_, i) => `0x${i.toString(16)}`) } },
  })
  const node = parse(terms(65_536), 'tx').parts[0]!.query
  assert.equal(node.op === 'in' && node.values.length, 65_536)
  assert.equal(
    refusal(terms(65_537), 'tx'),
    'illegal_argument_exception: The query up to query.terms.hash has more than 65536 values in lists. Use several searches, or search by what the values have in common. The operator can raise this with --limit values=N.',
  )
})

test('as deep as a body may go, it is read', () => {
  const body = (depth: number) => `{"query":${'{"bool":{"filter":'.repeat(depth)}{"match_all":{}}${'}}'.repeat(depth)}}`
  assert.deepEqual(parse(body(48), 'tx').parts[0]!.query, ALL_NODE)
  assert.match(
    refusal(body(50), 'tx'),
    /^parsing_exception: The query up to line 1, column \d+ has more than 100 levels of nested objects and lists/,
  )
})
