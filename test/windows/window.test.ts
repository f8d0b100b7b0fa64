import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { exactOf } from '../../src/query/exact.ts'
import { createEntries, type WindowEntry } from '../../src/windows/entries.ts'
import type { EpisodeChanges } from '../../src/windows/episodes.ts'
import {
  type Aggregate,
  measuresOf,
  type WindowCondition,
  type WindowOperator,
  type WindowSpec,
} from '../../src/windows/spec.ts'
import { createRuleWindow, type WindowBlock, watchedKeys } from '../../src/windows/window.ts'

const LIMITS = { keys: 1_000, rows: 10_000 }
const BIG = 2n ** 200n

interface Match {
  key: string
  value: bigint
}
interface TestBlock extends WindowBlock {
  matches: Match[]
}
type Outcome = { number: number; opened: string[]; ended: string[]; first: string[] }

const unsigned = ({ name }: { name?: string }) => name !== 'signed'
const valueIn = ({ value }: Match, name: string): bigint => (name === 'signed' ? value - BIG : value)

const entriesOf = (spec: WindowSpec, matches: readonly Match[]): WindowEntry[] => {
  const measures = measuresOf(spec)
  const entries = createEntries<Match>(measures, {
    id: () => 'id',
    values(match, i) {
      const number = valueIn(match, measures[i]!.name)
      return [{ text: String(number), number: exactOf(number), unsigned: unsigned(measures[i]!) }]
    },
  })
  for (const match of matches) entries.add(match.key, match)
  return entries.finish()
}

/** From scratch, for each block: the rows of its window, one by one. */
const naive = (spec: WindowSpec, blocks: readonly TestBlock[]): Outcome[] => {
  const open = new Set<string>()
  const outcomes: Outcome[] = []
  /** Whether each key was found to hold in each block. */
  const verdicts: Map<string, boolean>[] = []
  for (const [at, now] of blocks.entries()) {
    const { within, hold } = spec
    const since = blocks.findLast((block, i) => i <= at && block.number !== (blocks[i - 1]?.number ?? Number.NaN) + 1)!
    verdicts.push(new Map())
    /** The first of the neighbouring blocks up to now in which a key held, and was not open. */
    const heldSince = (key: string): TestBlock => {
      let first = at
      while (verdicts[first - 1]?.get(key) && blocks[first]!.number === blocks[first - 1]!.number + 1) first--
      return blocks[first]!
    }
    const isHeld = (key: string): boolean =>
      hold === undefined ||
      (hold.blocks !== undefined
        ? now.number - heldSince(key).number >= hold.blocks
        : now.time - heldSince(key).time >= hold.seconds!)
    const isIn = (row: WindowBlock) =>
      within.blocks !== undefined ? row.number > now.number - within.blocks : row.time > now.time - within.seconds!
    const complete =
      since.number === 0 ||
      (within.blocks !== undefined ? since.number <= Math.max(0, now.number - within.blocks + 1) : !isIn(since))
    const rows = blocks.slice(0, at + 1).filter(isIn)
    const keys = new Set([
      ...watchedKeys(spec),
      ...open,
      ...rows.flatMap(({ matches }) => matches.map(({ key }) => key)),
    ])
    const outcome: Outcome = { number: now.number, opened: [], ended: [], first: [] }
    for (const key of keys) {
      const of = (some: readonly TestBlock[]) => some.flatMap(({ matches }) => matches.filter(it => it.key === key))
      const all = of(rows)
      const earlier = (windows: number): Match[] | undefined => {
        const spans = windows + 1
        const isWithin = (row: WindowBlock) =>
          within.blocks !== undefined
            ? row.number > now.number - within.blocks * spans
            : row.time > now.time - within.seconds! * spans
        const isKnown =
          since.number === 0 ||
          (within.blocks !== undefined
            ? since.number <= Math.max(0, now.number - within.blocks * spans + 1)
            : !isWithin(since))
        return isKnown ? of(blocks.slice(0, at + 1).filter(row => isWithin(row) && !isIn(row))) : undefined
      }
      const holds = (conditions: readonly WindowCondition[]) => verdict(conditions, all, complete, earlier)
      const first = spec.conditions.find(({ aggregate }) => aggregate === 'First')
      if (first) {
        const before = new Set(of(rows.filter(row => row !== now)).map(it => valueIn(it, first.name!)))
        const fresh = new Set(of([now]).map(it => valueIn(it, first.name!))).difference(before)
        const others = spec.conditions.filter(it => it !== first)
        if (complete && holds(others) === true) outcome.first.push(...[...fresh].map(value => `${key} ${value}`))
        continue
      }
      const isForgotten = all.length === 0 && !watchedKeys(spec).includes(key)
      const now_ = isForgotten ? (complete ? false : undefined) : holds(spec.conditions)
      if (now_ === true && !open.has(key)) {
        if (isHeld(key)) {
          open.add(key)
          outcome.opened.push(key)
        } else verdicts.at(-1)!.set(key, true)
      } else if (now_ === false && open.has(key) && (!spec.resolve || isForgotten || holds(spec.resolve) === true)) {
        open.delete(key)
        outcome.ended.push(key)
      }
    }
    outcomes.push(outcome)
  }
  return outcomes
}

const HOLD: Record<WindowOperator, (a: bigint, b: bigint) => boolean> = {
  Greater: (a, b) => a > b,
  'Greater or Equal': (a, b) => a >= b,
  Less: (a, b) => a < b,
  'Less or Equal': (a, b) => a <= b,
  Equals: (a, b) => a === b,
}

const verdict = (
  conditions: readonly WindowCondition[],
  matches: readonly Match[],
  complete: boolean,
  earlier: (windows: number) => Match[] | undefined,
): boolean | undefined => {
  const each = conditions.map(condition => {
    const { aggregate, name = '', operator, value, relativeTo } = condition
    const holds = HOLD[operator!]
    if (relativeTo) {
      const before = earlier(relativeTo.windows)
      const measure = (some: readonly Match[]) =>
        some.reduce((sum, it) => sum + (aggregate === 'Count' ? 1n : valueIn(it, name)), 0n)
      // Values have one digit after the point.
      const tenths = BigInt(value!.replace('.', ''))
      const [windows, scale] = [BigInt(relativeTo.windows), value!.includes('.') ? 10n : 1n]
      return before && holds(measure(matches) * windows * scale, tenths * measure(before))
    }
    const bound = BigInt(value!)
    const values = matches.map(it => valueIn(it, name))
    const sum = values.reduce((a, b) => a + b, 0n)
    const n = BigInt(values.length)
    const extreme = (sign: bigint) => values.reduce((a, b) => ((b - a) * sign > 0n ? b : a), values[0]!)
    const test = (more: bigint): boolean | undefined => {
      if (aggregate === 'Count') return holds(n + more, bound)
      if (aggregate === 'Distinct') return holds(BigInt(new Set(values).size) + more, bound)
      if (aggregate === 'Sum') return holds(sum + more, bound)
      if (values.length === 0) return false
      if (aggregate === 'Average') return holds(sum, bound * n)
      return aggregate === 'Maximum' ? holds(extreme(1n) + more, bound) : holds(extreme(-1n) - more, bound)
    }
    if (complete) return test(0n)
    const canGrow = aggregate === 'Sum' ? unsigned(condition) || matches.length === 0 : aggregate !== 'Average'
    if (!canGrow || (values.length === 0 && (aggregate === 'Maximum' || aggregate === 'Minimum'))) return undefined
    // Of what can only grow: the same now, a little later, and at last.
    const [now, soon, last] = [test(0n), test(1n), test(BIG * BIG)]
    return now === soon && soon === last && (operator !== 'Equals' || isPast(aggregate, values, sum, bound))
      ? now
      : undefined
  })
  return each.includes(false) ? false : each.includes(undefined) ? undefined : true
}

const isPast = (aggregate: Aggregate, values: readonly bigint[], sum: bigint, bound: bigint): boolean => {
  if (aggregate === 'Count') return BigInt(values.length) > bound
  if (aggregate === 'Distinct') return BigInt(new Set(values).size) > bound
  if (aggregate === 'Sum') return sum > bound
  return aggregate === 'Maximum' ? values.some(it => it > bound) : values.some(it => it < bound)
}

/** As a store does: what was told is known, a restart or a reorganisation begins from the rows. */
const createRunner = (spec: WindowSpec) => {
  let log: {
    block: TestBlock
    isFirst: boolean
    taken: readonly WindowEntry[]
    outcome: Outcome
    changes: EpisodeChanges
  }[] = []
  let window = createRuleWindow(spec, LIMITS)
  const restart = () => {
    window = createRuleWindow(spec, LIMITS)
    if (log.length === 0) return
    window.setSince(log.findLast(({ isFirst }) => isFirst)!.block)
    for (const { block, taken } of log) window.load(block, taken)
    window.settle(log.at(-1)!.block)
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
      const { first, taken, refused: _, ...changes } = window.step(block, entriesOf(spec, block.matches))
      const { opened, ended } = changes
      const shown = first.map(({ key, value }) => `${key} ${value}`)
      log.push({ block, isFirst, taken, outcome: { number: block.number, opened, ended, first: shown }, changes })
    },
    back(to: number) {
      log = log.filter(({ block }) => block.number <= to)
      restart()
    },
    outcomes: () => log.map(({ outcome }) => outcome),
  }
}

const sorted = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ number, ...sets }) => [number, ...Object.values(sets).map(set => [...set].sort())])

const CASES = Number(process.env.CASES ?? 3_000)

test(`windows decide as a computation from scratch: ${CASES} histories with jumping times, missing blocks, restarts and reorganisations`, () => {
  let [opened, ended, firsts, held, relative] = [0, 0, 0, 0, 0]
  for (let seed = 1; seed <= CASES; seed++) {
    const { int, pick } = createRandom(seed)
    const spec = randomSpec(int, pick)
    const keys = spec.by!.length === 0 ? ['[]'] : ['["a"]', '["b"]', '["0xc"]']
    let chain: TestBlock[] = []
    const runner = createRunner(spec)
    const start = pick([0, 0, 7])
    const mine = (count: number) => {
      for (let i = 0; i < count; i++) {
        const last = chain.at(-1)
        const matches = Array.from({ length: pick([0, 0, 0, 1, 1, 2, 4]) }, () => ({
          key: pick(keys),
          value: pick([0n, 1n, 2n, 3n, BIG, BIG + 1n]),
        }))
        const time = (last?.time ?? 1_000) + pick([0, 1, 1, 2, 12, 40])
        const block = { number: last ? last.number + (int(0, 25) === 0 ? 3 : 1) : start, time, matches }
        chain.push(block)
        runner.add(block)
      }
    }
    mine(int(1, 8))
    for (let i = 0; i < 4; i++) {
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
    for (const one of outcomes) {
      opened += one.opened.length
      if (spec.hold) held += one.opened.length
      if (spec.conditions.some(it => it.relativeTo)) relative += one.opened.length
      ended += one.ended.length
      firsts += one.first.length
    }
  }
  const counts = { opened, ended, firsts, held, relative: relative * 2 }
  assert.ok(Math.min(...Object.values(counts)) > CASES / 4, JSON.stringify(counts))
})

const randomSpec = (int: (from: number, to: number) => number, pick: <T>(items: readonly T[]) => T): WindowSpec => {
  const condition = (): WindowCondition => {
    const aggregate = pick(['Count', 'Sum', 'Minimum', 'Maximum', 'Average', 'Distinct'] as const)
    const isCount = aggregate === 'Count' || aggregate === 'Distinct'
    const name = pick(['value', 'value', 'signed'])
    if ((aggregate === 'Count' || aggregate === 'Sum') && int(0, 1) === 0)
      return {
        ...{ aggregate, ...(aggregate === 'Sum' && { name }), operator: pick(Object.keys(HOLD) as WindowOperator[]) },
        ...{ value: pick(['1', '2', '0.5', '1.5']), relativeTo: { windows: int(1, 3) } },
      }
    return {
      aggregate,
      ...(aggregate !== 'Count' && { name }),
      operator: pick(Object.keys(HOLD) as WindowOperator[]),
      value: String(isCount ? int(0, 4) : pick([0n, 1n, 2n, 5n, BIG, 2n * BIG, -BIG])),
    }
  }
  const isFirst = int(0, 4) === 0
  const by = int(0, 2) > 0 ? ['name'] : []
  return {
    by,
    ...(by.length > 0 && int(0, 1) === 0 && { keys: ['a', '0xC'] }),
    within: int(0, 1) === 0 ? { blocks: int(1, 6) } : { seconds: int(1, 30) },
    conditions: [
      ...(isFirst ? [{ aggregate: 'First' as const, name: 'value' }] : []),
      ...Array.from({ length: isFirst ? int(0, 1) : int(1, 2) }, condition),
    ],
    ...(!isFirst && int(0, 1) === 0 && { hold: int(0, 1) === 0 ? { blocks: int(1, 3) } : { seconds: int(1, 15) } }),
    ...(!isFirst && int(0, 2) === 0 && { resolve: [condition()] }),
  }
}
