import assert from 'node:assert/strict'
import { test } from 'node:test'
import { positionOf } from '../../src/engine/schema.ts'
import { createPreparer } from '../../src/ingest/decoding/prepare.ts'
import { oddBlocks } from '../support/odd.ts'
import { createTestStore, decodeCall, excerptOf } from '../support/store.ts'

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
    decoding: () => ({
      log(log, at) {
        seen.logs.add(`${at} ${log.address} ${log.topics} ${log.data}`)
        return {
          signature: { of: 'log', key: 'x', topic: null, indexed: 0, event: null, probability: 0, error: null },
          args: null,
        }
      },
      methodOf(input, to, at) {
        seen.methods.add(`${at} ${to} ${input}`)
        return null
      },
      revert: () => null,
      call(to, input, at) {
        seen.calls.add(`${at} ${to} ${input}`)
        return decodeCall(to, input)
      },
    }),
    tokens: {
      of: () => undefined,
      facts: () => ({ name: null, symbol: null, decimals: null, error: null, standard: null }),
      seen: () => undefined,
      sighted: () => {},
      takeLearnt: () => [],
    },
    contracts: { in: () => [], of: () => [], carry: () => {} },
  })
  const due: typeof seen = { logs: new Set(), calls: new Set(), methods: new Set() }
  for (const whole of oddBlocks(20)) {
    const raw = Number(whole.block.number) % 2 ? whole : excerptOf(whole, index => index % 2 === 1)
    const block = Number(raw.block.number)
    // Nothing comes behind some calls.
    if (block % 3 === 0) for (const receipt of raw.receipts.slice(-2)) receipt.logs = []
    const logs = raw.receipts.flatMap(({ logs }) => logs)
    for (const { address, topics, data, logIndex } of logs)
      due.logs.add(`${positionOf(block, Number(logIndex))} ${address} ${topics} ${data}`)
    for (const { to, input, transactionIndex } of raw.block.transactions) {
      const behind = logs.filter(log => Number(log.transactionIndex) >= Number(transactionIndex))
      const at = behind[0] ? positionOf(block, Number(behind[0].logIndex)) : positionOf(block + 1, 0)
      const called = (to: string, input: string) => {
        if (input.length >= 10) due.calls.add(`${at} ${to} ${input}`)
      }
      if (to) due.methods.add(`${at} ${to} ${input}`)
      if (to && !raw.traces) called(to, input)
      for (const trace of raw.traces ?? [])
        if (trace.type === 'call' && trace.transactionPosition === Number(transactionIndex))
          called(trace.action.to, trace.action.input)
    }
    preparer.decode(raw)
  }
  assert.deepEqual(seen, due)
  assert.ok(Object.values(due).every(({ size }) => size > 10))
})
