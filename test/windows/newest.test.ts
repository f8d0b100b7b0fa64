import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import type { WindowEntry } from '../../src/windows/entries.ts'
import type { EpisodeChanges } from '../../src/windows/episodes.ts'
import { createNewestWindow, type KeyReading } from '../../src/windows/newest.ts'
import type { NewestSpec } from '../../src/windows/spec.ts'
import type { WindowBlock } from '../../src/windows/window.ts'

const KEYS = ['a', 'b']

interface TestBlock extends WindowBlock {
  readings: Partial<Record<string, Pick<KeyReading, 'meets' | 'ends'>>>
}
type Outcome = [number: number, opened: string[], ended: string[]]

const entriesOf = ({ number, readings }: TestBlock): WindowEntry[] =>
  Object.entries(readings).map(([key, verdict]) => ({
    ...{ key, count: 1, ids: [`${number} ${key}`], parts: [] },
    reading: { block: number, shown: [], ...verdict! },
  }))

/** From scratch: of each key and block, what was read last since the blocks were seen without a gap. */
const naive = ({ hold }: NewestSpec, blocks: readonly TestBlock[]): Outcome[] => {
  const open = new Set<string>()
  /** Blocks in which a key met the conditions without being open. */
  const waiting = new Map<string, TestBlock[]>(KEYS.map(key => [key, []]))
  return blocks.map((now, at) => {
    const start = blocks.findLastIndex(
      (block, i) => i <= at && block.number !== (blocks[i - 1]?.number ?? Number.NaN) + 1,
    )
    const [opened, ended]: [string[], string[]] = [[], []]
    for (const key of KEYS) {
      const seen = blocks.slice(start, at + 1)
      const last = seen.findLast(({ readings }) => readings[key]?.meets !== undefined)?.readings[key]
      const held = waiting.get(key)!
      if (at === start) held.length = 0
      if (open.has(key)) {
        if (last?.meets !== false || !last.ends) continue
        open.delete(key)
        ended.push(key)
      } else if (last?.meets !== true) held.length = 0
      else {
        held.push(now)
        const [first] = held
        const isHeld =
          hold === undefined ||
          (hold.blocks !== undefined
            ? now.number - first!.number >= hold.blocks
            : now.time - first!.time >= hold.seconds!)
        if (!isHeld) continue
        held.length = 0
        open.add(key)
        opened.push(key)
      }
    }
    return [now.number, opened, ended]
  })
}

const createRunner = (spec: NewestSpec) => {
  let log: { block: TestBlock; isFirst: boolean; taken: readonly WindowEntry[]; changes: EpisodeChanges }[] = []
  let window = createNewestWindow(spec)
  const restart = () => {
    window = createNewestWindow(spec)
    if (log.length === 0) return
    window.setSince(log.findLast(({ isFirst }) => isFirst)!.block)
    for (const { block, taken } of log) if (taken.length > 0) window.load(block, taken)
    const open = new Set<string>()
    const holding = new Map<string, WindowBlock>()
    for (const { block, isFirst, changes } of log) {
      if (isFirst) holding.clear()
      for (const key of changes.began) holding.set(key, block)
      for (const key of [...changes.broke, ...changes.opened]) holding.delete(key)
      for (const key of changes.opened) open.add(key)
      for (const key of changes.ended) open.delete(key)
    }
    window.setOpen(open)
    window.setHolding(holding)
  }
  return {
    restart,
    add(block: TestBlock) {
      const isFirst = block.number !== (log.at(-1)?.block.number ?? Number.NaN) + 1
      if (isFirst) window.setSince(block)
      const { taken, opened, ended, began, broke } = window.step(block, entriesOf(block))
      log.push({ block, isFirst, taken, changes: { opened, ended, began, broke } })
    },
    back(to: number) {
      log = log.filter(({ block }) => block.number <= to)
      restart()
    },
    outcomes: () => log.map(({ block, changes }): Outcome => [block.number, changes.opened, changes.ended]),
  }
}

const sorted = (outcomes: readonly Outcome[]) =>
  outcomes.map(([number, ...sets]) => [number, ...sets.map(set => [...set].sort())])

const CASES = Number(process.env.CASES ?? 3_000)

test(`readings decide as a computation from scratch: ${CASES} histories with failed readings, missing blocks, restarts and reorganisations`, () => {
  const counts = { opened: 0, ended: 0, held: 0 }
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const hold = pick([undefined, { blocks: int(1, 5) }, { seconds: int(1, 40) }])
    const spec: NewestSpec = hold ? { hold } : {}
    const every = int(1, 3)
    const ends = pick([[true], [true, false]])
    let chain: TestBlock[] = []
    const runner = createRunner(spec)
    const mine = (count: number) => {
      for (let i = 0; i < count; i++) {
        const last = chain.at(-1)
        const number = last ? last.number + (int(0, 25) === 0 ? 3 : 1) : 6
        const read = () => ({ meets: pick([true, true, false, undefined]), ends: pick(ends) })
        const readings = number % every === 0 ? Object.fromEntries(KEYS.map(key => [key, read()])) : {}
        const block = { number, time: (last?.time ?? 1_000) + pick([0, 1, 2, 12, 40]), readings }
        chain.push(block)
        runner.add(block)
      }
    }
    mine(int(2, 8))
    for (let i = 0; i < 5; i++) {
      if (int(0, 2) === 0) runner.restart()
      else if (int(0, 1) === 0) {
        const to = chain.at(-1)!.number - int(0, 6)
        chain = chain.filter(({ number }) => number <= to)
        runner.back(to)
      }
      mine(int(1, 6))
    }
    const outcomes = runner.outcomes()
    assert.deepEqual(sorted(outcomes), sorted(naive(spec, chain)), `seed ${seed}: ${JSON.stringify(spec)}`)
    for (const [, opened, ended] of outcomes) {
      counts.opened += opened.length
      counts.ended += ended.length
      if (hold) counts.held += opened.length
    }
  }
  assert.ok(Math.min(...Object.values(counts)) > CASES / 4, JSON.stringify(counts))
})
