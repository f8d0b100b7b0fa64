import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import { asBigint } from '../../src/documents/show.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { lowerConditions, toQuery } from '../../src/rules/lower.ts'
import { createMatcher } from '../../src/rules/matcher.ts'
import type { RuleCondition, StoredRule } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { makeChain } from '../support/pack.ts'
import { conditionAt, ruleBody } from '../support/rules.ts'
import { callsOf, candidatesOf, createShows, createTestStore } from '../support/store.ts'

// `sameElement`, asked of orders that the test has made itself.

const CASES = Number(process.env.CASES ?? 150)
const SEED = Number(process.env.SEED ?? 3)

interface Order {
  maker: `0x${string}`
  amount: bigint
  open: boolean
  terms: { fee: number; tag: string }
}

const ORDERS = '(address maker, uint256 amount, bool open, (uint16 fee, string tag) terms)[] orders'
const FILLED = parseSignature(`Filled(uint256 id, ${ORDERS})`)
const MAKERS = [1, 2, 3].map(n => `0x${String(n).padStart(40, '0')}` as const)
const TAGS = ['', 'spot', 'limit']

const makeOrder = (n: number): Order => ({
  maker: MAKERS[n % 3]!,
  amount: BigInt((n >> 2) % 4),
  open: (n >> 3) % 2 === 0,
  terms: { fee: (n >> 4) % 3, tag: TAGS[(n >> 5) % 3]! },
})

const made: Order[][] = []
const blocks = makeChain({ from: 500, blocks: 5, txs: 3, logs: 8, salt: 'orders', chainId: 1 })
let seed = 1
const random = (): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return seed >> 8
}
for (const { receipts } of blocks)
  for (const { logs } of receipts)
    for (const log of logs) {
      const orders = Array.from({ length: random() % 5 }, () => makeOrder(random()))
      made.push(orders)
      const data = encodeAbiParameters(parseAbiParameters(`uint256 id, ${ORDERS}`), [1n, orders])
      Object.assign(log, { topics: [topicOf(FILLED)], data })
    }

interface Asked {
  names: string[]
  operator: 'Equals' | 'Greater' | 'Less' | 'Equals any'
  value: string | string[]
  holds(order: Order): boolean
}

const amountIs = (operator: 'Greater' | 'Less' | 'Equals', bound: number): Asked => ({
  names: ['amount'],
  operator,
  value: String(bound),
  holds: ({ amount }) =>
    operator === 'Greater' ? amount > bound : operator === 'Less' ? amount < bound : amount === BigInt(bound),
})

const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.constantFrom(...MAKERS).map(
    (value): Asked => ({
      ...{ names: ['maker'], operator: 'Equals', value },
      holds: ({ maker }) => maker === value,
    }),
  ),
  fc.subarray(MAKERS, { minLength: 1, maxLength: 2 }).map(
    (value): Asked => ({
      ...{ names: ['maker'], operator: 'Equals any', value },
      holds: ({ maker }) => value.includes(maker),
    }),
  ),
  fc.tuple(fc.constantFrom('Greater', 'Less', 'Equals'), fc.nat(3)).map(([how, bound]) => amountIs(how, bound)),
  fc.boolean().map(
    (value): Asked => ({
      ...{ names: ['open'], operator: 'Equals', value: String(value) },
      holds: ({ open }) => open === value,
    }),
  ),
)

interface Made {
  conditions: RuleCondition[]
  holds(order: Order): boolean
}

const plain = ({ names, operator, value, holds }: Asked): Made => ({
  conditions: [conditionAt(names, operator, value, false, 3)],
  holds,
})

/** Conditions on one order, some of them below `Or` or `Not`. */
const several: fc.Arbitrary<Made> = fc
  .tuple(
    fc.array(asked, { minLength: 1, maxLength: 3 }),
    fc.option(
      fc.tuple(fc.constantFrom('Or' as const, 'Not' as const), fc.array(asked, { minLength: 1, maxLength: 2 })),
    ),
  )
  .map(([all, logic]) => {
    const each = all.map(plain)
    const inner = logic?.[1].map(plain) ?? []
    return {
      conditions: [
        ...each.flatMap(({ conditions }) => conditions),
        ...(logic ? [{ operator: logic[0], operatorParameters: inner.flatMap(({ conditions }) => conditions) }] : []),
      ],
      holds: order =>
        each.every(({ holds }) => holds(order)) &&
        (!logic || inner.some(({ holds }) => holds(order)) === (logic[0] === 'Or')),
    }
  })

const inArgs = (inner: RuleCondition): RuleCondition => ({
  name: 'args',
  operator: 'Inspect',
  operatorParameters: [inner],
})

const onOrders = (conditions: RuleCondition[]): RuleCondition =>
  inArgs({ name: 'orders', operator: 'Inspect', sameElement: true, operatorParameters: conditions })

const storedRule = (targetMap: RuleCondition[]): StoredRule => ({
  ...{
    id: 1,
    account: 1,
    revision: 1,
    matching: 1,
    enabled: true,
    network: 'ethereum/ethereum/mainnet',
    startBlock: 0,
  },
  input: {
    ...{ name: 'Orders', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'ethereum', network: 'mainnet' },
    config: { targetType: 'Event', targetMap, alerts: [] },
  },
  ...{ createdAt: 0, updatedAt: 0 },
})

/** Places of the events, among all, that the rule matches. */
const matchedPlaces = (targetMap: RuleCondition[], chain = blocks, events = [FILLED]): number[] => {
  const decodeLog = createLogDecoder({
    find: (topic, indexed) => candidatesOf(topic, indexed, events),
    compile: createEventDecoder,
  })
  const matcher = createMatcher()
  matcher.set(storedRule(targetMap))
  let before = 0
  return chain.flatMap(raw => {
    const logs = raw.receipts.flatMap(receipt => receipt.logs.map(decodeLog))
    const methods = raw.block.transactions.map(() => null)
    const decoded = { raw, logs, methods, calls: callsOf(raw), ...createShows()(raw), decimals: () => undefined }
    const { found } = matcher.match({ ...decoded, documents: createBlockDocuments(decoded, asBigint) })
    const indexes = raw.receipts.flatMap(receipt => receipt.logs.map(({ logIndex }) => Number(logIndex)))
    const places = found.map(({ document }) => {
      const { num } = document._source.logIndex as { num: number | bigint }
      return before + indexes.indexOf(Number(num))
    })
    before += logs.length
    return places
  })
}

describe('several conditions on the same element of a list', () => {
  const store = createTestStore(blocks, { run: [1, 2, 2], events: [FILLED] })
  after(() => store.close())
  const positions = store.positions('event')
  const searched = (targetMap: RuleCondition[]) => {
    const query = toQuery('event', lowerConditions({ targetType: 'Event', targetMap, alerts: [] }))
    return store.evaluate('event', query).positions.map(position => positions.indexOf(position))
  }

  it('hold where one order meets them all, for searches and for the matcher', () => {
    let telling = 0
    fc.assert(
      fc.property(several, fc.boolean(), ({ conditions, holds }, negated) => {
        const rule = onOrders(conditions)
        const targetMap: RuleCondition[] = negated ? [{ operator: 'Not', operatorParameters: [rule] }] : [rule]
        const expected = made.flatMap((orders, i) => (orders.some(holds) !== negated ? [i] : []))
        assert.deepEqual(searched(targetMap), expected)
        assert.deepEqual(matchedPlaces(targetMap), expected)
        const apart = inArgs({ name: 'orders', operator: 'Inspect', operatorParameters: conditions })
        if (!negated && searched([apart]).length > expected.length) telling++
      }),
      { numRuns: CASES, seed: SEED },
    )
    assert.ok(telling > CASES / 10, `only ${telling} of ${CASES} differ from conditions on any elements`)
  })

  it('reach what has no name, forms of elements, lists in lists and a plain tuple', () => {
    const types =
      'Both((address,uint256)[] pairs, (address who, uint256 amount) lone, uint256[] amounts, (address,uint256)[][] nested)'
    const both = parseSignature(types)
    const pair = (maker: number, amount: number) => [MAKERS[maker]!, BigInt(amount)] as const
    const pairs = [pair(0, 5), pair(1, 9)]
    const values = [pairs, { who: MAKERS[2]!, amount: 7n }, [3n, 8n], [[pairs[0]!], [pairs[1]!]]] as const
    const chain = makeChain({ from: 1, blocks: 1, txs: 1, logs: 1, salt: 'unnamed', chainId: 1 })
    const [log] = chain[0]!.receipts[0]!.logs
    const data = encodeAbiParameters(parseAbiParameters(types.slice(5, -1)), values)
    Object.assign(log!, { topics: [topicOf(both)], data })
    const one = createTestStore(chain, { run: 1, events: [both] })
    const condition = (name: string, operator: 'Equals' | 'Greater' | 'Less', value: string): RuleCondition => ({
      ...{ name, operator, value },
    })
    const found = (name: string, ...operatorParameters: RuleCondition[]) => {
      const targetMap = [inArgs({ name, operator: 'Inspect', sameElement: true, operatorParameters })]
      const query = toQuery('event', lowerConditions({ targetType: 'Event', targetMap, alerts: [] }))
      const { length } = one.evaluate('event', query).positions
      assert.equal(matchedPlaces(targetMap, chain, [both]).length, length)
      return length
    }
    const maker = (place: number, at = '0') => condition(at, 'Equals', MAKERS[place]!)
    const above = (bound: number, at = '1') => condition(at, 'Greater', String(bound))
    // Unnamed components of each element.
    for (const list of ['pairs', 'nested'])
      assert.deepEqual(
        [found(list, maker(1), above(8)), found(list, maker(0), above(8)), found(list, maker(0), above(4))],
        [1, 0, 1],
      )
    // Forms of the element, not of the list.
    assert.deepEqual(
      [found('pairs', condition('type', 'Equals', '(address,uint256)')), found('amounts', above(7, 'num'))],
      [1, 1],
    )
    const between = (low: number, high: number) => [above(low, 'num'), condition('num', 'Less', String(high))] as const
    assert.deepEqual([found('amounts', ...between(2, 4)), found('amounts', ...between(4, 7))], [1, 0])
    // A plain tuple, by names and positions.
    assert.deepEqual(
      [found('lone', maker(2, 'who'), above(6, 'amount')), found('lone', maker(2), above(6)), found('lone', maker(1))],
      [1, 1, 0],
    )
    one.close()
  })

  it('have no position in a list of objects', () => {
    const operatorParameters = [{ name: '0', operator: 'Inspect', operatorParameters: [] }]
    const targetMap = [{ name: 'withdrawals', operator: 'Inspect', sameElement: true, operatorParameters }]
    const { faults } = checkRule(ruleBody({ config: { targetType: 'Block', targetMap, alerts: [] } }), {
      limits: DEFAULT_LIMITS,
    })
    assert.deepEqual(
      faults.filter(({ path }) => path.endsWith('name')),
      [
        {
          path: 'config.targetMap[0].operatorParameters[0].name',
          message: 'sameElement looks at each element: leave its position out.',
        },
      ],
    )
  })

  it('reach withdrawals of a block', () => {
    const [raw] = makeChain({ from: 1, blocks: 1, txs: 1, logs: 0, salt: 'withdrawals', chainId: 1 })
    const withdrawal = (index: number, address: string, amount: number) => ({
      ...{ index: `0x${index.toString(16)}`, validatorIndex: '0x1', address, amount: `0x${amount.toString(16)}` },
    })
    Object.assign(raw!.block, { withdrawals: [withdrawal(1, MAKERS[0]!, 5), withdrawal(2, MAKERS[1]!, 9)] })
    const one = createTestStore([raw!], { run: 1 })
    const found = (address: string, sameElement: boolean) => {
      const operatorParameters: RuleCondition[] = [
        { name: 'address', operator: 'Equals', value: address },
        { name: 'amount', operator: 'Greater', value: '6' },
      ]
      const targetMap: RuleCondition[] = [{ name: 'withdrawals', operator: 'Inspect', sameElement, operatorParameters }]
      const query = toQuery('block', lowerConditions({ targetType: 'Block', targetMap, alerts: [] }))
      return one.evaluate('block', query).positions.length
    }
    assert.deepEqual([found(MAKERS[0]!, false), found(MAKERS[0]!, true), found(MAKERS[1]!, true)], [1, 0, 1])
    one.close()
  })
})
