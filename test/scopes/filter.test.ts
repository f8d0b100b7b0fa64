import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LogFilter } from '../../src/chain/source.ts'
import { mergeRanges, type Range } from '../../src/lib/ranges.ts'
import { filterFor, filterText, findOpenQuestions, planQuestions, type RangeQuestion } from '../../src/scopes/filter.ts'

const [ADDRESSES, TOPICS] = [
  ['0xa', '0xb', '0xc'],
  ['0x1', '0x2'],
]
const LAST = 12
const filter = fc
  .tuple(fc.subarray(ADDRESSES), fc.subarray(TOPICS))
  .map(([addresses, topics]) => filterFor(addresses, topics))
const range = fc
  .tuple(fc.nat(LAST), fc.nat(LAST))
  .map(([a, b]): Range => ({ from: Math.min(a, b), to: Math.max(a, b) }))

/** Every log that a filter can tell from others: of a contract and a topic that it may name, or of others. */
const logsOf = ({ addresses, topics }: LogFilter, { from, to }: Range): string[] => {
  const found: string[] = []
  for (let number = from; number <= to; number++)
    for (const address of [...ADDRESSES, 'other'])
      for (const topic of [...TOPICS, 'other'])
        if ((addresses.length === 0 || addresses.includes(address)) && (topics.length === 0 || topics.includes(topic)))
          found.push(`${number} ${address} ${topic}`)
  return found
}

test('what is lacking is asked for, and with names of its own nothing is asked for twice', () => {
  fc.assert(
    fc.property(
      ...[filter, fc.array(fc.tuple(filter, range), { maxLength: 5 }), fc.array(range, { maxLength: 2 }), range],
      (wanted, before, wholes, within) => {
        const coverage = new Map<string, Range[]>()
        for (const [filter, range] of before)
          coverage.set(filterText(filter), mergeRanges([...(coverage.get(filterText(filter)) ?? []), range]))
        const whole = mergeRanges(wholes)
        const everything = { addresses: [], topics: [] }
        const known = new Set([
          ...before.flatMap(([filter, range]) => logsOf(filter, range)),
          ...whole.flatMap(range => logsOf(everything, range)),
        ])
        const asked = findOpenQuestions(wanted, coverage, whole, within)
        const all = asked.flatMap(one => logsOf(one.filter, one))
        const lacking = logsOf(wanted, within).filter(log => !known.has(log))
        assert.deepEqual(
          lacking.filter(log => !all.includes(log)),
          [],
          'something is not asked for',
        )
        assert.equal(new Set(all).size, all.length, 'something is asked for twice')
        // A filter without addresses or topics cannot leave some of them out.
        if (wanted.addresses.length > 0 && wanted.topics.length > 0) assert.deepEqual(all.sort(), lacking.sort())
      },
    ),
    { numRuns: 500 },
  )
})

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
