import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openSearchIndex } from '../../scripts/scenario-mapping.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { compileHighlight } from '../../src/query/hits/highlight.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { compilePredicate, type TestedDocument } from '../../src/query/predicate.ts'
import { findElasticsearch } from '../support/elasticsearch.ts'

// Marks are those that a real Elasticsearch 7.17 answered, which stand in `highlight-answers.ndjson`. Where one runs, it is
// asked again; with UPDATE=1, its answers are written.

type Highlights = Record<string, unknown>
type Case = readonly [kind: Kind, body: { query?: unknown; highlight: unknown }, due: Highlights]

const FILE = new URL('highlight-answers.ndjson', import.meta.url)
const CASES = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Case)

const token = (name: string, symbol: string, more = {}) => ({ name, symbol, standard: 'ERC-20', ...more })
const argument = (name: string, type: string, hex: string, num: number | null = null) => ({
  name,
  value: { hex, num, type },
})
const SOURCES: { [kind in Kind]?: readonly Record<string, unknown>[] } = {
  token: [
    token(
      'The quick brown fox. It jumps over the lazy dog and runs far away from the quick <b>hound</b> that follows it across the wide and open field near the river quick.',
      'FOX',
    ),
    token('Quick transfer, quick. The brown brown fox is brown, not quick brown; fox.', 'Quick Fox', {
      error: 'quick fox',
    }),
    token('fox quick', 'quick brown'),
    token(
      'Hound from transfer - lazy; 12.5 open wide. 12.5 name open Wide quick fox Gold near Token Near Open far token river token A the hound jumps - jumps lazy hound.\ntoken token Dog: name 12.5 brown river field! Dog field A A 12.5 Token quick jumps running. The wide gold dog Transfer 12.5 lazy Quick from A A: gold far? A token token. Brown field open near.\nQuick gold open, lazy name far, dog brown; jumps Transfer brown from; running field fox Gold.',
      'long',
    ),
    token("A quiet fox's name in 文字 and 'quick_brown' 12.5", 'dog', { standard: 'ERC-721' }),
  ],
  event: [
    {
      ...{ event: 'Transfer', str: 'Transfer(from, to)', address: '0x00000000000000000000000000000000000000ab' },
      args: [
        argument('from', 'address', '0x00000000000000000000000000000000000000ab'),
        argument('wad', 'uint256', '0x1'),
      ],
    },
    { event: 'TransferSingle', str: 'TransferSingle()', args: [argument('to', 'uint256', '0x2', 2)] },
  ],
}

const documentsOf = (kind: Kind): TestedDocument[] =>
  SOURCES[kind]!.map((_source, i) => ({ _id: `${i}`, _source }) as unknown as TestedDocument)

const ours = (kind: Kind, body: object): Highlights => {
  const request = parseSearch(JSON.stringify(body), [kind], 0)
  const [{ query, marks = [] }] = request.parts as [(typeof request.parts)[number]]
  const matches = compilePredicate(kind, query)
  const mark = compileHighlight(kind, marks, request.shown!.highlight)
  const hits = documentsOf(kind).filter(matches)
  return Object.fromEntries(hits.map(({ _id, _source }) => [_id, mark(_source) ?? null]))
}

describe('marks are those of Elasticsearch', () => {
  for (const [kind, body, due] of CASES)
    it(`${kind} ${JSON.stringify(body)}`, () => assert.deepEqual(ours(kind, body), due))
})

const elasticsearch = await findElasticsearch()

it('what stands there is what Elasticsearch 7.17 answers', {
  skip: elasticsearch ? false : 'no Elasticsearch 7.17 is there',
}, async () => {
  const { ask, remove } = elasticsearch!
  const indexOf = (kind: Kind) => `/highlights-${process.pid}-${kind}`
  for (const kind of Object.keys(SOURCES) as Kind[]) {
    await ask('PUT', indexOf(kind), openSearchIndex(kind))
    for (const { _id, _source } of documentsOf(kind))
      await ask('PUT', `${indexOf(kind)}/_doc/${_id}?refresh=true`, _source)
  }
  const answered: Case[] = []
  for (const [kind, body] of CASES) {
    const { body: answer } = await ask('POST', `${indexOf(kind)}/_search`, { size: 10, ...body })
    const { hits } = answer as { hits?: { hits: { _id: string; highlight?: unknown }[] } }
    assert.ok(hits, `${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
    const found = hits.hits.map(({ _id, highlight }): [string, unknown] => [_id, highlight ?? null])
    answered.push([kind, body, Object.fromEntries(found)])
  }
  for (const kind of Object.keys(SOURCES) as Kind[]) await remove(indexOf(kind).slice(1))
  if (process.env.UPDATE) writeFileSync(FILE, answered.map(it => `${JSON.stringify(it)}\n`).join(''))
  else assert.deepEqual(answered, CASES)
})
