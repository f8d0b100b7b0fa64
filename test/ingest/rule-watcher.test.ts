import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { readScans } from '../../src/alerts/alert-store.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createCodeReader } from '../../src/decode/abi-finder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import type { DecodedBlock } from '../../src/documents/document.ts'
import { tokensIn } from '../../src/documents/tokens.ts'
import { createChainContracts } from '../../src/ingest/contracts/contracts.ts'
import { createChainTokens } from '../../src/ingest/contracts/tokens.ts'
import { createRuleWatcher, type RuleWatcherOptions } from '../../src/ingest/rules/rule-watcher.ts'
import { retry } from '../../src/lib/errors.ts'
import { type Log, silent } from '../../src/lib/log.ts'
import { type Clock, systemClock } from '../../src/lib/retry.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import type { RuleCondition, RuleInput } from '../../src/rules/rule.ts'
import { openRules, type Rules } from '../../src/rules/store.ts'
import { dataFolder } from '../support/delivery.ts'
import { makeChain } from '../support/pack.ts'
import { candidatesOf, createTestStore } from '../support/store.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const never = new AbortController().signal

const ruleOf = (rest: Partial<RuleInput> = {}, ...targetMap: RuleCondition[]): RuleInput => ({
  name: 'a rule',
  maxConfirmationCount: 0,
  technology: 'ethereum',
  blockchain: 'made-up',
  network: 'mainnet',
  config: {
    targetType: 'Block',
    targetMap: targetMap.length > 0 ? targetMap : [{ name: 'number', operator: 'Greater or Equal', value: '0' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
  },
  ...rest,
})

/** At least a hundred whole tokens of anything that has decimals. */
const scaledRule = (name = 'value'): RuleInput => {
  const rule = ruleOf(
    {},
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [{ name, operator: 'Greater or Equal', value: '100', useScaledValue: true }],
    },
  )
  return { ...rule, config: { ...rule.config, targetType: 'Event' } }
}

interface Options {
  /** Around the rules that are read. */
  through?(rules: Rules): Rules
  /** What the node says of decimals. */
  decimalsOf?(address: string): string | null
  /** What the node says of every code. */
  code?(): string
  links?: RuleWatcherOptions['links']
  stored?: readonly RawBlock[]
  clock?: Clock
  limits?: Limits
  log?: Log
}

const setUp = async (t: TestContext, options: Options = {}) => {
  const {
    decimalsOf,
    code,
    links,
    stored = [],
    clock = quick,
    through = it => it,
    limits = DEFAULT_LIMITS,
    log = silent,
  } = options
  const folder = await dataFolder(t)
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  const store = createTestStore(stored)
  const rules = openRules(folder)
  const tokens = createChainTokens({
    listed: () => undefined,
    stored: () => undefined,
    call:
      decimalsOf && (async calls => calls.map(({ to, data }) => (data === DECIMALS ? decimalsOf(to.slice(2)) : null))),
    log: silent,
    clock,
  })
  const ruleWatcher = createRuleWatcher({
    network: NETWORK,
    rules: through(openRules(folder)),
    scans: readScans(store.db),
    tokens,
    contracts: createChainContracts({
      state: code && (async questions => questions.map(code)),
      readCode: createCodeReader(),
      abiOf: () => ({ name: null, source: null, probability: null }),
      log: silent,
      clock,
    }),
    ...(links && { links }),
    limits,
    log,
    clock,
  })
  t.after(() => {
    ruleWatcher.close()
    rules.close()
    store.close()
  })
  const decode = (raw: RawBlock): DecodedBlock => ({
    raw,
    logs: raw.receipts.flatMap(({ logs }) => logs.map(decodeLog)),
    methods: raw.block.transactions.map(() => null),
    failures: [],
    calls: [],
    traces: [],
    contracts: [],
    tokens: [],
  })
  const match = async (raw: RawBlock, signal = never) =>
    (await ruleWatcher.match(decode(raw), signal)).hits.map(({ rule, entity }) => `${rule} ${entity._type}`)
  const rowsOf = async (raw: RawBlock) => (await ruleWatcher.match(decode(raw), never)).rows!
  /** Revisions of the rules with windows that a block is matched with, by rule. */
  const matchedWith = async (raw: RawBlock) => [...(await rowsOf(raw)).matched]
  return { rules, ruleWatcher, tokens, match, rowsOf, matchedWith }
}

/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567'
const addressesIn = (raw: RawBlock) => [...tokensIn(raw).keys()].map(address => address.slice(2))

const quick: Clock = { ...systemClock, sleep: (_, signal) => systemClock.sleep(1, signal) }
const decodeLog = createLogDecoder({
  find: (topic, indexed) => candidatesOf(topic, indexed, []),
  compile: createEventDecoder,
})

const word = (value: bigint | number): `0x${string}` => `0x${value.toString(16).padStart(64, '0')}`
const TOKEN = '0x00000000000000000000000000000000000000aa'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** `Deposit(address indexed dst, uint256 wad)`: what wrapped coins emit, and no token's transfer. */
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'

/** A block with one log of the token, which moves 100 of it where it has six decimals. */
const blockWith = (topics: readonly `0x${string}`[]): RawBlock => {
  const [block] = makeChain({ blocks: 1, from: 10, txs: 1, logs: 1 }) as [RawBlock]
  Object.assign(block.receipts[0]!.logs[0]!, { address: TOKEN, topics, data: word(100_000_000) })
  return block
}
const transfer = () => blockWith([TRANSFER, word(1), word(2)])

test('a rule that came up before the head was known, and was read only after, begins above the head all the same', async t => {
  const { rules, ruleWatcher, match } = await setUp(t)
  ruleWatcher.refresh([])
  const early = rules.create(1, ruleOf(), null)
  ruleWatcher.fixStarts(20)
  ruleWatcher.refresh([])
  ruleWatcher.refresh([])
  assert.equal(rules.find(early.id)!.startBlock, 21)
  // What is stored meanwhile is not what the rule is about, either.
  const late = rules.create(1, ruleOf(), null)
  ruleWatcher.refresh([{ from: 0, to: 25 }])
  ruleWatcher.refresh([{ from: 0, to: 25 }])
  assert.equal(rules.find(late.id)!.startBlock, 26)
  const [at] = makeChain({ blocks: 1, from: 26 }) as [RawBlock]
  assert.deepEqual(await match(at), [`${early.id} block`, `${late.id} block`])
})

test('the writer is told at the start that no rule has windows any more, which frees what waits for other networks', async t => {
  const { rules, ruleWatcher } = await setUp(t)
  rules.create(1, ruleOf(), 0)
  ruleWatcher.refresh([])
  assert.deepEqual(ruleWatcher.takeUpdate()?.across, [])
  rules.create(1, ruleOf(), 0)
  ruleWatcher.refresh([])
  assert.equal(ruleWatcher.takeUpdate()?.across, undefined)
})

test('a rule of several networks begins in each above what is known there, which the network notes itself', async t => {
  const { rules, ruleWatcher } = await setUp(t)
  ruleWatcher.refresh([])
  const early = rules.create(1, ruleOf({ blockchain: '*', network: '*' }), null)
  ruleWatcher.refresh([])
  assert.equal(ruleWatcher.wants(1_000), false)
  ruleWatcher.fixStarts(20)
  const late = rules.create(1, ruleOf({ network: ['mainnet', 'other'] }), null)
  rules.create(1, ruleOf({ blockchain: ['other'] }), 0)
  ruleWatcher.refresh([{ from: 0, to: 25 }])
  assert.deepEqual(
    ruleWatcher.takeUpdate()!.scans!.map(({ rule, start, next, last }) => [rule, start, next, last]),
    [
      [early.id, 21, 21, 20],
      [late.id, 26, 26, 25],
    ],
  )
  assert.deepEqual([rules.find(early.id)!.startBlock, rules.find(late.id)!.startBlock], [null, null])
  const [at] = makeChain({ blocks: 1, from: 26 }) as [RawBlock]
  const { hits: found } = await ruleWatcher.match(
    { ...EMPTY, raw: at, methods: at.block.transactions.map(() => null) },
    never,
  )
  assert.deepEqual(
    found.map(({ rule, network }) => [rule, network]),
    [
      [early.id, NETWORK],
      [late.id, NETWORK],
    ],
  )
  // A change of its conditions is no other beginning.
  rules.update(1, early.id, ruleOf({ blockchain: '*', network: '*', maxConfirmationCount: 3 }))
  ruleWatcher.refresh([{ from: 0, to: 40 }])
  assert.equal(ruleWatcher.rule(early.id)!.startBlock, 21)
})

const EMPTY = { logs: [], failures: [], calls: [], traces: [], contracts: [], tokens: [] }

test('where a rule begins is noted as soon as the file can be written again, and nothing stops meanwhile', async t => {
  let full = true
  let time = 0
  const { rules, ruleWatcher, match } = await setUp(t, {
    clock: { ...quick, elapsed: () => time },
    through: own => ({
      ...own,
      fixStart(...args) {
        if (full) throw new Error('database or disk is full')
        own.fixStart(...args)
      },
    }),
  })
  const { id } = rules.create(1, ruleOf(), null)
  ruleWatcher.refresh([])
  ruleWatcher.fixStarts(20)
  const [block] = makeChain({ blocks: 1, from: 21 }) as [RawBlock]
  assert.deepEqual(await match(block), [])
  full = false
  ruleWatcher.refresh([{ from: 0, to: 21 }])
  assert.equal(rules.find(id)!.startBlock, null, 'not at every block')
  time = 10_000
  ruleWatcher.refresh([{ from: 0, to: 21 }])
  ruleWatcher.refresh([{ from: 0, to: 21 }])
  assert.equal(rules.find(id)!.startBlock, 21)
  // What was stored meanwhile is gone through.
  assert.deepEqual(ruleWatcher.scans.get(id), { rule: id, start: 21, next: 21, last: 21 })
})

test('a block waits for decimals that a rule needs, tells so, and goes on when the node answers', async t => {
  let answer: string | null | undefined
  const { rules, ruleWatcher, tokens, match } = await setUp(t, {
    decimalsOf() {
      if (answer === undefined) throw retry('node_error', 'the method eth_call does not exist')
      return answer
    },
  })
  const { id } = rules.create(1, scaledRule(), 0)
  ruleWatcher.refresh([])
  const block = transfer()
  await tokens.prefetch(addressesIn(block), never)
  const found = match(block)
  await until(() => ruleWatcher.waiting !== null)
  assert.equal(
    ruleWatcher.waiting,
    `block 10 waits for the decimals of ${TOKEN}, which a rule needs and the node does not send`,
  )
  answer = word(6)
  assert.deepEqual(await found, [`${id} event`])
  assert.equal(ruleWatcher.waiting, null)
})

test('a block waits for what only the node tells of its contracts and tokens, where a rule looks at these', async t => {
  for (const targetType of ['Contract', 'Token'] as const) {
    let answers = false
    const unknown = () => retry('node_error', 'the method does not exist')
    const { rules, ruleWatcher, tokens } = await setUp(t, {
      decimalsOf() {
        if (!answers) throw unknown()
        return word(6)
      },
      code() {
        if (!answers) throw unknown()
        return '0x6001'
      },
    })
    const block = transfer()
    block.receipts[0]!.contractAddress = `0x${'ab'.repeat(20)}`
    ruleWatcher.refresh([])
    await ruleWatcher.complete(block, never)

    const { id } = rules.create(1, ruleOn(targetType), 0)
    ruleWatcher.refresh([])
    const completed = ruleWatcher.complete(block, never)
    await until(() => ruleWatcher.waiting !== null)
    const what = {
      Contract: 'the code of a contract that it creates',
      Token: 'the name, symbol and decimals of a new token',
    }
    assert.equal(
      ruleWatcher.waiting,
      `block 10 waits for ${what[targetType]}, which a rule may need and the node does not send`,
    )
    answers = true
    await completed
    assert.equal(ruleWatcher.waiting, null)
    assert.equal(tokens.of(TOKEN.slice(2)), targetType === 'Token' ? 6 : undefined)

    // What nobody looks for any more is not waited for.
    answers = false
    const other = transfer()
    other.receipts[0]!.contractAddress = `0x${'cd'.repeat(20)}`
    for (const { logs } of other.receipts) for (const log of logs) log.address = `0x${'ef'.repeat(20)}`
    const waiting = ruleWatcher.complete(other, never)
    await until(() => ruleWatcher.waiting !== null)
    rules.remove(1, id)
    ruleWatcher.refresh([])
    await waiting
  }
})

test('a block waits for what its proxies run, where a rule looks at what is decoded by it', async t => {
  const asked: number[] = []
  let answers = false
  const { rules, ruleWatcher } = await setUp(t, {
    clock: quick,
    links: {
      isOpen: () => !answers,
      async require(raw) {
        asked.push(Number(raw.block.number))
        await quick.sleep(1)
      },
    },
  })
  const block = transfer()
  rules.create(1, ruleOn('Token'), 0)
  ruleWatcher.refresh([])
  await ruleWatcher.complete(block, never)
  assert.deepEqual(asked, [])
  for (const targetType of ['Event', 'Method', 'Transaction', 'Contract'] as const) {
    answers = false
    const { id } = rules.create(1, ruleOn(targetType), 0)
    ruleWatcher.refresh([])
    const completed = ruleWatcher.complete(block, never)
    await until(() => asked.length > 2)
    assert.equal(
      ruleWatcher.waiting,
      'block 10 waits for what a contract in it is a proxy of, which a rule may need and the node does not send',
    )
    answers = true
    await completed
    assert.equal(ruleWatcher.waiting, null)
    rules.remove(1, id)
    asked.length = 0
  }
})

const ruleOn = (targetType: 'Contract' | 'Token' | 'Event' | 'Method' | 'Transaction'): RuleInput => {
  const rule = ruleOf({}, { name: 'address', operator: 'Equals', value: '0x' })
  return { ...rule, config: { ...rule.config, targetType } }
}

test('what waits for decimals goes on when no rule needs them any more', async t => {
  for (const change of ['remove', 'pause', 'edit'] as const) {
    const { rules, ruleWatcher, tokens, match } = await setUp(t, {
      decimalsOf() {
        throw retry('node_error', 'the method eth_call does not exist')
      },
    })
    const { id } = rules.create(1, scaledRule(), 0)
    ruleWatcher.refresh([])
    const block = transfer()
    await tokens.prefetch(addressesIn(block), never)
    const found = match(block)
    await until(() => ruleWatcher.waiting !== null)
    if (change === 'remove') rules.remove(1, id)
    else if (change === 'pause') rules.update(1, id, { ...scaledRule(), enabled: false })
    else rules.update(1, id, scaledRule('other'))
    ruleWatcher.refresh([])
    assert.deepEqual(await found, [], change)
    assert.equal(ruleWatcher.waiting, null)
  }
})

test('each of two lanes tells what it waits for, whichever goes on first', async t => {
  const known = new Map<string, string>()
  const { rules, ruleWatcher, tokens, match } = await setUp(t, {
    decimalsOf(address) {
      const answer = known.get(address)
      if (answer === undefined) throw retry('node_error', 'the method eth_call does not exist')
      return answer
    },
  })
  rules.create(1, scaledRule(), 0)
  ruleWatcher.refresh([])
  const [one, other] = [transfer(), transfer()]
  other.block.number = '0xb'
  other.receipts[0]!.logs[0]!.address = '0x00000000000000000000000000000000000000bb'
  await tokens.prefetch(addressesIn(one), never)
  await tokens.prefetch(addressesIn(other), never)
  const stop = new AbortController()
  const waits = match(one, stop.signal)
  const goesOn = match(other, stop.signal)
  await until(() => ruleWatcher.waiting !== null)
  known.set('bb'.padStart(40, '0'), word(6))
  assert.deepEqual(await goesOn, ['1 event'])
  assert.match(ruleWatcher.waiting ?? '', /^block 10 /)
  stop.abort()
  await assert.rejects(waits)
})

test('decimals are asked for also where no transfer of the token was seen yet', async t => {
  const asked: string[] = []
  const { rules, ruleWatcher, tokens, match } = await setUp(t, {
    decimalsOf(address) {
      asked.push(address)
      return word(6)
    },
  })
  const { id } = rules.create(1, scaledRule('wad'), 0)
  ruleWatcher.refresh([])
  const block = blockWith([DEPOSIT, word(1)])
  await tokens.prefetch(addressesIn(block), never)
  assert.deepEqual(asked, [], 'a back-fill asks of tokens alone')
  assert.deepEqual(await match(block), [`${id} event`])
  assert.deepEqual(asked, [TOKEN.slice(2)])
})

test('a network whose node is not there to be asked goes on without, and so does one without such a rule', async t => {
  const packs = await setUp(t)
  packs.rules.create(1, scaledRule(), 0)
  packs.ruleWatcher.refresh([])
  assert.deepEqual(await packs.match(transfer()), [])
  let asked = 0
  const { rules, ruleWatcher, tokens, match } = await setUp(t, {
    decimalsOf() {
      asked++
      throw retry('node_error', 'the method eth_call does not exist')
    },
  })
  const { id } = rules.create(1, ruleOf(), 0)
  ruleWatcher.refresh([])
  await tokens.prefetch(addressesIn(transfer()), never)
  assert.deepEqual(await match(transfer()), [`${id} block`])
  assert.equal(asked, 1)
})

const until = async (holds: () => boolean) => {
  while (!holds()) await systemClock.sleep(2)
}

test('a rule that fails holds up no other, is told of once, and is tried again when it is changed', async t => {
  const told: [string, unknown][] = []
  const log: Log = { ...silent, error: (message, fields) => void told.push([message, fields?.rule]) }
  const { rules, ruleWatcher, match } = await setUp(t, { log })
  const config = ruleOf().config
  rules.create(1, ruleOf({ config: { ...config, targetType: 'Transaction', targetMap: [SENDER] } }), 0)
  rules.create(1, ruleOf(), 0)
  ruleWatcher.refresh([])
  const [raw] = makeChain({ blocks: 1, txs: 2 })
  const broken: RawBlock = {
    ...raw!,
    block: {
      ...raw!.block,
      transactions: raw!.block.transactions.map(tx => Object.defineProperty({ ...tx }, 'from', { get: fail })),
    },
  }
  for (let i = 0; i < 2; i++) assert.deepEqual(await match(broken), ['2 block'])
  assert.deepEqual(told, [['A rule does not work as it should', 1]])
  assert.deepEqual(
    [...ruleWatcher.troubles],
    [
      [
        1,
        `The rule could not be matched with all of block ${Number(raw!.block.number)}, because of a fault of the server.`,
      ],
    ],
  )
  rules.update(1, 1, ruleOf())
  ruleWatcher.refresh([])
  assert.deepEqual([...ruleWatcher.troubles], [])
  assert.deepEqual(await match(broken), ['1 block', '2 block'])
})

test('what windows take of a block names the rules that it was matched with, as they were', async t => {
  const { rules, ruleWatcher, matchedWith } = await setUp(t)
  const [raw] = makeChain({ blocks: 1, txs: 2 }) as [RawBlock]
  const { config } = ruleOf()
  const when = { within: { blocks: 3 }, conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }] } as const
  const counting = { ...config, when: { ...when, conditions: [...when.conditions] } }
  const ofBlocks = ruleOf({ config: counting })
  rules.create(1, ruleOf({ config: { ...counting, targetType: 'Transaction', targetMap: [SENDER] } }), 0)
  rules.create(1, ofBlocks, 0)
  rules.create(1, ruleOf(), 0)
  ruleWatcher.refresh([])
  const all = [
    [1, 1],
    [2, 1],
  ]
  assert.deepEqual(await matchedWith(raw), all)
  const transactions = raw.block.transactions.map(tx => Object.defineProperty({ ...tx }, 'from', { get: fail }))
  assert.deepEqual(await matchedWith({ ...raw, block: { ...raw.block, transactions } }), [[2, 1]], 'one has failed')
  rules.update(1, 2, { ...ofBlocks, enabled: false })
  ruleWatcher.refresh([])
  assert.deepEqual(await matchedWith(raw), [[1, 1]], 'one is paused')
  rules.update(1, 2, { ...ofBlocks, enabled: true })
  ruleWatcher.refresh([])
  assert.deepEqual(await matchedWith(raw), all)
  rules.update(1, 2, { ...ofBlocks, config: { ...counting, when: { ...counting.when, within: { blocks: 4 } } } })
  ruleWatcher.refresh([])
  assert.deepEqual(await matchedWith(raw), [
    [1, 1],
    [2, 2],
  ])
})

test('windows keep little of a long value', async t => {
  const { rules, ruleWatcher, rowsOf } = await setUp(t)
  const [raw] = makeChain({ blocks: 1, txs: 1 }) as [RawBlock]
  Object.assign(raw.block.transactions[0]!, { input: `0x${'ab'.repeat(50_000)}` })
  const when: RuleInput['config']['when'] = {
    ...{ by: ['input'], within: { blocks: 3 } },
    conditions: [{ aggregate: 'Distinct', name: 'input', operator: 'Greater', value: '1' }],
  }
  rules.create(1, ruleOf({ config: { ...ruleOf().config, targetType: 'Transaction', targetMap: [SENDER], when } }), 0)
  ruleWatcher.refresh([])
  const [{ key, parts } = {}] = (await rowsOf(raw)).rules[0]!.entries
  assert.match(key!, /^\["keccak256:0x[\da-f]{64}"\]$/)
  assert.deepEqual(parts, [{ of: JSON.parse(key!) }])
})

test('what an account finds beyond its limit is not told, and that is said once, of all of its rules', async t => {
  const limits = { ...DEFAULT_LIMITS, ruleMatches: 2 }
  const told: unknown[] = []
  const log: Log = { ...silent, error: (message: string) => void told.push(message) }
  const { rules, ruleWatcher, match } = await setUp(t, { limits, log })
  for (let i = 0; i < 4; i++) rules.create(1, ruleOf(), 0)
  rules.create(2, ruleOf(), 0)
  ruleWatcher.refresh([])
  for (const block of makeChain({ blocks: 2 }).slice(0, 2))
    assert.deepEqual(await match(block), ['1 block', '2 block', '5 block'])
  assert.deepEqual(told, ['The rules of an account do not work as they should'])
  const [[account, why] = []] = ruleWatcher.accountTroubles
  assert.equal(account, 1)
  assert.match(why!, /^Some matches in block \d+ make no alerts\. An account has more than 2 matches in one block\./)
  rules.remove(1, 4)
  ruleWatcher.refresh([])
  assert.deepEqual([...ruleWatcher.accountTroubles], [])
})

test('a list that changes while blocks arrive holds from the next block on, in whatever process', async t => {
  const { rules, ruleWatcher, match } = await setUp(t)
  const value = { list: 'watched' }
  const onNumber = (account: number) => {
    const { config, ...rest } = ruleOf({}, { name: 'number', operator: 'Equals any', value })
    return rules.create(account, { ...rest, config }, 0)
  }
  await rules.lists.replace(1, 'watched', ['3'])
  await rules.lists.replace(2, 'watched', ['4'])
  const [mine, others] = [onNumber(1), onNumber(2)]
  const blocks = makeChain({ blocks: 12 })
  const found: string[] = []
  const expected: string[] = []
  for (const [number, block] of blocks.entries()) {
    if (number === 3) await rules.lists.change(1, 'watched', ['3', '4', '6'], { added: true })
    if (number === 6) await rules.lists.change(1, 'watched', ['6'], { added: false })
    if (number === 8) await rules.lists.replace(2, 'watched', ['8', '9'])
    const before = ruleWatcher.generation
    ruleWatcher.refresh([])
    if ([3, 6, 8].includes(number)) assert.notEqual(ruleWatcher.generation, before)
    found.push(...(await match(block)).map(it => `${number}: ${it}`))
    for (const { id, account } of [mine, others]) {
      const list = rules.lists.get(account, 'watched')!
      if (rules.lists.has(list, String(Number(block.block.number)))) expected.push(`${number}: ${id} block`)
    }
  }
  assert.deepEqual(found, expected)
  assert.ok(found.length >= 4, found.join())
  // One that is deleted and made again is another one.
  rules.remove(1, mine.id)
  await rules.lists.remove(1, 'watched')
  await rules.lists.replace(1, 'watched', ['5'])
  const again = onNumber(1)
  ruleWatcher.refresh([])
  assert.deepEqual(await match(blocks.find(({ block }) => Number(block.number) === 5)!), [`${again.id} block`])
  assert.deepEqual(await match(blocks.find(({ block }) => Number(block.number) === 3)!), [])
})

const SENDER: RuleCondition = { name: 'from', operator: 'Greater', value: '0' }
const fail = () => {
  throw new Error('a fault of the program')
}

test('what was left out of the state stays told, and a block that is late only until it is read', async t => {
  const { ruleWatcher } = await setUp(t)
  ruleWatcher.stateTrouble(1, 'The state of block 7 is not read yet, and is asked for again: no node answers.')
  assert.equal(ruleWatcher.troubles.size, 1)
  ruleWatcher.stateTrouble(1, undefined)
  assert.equal(ruleWatcher.troubles.size, 0)
  ruleWatcher.stateTrouble(1, 'The state of blocks 7 to 9 was not read, and made no alerts: no node has it any more.')
  ruleWatcher.stateTrouble(1, undefined)
  assert.equal(ruleWatcher.troubles.size, 1)
})
