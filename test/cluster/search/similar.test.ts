import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { withoutCluster } from '../../support/cluster-fill.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'
import { type Both, NETWORK, never, setUp, told } from './support.ts'

const by = { network: NETWORK, account: 1, signal: never }

describe('what is similar in a cluster is what is similar in a store', { skip: withoutCluster }, () => {
  let both: Both
  before(async () => {
    both = await setUp(createTestStore(demoBlocks()))
  })
  after(() => both?.close())

  for (const kind of ['event', 'call', 'contract'] as const)
    it(`of each ${kind}`, async () => {
      const all = both.filled.store.all(kind)
      let found = 0
      for (let i = 0; i < all.length; i += Math.ceil(all.length / 20))
        for (const size of [1, 7]) {
          const wanted = { ...by, kind, id: all[i]!._id, size }
          const [answer, expected] = [
            await told(() => both.cluster.similar(wanted)),
            await told(() => both.store.similar(wanted)),
          ]
          assert.equal(answer, expected)
          if (answer.includes('"_source"')) found++
        }
      assert.ok(found > 5, `${found}`)
      const none = { ...by, kind, id: `0x${'12'.repeat(32)}_e_1`, size: 1 }
      assert.equal(await told(() => both.cluster.similar(none)), await told(() => both.store.similar(none)))
    })
})
