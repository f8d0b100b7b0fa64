import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { filterFor } from '../../src/scopes/filter.ts'
import { planQuestions, type RangeQuestion } from '../../src/scopes/plan.ts'

const STEP = 2_500
const ask = (addresses: string[], topics: string[], from: number, to: number): RangeQuestion => ({
  filter: filterFor(addresses, topics),
  from,
  to,
})
const question = fc
  .tuple(fc.subarray(['0xa', '0xb', '0xc']), fc.subarray(['0x1', '0x2']), fc.nat(24), fc.nat(24))
  .map(([addresses, topics, a, b]) => ask(addresses, topics, Math.min(a, b) * STEP, Math.max(a, b) * STEP + STEP - 1))

/** Each contract and event that a question names in each step of blocks. */
const cellsOf = (questions: readonly RangeQuestion[]): Set<string> => {
  const cells = new Set<string>()
  for (const { filter, from, to } of questions)
    for (let at = from; at <= to; at += STEP)
      for (const address of filter.addresses.length > 0 ? filter.addresses : ['0xa', '0xb', '0xc', 'other'])
        cells.add(`${address} ${filter.topics.join()} ${at}`)
  return cells
}

const callsOf = (questions: readonly RangeQuestion[], most: number): number =>
  questions.reduce((sum, { from, to }) => sum + Math.ceil((to - from + 1) / most), 0)

test('a plan asks for the same, and never by more calls', () => {
  fc.assert(
    fc.property(fc.array(question, { maxLength: 6 }), questions => {
      const plan = planQuestions(questions)
      assert.deepEqual(cellsOf(plan), cellsOf(questions))
      assert.ok(callsOf(plan, 10_000) <= callsOf(questions, 10_000))
    }),
    { numRuns: 1_000 },
  )
})

test('contracts with the same events are asked for together where their ranges overlap enough', () => {
  const [a, b] = [ask(['0xa'], ['0x1'], 0, 99_999), ask(['0xb'], ['0x1'], 50_000, 99_999)]
  assert.deepEqual(planQuestions([b, a]), [
    ask(['0xa'], ['0x1'], 0, 49_999),
    ask(['0xa', '0xb'], ['0x1'], 50_000, 99_999),
  ])
  const other = ask(['0xb'], ['0x2'], 0, 99_999)
  assert.deepEqual(planQuestions([a, other]), [a, other])
  const short = ask(['0xb'], ['0x1'], 4_000, 4_100)
  assert.deepEqual(planQuestions([a, short]), [a, short])
  const any = ask([], ['0x1'], 0, 99_999)
  assert.deepEqual(planQuestions([a, any]), [any])
})
