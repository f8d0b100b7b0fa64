import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRpcSource } from '../../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { anvilPath, startAnvil } from '../../support/anvil.ts'

import { sentIn } from '../../support/transactions.ts'

const noAnvil = anvilPath === undefined && 'there is no anvil for this platform'
const signal = AbortSignal.timeout(30_000)

/** Calls the account whose address it was given. */
const CALLER = '0x6015600c60003960156000f3600060006000600060006000355af15000'

test('a real node finds the same transactions in each way', { skip: noAnvil }, async t => {
  const anvil = await startAnvil(t)
  const [a, b, c] = (await anvil.call<string[]>('eth_accounts')) as [string, string, string]
  const caller = (await anvil.send({ from: c, data: CALLER })).contractAddress
  for (let i = 0; i < 4; i++) {
    await anvil.send({ from: a, to: b, value: '0x1' })
    await anvil.send({ from: b, to: c, value: '0x1' })
    // In it another one calls `b`, which is not a transaction to it.
    await anvil.send({ from: c, to: caller, data: `0x${b.slice(2).padStart(64, '0')}` })
  }
  const to = Number(await anvil.call('eth_blockNumber'))
  const sourceOf = (traces: 'off' | 'all') => {
    const source = createRpcSource({ urls: [anvil.url], traces })
    t.after(() => source.close())
    return source
  }
  const source = sourceOf('off')
  assert.deepEqual(await source.transactions!.searching(0, signal), { by: 'trace_filter' })
  const whole: RawBlock[] = []
  for await (const run of source.range({ from: 0, to, order: 'oldest', run: 50, signal })) whole.push(...run)
  const known = () => new Set<string>()
  for (const addresses of [[b], [a, caller], [c]])
    for (const by of ['trace_filter', 'ots_searchTransactionsAfter', null] as const) {
      const found: RawBlock[] = []
      const parts = source.transactions!.find(addresses, { from: 0, to }, { by, known }, signal)
      for await (const part of parts) found.push(...part.blocks)
      const due = whole.flatMap(raw => sentIn(raw, addresses) ?? [])
      assert.deepEqual(found, due, `${addresses} by ${by}`)
    }

  const traced: RawBlock[] = []
  const parts = sourceOf('all').transactions!.find([caller], { from: 0, to }, { by: 'trace_filter', known }, signal)
  for await (const part of parts) traced.push(...part.blocks)
  assert.deepEqual(
    traced.map(({ traces }) => traces?.map(it => it.type === 'call' && it.action.to)),
    [1, 2, 3, 4].map(() => [caller, b]),
  )
})
