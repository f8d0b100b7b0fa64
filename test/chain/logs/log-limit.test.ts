import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LogLimit, limitOf } from '../../../src/chain/logs/log-limit.ts'
import { createReach, newDensity } from '../../../src/chain/logs/range-size.ts'
import { fewestCalls, type Provider } from '../../support/log-providers.ts'
import { seeded } from '../../support/logs.ts'
import { processorTime } from '../../support/processor.ts'

const asked = { from: 0x112a880, to: 0x112a880 + 49_999 }
const blocks = (most?: number): LogLimit => ({ of: 'blocks', most })
const results = (most?: number, fits?: number): LogLimit => ({ of: 'results', most, fits })
const values = (most?: number): LogLimit => ({ of: 'values', most })
const work: LogLimit = { of: 'work' }

const said: [provider: string, limit: LogLimit | undefined, message: string, code?: number, data?: unknown][] = [
  [
    'Alchemy',
    results(10_000, 67),
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x112a880, 0x112a8c2]',
  ],
  [
    'Alchemy, free',
    blocks(10),
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x112a880, 0x112a889]. Upgrade to PAYG for expanded block range.',
    -32600,
  ],
  ['Alchemy, size', work, 'Response size is larger than 150MB limit.', -32008],
  [
    'Infura',
    results(10_000, 137),
    'query returned more than 10000 results. Try with this block range [0x112a880, 0x112a908].',
    -32005,
    { from: '0x112a880', to: '0x112a908', limit: 10_000 },
  ],
  [
    'zkSync',
    results(10_000, 137),
    'Query returned more than 10000 results. Try with this block range [0x112a880, 0x112a908].',
  ],
  ['QuickNode', blocks(10_000), 'eth_getLogs is limited to a 10,000 range', -32614],
  ['QuickNode, other words', blocks(10_000), 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range'],
  ['1RPC', blocks(10_000), 'eth_getLogs is limited to a 10000 blocks range'],
  ['1RPC, size', work, 'response size should not greater than 10000000 bytes', -32602],
  ['Ankr', blocks(3_000), 'block range is too wide', -32600],
  ['Ankr, results', results(), 'query exceeds max results', -32602],
  ['Ankr, TAC', blocks(2_000), 'maximum [from, to] blocks distance: 2000'],
  ['Ankr, addresses', values(), 'Please specify less number of addresses'],
  ['Cloudflare', blocks(800), 'Invalid range. Max range: 800', -32047],
  ['thirdweb', blocks(1_000), 'Maximum allowed number of requested blocks is 1000'],
  ['Blast', blocks(500), 'exceeds the range allowed for your plan (5001 > 500).'],
  ['BlockPI', blocks(1_024), 'eth_getLogs is limited to 1024 block range. Please check the parameter requirements'],
  ['dRPC', blocks(10_000), 'ranges over 10000 blocks are not supported on freetier', 35],
  ['dRPC, time', work, 'Request timeout on the free tier, please upgrade your tier to the paid one', 30],
  [
    'Chainstack',
    blocks(10_000),
    'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits',
  ],
  ['publicnode', blocks(50_000 - 1), 'exceed maximum block range: 49999', -32701],
  ['Coinbase', blocks(1_000), 'please limit the query to at most 1000 blocks', -32602],
  ['Base', blocks(10_000), 'block range too large', -32614],
  ['Base, busy', work, 'no backend is currently healthy to serve traffic', -32011],
  ['Optimism', blocks(), 'Block range is too large', -32020],
  ['Optimism, size', work, 'backend response too large', -32020],
  ['Arbitrum', results(10_000), 'logs matched by query exceeds limit of 10000', -32000],
  ['Avalanche', blocks(2_048), 'requested too many blocks from 17000000 to 17050000, maximum is set to 2048', -32000],
  ['Hyperliquid', blocks(1_000), 'query exceeds max block range 1000', -32602],
  ['Monad', blocks(100), 'eth_getLogs is limited to a 100 range', -32614],
  ['reth', results(20_000, 22), 'query exceeds max results 20000, retry with the range 18000000-18000021'],
  ['reth, range', blocks(10_000), 'query exceeds max block range 10000'],
  ['Swell', blocks(2_000), 'block range greater than 2000 max', -32600],
  ['Somnia', blocks(1_000), 'block range exceeds 1000', -32600],
  ['Merkle', blocks(10_000), 'eth_getLogs range is too large, max is 10k blocks'],
  ['Harmony', blocks(1_024), 'query must be smaller than size 1024', -32000],
  ['Moonriver', blocks(1_024), 'block range is too wide (maximum 1024)', -32603],
  ['Aurora', blocks(2_000), 'up to a 2000 block range is allowed'],
  ['Polygon zkEVM', results(10_000), 'query returned more than 10000 results', -32005],
  ['TRON', blocks(5_000), 'exceed max block range: 5000', -32602],
  ['go-ethereum', values(), 'exceed max addresses or topics per search position', -32602],
  ['go-ethereum, time', work, 'query timeout exceeded', -32005],
  ['made up', blocks(1_000), 'range of blocks must not exceed the limit: maximum allowed is 1000 blocks'],
  ['made up', blocks(), 'Requested range exceeds maximum RPC range limit', -32000],
  ['none: rates', undefined, 'Your app has exceeded its compute units per second capacity', 429],
  ['none: rates', undefined, 'daily request count exceeded, request rate limited', -32005],
  ['none: rates', undefined, 'Too Many Requests, retry in 10 seconds', -32005],
  ['none: rates', undefined, '100/second request limit reached - reduce calls per second', -32007],
  ['none', undefined, 'header not found', -32000],
  ['none', undefined, 'internal error', -32603],
  ['none', undefined, 'the method eth_getLogs does not exist/is not available', -32601],
  ['none', undefined, 'unknown block', -32000],
]

for (const [provider, limit, message, code = -32000, data] of said) {
  test(`${provider}: ${message.slice(0, 60)}`, () => {
    assert.deepEqual(limitOf({ code, message, data }, asked), limit)
    if (data === undefined) assert.deepEqual(limitOf({ code, message: 'failed', data: { message } }, asked), limit)
  })
}

test('hostile texts are read in no time', () => {
  const began = processorTime()
  for (const part of [
    'limited to 1',
    'block range ',
    'range [0x',
    'exceeds ',
    'more than 1,1',
    'requested too many blocks',
  ])
    limitOf({ code: 1, message: part.repeat(100_000) }, asked)
  assert.ok(processorTime() - began < 500)
})

const RANGE = { from: 0, to: 4_999_999 }
/** Blocks of events, ascending: `at` maps a number from 0 to 1 onto one. */
const spread = (count: number, at: (x: number) => number): number[] => {
  const random = seeded(3)
  return Array.from({ length: count }, () => Math.floor(at(random()) * RANGE.to)).sort((a, b) => a - b)
}
const below = (sorted: readonly number[], block: number): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < block) low = middle + 1
    else high = middle
  }
  return low
}
/** Calls that it takes, one after the other. */
const callsFor = (events: readonly number[], { blocks = Infinity, results = Infinity }: Provider, tells: boolean) => {
  const reach = createReach()
  const density = newDensity()
  let calls = 0
  let hint: number | undefined
  for (let at = RANGE.from; at <= RANGE.to; calls++) {
    const asked = { from: at, to: Math.min(RANGE.to, at + (hint ?? reach.span(density)) - 1) }
    const count = below(events, asked.to + 1) - below(events, at)
    const limit: LogLimit | undefined =
      asked.to - at + 1 > blocks
        ? { of: 'blocks', most: tells ? blocks : undefined }
        : count > results
          ? tells
            ? { of: 'results', most: results, fits: events[below(events, at) + results]! - at }
            : { of: 'results', most: undefined, fits: undefined }
          : undefined
    hint = limit && reach.learn(limit, asked, density)
    if (limit !== undefined) continue
    reach.passed(asked, count, density)
    at = asked.to + 1
  }
  return calls
}
const even = spread(100_000, x => x)
const many = spread(1_000_000, x => x)
const ramp = spread(1_000_000, x => Math.sqrt(x))
const burst = spread(1_000_000, x => (x < 0.5 ? x * 2 : 0.3 + (x - 0.5) * 0.02))
const cases: [name: string, events: number[], provider: Provider, most: number, untold?: number][] = [
  ['even events, blocks and results bounded', even, { blocks: 10_000, results: 10_000 }, 1.15],
  ['many events, blocks and results bounded', many, { blocks: 10_000, results: 10_000 }, 1.15],
  ['ever more events, blocks and results bounded', ramp, { blocks: 10_000, results: 10_000 }, 1.15],
  ['a burst of events, blocks and results bounded', burst, { blocks: 10_000, results: 10_000 }, 1.15],
  ['many events, few results', many, { blocks: 10_000, results: 1_000 }, 1.15, 1.25],
  ['many events, results bounded', many, { results: 10_000 }, 1.15],
  ['ever more events, results bounded', ramp, { results: 10_000 }, 1.15],
  ['a burst of events, results bounded', burst, { results: 10_000 }, 1.2, 1.4],
  ['even events, few blocks', even, { blocks: 100 }, 1.01],
]
for (const [name, events, provider, most, untold = most] of cases) {
  for (const tells of [true, false]) {
    test(`${name}${tells ? '' : ', untold'}`, t => {
      const [calls, fewest] = [callsFor(events, provider, tells), fewestCalls(events, RANGE, provider)]
      t.diagnostic(`${calls} of ${fewest}: ${(calls / fewest).toFixed(3)}`)
      assert.ok(calls <= fewest * (tells ? most : untold))
    })
  }
}
