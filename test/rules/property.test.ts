import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex } from 'viem'
import type { RawBlock } from '../../src/chain/wire.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import type { Document } from '../../src/documents/document.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { type ComparedValue, facesAt } from '../../src/query/compare.ts'
import { attributeSteps, attributesOf } from '../../src/rules/attributes.ts'
import { lowerConditions, toQuery } from '../../src/rules/lower.ts'
import { RULE_OPERATORS, type RuleCondition, TARGET_KINDS } from '../../src/rules/rule.ts'
import { isOfFewChains } from '../support/chains.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { makeChain } from '../support/pack.ts'
import { conditionAt, createTestLists, naiveVerdict, TARGETS, withLogic } from '../support/rules.ts'
import {
  createTestStore,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  type TestStore,
} from '../support/store.ts'

// A rule as a query, indexes and all, selects what its conditions hold for, asked of every document.

/** Cases of each kind; `CASES=20000 npm test -- rules/property` looks further. */
const CASES = Number(process.env.CASES ?? 700)
const SEED = Number(process.env.SEED ?? 1)

const HOSTILE = [
  '',
  ' ',
  '\0',
  '\ud800',
  'a\udc00b',
  '\u202e',
  '\ufffd',
  '0x',
  '0X1F',
  '-0',
  '1e999',
  '-1e-999',
  '1_000',
  '+5',
  'NaN',
  'true',
  'FALSE',
  "'; DROP TABLE log; --",
  'constructor',
  '__proto__',
  '9'.repeat(401),
  `0x${'f'.repeat(398)}`,
  'ſKİß',
]

/** Names in and around arguments: their own, those of components, places, properties and what there is not. */
const argumentNames = (documents: readonly Document[]): fc.Arbitrary<string[]> => {
  const names = new Set<string>()
  for (const { _source } of documents) for (const { name } of _source.args as { name: string }[]) names.add(name)
  const inner = ['hex', 'num', 'scaled', 'type', 'value', 'who', 'much', 'a', 'b', '0', '1', '2', 'x']
  return fc
    .tuple(
      fc.constantFrom(...names, ...names, '0', '1', '2', '3', '17', 'nothing', ...HOSTILE),
      fc.array(fc.constantFrom(...inner), { maxLength: 2 }),
      fc.boolean(),
    )
    .map(([name, rest, plain]) => (plain ? ['args', name] : ['args', name, ...rest].slice(0, 3)))
}

const namesOf = (kind: Kind, documents: readonly Document[]): fc.Arbitrary<string[]> => {
  const own = fc
    .tuple(
      fc.constantFrom(...attributesOf(kind).filter(name => name !== 'args' && !isOfFewChains(kind, name))),
      fc.nat(2),
      fc.nat(3),
    )
    .map(([name, split, place]) => {
      const steps = name.split('.')
      const list = ['topics', 'transactions', 'withdrawals', 'accessList', 'uncles', 'authorizationList']
      if (split === 2 && list.includes(steps[0]!)) return [steps[0]!, String(place), ...steps.slice(1)].slice(0, 3)
      return split === 0 ? [name] : steps
    })
  return kind === 'event' ? fc.oneof(own, { weight: 2, arbitrary: argumentNames(documents) }) : own
}

const conditionOf = (
  kind: Kind,
  documents: readonly Document[],
  names: fc.Arbitrary<string[]>,
): fc.Arbitrary<RuleCondition> =>
  fc
    .tuple(names, fc.constantFrom(...RULE_OPERATORS.filter(it => it !== 'Inspect')), fc.nat(5))
    .chain(([names, operator, chance]) => {
      const useScaledValue = names[0] === 'args' && chance < 2
      const values = facesAt(attributeSteps(kind, names), useScaledValue, kind)
      const faces = documents.flatMap(document => values(document))
      const isAny = operator.startsWith('Equals any')
      const operand = operandFor(faces)
      return (isAny ? fc.array(operand, { minLength: 1, maxLength: 4 }) : operand).map(value =>
        conditionAt(names, operator, value, useScaledValue),
      )
    })

const operandFor = (faces: readonly ComparedValue[]): fc.Arbitrary<string> => {
  const known = faces.length === 0 ? fc.constant('1') : fc.constantFrom(...faces).chain(near)
  return fc.oneof({ weight: 12, arbitrary: known }, { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) })
}

/** What a value may be written as, and its neighbours. */
const near = ({ text, number }: ComparedValue): fc.Arbitrary<string> => {
  const ways = [text, text, text.toLowerCase(), text.toUpperCase(), text.slice(0, 10), `${text}0`]
  if (number !== undefined) {
    const { digits, scale } = number
    const at = (value: bigint) => (scale === 0 ? String(value) : `${value}e-${scale}`)
    ways.push(at(digits), at(digits), at(digits + 1n), at(digits - 1n), `${digits}5e-${scale + 1}`, at(-digits))
    if (scale === 0 && digits >= 0n) ways.push(`0x${digits.toString(16)}`, `0x00${digits.toString(16).toUpperCase()}`)
  }
  return fc.constantFrom(...ways)
}

/** Values of every type as arguments, and a tuple whose components are called like the properties of a value. */
const RARE = parseSignature(
  'Rare(string text, bool yes, int8 small, int40 middle, int256 large, uint256 much, bytes20 word, (string value, uint8 hex, bool type, int16 num) odd, bytes blob, address who)',
)

const rareBlocks = (): RawBlock[] => {
  const blocks = makeChain({ from: 500, blocks: 6, txs: 2, logs: 6, salt: 'rare', chainId: 1 })
  // Tokens of 6 and of 18 decimals, and none.
  const tokens = ['0xdac17f958d2ee523a2206206994597c13d831ec7', '0x6b175474e89094c44da98b954eedeac495271d0f', TRUE]
  const texts = ['Abc', 'aBC', '', '1000', TRUE.toUpperCase(), '\ufffdA', 'true', 'a'.repeat(127), 'B'.repeat(128)]
  const integers = [-1n, 0n, 1n, -128n, 127n, 2n ** 38n, -(2n ** 38n)]
  const large = [-(2n ** 255n), -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 200n + 1n, -5n]
  const of = <T>(list: readonly T[], n: number): T => list[n % list.length]!
  let n = 0
  for (const { receipts } of blocks)
    for (const { logs } of receipts)
      for (const log of logs) {
        // The bytes of a text that is no UTF-8 are encoded as bytes are.
        const text: Hex = n % 10 === 0 ? '0xff41' : `0x${Buffer.from(of(texts, n)).toString('hex')}`
        const small = of(integers, n)
        const values = [
          text,
          n % 2 === 0,
          BigInt.asIntN(8, small),
          small,
          of(large, n),
          of([10n ** 18n + 1n, 10n ** 18n, 10n ** 6n, 1_500_000n, 0n, 2n ** 256n - 1n], n),
          TRUE,
          { value: of(texts, n + 1), hex: n % 200, type: n % 3 === 0, num: -(n % 50) },
          `0x${'5a'.repeat(of([0, 1, 127, 128, 300], n))}`,
          of(tokens, n),
        ]
        const inputs = RARE.inputs.map((input, i) => ({ ...input, ...(i === 0 && { type: 'bytes' }) }))
        Object.assign(log, {
          address: of(tokens, n),
          topics: [topicOf(RARE)],
          data: encodeAbiParameters(inputs, values),
        })
        n++
      }
  return blocks
}
/** An address, and the text of one. */
const TRUE = '0x00000000000000000000000000000000000000ab'

const rareNames: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.constantFrom(...RARE.inputs.map(({ name }) => name), 'odd', '0', '4'),
    fc.array(fc.constantFrom('hex', 'num', 'scaled', 'type', 'value', '1'), { maxLength: 1 }),
    fc.boolean(),
  )
  .map(([name, rest, plain]) => (plain ? ['args', name] : ['args', name, ...rest]))

interface Chain {
  store: TestStore
  documents: Record<Kind, Document[]>
  positions: Record<Kind, number[]>
}

const events = [...oddEvents, ...demoEvents()]

const fill = (store: TestStore, demo: number, odd: number): Chain => {
  store.add(demoBlocks().slice(0, demo))
  store.add(oddBlocks(30, 1000).slice(0, odd))
  store.add(generatedBlocks(8).map((raw, i) => excerptOf(raw, index => index % 13 === i)))
  const each = <T>(read: (kind: Kind) => T) =>
    Object.fromEntries(KINDS.map(kind => [kind, read(kind)])) as Record<Kind, T>
  return { store, documents: each(store.all), positions: each(store.positions) }
}

/** A few conditions, also below `Or` and `Not`. */
const check = (chain: Chain, kind: Kind, cases: number, names = namesOf(kind, sampleOf(chain, kind))) => {
  const { store, documents, positions } = chain
  const sample = sampleOf(chain, kind)
  const lists = createTestLists()
  const flat = fc.array(conditionOf(kind, sample, names), { minLength: 1, maxLength: 3 })
  let telling = 0
  fc.assert(
    fc.property(fc.oneof(flat, flat.chain(withLogic)), fc.array(fc.boolean(), { minLength: 1 }), (plain, chosen) => {
      const targetMap = lists.named(plain, chosen)
      const targetType = TARGETS[kind]
      assert.equal(TARGET_KINDS[targetType], kind)
      const conditions = lowerConditions({ targetType, targetMap, alerts: [] }, lists.find)
      const holds = naiveVerdict(kind, targetMap, lists.valuesOf)
      const expected = positions[kind].filter((_, i) => holds(documents[kind][i]!))
      const found = store.evaluate(kind, toQuery(kind, conditions))
      assert.deepStrictEqual(found.positions, expected)
      assert.equal(found.counted, expected.length, 'count')
      if (expected.length > 0 && expected.length < positions[kind].length) telling++
    }),
    { numRuns: cases, seed: SEED },
  )
  assert.ok(telling > cases / 4, `only ${telling} of ${cases} cases tell documents apart`)
}

const sampleOf = ({ documents }: Chain, kind: Kind): Document[] => {
  const step = Math.ceil(documents[kind].length / 80)
  return documents[kind].filter((_, i) => i % step === 0)
}

describe('a rule over many small segments finds what its conditions hold for', () => {
  let chain: Chain
  before(() => {
    chain = fill(createTestStore([], { run: [1, 1, 2, 1, 3, 1, 1, 5], events }), 70, 12)
  })
  after(() => chain.store.close())
  for (const kind of KINDS) it(kind, () => check(chain, kind, CASES))
})

describe('a rule over logs that the dictionary of signatures has no room for finds them too', () => {
  let chain: Chain
  before(() => {
    chain = fill(createTestStore([], { run: 20, events, listedSignatures: 3 }), 40, 5)
  })
  after(() => chain.store.close())
  for (const kind of ['log', 'event'] as const) it(kind, () => check(chain, kind, CASES / 4))
})

describe('a rule on arguments of every type finds what its conditions hold for', () => {
  let chain: Chain
  before(() => {
    const store = createTestStore(rareBlocks(), { run: [1, 2, 3], events: [RARE] })
    chain = {
      store,
      documents: {
        block: [],
        tx: [],
        log: [],
        trace: [],
        call: [],
        contract: [],
        token: [],
        event: store.all('event'),
      },
      positions: {
        block: [],
        tx: [],
        log: [],
        trace: [],
        call: [],
        contract: [],
        token: [],
        event: store.positions('event'),
      },
    }
    assert.equal(chain.documents.event.filter(({ _source }) => _source.error === null).length, 72)
  })
  after(() => chain.store.close())
  it('event', () => check(chain, 'event', CASES * 3, rareNames))
})
