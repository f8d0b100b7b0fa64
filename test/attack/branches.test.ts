import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBranches, type Told } from '../../scripts/attack/branches.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import type { RawBlock } from '../../src/chain/wire.ts'

const random = createRandom()
random.seek(1, 2, 3, 4)
const blocksOf = (chain: readonly RawBlock[]): Told[] =>
  chain.map(({ block }) => ({
    ...{ id: block.hash, number: Number(block.number), hash: block.hash, parentHash: block.parentHash },
  }))
const transactionsOf = (chain: readonly RawBlock[]): Told[] =>
  chain.flatMap(({ block }) =>
    block.transactions.map(({ hash }) => ({ id: hash, number: Number(block.number), hash: block.hash })),
  )

test('answers of one state hold, whatever the branch', () => {
  const branches = createBranches(60)
  for (let i = 0; i < 20; i++) {
    const before = branches.chain()
    for (const chain of [before, branches.chain()]) {
      assert.equal(branches.fault('block', blocksOf(chain)), undefined)
      assert.equal(branches.fault('tx', transactionsOf(chain).toReversed()), undefined)
    }
    branches.reorganise(random)
  }
})

test('answers of two states do not', () => {
  const branches = createBranches(60)
  const old = branches.chain()
  const fresh = branches.reorganise(random)
  const now = branches.chain()
  const from = Number(fresh[0]!.block.number)
  const fault = (chain: readonly RawBlock[], more?: object) => branches.fault('block', blocksOf(chain), more) ?? ''
  assert.match(fault([...old.slice(0, from + 1), ...now.slice(from + 1)]), /not of the branch/)
  assert.match(fault([...now, old.at(-1)!]), /of two branches/)
  assert.match(fault([...now, now[3]!]), /there twice/)
  assert.match(fault(now.toSpliced(7, 1)), /missing/)
  assert.match(fault(now.toSpliced(7, 1), { isCursor: true }), /^$/)
  assert.match(branches.fault('tx', transactionsOf(now).slice(1)) ?? '', /documents of kind tx/)
  const alien = { ...blocksOf(now)[5]!, hash: `0x${'11'.repeat(32)}` }
  assert.match(branches.fault('block', blocksOf(now).with(5, alien)) ?? '', /never had/)
})

test('transactions that were lost come again, some of them in another block', () => {
  const branches = createBranches(60)
  const moved = Array.from({ length: 10 }, () => {
    const before = new Map(transactionsOf(branches.chain()).map(({ id, number }) => [id, number]))
    branches.reorganise(random)
    return transactionsOf(branches.chain()).filter(({ id, number }) => (before.get(id) ?? number) !== number).length
  })
  assert.ok(moved.some(count => count > 0) && moved.some(count => count === 0), `${moved}`)
})
