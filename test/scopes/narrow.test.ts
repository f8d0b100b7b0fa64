import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutToQuestions } from '../../src/ingest/jobs/narrow.ts'
import { filterFor, filterOf, filterText } from '../../src/scopes/filter.ts'
import { remainingCoverage, type ScopeQuestion } from '../../src/scopes/questions.ts'
import { makeChain } from '../support/pack.ts'

const [ADDRESSES, TOPICS] = [
  ['0xa', '0xb', '0xc'],
  ['0x1', '0x2'],
]
const topics = fc.oneof(fc.subarray(TOPICS), fc.constant(['transactions']))
const filter = fc.tuple(fc.subarray(ADDRESSES), topics).map(([addresses, topics]) => filterFor(addresses, topics))
const question = fc.tuple(filter, fc.nat(9), fc.nat(9)).map(
  ([filter, a, b]): ScopeQuestion => ({
    ...{ filter, text: filterText(filter) },
    ...{ from: Math.min(a, b), to: Math.max(a, b) },
  }),
)

/** By block, address and topic; transactions are no logs of any topic. */
const cellsOf = (all: readonly Pick<ScopeQuestion, 'filter' | 'from' | 'to'>[]): Set<string> => {
  const cells = new Set<string>()
  for (const { filter, from, to } of all)
    for (let number = from; number <= to; number++)
      for (const address of [...ADDRESSES, 'other'])
        for (const topic of filter.topics[0] === 'transactions' ? filter.topics : [...TOPICS, 'other'])
          if (
            (filter.addresses.length === 0 || filter.addresses.includes(address)) &&
            (filter.topics.length === 0 || filter.topics.includes(topic))
          )
            cells.add(`${number} ${address} ${topic}`)
  return cells
}

test('of what was looked at, that counts on which today’s questions ask for, and nothing else', () => {
  fc.assert(
    fc.property(filter, fc.array(question, { maxLength: 5 }), (covered, questions) => {
      const kept = remainingCoverage(filterText(covered), questions).map(one => ({
        ...one,
        filter: filterOf(one.filter),
      }))
      const before = cellsOf([{ filter: covered, from: 0, to: 9 }])
      assert.deepEqual(cellsOf(kept), before.intersection(cellsOf(questions)))
    }),
    { numRuns: 1_000 },
  )
})

test('transactions from and to addresses stay, with the logs that are wanted', () => {
  const [raw] = makeChain({ blocks: 1, from: 5, txs: 3, logs: 2 })
  const { transactions } = raw!.block
  const ask = (addresses: string[], topics: string[]): ScopeQuestion => {
    const filter = filterFor(addresses, topics)
    return { filter, text: filterText(filter), from: 0, to: 9 }
  }
  const log = raw!.receipts[2]!.logs[1]!
  const rest = cutToQuestions([
    ask([transactions[0]!.to!], ['transactions']),
    ask([log.address], log.topics.slice(0, 1)),
  ])(raw!)
  assert.deepEqual(
    rest!.receipts.map(({ logs }) => logs.map(({ logIndex }) => Number(logIndex))),
    [[1], [3], [5]],
  )
  const sent = cutToQuestions([ask([transactions[1]!.from], ['transactions'])])(raw!)
  assert.deepEqual(sent!.block.transactions, [transactions[1]])
  assert.deepEqual(sent!.receipts, [{ ...raw!.receipts[1]!, logs: [] }])
  assert.equal(cutToQuestions([{ ...ask([log.address], []), from: 6 }])(raw!), undefined)
})
