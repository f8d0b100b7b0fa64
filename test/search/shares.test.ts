import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from '../../src/search/shares.ts'

/** How many of each account's tasks may be dear at once, where all of them want to be. */
const dearOf = (threads: number, most: number | undefined, accounts: readonly number[]): number[] => {
  const shares = createShares({ threads, cheapMs: 20, ...(most !== undefined && { most }), now: () => 0 })
  return accounts.map(account => {
    let dear = 0
    for (let i = 0; i < 100; i++) {
      shares.began({ account, lane: 'cheap' })
      if (shares.becameDear({ account, lane: 'cheap' })) dear++
    }
    return dear
  })
}

test('an account has so many dear searches at once as the limit says, and never all threads', () => {
  assert.deepEqual(dearOf(8, undefined, [1, 2]), [6, 1])
  assert.deepEqual(dearOf(8, 64, [1, 2]), [6, 1])
  assert.deepEqual(dearOf(8, 2, [1, 2, 3, 4]), [2, 2, 2, 1])
  assert.deepEqual(dearOf(8, 1, [1, 2]), [1, 1])
  assert.deepEqual(dearOf(2, 64, [1, 2]), [1, 0])
  assert.deepEqual(dearOf(1, 64, [1]), [1])
})
