import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPacker, joinPacked } from '../../src/cluster/bulk/packed.ts'
import { random as numbers } from '../support/scoped.ts'

test('documents that share memory come out as they were put, in any order', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = numbers(seed)
    const { pack } = createPacker(() => 1 << 20)
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
    assert.ok(joinPacked(order.map(i => packed[i]!)).equals(Buffer.from(whole)), `seed ${seed}`)
  }
  assert.equal(joinPacked([]).length, 0)
})

test('documents that follow each other are sent from where they lie, and other ones get their memory', () => {
  const { pack, isFull, release } = createPacker(() => 300)
  const put = (text: string) => pack(`${text}\n`, '{}')
  const first = [put('a'), put('b')]
  const bytes = joinPacked(first)
  assert.equal(bytes.toString(), 'a\n{}\nb\n{}\n')
  assert.equal(bytes.buffer, first[0]!.piece.bytes.buffer)
  release(first)
  // It goes on to be filled.
  assert.deepEqual([isFull(first[0]!), put('c').piece === first[0]!.piece], [false, true])
  const second = put('x'.repeat(95))
  assert.deepEqual([isFull(first[0]!), isFull(second)], [true, false])
  assert.notEqual(second.piece, first[0]!.piece)
})

test('memory is used again once nothing in it is needed, unless a request may still be read from it', () => {
  const { pack, release } = createPacker(() => 300)
  const fill = () => Array.from({ length: 3 }, () => pack(`${'x'.repeat(60)}\n`, '{}'))
  const [one, two] = [fill(), fill()]
  const pieces = new Set([...one, ...two].map(({ piece }) => piece))
  for (const packed of [...one, ...two].slice(0, -1)) release([packed])
  const three = fill()
  assert.ok(three.some(({ piece }) => pieces.has(piece)))
  for (const { piece } of three) piece.mayBeRead = true
  const read = new Set(three.map(({ piece }) => piece))
  release(three)
  // The last one goes on to be filled.
  fill()
  assert.ok(Array.from({ length: 8 }, fill).every(all => all.every(({ piece }) => !read.has(piece))))
})
