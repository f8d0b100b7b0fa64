import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { assertSame, contentsOf, documentsOf, events, neighbours, queriesOn, using } from '../support/contents.ts'
import { hasMainnet } from '../support/pack.ts'
import { createTestStore, generatedBlocks, mainnetBlocks } from '../support/store.ts'

describe('a batch that is joined from pieces of several builders', () => {
  it('holds what one builder makes of the blocks', () => {
    const blocks = neighbours(40)
    const builders = { count: 3 }
    const [pieces, whole] = [createTestStore(blocks, { events, builders }), createTestStore(blocks, { events })]
    using([pieces, whole], () => assertSame(pieces, whole, queriesOn(whole, 30)))
  })

  it('does so however little the builders can share, and however blocks are cut', () => {
    const blocks = [...neighbours(24), ...generatedBlocks(2)]
    const whole = createTestStore(blocks, { events })
    let held = 0
    const [contents, documents] = [contentsOf(whole), documentsOf(whole)]
    using([whole], () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 9 }),
          fc.constantFrom(256, 2 ** 12, 2 ** 14),
          fc.constantFrom(600, 2 ** 18, 2 ** 20),
          (count, run, addresses, texts) => {
            let store: ReturnType<typeof createTestStore> | undefined
            try {
              store = createTestStore(blocks, { events, run, builders: { count, room: { addresses, texts } } })
            } catch (error) {
              assert.equal((error as Error).message, 'the shared dictionaries have no room left')
              return
            }
            using([store], () => {
              assert.deepStrictEqual(contentsOf(store), contents)
              assert.deepStrictEqual(documentsOf(store), documents)
              held++
            })
          },
        ),
        { numRuns: 12, seed: 3 },
      )
      assert.ok(held >= 4, `${held}`)
    })
  })

  it('goes on where another one ended', () => {
    const blocks = neighbours(30)
    const [pieces, whole] = [
      createTestStore(blocks.slice(0, 17), { events }),
      createTestStore(blocks, { events, run: 17 }),
    ]
    using([pieces, whole], () => {
      const more = createTestStore([], { path: pieces.path, events, builders: { count: 2 } })
      using([more], () => {
        more.add(blocks.slice(17))
        assert.deepStrictEqual(contentsOf(more), contentsOf(whole))
        assert.deepStrictEqual(documentsOf(more), documentsOf(whole))
      })
    })
  })

  it('does so of real blocks', { skip: hasMainnet ? false : 'no real blocks here' }, () => {
    const blocks = mainnetBlocks()
    const [pieces, whole] = [createTestStore(blocks, { builders: { count: 2 } }), createTestStore(blocks)]
    using([pieces, whole], () => assertSame(pieces, whole))
  })
})
