import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { type SequenceShape, type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import { createSequenceReplay } from '../../src/windows/sequence-replay.ts'
import { naiveSequences, type Outcome, type TestBlock } from '../support/naive-sequences.ts'

const LIMITS = { keys: 1_000, rows: 100_000 }

const replayed = (shape: SequenceShape, blocks: readonly TestBlock[], start: number) => {
  const found = new Map<number, string[]>(blocks.map(({ number }) => [number, []]))
  const replay = createSequenceReplay({
    ...{ shape, limits: LIMITS, start, most: 1_000 },
    found: ({ steps }, { number }) => void found.get(number)!.push(steps.map(({ id }) => id).join(' ')),
  })
  for (const [i, block] of blocks.entries()) {
    // As a back-test does, where it has nothing to look at.
    if (i > 0 && replay.isIdle && block.matches.length === 0 && block.number !== start - 1) {
      if (block.number === blocks[i - 1]!.number + 1) continue
    }
    replay.step(block, block.matches, i === 0 || block.number === blocks[i - 1]!.number + 1)
  }
  const outcomes = [...found].filter(([number]) => number >= start)
  return { outcomes: outcomes.map(([number, ids]): Outcome => [number, ids.sort()]), undecided: replay.undecided }
}

const CASES = Number(process.env.CASES ?? 3_000)

test(`a range has the sequences of the whole chain, but where missing blocks may change them: ${CASES} histories`, () => {
  const counts = { came: 0, missing: 0, undecided: 0 }
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const shape: SequenceShape = {
      ...{ steps: int(2, 4), isMissing: int(0, 1) === 0, hasUntil: int(0, 1) === 0 },
      within: int(0, 1) === 0 ? { blocks: int(1, 8) } : { seconds: int(1, 60) },
    }
    let id = 0
    let time = 1_000
    const chain = Array.from({ length: 40 }, (_, i): TestBlock => {
      time += pick([0, 1, 2, 12, 40])
      const matches = Array.from({ length: pick([0, 0, 1, 1, 2, 4]) }, (): StepMatch => {
        const step = shape.hasUntil && int(0, 8) === 0 ? UNTIL : int(0, shape.steps - 1)
        return { key: pick(['["a"]', '["b"]']), step, at: int(0, 5), id: String(id++) }
      })
      const distinct = [...new Map(matches.map(it => [`${it.key} ${it.step} ${it.at}`, it])).values()]
      return { number: i, time, matches: distinct }
    })
    const start = int(1, 35)
    const { blocks, seconds } = shape.within
    const before = chain[start - 1]!
    const begin =
      blocks !== undefined
        ? before.number - blocks
        : (chain.findLast(it => it.time <= before.time - seconds!)?.number ?? 0)
    const hole = int(0, 1) === 0 ? int(Math.max(1, begin), 38) : 40
    const holeEnd = hole + int(0, 3)
    const stored = chain.filter(({ number }) => number >= begin && (number < hole || number > holeEnd))
    const { outcomes, undecided } = replayed(shape, stored, start)
    const isDecided = ([number]: Outcome) => !undecided.some(({ from, to }) => from <= number && number <= to)
    const isStored = ([number]: Outcome) => number >= start && (number < hole || number > holeEnd)
    const expected = naiveSequences(shape, chain).filter(isStored)
    assert.deepEqual(
      outcomes.filter(isDecided),
      expected.filter(isDecided),
      `seed ${seed}: ${JSON.stringify({ shape, start, hole, holeEnd })}`,
    )
    if (hole === 40) assert.deepEqual(undecided, [])
    counts[shape.isMissing ? 'missing' : 'came'] += outcomes.flatMap(([, found]) => found).length
    counts.undecided += outcomes.length - outcomes.filter(isDecided).length
  }
  assert.ok(Math.min(...Object.values(counts)) > CASES / 4, JSON.stringify(counts))
})

test('of what is found in one block, so much makes alerts as live, and the rest is counted', () => {
  const shape: SequenceShape = { steps: 2, isMissing: false, hasUntil: false, within: { blocks: 3 } }
  const keys: string[] = []
  const replay = createSequenceReplay({
    ...{ shape, limits: { keys: 3, rows: 100 }, start: 2, most: 2 },
    found: ({ key }) => void keys.push(key),
  })
  const of = (step: number) =>
    ['a', 'b', 'c', 'd'].map((key, at): StepMatch => ({ key, step, at, id: `${step}${key}` }))
  replay.step({ number: 1, time: 1 }, of(0), true)
  replay.step({ number: 2, time: 2 }, of(1), true)
  assert.deepEqual([keys, replay.untold, replay.refused], [['a', 'b'], 1, 1])
})
