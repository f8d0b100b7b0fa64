import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { exactOf } from '../../src/query/exact.ts'
import { createEntries, type WindowEntry } from '../../src/windows/entries.ts'
import { createRepeats, MAX_REPEATS, type RepeatSpec } from '../../src/windows/repeats.ts'
import { createWindowReplay } from '../../src/windows/replay.ts'
import { measuresOf, type WindowSpec } from '../../src/windows/spec.ts'
import { createRuleWindow, type WindowBlock } from '../../src/windows/window.ts'
import { createNaiveRepeats } from '../support/repeats.ts'

const LIMITS = { keys: 10_000, rows: 100_000 }
type Matches = Record<string, number>

const entriesOf = (spec: WindowSpec, matches: Matches): WindowEntry[] => {
  const entries = createEntries<string>(measuresOf(spec), {
    id: key => key,
    values: key => [{ text: String(matches[key]), number: exactOf(BigInt(matches[key]!)), unsigned: true }],
  })
  for (const key of Object.keys(matches)) entries.add(key, key)
  return entries.finish()
}

/** Blocks in which keys are repeated, of blocks from 0 on, each of ten seconds. */
const repeatsIn = (spec: WindowSpec, again: RepeatSpec, blocks: readonly Matches[]): string[] => {
  const window = createRuleWindow(spec, LIMITS)
  const repeats = createRepeats(again)
  return blocks.flatMap((matches, number) => {
    const now = { number, time: number * 10 }
    return repeats.step(now, window.step(now, entriesOf(spec, matches)), window).map(key => `${number} ${key}`)
  })
}

const LONG: WindowSpec = {
  ...{ by: ['from'], within: { blocks: 100 } },
  conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '4' }],
}

test('an open key is repeated each time so many blocks or seconds have passed, and never after its end', () => {
  const short: WindowSpec = { ...LONG, within: { blocks: 7 } }
  const blocks = [{ a: 4 }, { b: 9 }, {}, {}, {}, {}, {}, {}, {}]
  assert.deepEqual(repeatsIn(short, { after: { blocks: 3 } }, blocks), ['3 a', '4 b', '6 a', '7 b'])
  assert.deepEqual(repeatsIn(short, { after: { seconds: 30 } }, blocks), ['3 a', '4 b', '6 a', '7 b'])
  assert.deepEqual(repeatsIn(short, { after: { seconds: 31 } }, blocks), ['4 a', '5 b'])
  assert.deepEqual(repeatsIn(short, { after: { blocks: 7 } }, blocks), [])
})

test('what must be worse is repeated at the first block where it is, once the time has passed', () => {
  const again: RepeatSpec = { after: { blocks: 3 }, worse: ['Greater or Equal'] }
  // Worse before the time has passed, exactly as bad, and worse again.
  assert.deepEqual(repeatsIn(LONG, again, [{ a: 4 }, { a: 1 }, {}, {}, {}, {}, {}]), ['3 a'])
  assert.deepEqual(repeatsIn(LONG, again, [{ a: 4 }, { a: 0 }, {}, {}, {}, { a: 0 }, { a: 1 }, { a: 1 }]), ['6 a'])
  const least: WindowSpec = {
    ...{ by: ['from'], within: { blocks: 2 } },
    conditions: [{ aggregate: 'Minimum', name: 'value', operator: 'Less', value: '5' }],
  }
  const lower: RepeatSpec = { after: { blocks: 2 }, worse: ['Less'] }
  // Open with 3; then 4, 2, 3 again, which is worse than neither, and 1.
  assert.deepEqual(
    repeatsIn(least, lower, [{ a: 3 }, { a: 4 }, { a: 4 }, { a: 4 }, { a: 2 }, { a: 3 }, { a: 3 }, { a: 3 }, { a: 1 }]),
    ['4 a', '8 a'],
  )
})

test('of very many open keys some are repeated in the next blocks, the longest untold first', () => {
  const keys = Array.from({ length: MAX_REPEATS + 5 }, (_, i) => `k${String(i).padStart(5, '0')}`)
  const first = Object.fromEntries([...keys.slice(3), ...keys.slice(0, 3)].map(key => [key, 4]))
  const found = repeatsIn(LONG, { after: { blocks: 2 } }, [{ last: 4 }, first, {}, {}, {}, {}])
  const inBlock = (number: number) => found.flatMap(it => (it.startsWith(`${number} `) ? [it.split(' ')[1]] : []))
  assert.deepEqual(inBlock(2), ['last'])
  assert.deepEqual(inBlock(3), keys.slice(0, MAX_REPEATS))
  assert.deepEqual(inBlock(4), [...keys.slice(MAX_REPEATS), 'last'])
  assert.deepEqual(inBlock(5), keys.slice(0, MAX_REPEATS))
})

test('over blocks that are missing nothing is repeated that they could have ended', () => {
  const silence: WindowSpec = {
    ...{ by: ['from'], keys: ['a'], within: { blocks: 3 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  }
  const window = createRuleWindow(silence, LIMITS)
  const repeats = createRepeats({ after: { blocks: 4 } })
  const found: number[] = []
  for (const number of [0, 1, 2, 10, 11, 12, 13, 14, 15, 16]) {
    const now = { number, time: number }
    if (number === 10) window.setSince(now)
    if (repeats.step(now, window.step(now, []), window).length > 0) found.push(number)
  }
  assert.deepEqual(found, [12, 16])
})

const CASES = Number(process.env.CASES ?? 100)

test(`repeats are those that a look at all open keys finds: ${CASES} histories with gaps and restarts`, () => {
  let count = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const within = pick([{ blocks: int(1, 9) }, { seconds: int(10, 90) }])
    const spec = pick<WindowSpec>([
      { ...LONG, within },
      { ...LONG, within, resolve: [{ aggregate: 'Count', operator: 'Less', value: '2' }] },
      { ...LONG, within, hold: { blocks: 2 } },
      { ...LONG, within, keys: ['a', 'b'], conditions: [{ aggregate: 'Count', operator: 'Less', value: '2' }] },
      {
        ...{ ...LONG, within },
        conditions: [
          { aggregate: 'Average', name: 'value', operator: 'Less', value: '4' },
          { aggregate: 'Count', operator: 'Greater', value: '1' },
        ],
      },
    ])
    const again: RepeatSpec = {
      after: pick([{ blocks: int(1, 6) }, { seconds: int(5, 60) }]),
      ...(int(0, 1) === 0 && { worse: spec.conditions.map(({ operator }) => operator) }),
    }
    const window = createRuleWindow(spec, LIMITS)
    const naive = createNaiveRepeats(again)
    let repeats = createRepeats(again)
    const told = new Map<string, { number: number; time: number; opened: never[]; conditions: never[] }>()
    const [found, expected, replayed]: [string[], string[], string[]] = [[], [], []]
    const replay = createWindowReplay({
      ...{ spec, limits: LIMITS, start: 0, opened() {}, ended() {} },
      again: { spec: again, repeated: ({ key }, { number }) => void replayed.push(`${number} ${key}`) },
    })
    let now: WindowBlock = { number: 0, time: 0 }
    for (let i = 0; i < 60; i++) {
      const isGap = int(0, 19) === 0
      now = { number: now.number + (isGap ? int(2, 5) : 1), time: now.time + int(0, 20) }
      if (isGap) window.setSince(now)
      const matches = Object.fromEntries(['a', 'b', 'c'].filter(() => int(0, 2) === 0).map(key => [key, int(0, 5)]))
      const keyed = Object.fromEntries(Object.entries(matches).map(([key, value]) => [JSON.stringify([key]), value]))
      const entries = entriesOf(spec, keyed)
      replay.step(now, entries, !isGap)
      const step = window.step(now, entries)
      if (int(0, 9) === 0) {
        // As after a restart: what was told is read from the store, in its order.
        repeats = createRepeats(again)
        repeats.set([...told].sort(([, a], [, b]) => a.number - b.number))
      }
      const repeated = repeats.step(now, step, window)
      for (const key of step.ended) told.delete(key)
      for (const key of [...repeated, ...step.opened]) {
        const conditions = window.show(key).conditions as never[]
        told.set(key, { ...now, opened: told.get(key)?.opened ?? conditions, conditions })
      }
      found.push(...repeated.map(key => `${now.number} ${key}`).sort())
      expected.push(
        ...naive(now, step, window)
          .map(key => `${now.number} ${key}`)
          .sort(),
      )
    }
    assert.deepEqual(found, expected, `seed ${seed}`)
    assert.deepEqual(replayed.sort(), expected.toSorted(), `seed ${seed}`)
    count += expected.length
  }
  assert.ok(count > CASES)
})
