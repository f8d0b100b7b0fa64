import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createAgenda, type Health } from '../../src/delivery/agenda.ts'

describe('the agenda', () => {
  it('gives each destination its turn when it is due, those that work first', () => {
    const agenda = createAgenda({ total: 10 })
    const offer = (name: string, at: number, health: Health) => {
      const destination = agenda.get(name)
      destination.health = health
      agenda.offer(destination, at)
    }
    offer('failing', 1, 'failing')
    offer('unknown', 2, 'unknown')
    offer('later', 9, 'well')
    offer('well', 3, 'well')
    assert.equal(agenda.nextAt(), 1)
    const take = (now: number) => agenda.take(now)?.name
    assert.deepEqual(
      [take(0), take(5), take(5), take(5), take(5)],
      [undefined, 'well', 'unknown', 'failing', undefined],
    )
    assert.equal(agenda.nextAt(), 9)
    // Of two offers the earlier one stands, and it is one turn.
    offer('later', 7, 'well')
    offer('later', 8, 'well')
    assert.deepEqual([take(8), take(20), agenda.nextAt()], ['later', undefined, Number.POSITIVE_INFINITY])
  })

  it('serves in order of their time', () =>
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 }), times => {
        const agenda = createAgenda({ total: 10 })
        for (const [i, at] of times.entries()) {
          const destination = agenda.get(`d${i}`)
          destination.health = 'well'
          agenda.offer(destination, at)
        }
        const served: number[] = []
        for (let next = agenda.take(1_000); next; next = agenda.take(1_000))
          served.push(times[Number(next.name.slice(1))]!)
        assert.deepEqual(
          served,
          times.toSorted((a, b) => a - b),
        )
      }),
    ))

  it('keeps places free of receivers that fail, and of those never tried', () => {
    const agenda = createAgenda({ total: 20, slowMs: 1_000 })
    const rooms = () => (['well', 'unknown', 'failing'] as const).map(agenda.room)
    assert.deepEqual(rooms(), [20, 15, 5])
    const failing = Array.from({ length: 5 }, () => agenda.begin('failing', 0))
    assert.deepEqual(rooms(), [15, 10, 0])
    for (let i = 0; i < 10; i++) agenda.begin('unknown', 500)
    assert.deepEqual(rooms(), [5, 0, 0])
    agenda.offer(agenda.get('never-tried'), 600)
    assert.equal(agenda.take(600), undefined)
    // What takes long no longer counts: it is looked at again when the first has taken so long.
    assert.equal(agenda.nextAt(), 1_000)
    failing[0]!()
    failing[0]!()
    assert.deepEqual(rooms(), [6, 1, 1])
    assert.equal(agenda.take(1_000)?.name, 'never-tried')
    assert.deepEqual(rooms(), [10, 5, 5])
    for (const leave of failing) leave()
    assert.deepEqual(rooms(), [10, 5, 5])
  })

  it('lets no more than four times as many be slow', () => {
    const agenda = createAgenda({ total: 2, slowMs: 1_000 })
    for (let i = 0; i < 20; i++) {
      if (agenda.room('well') <= 0) agenda.take(i * 2_000)
      if (agenda.room('well') <= 0) return assert.equal(i, 10)
      agenda.begin('well', i * 2_000)
    }
    assert.fail('there was always room')
  })

  it('forgets who has nothing to wait for', () => {
    const agenda = createAgenda({ total: 2 })
    const one = agenda.get('a')
    agenda.offer(one, 5)
    agenda.forget(one)
    assert.equal(agenda.size(), 1)
    agenda.take(5)
    agenda.forget(one)
    assert.equal(agenda.size(), 0)
  })
})
