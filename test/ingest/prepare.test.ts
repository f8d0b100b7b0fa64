import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPreparer } from '../../src/ingest/prepare.ts'
import { positionOf } from '../../src/store/schema.ts'
import { oddBlocks } from '../support/odd.ts'
import { createTestStore, decodeCall } from '../support/store.ts'

test('logs, calls and methods are decoded as of where they stand: what a log changes holds for what comes behind it', t => {
  const store = createTestStore()
  t.after(() => store.close())
  const seen: Record<'logs' | 'calls' | 'methods', Set<string>> = {
    logs: new Set(),
    calls: new Set(),
    methods: new Set(),
  }
  const preparer = createPreparer({
    db: store.db,
    decodeLog(log, at) {
      seen.logs.add(`${at} ${log.address} ${log.topics} ${log.data}`)
      return { signature: { key: 'x', topic: null, indexed: 0, event: null, probability: 0, error: null }, args: null }
    },
    methodOf(input, to, at) {
      seen.methods.add(`${at} ${to} ${input}`)
      return null
    },
    decodeCall(to, input, at) {
      seen.calls.add(`${at} ${to} ${input}`)
      return decodeCall(to, input)
    },
    tokens: {
      of: () => undefined,
      facts: () => ({ name: null, symbol: null, decimals: null, error: null, standard: null }),
      seen: () => undefined,
      sighted: () => {},
      takeLearnt: () => [],
    },
    contracts: { in: () => [] },
  })
  const due: typeof seen = { logs: new Set(), calls: new Set(), methods: new Set() }
  for (const raw of oddBlocks(20)) {
    let place = positionOf(Number(raw.block.number), 0)
    for (const [i, { logs }] of raw.receipts.entries()) {
      const { to, input } = raw.block.transactions[i]!
      const called = (to: string, input: string) => {
        if (input.length >= 10) due.calls.add(`${place} ${to} ${input}`)
      }
      if (to) due.methods.add(`${place} ${to} ${input}`)
      if (to && !raw.traces) called(to, input)
      for (const trace of raw.traces ?? [])
        if (trace.type === 'call' && trace.transactionPosition === i) called(trace.action.to, trace.action.input)
      for (const { address, topics, data } of logs) due.logs.add(`${place++} ${address} ${topics} ${data}`)
    }
    preparer.decode(raw)
  }
  assert.deepEqual(seen, due)
  assert.ok(Object.values(due).every(({ size }) => size > 10))
})
