import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Counted, createCounted } from '../../../src/cluster/query/counted.ts'
import { resolveFrequencies } from '../../../src/cluster/query/frequencies.ts'
import { lookup } from '../../../src/mapping/index.ts'
import type { Run } from '../../../src/query/request.ts'
import type { Score } from '../../../src/query/score.ts'

test('what was asked for last stays, and no more bytes than may', () => {
  const counted = createCounted(10_000)
  for (let i = 0; i < 500; i++) {
    counted.set(`${i}`, { documents: i })
    assert.equal(counted.get('0')?.documents, 0, `after ${i}`)
  }
  const held = Array.from({ length: 500 }, (_, i) => counted.get(`${i}`)).filter(one => one !== undefined)
  assert.ok(held.length > 80 && held.length <= 100, `${held.length} of a hundred bytes each`)
  const words = new Map(Array.from({ length: 20 }, (_, i) => [`${i}`, 1]))
  counted.set('many', { documents: 1, words })
  assert.equal(counted.get('many'), undefined)
  counted.set('1000000', { documents: 7, words: new Map([['a', 1]]) })
  assert.deepEqual(counted.get('1000000'), { documents: 7, words: new Map([['a', 1]]) })
})

const from = lookup('tx', 'from')!
const term = (value: string): Score => ({ by: 'term', field: from, value, boost: 1 })
const both = (...of: Score[]): Score => ({ by: 'sum', of: of.map(score => ({ node: { op: 'all' }, score })) })

/** How often a value is there: as often as its last letter says. */
const setUp = (counted?: Counted) => {
  const asked: number[] = []
  const ask = async (_: unknown, body: object) => {
    const { aggs } = body as { aggs: object }
    asked.push(Object.keys(aggs).length)
    const counts = Object.entries(aggs).map(([name, one]) => {
      const digit = /([1-9])"/.exec(JSON.stringify(one))?.[1]
      return [name, { doc_count: Number(digit ?? 99) }]
    })
    return { aggregations: Object.fromEntries(counts) }
  }
  const count = async (score: Score, within?: readonly Run[]) => {
    const visible = { hidden: [], ...(counted && { counted }) }
    const known = await resolveFrequencies([{ kind: 'tx', score }], { ask, visible, within })
    return [
      known.documents('tx', from),
      ...['0xa1', '0xa2'].map(value => tryTo(() => known.frequency('tx', from, value))),
    ]
  }
  return { asked, count }
}

const tryTo = (run: () => number): number | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}

test('of one state each number is asked for once', async () => {
  const { asked, count } = setUp(createCounted())
  assert.deepEqual(await count(term('0xa1')), [99, 1, undefined])
  assert.deepEqual(await count(term('0xa1')), [99, 1, undefined])
  assert.deepEqual(await count(both(term('0xa1'), term('0xa2'))), [99, 1, 2])
  assert.deepEqual(await count(both(term('0xa2'), term('0xa1'))), [99, 1, 2])
  assert.deepEqual(asked, [2, 1])
})

test('among other blocks they are others', async () => {
  const { asked, count } = setUp(createCounted())
  for (const within of [undefined, [[0, 5]], [[0, 6]], [[0, 5]]] as const) await count(term('0xa1'), within)
  assert.deepEqual(asked, [2, 2, 2])
})

test('where the state is not known they are asked for each time', async () => {
  const { asked, count } = setUp()
  for (const _ of [1, 2]) await count(term('0xa1'))
  assert.deepEqual(asked, [2, 2])
})
