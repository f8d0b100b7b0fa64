import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { asBigint } from '../../src/documents/show.ts'
import { openSearcher } from '../../src/engine/query/searcher.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import type { SearchRequest } from '../../src/query/request.ts'
import { entitiesOf, placeInBlock } from '../../src/rules/entities.ts'
import { type BlockEntities, createMatcher } from '../../src/rules/matcher.ts'
import {
  DOCUMENT_TARGETS,
  kindOfTarget,
  type RuleConfig,
  type StoredRule,
  type TargetType,
} from '../../src/rules/rule.ts'
import { searchOf } from '../../src/rules/search.ts'
import type { SequenceStep } from '../../src/rules/windows/steps.ts'
import { storedMatchOf } from '../../src/rules/windows/stored.ts'
import { searchOfTransactions, transactionPlaces, transactionsLacking } from '../../src/rules/windows/stored-order.ts'
import { stepsInBlock, storedParts } from '../../src/rules/windows/stored-steps.ts'
import { type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import { randomFrom } from '../support/random.ts'
import {
  callsOf,
  candidatesOf,
  createShows,
  createTestStore,
  decimalsOf,
  demoBlocks,
  demoEvents,
} from '../support/store.ts'

const events = demoEvents()
const decodeLog = createLogDecoder({
  find: (topic, indexed) => candidatesOf(topic, indexed, events),
  compile: createEventDecoder,
})

const open = (raw: RawBlock, undecided = false): BlockEntities => {
  const decoded = {
    ...{ raw, logs: raw.receipts.flatMap(({ logs }) => logs.map(decodeLog)) },
    ...{ methods: raw.block.transactions.map(() => null), calls: callsOf(raw), ...createShows()(raw) },
    decimals: (address: string) => (undecided ? undefined : decimalsOf(raw.chainId ?? 1, `0x${address}`)),
  }
  return { ...decoded, undecided: () => undecided, documents: createBlockDocuments(decoded, asBigint) }
}

const ruleOf = (id: number, config: object): StoredRule => ({
  ...{ id, account: 1, revision: 1, matching: 1, enabled: true, network: 'a/b/c', startBlock: 0 },
  ...{ createdAt: 0, updatedAt: 0 },
  input: {
    ...{ name: '', maxConfirmationCount: 0, technology: 'a', blockchain: 'b', network: 'c' },
    config: { alerts: [], ...config } as unknown as RuleConfig,
  },
})

const NEVER = { targetType: 'Block', targetMap: [{ name: 'number', operator: 'Less', value: '0' }] } as const
const CONDITIONS = { block: 'number', token: 'firstSeen' } as Partial<Record<string, string>>
const steps = DOCUMENT_TARGETS.map((targetType): SequenceStep & Pick<RuleConfig, 'targetType' | 'targetMap'> => {
  const name = CONDITIONS[kindOfTarget(targetType)] ?? 'blockNumber'
  return { targetType, targetMap: [{ name, operator: 'Greater or Equal', value: '0' }] }
})

test('a step finds what a rule of its own finds, and a rule that is gone leaves nothing', () => {
  const matcher = createMatcher()
  for (let from = 0; from < steps.length; from += 4) {
    const [first, ...others] = steps.slice(from, from + 4)
    const when = { steps: [{}, ...others, NEVER], within: { blocks: 1 }, until: first }
    matcher.set(ruleOf(100 + from, { ...first, when }))
  }
  for (const [i, step] of steps.entries()) matcher.set(ruleOf(i, step))
  let seen = 0
  for (const raw of demoBlocks().filter((_, i) => i % 25 === 5)) {
    const { found, steps: gathered = [] } = matcher.match(open(raw))
    for (const { rule, matches, lasts } of gathered) {
      const from = rule.id - 100
      const size = Math.min(4, steps.length - from)
      for (const step of [UNTIL, ...Array(size).keys()]) {
        const own = found.filter(it => it.rule.id === from + Math.max(0, step)).map(({ document }) => document._id)
        const ids = matches.filter(it => it.step === step).map(({ id }) => id)
        assert.deepEqual(ids, own)
        seen += ids.length
      }
      // Only what completes a sequence is shown in an alert.
      assert.ok(lasts.every(last => last === undefined))
    }
  }
  assert.ok(seen > 500, `${seen}`)
  for (let id = 0; id < 200; id++) matcher.remove(id)
  assert.equal(DOCUMENT_TARGETS.map(kindOfTarget).some(matcher.looksAt), false)
  assert.equal(matcher.size, 0)
})

test('of the last step, only what may complete a sequence is taken, with its document', () => {
  const whole = { targetType: 'Log', targetMap: [{ name: 'blockNumber', operator: 'Greater or Equal', value: '0' }] }
  const fourth = { targetType: 'Log', targetMap: [{ name: 'logIndex', operator: 'Equals', value: '3' }] }
  let seen = 0
  for (const missing of [false, true]) {
    const matcher = createMatcher()
    const last = { ...whole, ...(missing && { missing }) }
    matcher.set(ruleOf(1, { ...fourth, when: { steps: [{}, last], within: { blocks: 1 } } }))
    for (const raw of demoBlocks()) {
      const logs = raw.receipts.flatMap(({ logs }) => logs).length
      const [{ matches, lasts } = { matches: [], lasts: [] }] = matcher.match(open(raw)).steps ?? []
      const ends = matches.flatMap(({ step, id }, i) => (step === 1 ? [{ id, document: lasts[i]?.document._id }] : []))
      // The first log, and the one after the first step.
      assert.equal(ends.length, logs === 0 ? 0 : logs > 4 ? 2 : 1)
      for (const { id, document } of ends) assert.equal(document, missing ? undefined : id)
      seen += Number(logs > 4)
    }
  }
  assert.ok(seen > 5, `${seen}`)
})

test('stored documents are in the order in which blocks come, whatever they are', () => {
  const of = (...targets: TargetType[]): RuleConfig => {
    const [first, ...others] = targets.map(target => steps.find(it => it.targetType === target)!)
    return { alerts: [], ...first!, when: { steps: [{}, ...others, NEVER], within: { blocks: 1 } } } as never
  }
  const configs = [
    of('Log', 'Transaction', 'Block', 'Event'),
    of('Call', 'Trace', 'Event', 'Transaction'),
    // These show no place of their own.
    of('Contract', 'Trace', 'Token', 'Event'),
    of('Token', 'Contract', 'Transaction', 'Log'),
  ]
  const matcher = createMatcher()
  for (const [id, config] of configs.entries()) matcher.set(ruleOf(id, config))
  const blocks = demoBlocks()
  const store = createTestStore(blocks, { events, traces: 'all' })
  const searcher = openSearcher(store.path)
  const hitsOf = (request: SearchRequest) =>
    [...searcher.pages(request, { deadline: Number.POSITIVE_INFINITY }).pages].flat().map(storedMatchOf)
  /** What has each place, in their order. */
  const inOrder = (matches: readonly StepMatch[] = []) => {
    const places = [...Map.groupBy(matches, ({ at }) => at)].sort(([a], [b]) => a - b)
    return places.map(([, all]) => all.map(({ step, id, key }) => `${step} ${id} ${key}`).sort())
  }
  const seen = configs.map(() => 0)
  for (const raw of blocks.filter((_, i) => i % 5 === 0)) {
    const number = Number(raw.block.number)
    const { steps: live = [] } = matcher.match(open(raw))
    for (const [id, config] of configs.entries()) {
      const found = storedParts(config).flatMap(part => {
        const hits = hitsOf(searchOf(part.config, { from: number, to: number, order: 'asc', size: -1 }))
        return hits.map(match => ({ part, match }))
      })
      // A token is new in one block of the store.
      const stored = new Set(found.map(({ part, match }) => `${part.step} ${match._id}`))
      const isStored = ({ step, id }: StepMatch) => stored.has(`${step} ${id}`)
      const expected = inOrder(live.find(({ rule }) => rule.id === id)?.matches.filter(isStored))
      const lacking = transactionsLacking(found)
      const transactions = lacking.length > 0 ? hitsOf(searchOfTransactions(lacking, number)) : []
      const places = transactionPlaces(transactions)
      assert.deepEqual(inOrder(stepsInBlock(number, found, places).matches), expected)
      const given = found.map(({ part, match: { sort: _, ...match } }) => ({ part, match }))
      if (id < 2) assert.deepEqual(inOrder(stepsInBlock(number, given, places).matches), expected)
      seen[id]! += expected.length
    }
  }
  assert.ok(Math.min(...seen) > 100, `${seen}`)
})

test('entities of a block are in one order: by transaction, itself, its calls, traces, contracts and logs', () => {
  const kinds = ['block', 'tx', 'call', 'trace', 'contract', 'log', 'event', 'token'] as const
  let compared = 0
  for (const raw of demoBlocks().filter((_, i) => i % 25 === 5)) {
    const block = open(raw)
    const placed = [...entitiesOf(block, new Set(kinds))].map(entity => {
      const { kind, index, log } = entity
      const transaction =
        kind === 'block'
          ? -1
          : kind === 'tx'
            ? index
            : kind === 'call' || kind === 'contract'
              ? (kind === 'call' ? block.calls : block.contracts)[index]!.tx
              : kind === 'trace'
                ? Number((block.traces[index] as { transactionPosition?: number }).transactionPosition ?? 1e6)
                : log
                  ? Number(log.transactionIndex)
                  : 1e6
      // An event is its log.
      const rank = kinds.indexOf(kind === 'event' ? 'log' : kind)
      return { place: placeInBlock(entity), expected: [transaction, rank, index] as const }
    })
    placed.sort((a, b) => a.place - b.place)
    for (const [i, { place, expected }] of placed.entries()) {
      const before = placed[i - 1]
      if (before === undefined) continue
      const order = expected.map((it, at) => it - before.expected[at]!).find(it => it !== 0) ?? 0
      assert.equal(Math.sign(place - before.place), Math.sign(order))
      compared++
    }
  }
  assert.ok(compared > 500, `${compared}`)
})

test('a step waits for decimals that its key needs, and what has no value of the key does not count', () => {
  const transfer = { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }] }
  const whenBy = (by: string) => ({ steps: [{ by: [by] }, { ...transfer, by: [by] }], within: { blocks: 1 } })
  const matched = (by: string, undecided = false) => {
    const matcher = createMatcher()
    matcher.set(ruleOf(1, { ...transfer, when: whenBy(by) }))
    return demoBlocks().map(raw => matcher.match(open(raw, undecided)))
  }
  const keysOf = (by: string) => matched(by).flatMap(({ steps = [] }) => steps.flatMap(({ matches }) => matches))
  assert.ok(matched('args.value.scaled', true).some(({ undecided }) => undecided.length > 0))
  assert.ok(matched('args.value.scaled', true).every(({ undecided, steps }) => undecided.length === 0 || !steps))
  assert.ok(keysOf('args.to').length > 0 && keysOf('args.to').every(({ key }) => /^\["0x[\da-f]{40}"\]$/.test(key)))
  assert.deepEqual(keysOf('args.nothing'), [])
})

test('rules with windows find together what each finds alone', () => {
  const random = randomFrom(7)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const rules = Array.from({ length: 60 }, (_, id) => {
    const least = {
      name: pick(['logIndex', 'transactionIndex']),
      operator: 'Greater or Equal',
      value: pick(['0', '3']),
    }
    const conditions = [
      pick([
        { aggregate: 'Count', operator: 'Greater', value: '1' },
        { aggregate: 'Sum', name: 'logIndex', operator: 'Greater', value: '1' },
        { aggregate: 'Distinct', name: 'address', operator: 'Greater', value: '1' },
      ]),
    ]
    const when = { by: pick([['address'], ['transactionHash'], []]), within: { blocks: 5 }, conditions }
    return ruleOf(id, { targetType: 'Log', targetMap: [least], when })
  })
  const together = createMatcher()
  for (const rule of rules) together.set(rule)
  const alone = rules.map(rule => {
    const matcher = createMatcher()
    matcher.set(rule)
    return matcher
  })
  let seen = 0
  for (const raw of demoBlocks().filter((_, i) => i % 25 === 5)) {
    const shown = (matcher: typeof together) =>
      (matcher.match(open(raw)).gathered ?? []).map(({ rule: { id }, entries, lasts }) => ({
        ...{ id, entries, lasts: lasts.map(({ document }) => document._id) },
      }))
    const found = shown(together).sort((a, b) => a.id - b.id)
    if (found.length > 0) assert.ok(new Set(found.map(({ entries }) => entries)).size < found.length)
    assert.deepEqual(found, alone.flatMap(shown))
    seen += found.length
  }
  assert.ok(seen > 400, `${seen}`)
})
