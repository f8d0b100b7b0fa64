import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../scripts/lib/random.ts'
import { createWorkLoad, type Load, pickSharer } from '../../../src/lib/scheduling/load.ts'

/** A node as it takes its time: one piece after the other, or so many at a time. */
interface Node {
  /** Milliseconds of a piece. */
  ms: number
  atOnce: number
  load: Load
  /** When each of its places is free. */
  free: number[]
  pieces: number
  /** From when to when it answers nothing. */
  hangs?: { from: number; to: number }
}

/** The time until all pieces were yielded in their order, no more than `ahead` of them being under way or held. */
const simulate = (
  nodes: { ms: number; atOnce: number; hangs?: Node['hangs']; strain?: () => number }[],
  { pieces, ahead, random }: { pieces: number; ahead: number; random: () => number },
) => {
  let now = 0
  const all = nodes.map(node => ({
    ...node,
    load: createWorkLoad(() => now),
    free: Array.from({ length: node.atOnce }, () => 0),
    pieces: 0,
  }))
  const under: { at: number; piece: number; done: (isDone: boolean) => void }[] = []
  const arrived = new Set<number>()
  let next = 0
  let yielded = 0
  while (yielded < pieces) {
    while (next < pieces && next - yielded < ahead) {
      const node = pickSharer(all)
      if (!node) break
      node.pieces++
      node.free.sort((a, b) => a - b)
      let start = Math.max(now, node.free[0]!)
      if (node.hangs && start >= node.hangs.from && start < node.hangs.to) start = node.hangs.to
      node.free[0] = start + node.ms * (0.8 + 0.4 * random())
      under.push({ at: node.free[0], piece: next++, done: node.load.begin() })
    }
    under.sort((a, b) => b.at - a.at)
    const { at, piece, done } = under.pop()!
    now = at
    done(true)
    arrived.add(piece)
    while (arrived.delete(yielded)) yielded++
  }
  return { ms: now, pieces: all.map(node => node.pieces) }
}

const rateOf = ({ ms, atOnce }: { ms: number; atOnce: number }) => atOnce / ms

/**
 * Pieces in a millisecond that some of the nodes can do: whoever takes part has no more under way with the others, while it does a piece,
 * than may be held.
 */
const bestRate = (nodes: { ms: number; atOnce: number }[], ahead: number): number => {
  let best = 0
  for (let chosen = 1; chosen < 1 << nodes.length; chosen++) {
    const some = nodes.filter((_, i) => chosen & (1 << i))
    const together = some.reduce((sum, node) => sum + rateOf(node), 0)
    best = Math.max(best, Math.min(together, ahead / Math.max(...some.map(({ ms }) => ms))))
  }
  return best
}

const randomOf = (seed: number) => {
  const random = createRandom()
  random.seek(seed, 0, 0, 0)
  return () => random.unit()
}

test('nodes of different speeds take at most 15 % longer than the best that they can do together', () => {
  const random = randomOf(1)
  const cases: { ms: number; atOnce: number }[][] = [
    [
      { ms: 10, atOnce: 1 },
      { ms: 100, atOnce: 1 },
    ],
    [
      { ms: 100, atOnce: 1 },
      { ms: 10, atOnce: 1 },
    ],
    [
      { ms: 50, atOnce: 8 },
      { ms: 50, atOnce: 8 },
      { ms: 300, atOnce: 4 },
    ],
    [
      { ms: 5, atOnce: 1 },
      { ms: 200, atOnce: 16 },
    ],
  ]
  const plain = cases.length
  for (let i = 0; i < 60; i++)
    cases.push(
      Array.from({ length: 2 + Math.floor(random() * 3) }, () => ({
        ms: 5 * 40 ** random(),
        atOnce: 1 + Math.floor(random() * 8),
      })),
    )
  const ratios: number[] = []
  for (const nodes of cases) {
    const pieces = 3_000
    const ahead = 16 * nodes.length
    const best = pieces / bestRate(nodes, ahead)
    const { ms, pieces: shares } = simulate(nodes, { pieces, ahead, random })
    ratios.push(ms / best)
    const what = `${JSON.stringify(nodes)}: ${ms / best} of the best, ${shares}`
    assert.ok(ms <= best * (ratios.length > plain ? 1.5 : 1.15), what)
  }
  const sorted = ratios.toSorted((a, b) => a - b)
  assert.ok(sorted[Math.floor(sorted.length / 2)]! <= 1.08, `${sorted[Math.floor(sorted.length / 2)]}`)
  // Where the slow ones matter little, a few pieces too many hold up the order.
  assert.ok(sorted[Math.floor(sorted.length * 0.85)]! <= 1.15, `${sorted.slice(-12)}`)
})

test('one that hangs gets nothing more as soon as that shows', () => {
  const random = randomOf(2)
  const nodes = [
    { ms: 10, atOnce: 2, hangs: { from: 1_000, to: 20_000 } },
    { ms: 10, atOnce: 2 },
  ]
  const { pieces } = simulate(nodes, { pieces: 1_000, ahead: 64, random })
  // Some 200 before it hangs, and what it was given until then.
  assert.ok(pieces[0]! < 300, `${pieces}`)
  const now = { ms: 0 }
  const loads = [createWorkLoad(() => now.ms), createWorkLoad(() => now.ms)]
  for (const load of loads) {
    const done = load.begin()
    now.ms += 10
    done(true)
  }
  loads[0]!.begin()
  assert.equal(pickSharer(loads.map(load => ({ load })))!.load, loads[1])
  now.ms += 31
  for (let i = 0; i < 2; i++) {
    assert.equal(pickSharer(loads.map(load => ({ load })))!.load, loads[1], `${i}`)
    loads[1]!.begin()
  }
})

test('with little to do the first does it, unless it is far slower or its budget is spent too fast', () => {
  const now = { ms: 0 }
  const loadOf = (ms: number) => {
    const load = createWorkLoad(() => now.ms)
    const done = load.begin()
    now.ms += ms
    done(true)
    return load
  }
  const pick = (loads: readonly Load[], strains: readonly number[] = []) =>
    loads.findIndex(it => it === pickSharer(loads.map((load, i) => ({ load, strain: () => strains[i] ?? 0 })))?.load)
  assert.equal(pick([loadOf(150), loadOf(100)]), 0)
  assert.equal(pick([loadOf(900), loadOf(100)]), 1)
  assert.equal(pick([loadOf(150), loadOf(100)], [3]), 1)
  assert.equal(pick([loadOf(100), loadOf(100)], [3, 5]), 0)
  assert.equal(pick([loadOf(100), loadOf(100)], [5, 3]), 1)
  const busy = loadOf(100)
  busy.begin()
  assert.equal(pick([busy, loadOf(150)]), 1)
  // Nobody knows them.
  const unknown = [createWorkLoad(() => now.ms), createWorkLoad(() => now.ms)]
  const given = Array.from({ length: 6 }, () => {
    const i = pick(unknown)
    unknown[i]?.begin()
    return i
  })
  assert.deepEqual(given, [0, 0, 1, 1, -1, -1])
})
