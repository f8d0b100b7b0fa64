import { KINDS } from '../../src/mapping/index.ts'
import type { Random } from '../lib/random.ts'
import { chance, pick } from './attack.ts'
import type { Sent } from './body.ts'
import { INHERITED } from './mutate.ts'

/** Sends a body elsewhere than to `search`, or with parameters in the URL; its answer is not held against the documents then. */
export const elsewhere = (sent: Sent, random: Random): void => {
  const text = sent.body.toString()
  const one = pick(random, KINDS)
  const entities = chance(random, 0.8) ? sent.entities : pick(random, PATTERNS)
  const [path, body] = pick(random, ENDPOINTS)(encodeURI(entities), text, random, one)
  const count = pick(random, [0, 0, 1, 1, 2, 5])
  const query = Array.from({ length: count }, () => parameterOf(random))
  sent.path = query.length > 0 ? `${path}?${query.join('&')}` : path
  if (body !== undefined) sent.body = Buffer.from(body)
  sent.text = undefined
  sent.mustRefuse = undefined
}

type Endpoint = (
  entities: string,
  text: string,
  random: Random,
  kind: string,
) => readonly [path: string, body: string | undefined]

const search: Endpoint = entities => [`${entities}/_search`, undefined]

const ENDPOINTS: readonly Endpoint[] = [
  search,
  search,
  search,
  entities => [`${entities}/search/`, undefined],
  entities => [`${entities}/_count`, undefined],
  (entities, text, random) => [
    '_msearch',
    msearchOf(entities, text, random, pick(random, [1, 2, 20, chance(random, 0.02) ? 1_001 : 3])),
  ],
  (entities, text, random) => [`${entities}/_msearch`, msearchOf(entities, text, random, 2)],
  (entities, text, random) => [chance(random, 0.5) ? `${entities}/_mget` : '_mget', mgetOf(text, random)],
  (entities, _, random) => [`${entities}/_doc/${nameOf(random)}`, undefined],
  (entities, _, random) => [`${entities}/_source/${nameOf(random)}`, undefined],
  (_, __, random, kind) => [`${kind}/_explain/${nameOf(random)}`, undefined],
  entities => [`${entities}/_validate/query`, undefined],
  (entities, text, random) => [
    `${entities}/_analyze`,
    chance(random, 0.5) ? text : JSON.stringify({ text: nameOf(random) }),
  ],
  (entities, _, random) => [`${entities}/_mapping/field/${nameOf(random)}`, ''],
  (entities, _, random) => [`${entities}/_field_caps?fields=${nameOf(random)}`, ''],
  (_, __, random) => [`${pick(random, NAMELESS)}`, ''],
  (entities, _, random) => [`${entities}/${pick(random, NAMELESS)}`, ''],
  (_, __, random) => [`${nameOf(random)}/${nameOf(random)}/${nameOf(random)}`, undefined],
]

const NAMELESS =
  '_mapping _settings _alias _aliases _stats _refresh _cat/indices _cat/count _cat/health _cat _cluster/health _cluster/stats _nodes _search_shards _resolve/index/* _field_caps suggest?q=tra contract/0x/similar _bulk _delete_by_query _scripts/x _sql'.split(
    ' ',
  )

const msearchOf = (entities: string, text: string, random: Random, count: number): string => {
  const line = text.replace(/[\r\n]/g, ' ')
  const header = () => pick(random, ['{}', JSON.stringify({ index: entities }), '', '{"index":["tx","*"]}', line])
  return Array.from({ length: count }, () => `${header()}\n${line}\n`).join('') + pick(random, ['', '', '\n', '{}'])
}

const mgetOf = (text: string, random: Random): string => {
  const ids = [...text.matchAll(/"(0x[0-9a-f]{64}[^"]*)"/g)].map(([, id]) => id!).slice(0, 5)
  if (chance(random, 0.1)) return text
  return chance(random, 0.5)
    ? JSON.stringify({ ids: [...ids, nameOf(random)] })
    : JSON.stringify({ docs: ids.map(_id => ({ _index: pick(random, PATTERNS), _id, _source: nameOf(random) })) })
}

const PATTERNS = [
  '*',
  '_all',
  't*',
  '*,-tx',
  'tx,',
  'e*t,tx',
  '*x*,-*',
  'ethereum',
  '<tx-{now/d}>',
  '.',
  '%20',
  'tx:tx',
]

const NAMES = [
  ...['*', '**', '*.num', 'args.*', '_id', '_source', 'hits', 'block*', '0x00', '-*', 'a\\.b', '%00', '[', '{}', '~'],
  ...INHERITED,
]

const nameOf = (random: Random): string => encodeURIComponent(pick(random, NAMES))

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  q: [
    'Transfer',
    'event:T*',
    '*:*',
    'blockNumber.num:[1 TO *}',
    'a AND (b',
    '/x.*/',
    '_exists_:from',
    '"a b"~2',
    'T*^3',
  ],
  df: ['event', '*', 'x'],
  default_operator: ['and', 'OR', 'x'],
  lenient: ['true', 'x'],
  analyze_wildcard: ['true'],
  size: ['0', '5', '-1', '10001', 'x', '1e3'],
  from: ['0', '5', '-1', '9999'],
  sort: ['timestamp:desc', '_doc', '_score', 'x:asc', 'hash:up', ','],
  _source: ['true', 'false', '*.num', ''],
  _source_includes: ['a*', '*', ''],
  _source_excludes: ['*'],
  docvalue_fields: ['*.num', 'x'],
  stored_fields: ['_none_', 'x'],
  track_total_hits: ['true', 'false', '3', '-1', 'x'],
  rest_total_hits_as_int: ['true', 'x'],
  track_scores: ['true'],
  version: ['true', ''],
  explain: ['true'],
  timeout: ['1ms', '1s', 'x', '-1'],
  typed_keys: ['true', ''],
  filter_path: [
    'hits.hits._id',
    '**',
    '-hits',
    'hits.**._id,-**.x',
    '*.*.*',
    'aggregations.**.key',
    'took',
    '\\',
    ',,',
    '*s',
  ],
  ignore_unavailable: ['true', 'x'],
  allow_no_indices: ['false'],
  expand_wildcards: ['all', 'none', 'x'],
  max_concurrent_searches: ['1', '0', '1e9'],
  fields: ['*', 'x', '*.num,_id'],
  include_defaults: ['true'],
  format: ['json', 'yaml', 'x'],
  h: ['index', '*', 'x'],
  v: ['true'],
  s: ['index:desc', 'x'],
  pretty: ['true'],
  human: ['true'],
  error_trace: ['true'],
  search_type: ['count', 'x'],
  scroll: ['1m', 'x'],
  type: ['tx', '_doc', ','],
}

const parameterOf = (random: Random): string => {
  const name = chance(random, 0.03) ? nameOf(random) : pick(random, Object.keys(PARAMETERS))
  const values = Object.hasOwn(PARAMETERS, name) && chance(random, 0.9) ? PARAMETERS[name]! : NAMES
  return `${name}=${encodeURIComponent(pick(random, values))}`
}
