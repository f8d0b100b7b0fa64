import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DestinationHealth } from '../../src/delivery/scheduler.ts'
import { createScheduler } from '../../src/delivery/scheduler.ts'

const at = (destination: string, account = 1) => ({ account, destination })

describe('the scheduler', () => {
  it('gives each destination its turn when it is due, those that work first', () => {
    const scheduler = createScheduler({ total: 10 })
    const offer = (name: string, when: number, health: DestinationHealth) => {
      const destination = scheduler.get(at(name))
      destination.health = health
      scheduler.offer(destination, when)
    }
    offer('failing', 1, 'failing')
    offer('unknown', 2, 'unknown')
    offer('later', 9, 'well')
    offer('well', 3, 'well')
    assert.equal(scheduler.nextAt(), 1)
    const take = (now: number) => scheduler.take(now)?.destination
    assert.deepEqual(
      [take(0), take(5), take(5), take(5), take(5)],
      [undefined, 'well', 'unknown', 'failing', undefined],
    )
    assert.equal(scheduler.nextAt(), 9)
    // Of two offers the earlier one stands, and it is one turn.
    offer('later', 7, 'well')
    offer('later', 8, 'well')
    assert.deepEqual([take(8), take(20), scheduler.nextAt()], ['later', undefined, Number.POSITIVE_INFINITY])
  })

  it('serves in order of their time', () =>
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 }), times => {
        const scheduler = createScheduler({ total: 10 })
        for (const [i, when] of times.entries()) {
          const destination = scheduler.get(at(`d${i}`))
          destination.health = 'well'
          scheduler.offer(destination, when)
        }
        const served: number[] = []
        for (let next = scheduler.take(1_000); next; next = scheduler.take(1_000))
          served.push(times[Number(next.destination.slice(1))]!)
        assert.deepEqual(
          served,
          times.toSorted((a, b) => a - b),
        )
      }),
    ))

  it('keeps places free of receivers that fail, and of those never tried', () => {
    const scheduler = createScheduler({ total: 20, slowMs: 1_000 })
    const rooms = () => (['well', 'unknown', 'failing'] as const).map(health => scheduler.room({ account: 1, health }))
    assert.deepEqual(rooms(), [20, 15, 5])
    const failing = Array.from({ length: 5 }, () => scheduler.begin({ account: 1, health: 'failing' }, 0))
    assert.deepEqual(rooms(), [15, 10, 0])
    for (let i = 0; i < 10; i++) scheduler.begin({ account: 1, health: 'unknown' }, 500)
    assert.deepEqual(rooms(), [5, 0, 0])
    scheduler.offer(scheduler.get(at('never-tried')), 600)
    assert.equal(scheduler.take(600), undefined)
    // What takes long no longer counts: it is looked at again when the first has taken so long.
    assert.equal(scheduler.nextAt(), 1_000)
    failing[0]!()
    failing[0]!()
    assert.deepEqual(rooms(), [6, 1, 1])
    assert.equal(scheduler.take(1_000)?.destination, 'never-tried')
    assert.deepEqual(rooms(), [10, 5, 5])
    for (const leave of failing) leave()
    assert.deepEqual(rooms(), [10, 5, 5])
  })

  it('lets no more than four times as many be slow', () => {
    const scheduler = createScheduler({ total: 2, slowMs: 1_000 })
    for (let i = 0; i < 20; i++) {
      if (scheduler.room({ account: 1, health: 'well' }) <= 0) scheduler.take(i * 2_000)
      if (scheduler.room({ account: 1, health: 'well' }) <= 0) return assert.equal(i, 10)
      scheduler.begin({ account: 1, health: 'well' }, i * 2_000)
    }
    assert.fail('there was always room')
  })

  it('forgets who has nothing to wait for', () => {
    const scheduler = createScheduler({ total: 2 })
    const one = scheduler.get(at('a'))
    scheduler.offer(one, 5)
    scheduler.forget(one)
    assert.equal(scheduler.size(), 1)
    scheduler.take(5)
    scheduler.forget(one)
    assert.equal(scheduler.size(), 0)
  })

  it('lets accounts take turns, each with its share of the places', () => {
    const scheduler = createScheduler({ total: 200, byAccount: 100 })
    for (let i = 0; i < 10_000; i++) scheduler.offer(scheduler.get(at(`dead${i}`, 1)), 0)
    scheduler.offer(scheduler.get(at('one', 2)), 5)
    scheduler.offer(scheduler.get(at('two', 2)), 5)
    const served: number[] = []
    for (let next = scheduler.take(10); next; next = scheduler.take(10)) {
      scheduler.begin(next, 10)
      served.push(next.account)
    }
    assert.deepEqual(served.slice(0, 4), [1, 2, 1, 2])
    assert.equal(served.length, 75 + 2)
    // Those that hang are set apart, up to four times as many, and then take no more places.
    for (let now = 2_000; now < 20_000; now += 1_000)
      for (let next = scheduler.take(now); next; next = scheduler.take(now)) scheduler.begin(next, now)
    assert.deepEqual(
      [1, 2].map(account => scheduler.room({ account, health: 'well' })),
      [25, 100],
    )
  })
})
