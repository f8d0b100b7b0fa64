import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createEventDeclarations } from '../../src/decode/declarations.ts'
import { openFunctions } from '../../src/decode/functions.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../../src/decode/registry.ts'
import { asJson } from '../../src/documents/show.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { type BlockEntities, createMatcher, type Matcher } from '../../src/rules/matcher.ts'
import type { NamedCondition, RuleCondition, RuleConfig, StoredRule, TargetType } from '../../src/rules/rule.ts'
import { runMain, wholeNumber } from '../lib/flags.ts'
import { createRandom, type Random } from '../lib/random.ts'
import { count, fixed, megabytes, showTimes, type Times, timesOf } from '../lib/table.ts'
import { type AlertsMeasured, measureAlerts } from './alerts.ts'
import { FIRST_BLOCK, generateBlocks } from './generate.ts'
import { type Row, row, showRows } from './report.ts'
import { createWindowedStore, measureWindows, memoryOfWindows, WINDOW_SPEC, type WindowsMeasured } from './windows.ts'

const USAGE = `Measures how fast rules are matched, and told of, with made-up blocks shaped like Ethereum's (150 transactions, 300 logs).

npm run bench:rules -- [--rules N[,N…]] [--blocks N] [--seed S] [--no-server] [--json]

--rules    how many there are (default 10,1000,100000)
--blocks   that are matched (default 200)
--seed     of chain and rules (default 1)
--no-server  leaves out what a real server takes from a block to its webhooks
--json     all figures, in place of the table`

export interface RulesMeasured {
  rules: number
  /** Reading them from JSON text, indexing and sorting them, in milliseconds. */
  loadMs: number
  /** Heap that they take, as they were written and indexed, in bytes. */
  memory: number
  /** Matching of one block, in milliseconds: documents that have to be built for it are part of that, decoding is not. */
  block: Times
  /** The first block, at which tests are compiled. */
  firstMs: number
  entities: number
  /** In the median block: a busy machine disturbs single blocks. */
  microsecondsPerEntity: number
  hits: number
  change: number
}

export interface Options {
  rules: readonly number[]
  blocks: number
  seed: number
}

export interface RulesResults {
  mixed: RulesMeasured[]
  hot: RulesMeasured
  either: RulesMeasured
  windowed: GatheringMeasured
}

/** Rules with windows that match every transfer of a block. */
export interface GatheringMeasured {
  rules: number
  matches: number
  /** Matching of one block, and gathering what windows keep of it. */
  block: Times
  /** Windows, verdicts and rows of that in the store, in the transaction of the block. */
  store: Times
}

export const benchRules = ({ rules, blocks, seed }: Options): RulesResults => {
  const open = createOpener()
  const raws = [...generateBlocks({ seed, count: blocks })]
  const pool = addressesIn([...generateBlocks({ seed, from: FIRST_BLOCK + 5_000, count: 20 })])
  const random = createRandom()
  const mixed = rules.map(count => {
    random.seek(seed, 77, 1, count)
    return measure(
      Array.from({ length: count }, (_, i) => mixedRule(i + 1, random, pool)),
      raws,
      open,
    )
  })
  random.seek(seed, 77, 2, 0)
  const most = Math.max(...rules)
  const hot = measure(
    Array.from({ length: most }, (_, i) => hotRule(i + 1, random)),
    raws,
    open,
  )
  random.seek(seed, 77, 3, 0)
  const either = measure(
    Array.from({ length: Math.ceil(most / 5) }, (_, i) => eitherRule(i + 1, random, pool)),
    raws,
    open,
  )
  return { mixed, hot, either, windowed: measureGathering(raws, open) }
}

/** Blocks of which each has about 100,000 matches. */
const measureGathering = (raws: readonly RawBlock[], open: Opener): GatheringMeasured => {
  const rules = 700
  const matcher = createMatcher()
  for (let id = 1; id <= rules; id++) {
    const rule = ruleOf(id, 'Event', [equals('event', 'Transfer')])
    const { input } = rule
    matcher.set({ ...rule, startBlock: 0, input: { ...input, config: { ...input.config, when: WINDOW_SPEC } } })
  }
  const match = (raw: RawBlock) => {
    const block = open(raw)
    const from = performance.now()
    const { gathered = [] } = matcher.match(block)
    const ms = performance.now() - from
    const matches = gathered.reduce((sum, { entries }) => entries.reduce((all, it) => all + it.count, sum), 0)
    const found = gathered.map(({ rule: { id }, entries }) => ({ rule: id, entries, lasts: entries.map(() => 0) }))
    // As it goes to the thread that writes.
    return { matches, ms, stored: target.put(structuredClone(found)) }
  }
  const some = raws.slice(0, 40)
  const target = createWindowedStore(rules)
  try {
    for (const raw of some) match(raw)
    const measured = some.map(match)
    const matches = timesOf(measured.map(it => it.matches)).p50
    const [block, store] = [measured.map(it => it.ms), measured.map(it => it.stored)].map(timesOf) as [Times, Times]
    return { rules, matches, block, store }
  } finally {
    target.close()
  }
}

type Opener = (raw: RawBlock) => BlockEntities

const measure = (rules: readonly StoredRule[], raws: readonly RawBlock[], open: Opener): RulesMeasured => {
  const lines = rules.map(rule => JSON.stringify(rule))
  const before = heap()
  const start = performance.now()
  const matcher = createMatcher()
  for (const line of lines) matcher.set(JSON.parse(line) as StoredRule)
  matcher.sort()
  const loadMs = performance.now() - start
  const memory = heap() - before

  const match = (raw: RawBlock) => {
    // Opened anew: of a block that was matched before, documents would be built already.
    const block = open(raw)
    const from = performance.now()
    const { found } = matcher.match(block)
    return { ms: performance.now() - from, hits: found.length }
  }
  const firstMs = match(raws[0]!).ms
  for (const raw of raws) match(raw)
  const measured = raws.map(match)
  const entities = raws.reduce((sum, raw) => sum + entitiesIn(open(raw)), 0)
  const block = timesOf(measured.map(({ ms }) => ms))
  return {
    rules: rules.length,
    loadMs,
    memory,
    block,
    firstMs,
    entities,
    microsecondsPerEntity: (block.p50 * 1000 * raws.length) / entities,
    hits: measured.reduce((sum, { hits }) => sum + hits, 0),
    change: changeTime(matcher, rules),
  }
}

const changeTime = (matcher: Matcher, rules: readonly StoredRule[]): number => {
  const some = rules.filter((_, i) => i % Math.ceil(rules.length / 1_000) === 0)
  const start = performance.now()
  for (const rule of some) matcher.set({ ...rule, revision: rule.revision + 1 })
  return ((performance.now() - start) * 1000) / some.length
}

const entitiesIn = ({ raw, logs }: BlockEntities): number =>
  1 + raw.receipts.length + logs.length + logs.filter(({ signature }) => signature.event !== null).length

const heap = (): number => {
  ;(globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed
}

const createOpener = (): Opener => {
  const text = (name: string) => readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8')
  const registry = createRegistry(parseRegistry(text('events.txt')))
  const functions = openFunctions(readFileSync(new URL('../../data/functions.bin', import.meta.url)))
  const tokens = createTokenList(parseTokens(text('tokens.txt')))
  const decode = createLogDecoder({ ...createEventDeclarations(registry, []), compile: createEventDecoder })
  const decimals = (address: string) => tokens.find(1, `0x${address}`)?.decimals
  return raw => {
    const decoded = {
      raw,
      logs: raw.receipts.flatMap(({ logs }) => logs.map(decode)),
      methods: raw.block.transactions.map(({ to, input }) =>
        to ? (functions.find(input.slice(0, 10))[0]?.function.name ?? null) : null,
      ),
      failures: [],
      calls: [],
      traces: [],
      contracts: [],
      tokens: [],
      decimals,
    }
    return { ...decoded, documents: createBlockDocuments(decoded, asJson) }
  }
}

interface Pool {
  accounts: string[]
  contracts: string[]
}

const addressesIn = (blocks: readonly RawBlock[]): Pool => {
  const accounts = new Set<string>()
  const contracts = new Set<string>()
  for (const { block, receipts } of blocks) {
    for (const { from } of block.transactions) accounts.add(checksumAddress(from))
    for (const { logs } of receipts) for (const { address } of logs) contracts.add(checksumAddress(address))
  }
  return { accounts: [...accounts], contracts: [...contracts] }
}

const USDT = checksumAddress('0xdac17f958d2ee523a2206206994597c13d831ec7')
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const ruleOf = (id: number, targetType: TargetType, targetMap: RuleCondition[]): StoredRule => {
  const config: RuleConfig = {
    targetType,
    targetMap,
    alerts: [{ type: 'Webhook (POST)', parameters: { url: `https://alerts.example.com/hooks/${id}` } }],
  }
  return {
    id,
    account: 1 + (id % 100),
    revision: 1,
    matching: 1,
    enabled: true,
    network: 'ethereum/ethereum/mainnet',
    startBlock: FIRST_BLOCK - (id % 1_000),
    input: {
      name: `Rule ${id}`,
      maxConfirmationCount: id % 12,
      technology: 'ethereum',
      blockchain: 'ethereum',
      network: 'mainnet',
      config,
    },
    createdAt: 1_750_000_000_000,
    updatedAt: 1_750_000_000_000,
  }
}

const equals = (name: string, value: string): NamedCondition => ({ name, operator: 'Equals', value })
const inspect = (name: string, condition: NamedCondition): RuleCondition => ({
  name: 'args',
  operator: 'Inspect',
  operatorParameters: [{ ...condition, name }],
})

/** What people watch: mostly addresses that are seldom seen, now and then some that are in many blocks. */
const mixedRule = (id: number, random: Random, pool: Pool): StoredRule => {
  const pick = (from: readonly string[]) => from[random.below(from.length)]!
  const address = (from: readonly string[]) =>
    random.unit() < 0.02 ? pick(from) : checksumAddress(`0x${random.word().slice(0, 40)}`)
  const account = () => address(pool.accounts)
  const contract = () => address(pool.contracts)
  const amount = (digits: number) => String(1 + random.below(9)).padEnd(1 + random.below(digits), '0')
  const transfer = equals('event', 'Transfer')
  const shapes: readonly (readonly [number, () => [TargetType, RuleCondition[]]])[] = [
    [20, () => ['Event', [transfer, inspect('to', equals('', account()))]]],
    [
      10,
      () => [
        'Event',
        [
          transfer,
          equals('address', pick(pool.contracts)),
          inspect('value', { name: '', operator: 'Greater or Equal', value: amount(9), useScaledValue: true }),
          inspect('from', equals('', account())),
        ],
      ],
    ],
    [
      5,
      () => [
        'Event',
        [
          transfer,
          equals('address', contract()),
          inspect('value', { name: '', operator: 'Greater', value: `${amount(6)}.5`, useScaledValue: true }),
        ],
      ],
    ],
    [
      10,
      () => [
        'Event',
        [
          transfer,
          inspect('from', { name: '', operator: 'Equals any', value: Array.from({ length: 5 }, account) }),
          inspect('value', { name: '', operator: 'Greater', value: amount(24) }),
        ],
      ],
    ],
    [5, () => ['Event', [equals('address', contract()), equals('event', 'OwnershipTransferred')]]],
    [15, () => ['Transaction', [equals('from', account())]]],
    [10, () => ['Transaction', [equals('to', contract()), equals('status', 'false')]]],
    [
      6,
      () => [
        'Transaction',
        [
          { name: 'to', operator: 'Equals (ignore case)', value: account().toLowerCase() },
          { name: 'value.coin', operator: 'Greater or Equal', value: `${amount(4)}.25` },
        ],
      ],
    ],
    [3, () => ['Transaction', [{ name: 'value.coin', operator: 'Greater', value: `1${amount(7)}000` }]]],
    [8, () => ['Log', [equals('address', contract()), equals('signature', TRANSFER)]]],
    [5, () => ['Log', [equals('topics', `0x${'0'.repeat(24)}${account().slice(2).toLowerCase()}`)]]],
    [
      2,
      () => [
        'Block',
        [
          equals('miner', account()),
          { name: 'gasUsed', operator: 'Less', value: String(1_000 + random.below(1_000_000)) },
        ],
      ],
    ],
    [
      1,
      () => ['Block', [{ name: 'baseFeePerGas', operator: 'Greater', value: `${100 + random.below(900)}000000000` }]],
    ],
  ]
  let dice = random.below(100)
  const [, shape] = shapes.find(([share]) => {
    dice -= share
    return dice < 0
  })!
  return ruleOf(id, ...shape())
}

/** Large transfers of one token, each rule with an amount of its own: few of them fire. */
const hotRule = (id: number, random: Random): StoredRule =>
  ruleOf(id, 'Event', [
    equals('event', 'Transfer'),
    equals('address', USDT),
    inspect('value', {
      name: '',
      operator: 'Greater or Equal',
      value: `${id % 20_000 === 0 ? random.below(10_000_000) : 2_000_000_000 + random.below(2_000_000_000)}.${random.below(1000)}`,
      useScaledValue: true,
    }),
  ])

/** Transfers into or out of one of some wallets, but not between a pair of them. */
const eitherRule = (id: number, random: Random, { accounts }: Pool): StoredRule => {
  const wallets = Array.from({ length: 2 }, () =>
    random.unit() < 0.002 ? accounts[random.below(accounts.length)]! : `0x${random.word().slice(0, 40)}`,
  )
  const isOne = (name: string): NamedCondition => ({ name, operator: 'Equals any (ignore case)', value: wallets })
  return ruleOf(id, 'Event', [
    equals('event', 'Transfer'),
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [
        { operator: 'Or', operatorParameters: [isOne('from'), isOne('to')] },
        { operator: 'Not', operatorParameters: [{ name: 'from', operator: 'Equals', value: wallets[0]! }] },
      ],
    },
  ])
}

export const rowsOfRules = ({ mixed, hot, either, windowed }: RulesResults): Row[] => {
  const thousand = mixed.find(({ rules }) => rules === 1_000)
  return [
    ...mixed.flatMap(measured => rowsOfCount('rules of all shapes', measured, 5, thousand)),
    ...rowsOfCount('amounts of one token', hot, 1, undefined),
    ...rowsOfCount('alternatives with exceptions', either, 5, undefined),
    row(
      `${windowed.rules} rules with windows: a block`,
      `${showTimes(windowed.block)} for ${count(windowed.matches)} matches`,
      { target: 'p50 < 20 ms', ok: windowed.block.p50 < 20 },
    ),
    row(`${windowed.rules} rules with windows: stored`, showTimes(windowed.store), {
      ...{ target: 'p50 < 20 ms', ok: windowed.store.p50 < 20 },
    }),
  ]
}

const rowsOfCount = (
  what: string,
  { rules, loadMs, memory, block, firstMs, entities, microsecondsPerEntity: per, hits, change }: RulesMeasured,
  mostMs: number,
  thousand: RulesMeasured | undefined,
): Row[] => {
  const name = `${count(rules)} ${what}`
  const applies = rules >= 100_000
  const isAboveThousand = thousand && thousand.rules !== rules && applies
  return [
    row(`${name}: a block`, `${showTimes(block)} (first ${fixed(firstMs)} ms)`, {
      ...{ target: `p50 <= ${mostMs} ms`, ok: block.p50 <= mostMs, applies },
    }),
    row(
      `${name}: an entity`,
      `${per.toFixed(2)} us`,
      isAboveThousand
        ? { target: 'at most twice that of 1,000', ok: per <= 2 * thousand.microsecondsPerEntity, applies }
        : undefined,
    ),
    row(`${name}: hits`, `${count(hits)} in ${count(entities)} entities`),
    row(`${name}: reading and indexing`, `${count(loadMs)} ms`, { target: '< 3,000 ms', ok: loadMs < 3_000, applies }),
    row(`${name}: memory`, megabytes(memory), { target: '< 300 MB', ok: memory < 300e6, applies }),
    row(`${name}: changing one`, `${change.toFixed(1)} us`),
  ]
}

const rowsOfWindows = ({ rules, keys, matches, store }: WindowsMeasured): Row[] => {
  const name = `${count(matches)} matches of a block in windows of ${rules} rules, ${count(keys)} keys each`
  return [row(`${name}: stored`, showTimes(store), { target: 'p50 < 20 ms', ok: store.p50 < 20 })]
}

const rowsOfAlerts = ({ latency, firstMs, rules, windowed, perSecond, delivered }: AlertsMeasured): Row[] => [
  row(
    `a block received to its webhooks, ${count(rules)} rules, ${windowed} of them with windows`,
    `${showTimes(latency)}, at most ${fixed(latency.max)} ms of ${count(latency.runs)} (first ${fixed(firstMs)} ms)`,
    { target: 'p99 < 100 ms', ok: latency.p99 < 100 },
  ),
  row('webhooks while more of them wait', `${count(perSecond)}/s of ${count(delivered)}`, {
    ...{ target: '>= 500/s', ok: perSecond >= 500 },
  }),
]

/** Runs the command line and returns what it measured, as text. */
export const main = async (args: string[]): Promise<string> => {
  const { values } = parseArgs({
    args,
    options: {
      rules: { type: 'string', default: '10,1000,100000' },
      blocks: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      'no-server': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return USAGE
  const blocks = wholeNumber('blocks', values.blocks, 1)
  const seed = wholeNumber('seed', values.seed, 1)
  const results = benchRules({
    rules: values.rules.split(',').map(text => wholeNumber('rules', text, 1)),
    blocks,
    seed,
  })
  const alerts = values['no-server']
    ? undefined
    : await measureAlerts({ program: PROGRAM, seed, quiet: 1_000, windowed: 200, blocks: Math.min(blocks, 100) })
  const windows = WINDOWS.map(size => measureWindows(size, Math.min(blocks, 40)))
  const keyMemory = memoryOfWindows(KEYS.rules, KEYS.each)
  if (values.json) return JSON.stringify({ ...results, windows, keyMemory, alerts }, undefined, 2)
  return showRows([
    ...rowsOfRules(results),
    ...windows.flatMap(rowsOfWindows),
    row(`windows of ${KEYS.rules} rules, ${count(KEYS.each)} keys each: memory`, megabytes(keyMemory), {
      ...{ target: '< 300 MB', ok: keyMemory < 300e6 },
    }),
    ...(alerts ? rowsOfAlerts(alerts) : []),
  ])
}

const WINDOWS = [
  { rules: 200, keys: 5, matches: 100_000 },
  { rules: 1, keys: 1_000, matches: 100_000 },
  { rules: 200, keys: 50, matches: 100_000 },
]

/** A million keys, as many as a rule may have. */
const KEYS = { rules: 10, each: 100_000 }

const PROGRAM = fileURLToPath(new URL('../../dist/chainsieve.mjs', import.meta.url))

if (import.meta.main) runMain(async () => console.log(await main(process.argv.slice(2))))
