import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LogFilter } from '../../src/chain/source.ts'
import { mergeRanges, type Range } from '../../src/lib/ranges.ts'
import { filterFor, filterText, findOpenQuestions } from '../../src/scopes/filter.ts'

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
