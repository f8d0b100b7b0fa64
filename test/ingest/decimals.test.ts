import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createDecimals, type DecimalsOptions } from '../../src/ingest/decimals.ts'
import { retry } from '../../src/lib/errors.ts'
import { silent } from '../../src/lib/log.ts'
import { makeChain } from '../support/pack.ts'

const never = new AbortController().signal
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const tokens = Array.from({ length: 4 }, (_, i) => (i + 1).toString(16).padStart(40, '0'))
const [dollar = '', bitcoin = '', nft = '', relic = ''] = tokens

/** A block in which each of these emits a Transfer with so many topics. */
const blockOf = (...emitters: { address: string; topics?: number }[]): RawBlock => {
  const [block] = makeChain({ blocks: 1, txs: 1, logs: emitters.length }) as [RawBlock]
  for (const [i, { address, topics = 3 }] of emitters.entries()) {
    const log = block.receipts[0]!.logs[i]!
    log.address = `0x${address}`
    log.topics = [TRANSFER, ...Array<`0x${string}`>(topics - 1).fill(`0x${'00'.repeat(32)}`)]
  }
  return block
}

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

const setUp = (answers: Record<string, string | null | Error>, rest: Partial<DecimalsOptions> = {}) => {
  const calls: string[][] = []
  const decimals = createDecimals({
    listed: () => undefined,
    stored: () => undefined,
    async call(asked) {
      calls.push(asked.map(({ to }) => to.slice(2)))
      return asked.map(({ to }) => {
        const answer = answers[to.slice(2)]
        if (answer instanceof Error) throw answer
        return answer ?? null
      })
    },
    log: silent,
    ...rest,
  })
  return { calls, decimals }
}

test('the node is asked once for each token, and what it says is kept, refusals too', async () => {
  const { calls, decimals } = setUp({ [dollar]: word(6), [bitcoin]: '0x', [relic]: word(78) })
  const block = blockOf({ address: dollar }, { address: bitcoin }, { address: nft, topics: 4 }, { address: relic })
  assert.equal(decimals.of(dollar), undefined)
  await decimals.learn([block, block], never)
  await decimals.learn([block], never)
  assert.deepEqual(calls, [[dollar, bitcoin, relic]], 'an NFT has no amounts')
  assert.deepEqual(
    tokens.map(address => decimals.of(address)),
    [6, undefined, undefined, undefined],
  )
  const learnt = [
    { address: dollar, decimals: 6 },
    { address: bitcoin, decimals: null },
    { address: relic, decimals: null },
  ]
  assert.deepEqual(decimals.takeLearnt(), learnt)
  assert.deepEqual(decimals.takeLearnt(), [])

  // What the store or the list knows is not asked, also that there is nothing to know.
  const stored = new Map(learnt.map(token => [token.address, token]))
  const later = setUp({}, { stored: address => stored.get(address), listed: a => (a === nft ? 18 : undefined) })
  await later.decimals.learn([blockOf({ address: dollar }, { address: bitcoin }, { address: nft })], never)
  assert.deepEqual(later.calls, [])
  assert.deepEqual(
    tokens.map(address => later.decimals.of(address)),
    [6, undefined, 18, undefined],
  )
})

test('two lanes that meet a token at the same time ask for it once', async () => {
  const { calls, decimals } = setUp({ [dollar]: word(6), [bitcoin]: word(8) })
  await Promise.all([
    decimals.learn([blockOf({ address: dollar })], never),
    decimals.learn([blockOf({ address: dollar }, { address: bitcoin })], never),
  ])
  assert.deepEqual(calls, [[dollar], [bitcoin]])
  assert.deepEqual([decimals.of(dollar), decimals.of(bitcoin)], [6, 8])
})

test('a node that cannot be reached is waited for', async () => {
  let tries = 0
  const { decimals } = setUp(
    {},
    {
      call: async () => {
        if (tries++ < 3) throw retry('node_unreachable', 'no connection')
        return [word(6)]
      },
    },
  )
  await decimals.learn([blockOf({ address: dollar })], never)
  assert.deepEqual([tries, decimals.of(dollar)], [4, 6])
})

test('a node that does not answer this question holds up nothing, and is asked again after a while', async () => {
  let time = 0
  const answers: Record<string, string | Error> = {
    [dollar]: retry('node_error', 'eth_call: the method does not exist'),
  }
  const { calls, decimals } = setUp(answers, { now: () => time })
  await decimals.learn([blockOf({ address: dollar })], never)
  await decimals.learn([blockOf({ address: dollar })], never)
  assert.deepEqual([calls.length, decimals.of(dollar), decimals.takeLearnt()], [1, undefined, []])
  time = 60_001
  answers[dollar] = word(6)
  await decimals.learn([blockOf({ address: dollar })], never)
  assert.deepEqual([calls.length, decimals.of(dollar)], [2, 6])
})
