import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPacker, joined } from '../../src/cluster/bulk/packed.ts'
import { random as numbers } from '../support/scoped.ts'

test('documents that share memory come out as they were put, in any order', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = numbers(seed)
    const pack = createPacker()
    const texts = Array.from({ length: 200 }, (_, i) => {
      const large = random(20) === 0 ? 200_000 * random(8) : random(50)
      return {
        head: `${i} ä€😀\n`,
        source: `${i} é😀${'x'.repeat(large)}`,
        tail: random(2) === 0 ? undefined : `,${i} ü]`,
      }
    })
    const packed = texts.map(({ head, source, tail }) =>
      pack(head, random(2) === 0 ? `${source}}` : Buffer.from(`${source}}`), tail),
    )
    const order = texts.map((_, i) => i)
    if (seed % 2 === 0) order.sort(() => random(3) - 1)
    const whole = order.map(i => `${texts[i]!.head}${texts[i]!.source}${texts[i]!.tail ?? '}'}\n`).join('')
    assert.ok(joined(order.map(i => packed[i]!)).equals(Buffer.from(whole)), `seed ${seed}`)
  }
  assert.equal(joined([]).length, 0)
})
