import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../scripts/demo/random.ts'
import { scanAnswer } from '../../../src/cluster/hits/scan.ts'
import { compileSourceTrim } from '../../../src/cluster/hits/write.ts'
import { asJson, readDocument } from '../../../src/documents/show.ts'
import { compileSourceFilter } from '../../../src/query/hits/source-filter.ts'

const NAMES = ['a', 'ab', 'b', 'args', 'value']
const PATTERNS = [
  'a',
  'ab',
  'a*',
  '*',
  '*.b',
  'a.b',
  'args.value',
  'args.value.a',
  '*b',
  'value.*',
  'nothing',
  'a.',
  '',
]
const TEXTS = [
  '0',
  '-1.5',
  '123456789012345678901234567890',
  '1e+21',
  'null',
  'true',
  '"x"',
  '"\\"{[,\\\\"',
  '[]',
  '{}',
  '"é☃"',
]

test('a filter leaves of a text what it leaves of the document', () => {
  const random = createRandom(5)
  const value = (depth: number): string => {
    const kind = depth === 0 ? 0 : random.int(0, 4 - 1)
    if (kind === 1) return object(depth - 1)
    if (kind === 2) return `[${Array.from({ length: random.int(0, 3 - 1) }, () => value(depth - 1)).join()}]`
    return random.pick(TEXTS)
  }
  const object = (depth: number): string =>
    `{${NAMES.filter(() => random.int(0, 9) < 6)
      .map(name => `"${name}":${value(depth)}`)
      .join()}}`
  const patterns = () => Array.from({ length: random.int(0, 3 - 1) }, () => random.pick(PATTERNS))
  for (let i = 0; i < 5_000; i++) {
    const text = object(3)
    const filter = { includes: patterns(), excludes: patterns() }
    const source = readDocument(text, asJson) as Record<string, unknown>
    assert.equal(
      compileSourceTrim(filter)(Buffer.from(text)),
      JSON.stringify(compileSourceFilter(filter)(source)),
      `${JSON.stringify(filter)} ${text}`,
    )
  }
})

test('an answer is read up to the text of its documents', () => {
  const source = '{"a":"}\\"]","b":[{"c":"\\\\"}],"chainsieve":{"batch":1}}'
  const hit = `{"_index":"x","_id":"1","_score":1.5,"_source":${source},"sort":[9007199254740993,"\\"]"]}`
  const head = '"took":1,"timed_out":false,"_shards":{"total":1,"failed":0}'
  const aggregations = '{"a":{"hits":{"hits":[]}}}'
  assert.deepEqual(
    scanAnswer(
      Buffer.from(
        `{${head},"hits":{"total":{"value":2,"relation":"eq"},"max_score":1.5,"hits":[${hit},${hit}]},"aggregations":${aggregations}}`,
      ),
    ),
    {
      ...{ total: 2, maxScore: 1.5, aggregations },
      hits: Array(2).fill({
        ...{ id: '1', score: 1.5, sort: Buffer.from('[9007199254740993,"\\"]"]') },
        ...{ source: Buffer.from(source), last: source.indexOf('{"batch"') },
      }),
    },
  )
  assert.deepEqual(scanAnswer(Buffer.from(`{${head},"hits":{"max_score":null,"hits":[]}}`)), {
    ...{ total: undefined, maxScore: null, hits: [], aggregations: undefined },
  })
  assert.throws(() => scanAnswer(Buffer.from('<html>')), /not an answer/)
})
