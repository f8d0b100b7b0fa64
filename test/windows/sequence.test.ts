import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import {
  changingMatches,
  createRuleSequence,
  type SequenceShape,
  type StepMatch,
  UNTIL,
} from '../../src/windows/sequence.ts'
import type { WindowBlock } from '../../src/windows/window.ts'
import { naiveSequences, type Outcome, type TestBlock } from '../support/naive-sequences.ts'

const LIMITS = { keys: 1_000, rows: 100_000 }

/** As a store does: what was taken is kept, a restart or a reorganisation begins from one window of it. */
const createRunner = (shape: SequenceShape) => {
  let log: { block: TestBlock; taken: StepMatch[]; outcome: Outcome }[] = []
  let sequence = createRuleSequence(shape, LIMITS)
  const strict = shape.isMissing || shape.hasUntil
  const restart = () => {
    sequence = createRuleSequence(shape, LIMITS)
    const last = log.at(-1)?.block
    if (last === undefined) return
    const since = log.findLast(({ block }, i) => i > 0 && block.number !== log[i - 1]!.block.number + 1)?.block.number
    const { blocks, seconds } = shape.within
    const isIn = (block: WindowBlock) =>
      blocks !== undefined ? block.number > last.number - blocks : block.time > last.time - seconds!
    for (const { block, taken } of log)
      if (isIn(block) && !(strict && since !== undefined && block.number < since)) sequence.load(block, taken)
    sequence.settle(last)
  }
  return {
    restart,
    add(block: TestBlock) {
      const before = log.at(-1)?.block
      if (before && block.number !== before.number + 1) sequence.skip()
      const { found, taken } = sequence.step(block, block.matches)
      const ids = found.map(({ steps, last }) => {
        if (!shape.isMissing) assert.equal(block.matches[last!]!.id, steps.at(-1)!.id)
        return steps.map(({ id }) => id).join(' ')
      })
      log.push({ block, taken, outcome: [block.number, ids.sort()] })
    },
    back(to: number) {
      log = log.filter(({ block }) => block.number <= to)
      restart()
    },
    outcomes: () => log.map(({ outcome }) => outcome),
    size: () => sequence.size,
  }
}

const CASES = Number(process.env.CASES ?? 3_000)

test(`sequences are those of a computation from scratch: ${CASES} histories with jumping times, gaps, restarts and reorganisations`, () => {
  const counts = { came: 0, missing: 0 }
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const shape: SequenceShape = {
      ...{ steps: int(2, 5), isMissing: int(0, 1) === 0, hasUntil: int(0, 1) === 0 },
      within: int(0, 1) === 0 ? { blocks: int(1, 12) } : { seconds: int(1, 60) },
    }
    const keys = ['["a"]', '["b"]'].slice(0, int(1, 2))
    let chain: TestBlock[] = []
    let id = 0
    const runner = createRunner(shape)
    const mine = (count: number) => {
      for (let i = 0; i < count; i++) {
        const last = chain.at(-1)
        const number = last ? last.number + (int(0, 14) === 0 ? int(2, 4) : 1) : 7
        const matches = Array.from({ length: pick([0, 0, 1, 1, 2, 4]) }, () => ({
          key: pick(keys),
          step: shape.hasUntil && int(0, 8) === 0 ? UNTIL : int(0, shape.steps - 1),
          at: int(0, 5),
          id: String(id++),
        }))
        // One entity is one match of a step of a key.
        const distinct = [...new Map(matches.map(it => [`${it.key} ${it.step} ${it.at}`, it])).values()]
        const block = { number, time: (last?.time ?? 1_000) + pick([0, 1, 1, 2, 12, 40]), matches: distinct }
        chain.push(block)
        runner.add(block)
      }
    }
    mine(int(1, 10))
    for (let i = 0; i < 4; i++) {
      if (int(0, 2) === 0) runner.restart()
      else if (int(0, 1) === 0) {
        const to = chain.at(-1)!.number - int(0, 6)
        chain = chain.filter(({ number }) => number <= to)
        runner.back(to)
      }
      mine(int(1, 8))
    }
    assert.deepEqual(runner.outcomes(), naiveSequences(shape, chain), `seed ${seed}: ${JSON.stringify(shape)}`)
    counts[shape.isMissing ? 'missing' : 'came'] += runner.outcomes().flatMap(([, found]) => found).length
  }
  assert.ok(Math.min(...Object.values(counts)) > CASES / 4, JSON.stringify(counts))
})

const SHAPE: SequenceShape = { steps: 2, isMissing: false, hasUntil: true, within: { blocks: 3 } }
const match = (step: number, at: number, key = '[]'): StepMatch => ({ key, step, at, id: `${step}.${at}` })

test('at its limits a sequence refuses first steps, and goes on with those that it has', () => {
  const sequence = createRuleSequence(SHAPE, { keys: 2, rows: 3 })
  const full = sequence.step({ number: 1, time: 1 }, [match(0, 0, 'a'), match(0, 1, 'b'), match(0, 2, 'c')])
  assert.equal(full.refused, 1)
  const { found } = sequence.step({ number: 2, time: 2 }, [match(1, 0, 'a'), match(1, 1, 'b'), match(1, 2, 'c')])
  assert.deepEqual(
    found.map(({ key }) => key),
    ['a', 'b'],
  )
  assert.deepEqual(sequence.size, { keys: 0, rows: 4 })
  assert.equal(sequence.step({ number: 3, time: 3 }, [match(0, 0, 'd')]).refused, 1)
  assert.equal(sequence.step({ number: 4, time: 4 }, [match(0, 0, 'd')]).refused, 0)
})

test('what is not part of a sequence leaves nothing behind', () => {
  const sequence = createRuleSequence(SHAPE, LIMITS)
  const { taken } = sequence.step({ number: 1, time: 1 }, [match(1, 0), match(UNTIL, 1), match(1, 2)])
  assert.deepEqual([taken, sequence.size], [[], { keys: 0, rows: 0 }])
})

test('first steps of one key that end in one block end in time that grows with their number only', () => {
  const shape: SequenceShape = { steps: 2, isMissing: true, hasUntil: false, within: { seconds: 3_600 } }
  const sequence = createRuleSequence(shape, { keys: 1, rows: 300_000 })
  for (let block = 0; block < 300; block++) {
    const matches = Array.from({ length: 1_000 }, (_, at) => ({ key: '[]', step: 0, at, id: `${block} ${at}` }))
    sequence.step({ number: block, time: block }, matches)
  }
  const began = performance.now()
  const { found } = sequence.step({ number: 300, time: 3_900 }, [])
  const took = performance.now() - began
  assert.equal(found.length, 300_000)
  assert.deepEqual(
    [found[0], found.at(-1)].map(one => one!.steps[0]!.id),
    ['0 0', '299 999'],
  )
  assert.ok(took < 5_000, `${took} ms`)
})

test(`the last step does nothing again before the step before it has come: ${CASES} histories`, () => {
  let left = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const steps = int(2, 4)
    const shape: SequenceShape = { steps, isMissing: int(0, 1) === 0, hasUntil: true, within: { blocks: int(1, 4) } }
    const [whole, fewer] = [createRuleSequence(shape, LIMITS), createRuleSequence(shape, LIMITS)]
    for (let number = 0; number < 8; number++) {
      const matches = Array.from({ length: int(0, 12) }, (_, i) => {
        const step = int(0, 9) === 0 ? UNTIL : int(0, 2) === 0 ? steps - 1 : int(0, steps - 1)
        return { key: pick(['a', 'b']), step, at: int(0, 9), id: `${number} ${i}` }
      })
      const kept = changingMatches(matches, steps).map(i => matches[i]!)
      const now = { number, time: number }
      const idsOf = (all: readonly StepMatch[], { found, taken }: ReturnType<typeof whole.step>) => [
        found.map(({ last, ...one }) => ({ ...one, last: last === undefined ? last : all[last]!.id })),
        taken,
      ]
      assert.deepEqual(idsOf(kept, fewer.step(now, kept)), idsOf(matches, whole.step(now, matches)), `seed ${seed}`)
      left += matches.length - kept.length
    }
  }
  assert.ok(left > CASES)
})
