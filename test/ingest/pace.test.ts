import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createChainPace } from '../../src/ingest/status/chain-pace.ts'

const START = Date.parse('2026-03-01T00:00:00Z')

const setUp = (options: { stored?: { number: number; time: number }[]; staleMs?: number } = {}) => {
  let now = START
  let off = 0
  const pace = createChainPace({ stored: [], clock: { now: () => now + off, elapsed: () => now - START }, ...options })
  return {
    pace,
    step(seconds: number) {
      off += seconds * 1_000
    },
    at(seconds: number) {
      now = START + seconds * 1_000
    },
  }
}
const chain = (count: number, seconds: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ number: from + i, time: (from + i) * seconds }))

describe('the pace of a chain', () => {
  it('is that of its own blocks, and three of them are waited for', () => {
    const { pace, at } = setUp({ stored: chain(10, 12) })
    assert.equal(pace.blockTime(), 12)
    // What is stored came before.
    assert.equal(pace.newest(), null)
    at(1)
    pace.came({ number: 10, time: 120 })
    assert.deepEqual(pace.newest(), { number: 10, time: 120, at: START + 1_000 })
    at(37)
    assert.equal(pace.stale(), undefined)
    at(37.1)
    assert.deepEqual(pace.stale(), {
      kind: 'block',
      for: 'a new block (the last one was 10; the chain makes one every 12 s)',
      since: '2026-03-01T00:00:01.000Z',
    })
    pace.came({ number: 11, time: 132 })
    assert.equal(pace.stale(), undefined)
  })

  it('is waited for as long however the clock is set meanwhile', () => {
    const { pace, at, step } = setUp({ stored: chain(10, 12) })
    pace.came({ number: 10, time: 120 })
    step(86_400)
    at(30)
    assert.equal(pace.stale(), undefined)
    step(-2 * 86_400)
    at(37)
    assert.equal(pace.stale()?.since, '2026-02-28T00:00:00.000Z')
  })

  it('is not that of the one in ten blocks that takes longer', () => {
    const { pace } = setUp()
    let time = 0
    for (let number = 0; number < 60; number++) {
      time += number % 12 === 5 ? 96 : 12
      pace.came({ number, time })
    }
    assert.equal(pace.blockTime(), 12)
  })

  it('is the mean where several blocks have one timestamp', () => {
    const stored = Array.from({ length: 61 }, (_, number) => ({ number, time: Math.floor(number / 5) }))
    assert.equal(setUp({ stored }).pace.blockTime(), 0.2)
  })

  it('of a fast chain has a floor, and while it is not known, two minutes are waited', () => {
    const fast = setUp({ stored: chain(20, 0.25) })
    fast.at(10)
    assert.equal(fast.pace.stale(), undefined)
    fast.at(10.1)
    assert.equal(fast.pace.stale()?.kind, 'block')
    const unknown = setUp()
    unknown.at(120)
    assert.equal(unknown.pace.stale(), undefined)
    unknown.at(121)
    assert.equal(unknown.pace.stale()?.for, 'a new block (none has come yet)')
  })

  it('goes by what the operator says, where they do', () => {
    const said = setUp({ stored: chain(20, 12), staleMs: 2_000 })
    said.at(3)
    assert.equal(said.pace.stale()?.kind, 'block')
    const never = setUp({ stored: chain(20, 12), staleMs: 0 })
    never.at(1e9)
    assert.equal(never.pace.stale(), undefined)
  })

  it('is that of the chain while nodes have blocks that are not stored, also where none is due', () => {
    const { pace, at } = setUp({ stored: chain(20, 12), staleMs: 0 })
    at(37)
    assert.equal(pace.stale(19), undefined)
    assert.equal(
      pace.stale(22)?.for,
      'a new block in a usable form: nodes are at 22 (the last one was 19; the chain makes one every 12 s)',
    )
  })

  it('follows a reorganisation', () => {
    const { pace, at } = setUp()
    for (const block of chain(10, 12)) pace.came(block)
    at(5)
    pace.lost(7)
    pace.came({ number: 8, time: 97 })
    assert.deepEqual(pace.newest(), { number: 8, time: 97, at: START + 5_000 })
    // A block in the place of others takes them away, too.
    pace.came({ number: 6, time: 73 })
    assert.equal(pace.newest()?.number, 6)
    assert.equal(pace.blockTime(), 13)
  })
})
