import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { topicOf } from '../../src/decode/signature.ts'
import type { EventAbi } from '../../src/decode/types.ts'
import type { Document } from '../../src/documents/document.ts'
import { asBigint } from '../../src/documents/show.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { type ComparedValue, facesAt } from '../../src/query/compare.ts'
import { keyOfText, keysOfFace } from '../../src/query/value-keys.ts'
import { attributeSteps, attributesOf } from '../../src/rules/attributes.ts'
import { type Entity, entitiesOf, entityDocument, entityValues } from '../../src/rules/entities.ts'
import { type BlockEntities, createMatcher } from '../../src/rules/matcher.ts'
import {
  DOCUMENT_TARGETS,
  isListValue,
  isLogic,
  kindOfTarget,
  listsIn,
  RULE_OPERATORS,
  type RuleCondition,
  type RuleConfig,
  type RuleOperator,
  type StoredRule,
} from '../../src/rules/rule.ts'
import { isOfFewChains } from '../support/chains.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { conditionAt, createTestLists, naiveVerdict, TARGETS, withLogic } from '../support/rules.ts'
import {
  callsOf,
  candidatesOf,
  createShows,
  decimalsOf,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
} from '../support/store.ts'

// However rules are indexed, they find what a loop over all of them finds that asks every document exactly.

/** `CASES=2000 npm test -- rules/matcher` looks further. */
const CASES = Number(process.env.CASES ?? 60)
const SEED = Number(process.env.SEED ?? 2)

/** Names that are positions, but of others. */
const MISNAMED: EventAbi = {
  name: 'Misnamed',
  inputs: [
    ...['1', '0', '__proto__', '1', '1'].map(name => ({ name, type: 'uint256' })),
    { name: 'pair', type: 'tuple', components: [{ name: 'scaled', type: 'uint256' }] },
  ],
}
const events = [...oddEvents, ...demoEvents(), MISNAMED]
const declarations = new Map<string, ReturnType<typeof candidatesOf>>()
const decodeLog = createLogDecoder({
  find(topic, indexed) {
    const key = `${topic}/${indexed}`
    if (!declarations.has(key)) declarations.set(key, candidatesOf(topic, indexed, events))
    return declarations.get(key)!
  },
  compile: createEventDecoder,
})

/** Tokens of the odd blocks: of the first the decimals are not known yet, then they are. */
const ODD_DECIMALS: Readonly<Record<string, number>> = { ['5'.repeat(40)]: 0 }
const UNDECIDED: Readonly<Record<string, number>> = {
  ['1'.repeat(40)]: 2,
  ['2'.repeat(40)]: 18,
  ['4'.repeat(40)]: 0,
}

const METHODS: Readonly<Record<string, string>> = { '0xa9059cbb': 'transfer', '0x3593564c': 'execute' }

const open = (raw: RawBlock, known = ODD_DECIMALS): BlockEntities => {
  const decimals = (address: string) => known[address] ?? decimalsOf(raw.chainId ?? 1, `0x${address}`)
  const decoded = {
    raw,
    logs: raw.receipts.flatMap(({ logs }) => logs.map(decodeLog)),
    methods: raw.block.transactions.map(({ to, input }) => (to ? (METHODS[input.slice(0, 10)] ?? null) : null)),
    calls: callsOf(raw),
    ...createShows()(raw),
    decimals,
  }
  return {
    ...decoded,
    undecided: address => Object.hasOwn(UNDECIDED, address) && decimals(address) === undefined,
    documents: createBlockDocuments(decoded, asBigint),
  }
}

/** The same when all decimals are known. */
const decide = (raw: RawBlock): BlockEntities => open(raw, { ...ODD_DECIMALS, ...UNDECIDED })

const misnamed = oddBlocks(1, 99).map(raw => {
  for (const { logs } of raw.receipts)
    for (const [i, log] of logs.entries())
      Object.assign(log, {
        topics: [topicOf(MISNAMED)],
        data: `0x${[i, i + 1, 7, 8, 9, 10].map(it => String(it).padStart(64, '0')).join('')}`,
      })
  return raw
})

/** Entities are alike in blocks that follow each other: a few of each chain show everything. */
const raws: readonly RawBlock[] = [
  ...misnamed,
  ...oddBlocks(9, 100),
  ...demoBlocks().filter((_, i) => i % 12 === 5),
  ...generatedBlocks(2).map((raw, i) => excerptOf(raw, index => index % 17 === i)),
]

const ALL: ReadonlySet<Kind> = new Set(KINDS)
const documentsOf = (raw: RawBlock): { kind: Kind; document: Document; entity: Entity }[] =>
  [...entitiesOf(open(raw), ALL)].map(entity => ({ kind: entity.kind, document: entityDocument(entity)!, entity }))

const samples = new Map<Kind, Document[]>(KINDS.map(kind => [kind, []]))
for (const raw of raws) for (const { kind, document } of documentsOf(raw)) samples.get(kind)!.push(document)

const HOSTILE = [
  '',
  ' ',
  '\0',
  '\n',
  '\ud800',
  '\u202e',
  '0x',
  '0X1F',
  '-0',
  '1e400',
  '+5',
  'true',
  'FALSE',
  'constructor',
  '__proto__',
  '9'.repeat(401),
  'ſKİß',
  'Transfer',
  '1',
  '0',
]

const hasArguments = (kind: Kind): kind is 'event' | 'call' => kind === 'event' || kind === 'call'
const argumentNamesOf = (kind: 'event' | 'call'): Set<string> =>
  new Set(samples.get(kind)!.flatMap(({ _source }) => (_source.args as { name: string }[]).map(({ name }) => name)))
const argumentNames = { event: argumentNamesOf('event'), call: argumentNamesOf('call') }

const namesOf = (kind: Kind): fc.Arbitrary<string[]> => {
  const own = fc
    .tuple(
      fc.constantFrom(...attributesOf(kind).filter(name => name !== 'args' && !isOfFewChains(kind, name))),
      fc.nat(5),
    )
    .map(([name, place]) => (['topics', 'uncles'].includes(name) && place < 4 ? [`${name}.${place}`] : [name]))
  const often = fc.constantFrom(...OFTEN[kind].map(name => [name]))
  if (!hasArguments(kind)) return fc.oneof(own, often)
  const name = fc.oneof(
    fc.constantFrom(...argumentNames[kind]),
    fc.constantFrom('0', '1', '2', '3', '17'),
    fc.constantFrom(...HOSTILE),
  )
  const inner = fc.constantFrom('hex', 'num', 'scaled', 'scaled', 'type', 'value', 'who', 'much', 'a', '0', '1')
  return fc.oneof(
    own,
    often,
    name.map(it => ['args', it]),
    fc.tuple(name, inner).map(it => ['args', ...it]),
  )
}

/** Watch lists that rules of this file use. */
const lists = createTestLists()
const createListMatcher = () => createMatcher({ lists: (_, name) => lists.find(name) })

/** What has a way of its own from the wire. */
const OFTEN: Readonly<Record<Kind, readonly string[]>> = {
  block: ['number', 'miner', 'gasUsed', 'hash'],
  tx: [
    'from',
    'to',
    'to.raw',
    'value',
    'value.coin',
    'status',
    'method',
    'contractAddress',
    'nonce.num',
    'hash',
    'gas',
  ],
  log: ['address', 'address.raw', 'topics', 'topics.1', 'signature', 'transactionHash', 'logIndex', 'blockNumber'],
  event: ['event', 'event.raw', 'address', 'blockNumber.num', 'transactionHash', 'logIndex'],
  contract: ['address', 'creator', 'codeHash', 'standard', 'selectors', 'abi.source', 'blockNumber'],
  token: ['address', 'symbol', 'standard', 'decimals', 'firstSeen.num'],
  call: [
    'from',
    'to',
    'to.raw',
    'method',
    'method.raw',
    'selector',
    'value',
    'callType',
    'depth',
    'reverted',
    'blockNumber',
  ],
  trace: [
    'type',
    'callType',
    'action.from',
    'action.to',
    'action.value',
    'action.value.coin',
    'result.address',
    'error',
    'transactionHash',
  ],
}

/** What a value may be written as, and its neighbours. */
const near = ({ text, number }: ComparedValue): fc.Arbitrary<string> => {
  const ways = [text, text, text, text.toLowerCase(), text.toUpperCase(), text.slice(0, 10), `${text}0`]
  if (number !== undefined) {
    const { digits, scale } = number
    const at = (value: bigint) => (scale === 0 ? String(value) : `${value}e-${scale}`)
    ways.push(at(digits), at(digits), at(digits + 1n), at(digits - 1n), `${digits}5e-${scale + 1}`, at(-digits))
    if (scale === 0 && digits >= 0n) ways.push(`0x${digits.toString(16)}`, `0x00${digits.toString(16).toUpperCase()}`)
  }
  return fc.constantFrom(...ways)
}

const BOUNDS = ['Greater', 'Greater or Equal', 'Less', 'Less or Equal'] as const
const EQUALITIES = RULE_OPERATORS.filter(it => it.startsWith('Equals'))

/** A condition that the document mostly fulfils. */
const conditionOf = (kind: Kind, document: Document): fc.Arbitrary<RuleCondition> =>
  fc
    .tuple(
      namesOf(kind),
      fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...EQUALITIES) }, fc.constantFrom(...BOUNDS)),
      fc.nat(5),
    )
    .chain(([names, operator, chance]) => {
      const scaled = names[0] === 'args' && chance < 2
      const faces = facesAt(attributeSteps(kind, names), scaled, kind)(document)
      const others = faces.length > 0 ? faces : facesAt(attributeSteps(kind, names), false, kind)(document)
      const known = others.length === 0 ? fc.constant('1') : fc.constantFrom(...others).chain(near)
      const operand = fc.oneof({ weight: 12, arbitrary: known }, fc.constantFrom(...HOSTILE))
      const isAny = operator.startsWith('Equals any')
      return (isAny ? fc.array(operand, { minLength: 1, maxLength: 4 }) : operand).map(value =>
        conditionAt(names, operator, value, scaled),
      )
    })

type Target = Pick<RuleConfig, 'targetType' | 'targetMap'>

const targetOf = (kind: Kind): fc.Arbitrary<Target> =>
  fc
    .constantFrom(...samples.get(kind)!)
    .chain(document => fc.array(conditionOf(kind, document), { minLength: 1, maxLength: 4 }))
    .chain(conditions => fc.oneof(fc.constant(conditions), withLogic(conditions)))
    .chain(conditions => fc.array(fc.boolean(), { minLength: 1 }).map(chosen => lists.named(conditions, chosen)))
    .map(targetMap => ({ targetType: TARGETS[kind], targetMap }))

/** Large transfers and the like: many rules that are equal but for an amount, which one may write in many ways. */
const familyOf = (kind: Kind): fc.Arbitrary<Target[]> =>
  fc
    .tuple(
      targetOf(kind),
      kind === 'event'
        ? fc.tuple(
            fc.constant('args'),
            fc.constantFrom('value', 'a4', 'a1', 'a7', 'small', 'tick', 'big', 'amount', '0', '2', 'text'),
          )
        : fc.constantFrom(...OFTEN[kind].map(name => [name])),
      fc.boolean(),
      fc.constantFrom(...BOUNDS, 'Equals' as const),
      fc.nat(2),
    )
    .chain(([{ targetType, targetMap }, names, scaled, operator, shared]) => {
      const values = samples
        .get(kind)!
        .flatMap(facesAt(attributeSteps(kind, names), scaled && hasArguments(kind), kind))
      const known = values.length === 0 ? fc.constant('5') : fc.constantFrom(...values).chain(near)
      return fc.array(
        fc
          .oneof(
            { weight: 8, arbitrary: known },
            fc.constantFrom(...HOSTILE),
            fc.integer({ max: 9, min: -9 }).map(String),
          )
          .map(value => ({
            targetType,
            targetMap: [
              ...targetMap.slice(0, names.length > 1 ? shared : 0),
              conditionAt(names, operator, value, scaled && hasArguments(kind)),
            ],
          })),
        { minLength: 1, maxLength: 30 },
      )
    })

/** Rules that differ in one thing alone. */
const twinsOf = (kind: Kind): fc.Arbitrary<Target[]> =>
  targetOf(kind).chain(({ targetType, targetMap }) => {
    const [first, ...rest] = targetMap
    const change = fc.record({
      operator: fc.constantFrom(...RULE_OPERATORS.filter(it => it !== 'Inspect')),
      scaled: fc.boolean(),
      upper: fc.boolean(),
    })
    return fc
      .array(change, { minLength: 2, maxLength: 12 })
      .map(changes => changes.map(it => ({ targetType, targetMap: [changed(first!, it), ...rest] })))
  })

const changed = (
  condition: RuleCondition,
  change: { operator: RuleOperator; scaled: boolean; upper: boolean },
  level = 1,
): RuleCondition => {
  if (isLogic(condition))
    return { ...condition, operatorParameters: condition.operatorParameters.map(it => changed(it, change, level)) }
  const { name, value, operatorParameters } = condition
  if (isListValue(value)) return condition
  if (operatorParameters)
    return { ...condition, operatorParameters: operatorParameters.map(it => changed(it, change, 2)) }
  const [text = ''] = [value].flat()
  const operand = change.upper ? text!.toUpperCase() : text!
  return {
    name,
    operator: change.operator,
    value: change.operator.startsWith('Equals any') ? [operand, '7'] : operand,
    ...(level === 2 && { useScaledValue: change.scaled }),
  }
}

const someRules: fc.Arbitrary<Target[]> = fc.oneof(
  fc.constantFrom(...KINDS, 'event' as const).chain(twinsOf),
  fc.constantFrom(...KINDS).chain(kind => fc.array(targetOf(kind), { minLength: 1, maxLength: 25 })),
  fc.constantFrom(...KINDS, 'event' as const, 'event' as const).chain(familyOf),
  fc.constantFrom(...DOCUMENT_TARGETS).map(targetType => [{ targetType, targetMap: [] }]),
)

interface Change {
  /** Which rule is set or removed, as a share of all. */
  at: number
  remove: boolean
  enabled: boolean
  /** Above the first block. */
  start: number | null
}

const someChanges: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    at: fc.nat(999),
    remove: fc.boolean(),
    enabled: fc.nat(9).map(it => it > 0),
    start: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(null, 101, 104, 20_000_000)),
  }),
  { maxLength: 40 },
)

const storedRule = (id: number, config: Target): StoredRule => ({
  id,
  account: 1,
  revision: 1,
  matching: 1,
  enabled: true,
  network: 'ethereum/ethereum/mainnet',
  startBlock: 0,
  input: {
    name: `Rule ${id}`,
    maxConfirmationCount: 0,
    technology: 'ethereum',
    blockchain: 'ethereum',
    network: 'mainnet',
    config: { ...config, alerts: [] },
  },
  createdAt: 0,
  updatedAt: 0,
})

/** The loop over all rules. */
const createLoop = () => {
  const compiled = new Map<object, ReturnType<typeof naiveVerdict>>()
  const compile = ({ input: { config } }: StoredRule) => {
    if (!compiled.has(config)) {
      const { targetType, targetMap } = config
      const top: RuleCondition = { name: 'depth', operator: 'Equals', value: '0' }
      const all = targetType === 'Method' ? [...targetMap, top] : targetMap
      compiled.set(config, naiveVerdict(kindOfTarget(targetType), all, lists.valuesOf))
    }
    return compiled.get(config)!
  }
  return (rules: Iterable<StoredRule>, raw: RawBlock, block: BlockEntities) => {
    const number = Number(raw.block.number)
    const found: string[] = []
    const undecided = new Set<string>()
    const sorted = [...rules].sort((a, b) => a.id - b.id)
    for (const entity of entitiesOf(block, ALL)) {
      const document = entityDocument(entity)!
      const emitter = entity.log?.address.slice(2).toLowerCase()
      const isOpen = emitter !== undefined && block.undecided!(emitter)
      // As if the decimals were known.
      const decided = document.decoding && {
        _id: document._id,
        _source: document._source,
        decoding: { ...document.decoding, decimals: 0 },
      }
      for (const rule of sorted) {
        if (!rule.enabled || rule.startBlock === null || number < rule.startBlock) continue
        if (kindOfTarget(rule.input.config.targetType) !== entity.kind) continue
        const verdict = compile(rule)(document, isOpen ? decided : undefined)
        if (verdict) found.push(`${rule.id} ${entity.kind} ${document._id}`)
        else if (verdict === undefined) undecided.add(emitter!)
      }
    }
    return { found, undecided: [...undecided].sort() }
  }
}

const shown = ({ found, undecided }: ReturnType<ReturnType<typeof createMatcher>['match']>) => ({
  found: found.map(({ rule, kind, document }) => `${rule.id} ${kind} ${document._id}`),
  undecided: undecided.toSorted(),
})

describe('the matcher', () => {
  it('finds what a loop over all rules finds, while rules come, change and go', () => {
    let hits = 0
    let waits = 0
    let later = 0
    let moves = 0
    fc.assert(
      fc.property(
        fc.array(someRules, { minLength: 1, maxLength: 6 }),
        fc.array(someChanges, { maxLength: 3 }),
        (sets, rounds) => {
          const rules = sets.flat().map((config, i) => storedRule(i + 1, config))
          const matcher = createListMatcher()
          const present = new Map<number, StoredRule>()
          let loop = createLoop()
          const set = (rule: StoredRule) => {
            matcher.set(rule)
            present.set(rule.id, rule)
          }
          const check = (some: readonly RawBlock[]) => {
            for (const raw of some) {
              const expected = loop(present.values(), raw, open(raw))
              assert.deepStrictEqual(shown(matcher.match(open(raw))), expected)
              hits += expected.found.length
              waits += expected.undecided.length
              if (expected.undecided.length === 0) continue
              const decided = loop(present.values(), raw, decide(raw))
              assert.deepStrictEqual(decided.undecided, [])
              assert.deepStrictEqual(shown(matcher.match(decide(raw))), decided)
              later += decided.found.length - expected.found.length
            }
            const active = [...present.values()].filter(({ enabled, startBlock }) => enabled && startBlock !== null)
            assert.equal(matcher.size, active.length)
            for (const number of [0, 99, 100, 101, 103, 104, 30_000_000])
              assert.equal(
                matcher.wants(number),
                active.some(({ startBlock }) => startBlock! <= number),
              )
          }
          for (const rule of rules) set(rule)
          if (rules.length % 2 === 0) matcher.sort()
          check(raws)
          for (const [round, changes] of rounds.entries()) {
            for (const { at, remove, enabled, start } of changes) {
              const rule = rules[at % rules.length]!
              if (remove) {
                matcher.remove(rule.id)
                present.delete(rule.id)
              } else {
                // One rule takes what another asks for.
                const { input } = rules[(at * 7 + round) % rules.length]!
                set({ ...rule, enabled, startBlock: start, input })
              }
            }
            // Values move from list to list.
            const used = [...new Set([...present.values()].flatMap(({ input }) => listsIn(input.config)))]
            for (const [i, name] of used.entries())
              for (const value of lists.valuesOf(name).slice(0, 2)) {
                lists.put(name, value, false)
                lists.put(used[(i + 1) % used.length]!, value, true)
                moves++
              }
            loop = createLoop()
            check(raws.filter((_, i) => i % 3 === round))
          }
        },
      ),
      { numRuns: CASES, seed: SEED },
    )
    assert.ok(hits > CASES * 50, `only ${hits} hits: the rules tell nothing`)
    assert.ok(waits > CASES / 8, `only ${waits} times decimals were waited for`)
    assert.ok(later > 0, 'nothing was found when they were known')
    assert.ok(moves > CASES / 8, `only ${moves} values moved between lists`)
  })

  it('keeps bounds in order while most of them go and others come', () => {
    const bound = (id: number, value: string): StoredRule =>
      storedRule(id, { targetType: 'Transaction', targetMap: [{ name: 'nonce', operator: 'Greater or Equal', value }] })
    fc.assert(
      fc.property(
        fc.array(fc.record({ kept: fc.nat(9), added: fc.array(fc.tuple(fc.nat(99), fc.nat(25)), { maxLength: 50 }) }), {
          maxLength: 6,
        }),
        rounds => {
          const matcher = createMatcher()
          const present = new Map<number, StoredRule>()
          const loop = createLoop()
          const set = (id: number, value: number) => {
            // A nonce that is no number is text, and compared as such.
            const rule = bound(id, id % 9 === 0 ? `1${value}x` : String(value))
            matcher.set(rule)
            present.set(id, rule)
          }
          for (const { kept, added } of rounds) {
            for (const id of present.keys())
              if (id % 10 >= kept) {
                matcher.remove(id)
                present.delete(id)
              }
            for (const [id, value] of added) set(id, 90 + value)
            for (const raw of raws.slice(1, 4))
              assert.deepStrictEqual(shown(matcher.match(open(raw))), loop(present.values(), raw, open(raw)))
          }
        },
      ),
      { numRuns: CASES, seed: SEED },
    )
  })

  it('waits for no decimals that only rules want which do not look at the block, or no longer', () => {
    const rule = (id: number, startBlock: number): StoredRule => ({
      ...storedRule(id, {
        targetType: 'Event',
        targetMap: [
          conditionAt(['args', 'a1'], 'Greater', String(id), true),
          { name: 'event', operator: 'Equals', value: 'Wide' },
        ],
      }),
      startBlock,
    })
    const raw = raws.find(it => decide(it).logs.some(({ signature }) => signature.event?.name === 'Wide'))!
    const number = Number(raw.block.number)
    const matcher = createMatcher()
    for (const [id, start] of [
      [1, number + 1],
      [2, number],
      [3, 0],
    ] as const)
      matcher.set(rule(id, start))
    assert.deepEqual(matcher.match(open(raw)), { found: [], undecided: ['1'.repeat(40)], failed: [], cut: [] })
    matcher.remove(2)
    assert.deepEqual(matcher.match(open(raw)).undecided, ['1'.repeat(40)])
    // Another rule looks at the block.
    matcher.set(storedRule(5, { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'x' }] }))
    matcher.remove(3)
    matcher.set(rule(4, 0))
    matcher.remove(4)
    assert.deepEqual(matcher.match(open(raw)).undecided, [])
  })

  it('waits for decimals however a rule asks for whole tokens', () => {
    for (const [names, scaled] of [
      [['args', 'tick'], true],
      [['args', 'tick', 'scaled'], false],
      [['args', 'tick', 'num'], true],
    ] as const)
      for (const operator of ['Greater', 'Equals', 'Equals any', 'Less'] as const) {
        const value = operator === 'Equals any' ? ['5', '7'] : '5'
        const matcher = createMatcher()
        matcher.set(storedRule(1, { targetType: 'Event', targetMap: [conditionAt(names, operator, value, scaled)] }))
        const undecided = new Set(raws.flatMap(raw => matcher.match(open(raw)).undecided))
        assert.deepEqual(undecided, new Set(['2'.repeat(40)]), `${names.join('.')} ${operator}`)
        assert.deepEqual(
          raws.flatMap(raw => matcher.match(decide(raw)).undecided),
          [],
        )
      }
    // A part that is called so is no amount in whole tokens.
    const matcher = createMatcher()
    const targetMap = [conditionAt(['args', 'pair', 'scaled'], 'Greater', '100', false)]
    matcher.set(storedRule(1, { targetType: 'Event', targetMap }))
    assert.deepEqual(
      raws.flatMap(raw => matcher.match(open(raw)).undecided),
      [],
    )
  })

  it('keeps nothing of rules that were removed', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const matcher = createMatcher()
    const used = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const comeAndGo = (salt: number) => {
      for (let id = 0; id < 20_000; id++) {
        const value = `0x${(salt * 100_000 + id).toString(16).padStart(40, '0')}`
        matcher.set(
          storedRule(id, {
            targetType: 'Event',
            targetMap: [
              { name: 'address', operator: 'Equals', value },
              { name: 'event', operator: 'Equals', value: 'Transfer' },
              conditionAt(['args', `of ${salt} ${id}`], 'Greater', '5', false),
              conditionAt(['args', `to ${salt} ${id}`], 'Less', value, false),
            ],
          }),
        )
        matcher.set(
          storedRule(-id - 2, {
            targetType: 'Event',
            targetMap: [conditionAt(['args', `by ${salt} ${id}`], 'Equals', value, false)],
          }),
        )
      }
      for (let id = -20_001; id < 20_000; id++) if (id !== -1) matcher.remove(id)
    }
    // With the last rule of a kind everything goes.
    matcher.set(storedRule(-1, { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'x' }] }))
    comeAndGo(1)
    const before = used()
    comeAndGo(2)
    assert.ok(used() - before < 2e6)
    assert.equal(matcher.size, 1)
  })

  it('forgets what is removed', () => {
    const [rule] = [storedRule(1, { targetType: 'Log', targetMap: [] })]
    const matcher = createMatcher()
    matcher.set(rule)
    matcher.remove(1)
    matcher.remove(1)
    assert.deepEqual(matcher.match(open(raws[0]!)), { found: [], undecided: [], failed: [], cut: [] })
    assert.deepEqual([matcher.size, matcher.wants(Number.MAX_SAFE_INTEGER)], [0, false])
  })
})

describe('a rule that fails', () => {
  const from = `0x${'a'.repeat(40)}`
  const rules = [
    storedRule(1, { targetType: 'Transaction', targetMap: [{ name: 'from', operator: 'Equals any', value: [from] }] }),
    storedRule(2, { targetType: 'Transaction', targetMap: [{ name: 'from', operator: 'Greater', value: '0' }] }),
    storedRule(3, { targetType: 'Transaction', targetMap: [{ name: 'from', operator: 'Greater', value: '1' }] }),
    storedRule(4, { targetType: 'Transaction', targetMap: [{ name: 'hash', operator: 'Greater', value: '0' }] }),
    storedRule(5, { targetType: 'Block', targetMap: [{ name: 'hash', operator: 'Greater', value: '0' }] }),
  ]
  const raw = raws.find(({ block }) => block.transactions.length > 2)!
  const broken = new Error('a fault of the program')
  /** The block with a transaction whose sender cannot be read. */
  const brokenAt = (at: number): BlockEntities => {
    const transactions = raw.block.transactions.map((tx, i) =>
      i === at
        ? Object.defineProperty({ ...tx }, 'from', {
            get() {
              throw broken
            },
          })
        : tx,
    )
    return { ...open(raw), raw: { ...raw, block: { ...raw.block, transactions } } }
  }

  it('holds up no other, and is named', () => {
    const matcher = createMatcher()
    for (const rule of rules) matcher.set(rule)
    const all = raw.block.transactions.length
    const { found, failed, undecided, cut } = matcher.match(brokenAt(1))
    assert.deepEqual(
      failed.map(({ rule, error }) => [rule.id, error]).sort(),
      [1, 2, 3].map(id => [id, broken]),
    )
    const count = (id: number) => found.filter(({ rule }) => rule.id === id).length
    // What came before the fault was found, what comes after it is not looked for in this block.
    assert.deepEqual([2, 4, 5].map(count), [1, all, 1])
    assert.deepEqual([undecided, cut], [[], []])
    // The next block is asked again.
    const next = matcher.match(open(raw))
    assert.deepEqual([next.failed, next.found.filter(({ rule }) => rule.id === 2).length], [[], all])
  })

  it('of an account that finds more than it may of one block leaves the others theirs', () => {
    const matcher = createMatcher({ most: 3 })
    for (const rule of rules) matcher.set(rule)
    matcher.set({ ...rules[4]!, id: 6, account: 2 })
    const { found, cut } = matcher.match(open(raw))
    assert.deepEqual(found.map(({ rule }) => rule.id).sort(), [2, 4, 5, 6])
    assert.deepEqual(cut, [1])
  })

  it('asks nothing more for an account that has found all that it may', () => {
    const matcher = createMatcher({ most: 3 })
    const counted = raw.block.transactions.map(() => 0)
    const transactions = raw.block.transactions.map((tx, i) =>
      Object.defineProperty({ ...tx }, 'gasPrice', {
        get: () => {
          counted[i]!++
          return '0x1'
        },
      }),
    )
    const gasPrice = { name: 'gasPrice', operator: 'Greater or Equal' as const, value: '0' }
    const config = { ...rules[0]!.input.config, targetType: 'Transaction' as const, targetMap: [gasPrice] }
    for (const id of [1, 2]) matcher.set({ ...rules[0]!, id, input: { ...rules[0]!.input, config } })
    assert.equal(
      matcher.match({ ...open(raw), raw: { ...raw, block: { ...raw.block, transactions } } }).found.length,
      3,
    )
    assert.ok(counted.length > 3)
    assert.deepEqual(
      counted.slice(2).filter(it => it > 0),
      [],
    )
  })
})

describe('what is read from the wire', () => {
  it('is what the document says', () => {
    for (const raw of raws)
      for (const { kind, document, entity } of documentsOf(raw)) {
        const names = OFTEN[kind].map(name => [name])
        if (hasArguments(kind)) for (const name of [...argumentNames[kind], '0', '1', '17']) names.push(['args', name])
        for (const [scaled, path] of names.flatMap(path => [[false, path] as const, [true, path] as const])) {
          const steps = attributeSteps(kind, path)
          const source = entityValues(kind, steps, scaled)
          const expected = facesAt(steps, scaled, kind)(document)
          const plain = ({ text, number }: ComparedValue) => ({ text, number })
          assert.deepStrictEqual(source.faces(entity).map(plain), expected.map(plain), `${kind} ${steps.join('.')}`)
          if (scaled) continue
          const keys = new Set([source.keys(entity)].flat())
          for (const { text, number } of expected)
            for (const way of [
              text,
              ...(/^\w*$/.test(text) ? [text.toUpperCase()] : []),
              ...(number?.scale === 0 ? [`0x0${number.digits.toString(16)}`] : []),
            ])
              if (!way.includes('-')) assert.ok(keys.has(keyOfText(way)), `${kind} ${steps.join('.')} ${way}`)
        }
      }
  })
})

describe('names that every object has', () => {
  const names = Object.getOwnPropertyNames(Object.prototype)
  const few = [raws[0]!, misnamed[0]!]

  it('are names like others, wherever they stand', () => {
    for (const raw of few) {
      const all = [...entitiesOf(open(raw), new Set(KINDS))]
      for (const entity of KINDS.flatMap(kind => all.filter(it => it.kind === kind).slice(0, 2)))
        for (const name of names)
          for (const first of ['from', 'value', 'topics', 'args', 'status', name])
            for (const steps of [
              [first, name],
              [first, name, 'hex'],
              [first, '0', name],
            ]) {
              const { faces, keys } = entityValues(entity.kind, steps, false)
              const document = entityDocument(entity)
              const expected = document === undefined ? [] : facesAt(steps, false, entity.kind)(document)
              assert.equal(faces(entity).length, expected.length, `${entity.kind} ${steps}`)
              assert.ok(expected.length > 0 || [undefined, ''].includes(String(keys(entity) ?? '')))
            }
    }
  })

  it('match where something is called so, and nothing else', () => {
    const matcher = createMatcher()
    let id = 0
    for (const name of names)
      for (const targetType of DOCUMENT_TARGETS)
        for (const way of [[name], ['from', name], ['args', name], ['args', name, name], [`value.${name}`]])
          matcher.set(storedRule(++id, { targetType, targetMap: [conditionAt(way, 'Greater or Equal', '0', false)] }))
    const rules = id
    const matches = few.map(raw => matcher.match(open(raw)))
    const found = matches.flatMap(({ found }) => found)
    assert.deepEqual([matcher.size, matches.flatMap(({ failed }) => failed)], [rules, []])
    assert.ok(found.length > 0)
    for (const { rule, document } of found) {
      const [{ operatorParameters }] = rule.input.config.targetMap as [RuleCondition]
      const args = document._source.args as { name: string }[]
      assert.ok(args.some(arg => arg.name === operatorParameters![0]!.name))
    }
  })
})

describe('keys', () => {
  it('are the same for all that is equal', () => {
    for (const [a, b] of [
      ['1000', '0x3e8'],
      ['1000', '0X03E8'],
      ['1e3', '1000.000'],
      ['-5', '-5.0'],
      ['0.50', '5e-1'],
      ['true', '1'],
      ['FALSE', '0x0'],
      ['0xABCdef', '0xabcdef'],
      ['ſ', 'ſ'],
      ['İ', 'İ'.toLowerCase()],
      ['Transfer', 'tRANSFER'],
      ['-0', '0'],
    ] as const)
      assert.equal(keyOfText(a), keyOfText(b), `${a} ${b}`)
    for (const [a, b] of [
      ['1000', '1001'],
      ['0.5', '5'],
      ['-5', '5'],
      ['', '0'],
      ['0x', '0x0'],
      ['t', 'true'],
      ['Transfer', 'Transfers'],
    ] as const)
      assert.notEqual(keyOfText(a), keyOfText(b), `${a} ${b}`)
  })

  it('of a value hold everything that it is equal to', () => {
    for (const kind of KINDS) {
      const [document] = samples.get(kind)!
      for (const name of attributesOf(kind))
        for (const face of facesAt(attributeSteps(kind, [name]), false, kind)(document!)) {
          const keys = keysOfFace(face)
          assert.ok(keys.includes(keyOfText(face.text)), `${kind} ${name}`)
          if (face.number?.scale === 0)
            assert.ok(keys.includes(keyOfText(String(face.number.digits))), `${kind} ${name}`)
        }
    }
  })
})
