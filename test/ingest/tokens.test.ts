import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters } from 'viem'
import { TOKEN_CALLS } from '../../src/decode/token-answers.ts'
import type { StoredToken } from '../../src/engine/port.ts'
import { createChainTokens, type TokensOptions } from '../../src/ingest/contracts/tokens.ts'
import { retry } from '../../src/lib/errors.ts'
import { silent } from '../../src/lib/log.ts'

const never = new AbortController().signal
const addresses = Array.from({ length: 4 }, (_, i) => (i + 1).toString(16).padStart(40, '0'))
const [dollar = '', bitcoin = '', vault = '', relic = ''] = addresses

const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, '0')}`
const text = (value: string) => encodeAbiParameters([{ type: 'string' }], [value])

/** What a contract answers by the names of its functions; an error is thrown for all. */
type Answers = Partial<Record<keyof typeof TOKEN_CALLS, string>>

const setUp = (answers: Record<string, Answers | Error>, rest: Partial<TokensOptions> = {}) => {
  const calls: string[][] = []
  const tokens = createChainTokens({
    listed: () => undefined,
    stored: () => undefined,
    async call(asked) {
      calls.push([...new Set(asked.map(({ to }) => to.slice(2)))])
      return asked.map(({ to, data }) => {
        const answer = answers[to.slice(2)]
        if (answer instanceof Error) throw answer
        const [name] = Object.entries(TOKEN_CALLS).find(([, selector]) => selector === data)!
        return answer?.[name as keyof Answers] ?? null
      })
    },
    log: silent,
    ...rest,
  })
  return { calls, tokens }
}

const nothing = { name: null, symbol: null, decimals: null, error: null, standard: null }

test('the node is asked once for each token, and what it says is kept, refusals and nonsense too', async () => {
  const { calls, tokens } = setUp({
    [dollar]: { name: text('US Dollar'), symbol: text('USD'), decimals: word(6) },
    [bitcoin]: { decimals: '0x', symbol: `0x${Buffer.from('MKR').toString('hex').padEnd(64, '0')}` },
    [vault]: { decimals: word(18), asset: word(BigInt(`0x${dollar}`)), totalAssets: word(0) },
    [relic]: { decimals: word(2n ** 255n), name: text('a\u0000\u202eb'), symbol: '0x1234' },
  })
  assert.equal(tokens.of(dollar), undefined)
  await tokens.prefetch(addresses, never)
  await tokens.prefetch(addresses, never)
  assert.deepEqual(calls, [addresses])
  assert.deepEqual(
    addresses.map(address => tokens.of(address)),
    [6, undefined, 18, undefined],
  )
  const learnt = [
    { ...nothing, name: 'US Dollar', symbol: 'USD', decimals: 6 },
    { ...nothing, symbol: 'MKR' },
    { ...nothing, decimals: 18, standard: 'ERC-4626' },
    {
      ...nothing,
      name: 'a\ufffd\ufffdb',
      error: `symbol() answers 2 bytes that are not text; decimals() answers ${2n ** 255n}`,
    },
  ]
  assert.deepEqual(
    addresses.map(address => tokens.facts(address)),
    learnt,
  )
  assert.deepEqual(
    tokens.takeLearnt(),
    learnt.map((facts, i) => ({ address: addresses[i], ...facts })),
  )
  assert.deepEqual(tokens.takeLearnt(), [])

  // What the store knows is not asked, also that there is nothing to know; the list is right about decimals.
  const later = setUp(
    {},
    {
      stored: address => (address === dollar ? { ...(learnt[0] as StoredToken), asked: true } : { asked: true }),
      listed: address => (address === bitcoin ? { decimals: 8, symbol: 'BTC' } : undefined),
    },
  )
  await later.tokens.prefetch([dollar, bitcoin, vault], never)
  assert.deepEqual(later.calls, [])
  assert.deepEqual(
    addresses.map(address => later.tokens.facts(address)),
    [learnt[0], { ...nothing, symbol: 'BTC', decimals: 8 }, nothing, nothing],
  )
})

test('two lanes that meet a token at the same time ask for it once', async () => {
  const { calls, tokens } = setUp({ [dollar]: { decimals: word(6) }, [bitcoin]: { decimals: word(8) } })
  await Promise.all([tokens.prefetch([dollar], never), tokens.prefetch([dollar, bitcoin, dollar], never)])
  assert.deepEqual(calls, [[dollar], [bitcoin]])
  assert.deepEqual([tokens.of(dollar), tokens.of(bitcoin)], [6, 8])
})

test('many tokens are asked for some parts at a time, each once, and a node that refuses is not asked on', async () => {
  const many = Array.from({ length: 210 }, (_, i) => (i + 1).toString(16).padStart(40, '0'))
  let [now, most] = [0, 0]
  const waiting: (() => void)[] = []
  let refuses = false
  const { calls, tokens } = setUp(
    {},
    {
      async call(asked) {
        calls.push([...new Set(asked.map(({ to }) => to.slice(2)))])
        most = Math.max(most, ++now)
        await new Promise<void>(resolve => waiting.push(resolve))
        now--
        if (refuses) throw retry('node_bad_answer', 'no')
        return asked.map(() => null)
      },
    },
  )
  const letGo = async (done: Promise<unknown>) => {
    let isDone = false
    void done.finally(() => {
      isDone = true
    })
    while (!isDone) {
      waiting.shift()?.()
      await new Promise(setImmediate)
    }
  }
  await letGo(tokens.prefetch(many.slice(0, 110), never))
  assert.equal(most, 4)
  assert.deepEqual(calls.flat(), many.slice(0, 110))
  assert.ok(many.slice(0, 110).every(address => !tokens.isUnasked(address)))
  refuses = true
  calls.length = 0
  await letGo(tokens.prefetch(many, never))
  assert.deepEqual(calls.length, 4)
})

test('a node that cannot be reached is waited for', async () => {
  let tries = 0
  const { tokens } = setUp(
    {},
    {
      call: async calls => {
        if (tries++ < 3) throw retry('node_unreachable', 'no connection')
        return calls.map(() => word(6))
      },
    },
  )
  await tokens.prefetch([dollar], never)
  assert.deepEqual([tries, tokens.of(dollar)], [4, 6])
})

test('a node that does not answer this question holds up nothing, and is asked again after a while', async () => {
  let time = 0
  const answers: Record<string, Answers | Error> = {
    [dollar]: retry('node_error', 'eth_call: the method does not exist'),
  }
  const { calls, tokens } = setUp(answers, { now: () => time })
  await tokens.prefetch([dollar], never)
  await tokens.prefetch([dollar], never)
  assert.deepEqual([calls.length, tokens.of(dollar), tokens.takeLearnt()], [1, undefined, []])
  assert.deepEqual([tokens.isUndecided(dollar), tokens.isUnasked(dollar)], [true, true])
  time = 60_001
  answers[dollar] = { decimals: word(6) }
  await tokens.prefetch([dollar], never)
  assert.deepEqual([calls.length, tokens.of(dollar)], [2, 6])
  assert.deepEqual([tokens.isUndecided(dollar), tokens.isUnasked(dollar)], [false, false])
})

test('a token is known by the lowest block that showed it, and not at all when that is gone', () => {
  const { tokens } = setUp({}, { stored: address => (address === relic ? { asked: false, position: 5 } : undefined) })
  for (const position of [300, 100, 200]) tokens.sighted(dollar, position)
  tokens.sighted(bitcoin, 150)
  assert.deepEqual([dollar, bitcoin, relic, vault].map(tokens.seen), [100, 150, 5, undefined])
  tokens.forget(150)
  assert.deepEqual([dollar, bitcoin, relic, vault].map(tokens.seen), [100, undefined, 5, undefined])
})
