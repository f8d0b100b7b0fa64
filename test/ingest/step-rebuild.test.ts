import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { type AlertUpdate, createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { createUnseenBlocks } from '../../src/alerts/rebuild.ts'
import type { SequenceRule } from '../../src/alerts/sequences.ts'
import { createStepKnowledge } from '../../src/alerts/step-rebuild.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { timeOfBlock } from '../../src/engine/blocks.ts'
import { openSearcher } from '../../src/engine/query/searcher.ts'
import { createStepRebuild } from '../../src/ingest/rules/step-rebuild.ts'
import { createSpans } from '../../src/ingest/rules/stored-hits.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import { lookedBack, type SequenceSpec, sequenceShape } from '../../src/rules/windows/steps.ts'
import { type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const SENDERS = ['aa', 'bb'].map(byte => `0x${byte.repeat(20)}`)
const FROM = 10
const BEGIN = 30

const paid = (value: number, more: object = {}) => ({
  ...{ targetType: 'Transaction' as const, by: ['from'] },
  targetMap: [{ name: 'value', operator: 'Equals' as const, value: String(value) }],
  ...more,
})

const SPECS: readonly SequenceSpec[] = [
  { steps: [paid(0), paid(1)], within: { blocks: 9 } },
  { steps: [paid(0), paid(1)], within: { blocks: 8 }, until: paid(5) },
  { steps: [paid(0), paid(1, { missing: true })], within: { blocks: 9 } },
  { steps: [paid(0), paid(1, { missing: true })], within: { seconds: 100 }, until: paid(5) },
  { steps: [paid(0), paid(1), paid(2)], within: { seconds: 120 } },
  { steps: [paid(0), paid(1), paid(2, { missing: true })], within: { blocks: 8 } },
]

/** A store with one rule, which looks at its blocks from `start` on. */
const setUp = (when: SequenceSpec, start: number, limits = DEFAULT_LIMITS) => {
  const store = createTestStore()
  const shape = sequenceShape(when)
  const { ruleKeys: keys, ruleRows: rows } = limits
  const rule: SequenceRule = {
    ...{ rule: 1, revision: 1, start, shape, by: ['from'], targetType: 'Transaction', confirmations: 0 },
    ...{ notifyPending: false, notifyResolved: false, limits: { keys, rows }, account: 1, most: 1_000 },
  }
  const open = () => {
    const alertStore = createAlertStore(store.db)
    store.writer.also(() => alertStore.stored({ hits: [], windows: [], sequences: [rule] }))
    return alertStore
  }
  let alertStore = open()
  const stored = { id: 1, account: 1, revision: 1, matching: 1, input: { config: { ...paid(0), when } } }
  const ofRule = stored as unknown as StoredRule
  let beforeTold = () => {}
  let fails = false
  const searcher = openSearcher(store.path)
  const rebuild = createStepRebuild({
    rules: { rule: () => ofRule, listsOf: () => NO_LISTS, limits },
    ...{ spans: createSpans(), known: createStepKnowledge(store.db), timeOf: number => timeOfBlock(store.db, number) },
    async tell(update: AlertUpdate) {
      beforeTold()
      store.writer.also(() => {
        alertStore.stored(update)
        if (fails) throw new Error('the disk is full')
      })
    },
    signal: new AbortController().signal,
  })
  const gap = () => createUnseenBlocks(store.db)(1, 1, lookedBack({ when }))
  return {
    put(raw: RawBlock) {
      const { block } = raw
      const matches = block.transactions.flatMap(({ hash, from, value }, at): StepMatch[] => {
        const step = Number(value) === 5 ? UNTIL : Number(value)
        const isOfRule = step === UNTIL ? shape.hasUntil : step < shape.steps
        return isOfRule ? [{ key: JSON.stringify([from]), step, at, id: hash }] : []
      })
      store.writer.apply(store.prepare([raw]), () =>
        alertStore.stored({
          hits: [],
          blocks: [
            {
              ...{ number: Number(block.number), time: Number(block.timestamp), hash: block.hash, receivedAt: 5 },
              own: { _id: block.hash, _type: 'block', source: '{}' },
              sources: [{ _id: 'tx', _type: 'tx', source: '{}' }],
              ...{ matched: new Map([[1, 1]]), rules: [] },
              steps: [{ rule: 1, matches, lasts: matches.map(() => 0) }],
            },
          ],
        }),
      )
    },
    back: (to: number) => store.writer.rollback(to, () => alertStore.retractAbove(to)),
    restart() {
      alertStore = open()
    },
    gap,
    /** `before`: what happens before it is written; `fails`: the write is undone. */
    async fill(more: { before?: () => void; fails?: boolean } = {}) {
      const open = gap()
      rebuild.keep(open ? [ofRule] : [])
      if (!open) return undefined
      ;({ before: beforeTold = () => {}, fails = false } = more)
      return rebuild.fill(ofRule, open, searcher)
    },
    /** Steps of the alerts of a block. */
    alertsIn(number: number) {
      const outbox = openOutbox(store.path)
      const all = outbox.alerts(1, { size: 1_000 }).map(({ alert }) => alert)
      outbox.close()
      return all
        .filter(({ block, state }) => block === number && state === 'confirmed')
        .map(({ blockHash, when }) => `${blockHash} ${when!.entities}`)
        .sort()
    },
    rows: () => store.db.prepare<[], number>('SELECT block FROM rule_rows ORDER BY block').pluck().all(),
    close() {
      searcher.close()
      store.close()
    },
  }
}

const CASES = Number(process.env.CASES ?? 12)

test(`sequences that are filled while blocks come are those of a rule from the beginning: ${CASES} histories`, {
  timeout: 240_000,
}, async () => {
  const counts = { filled: 0, alerts: 0, compared: 0 }
  for (let seed = 1; seed <= CASES; seed++) {
    const random = createRandom(seed)
    const when = SPECS[seed % SPECS.length]!
    const [whole, late] = [setUp(when, FROM), setUp(when, BEGIN)]
    let chain: RawBlock[] = []
    let salt = 0
    const grow = () => {
      const from = chain.length > 0 ? { parent: chain.at(-1)! } : { from: FROM }
      const [raw] = makeChain({ blocks: 1, ...from, txs: 2, logs: 0, salt: `${seed} ${salt++}` }) as [RawBlock]
      for (const tx of raw.block.transactions)
        Object.assign(tx, { from: random.pick(SENDERS), value: `0x${random.pick([0, 0, 1, 2, 4, 4, 4, 5])}` })
      chain.push(raw)
      const number = Number(raw.block.number)
      const isKnown = number > BEGIN && late.gap() === undefined
      for (const one of [whole, late]) one.put(raw)
      if (!isKnown) return
      assert.deepEqual(late.alertsIn(number), whole.alertsIn(number), `seed ${seed}, block ${number}`)
      counts.compared++
      counts.alerts += late.alertsIn(number).length
    }
    while (chain.length < 22) grow()
    const fill = async (more: Parameters<typeof late.fill>[0] = {}) => {
      const wasOpen = late.gap() !== undefined
      await late.fill(more)
      if (wasOpen && late.gap() === undefined) counts.filled++
    }
    for (let step = 0; step < 40; step++) {
      const what = random.int(0, 9)
      if (what < 3) grow()
      else if (what < 5) await fill()
      else if (what === 5) late.restart()
      else if (what === 6) await fill({ fails: true }).catch(error => assert.match(error.message, /disk/))
      // Blocks come first: what was found is not taken, and is continued.
      else if (what === 7) await fill({ before: grow })
      else {
        const depth = random.int(1, 6)
        const lose = () => {
          chain = chain.slice(0, -depth)
          for (const one of [whole, late]) one.back(Number(chain.at(-1)!.block.number))
          for (let i = 0; i <= depth; i++) grow()
        }
        if (what === 8) lose()
        else await fill({ before: lose })
      }
    }
    for (const one of [whole, late]) one.close()
  }
  assert.ok(counts.filled > CASES / 3 && counts.compared > 5 * CASES && counts.alerts > CASES, JSON.stringify(counts))
})

test('a step that came before it was known what it belongs to counts', async () => {
  const { put, fill, alertsIn, rows, close } = setUp(SPECS[2]!, 15)
  const chain = makeChain({ blocks: 12, from: FROM, txs: 1, logs: 0 })
  const pay = (raw: RawBlock, value: number) => {
    Object.assign(raw.block.transactions[0]!, { from: SENDERS[0], value: `0x${value}` })
    put(raw)
  }
  // The first step is in block 12, before the rule, and the last one in block 16.
  for (const raw of chain.slice(0, 8))
    pay(raw, Number(raw.block.number) === 12 ? 0 : Number(raw.block.number) === 16 ? 1 : 4)
  assert.deepEqual(rows(), [])
  await fill()
  assert.deepEqual(rows(), [12, 16])
  for (const raw of chain.slice(8)) pay(raw, 4)
  assert.deepEqual(alertsIn(21), [])
  close()
})

test('where there is no room for what earlier blocks have, nothing is taken', async () => {
  const { put, fill, gap, close } = setUp(SPECS[0]!, 15, { ...DEFAULT_LIMITS, ruleKeys: 1 })
  const chain = makeChain({ blocks: 8, from: FROM, txs: 2, logs: 0 })
  for (const raw of chain) {
    for (const [i, tx] of raw.block.transactions.entries()) Object.assign(tx, { from: SENDERS[i], value: '0x0' })
    put(raw)
  }
  const before = gap()
  assert.ok(before)
  assert.equal(await fill(), false)
  assert.deepEqual(gap(), before)
  close()
})
