import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLiveChain } from '../../scripts/soak/chain.ts'
import { checkBlock, checkLink, refOf } from '../../src/chain/check/check-block.ts'

test('a chain that is reorganised stays linked, and its old blocks stay the same', () => {
  const chain = createLiveChain(1000, 3)
  chain.grow(5)
  const trunk = chain.block(1002)!.block.hash
  const lost = chain.block(1004)!.block.hash
  chain.reorganise(3)
  assert.equal(chain.tip(), 1006)
  chain.grow(2)
  chain.reorganise(1)
  chain.reorganise(3)
  chain.grow(70)
  assert.equal(chain.block(chain.tip() + 1), undefined)
  for (let number = 1001; number <= chain.tip(); number++) {
    const raw = structuredClone(chain.block(number)!)
    checkBlock(raw)
    checkLink(refOf(chain.block(number - 1)!.block), raw.block)
  }
  assert.equal(chain.block(1002)!.block.hash, trunk)
  assert.notEqual(chain.block(1004)!.block.hash, lost)
})

test('a chain of short blocks has as many transactions as are wanted, and its blooms are right', () => {
  const chain = createLiveChain(1000, 3, 2)
  chain.grow(20)
  chain.reorganise(3)
  for (let number = 1001; number <= chain.tip(); number++) {
    const raw = structuredClone(chain.block(number)!)
    assert.equal(raw.block.transactions.length, 2)
    checkBlock(raw)
  }
})
