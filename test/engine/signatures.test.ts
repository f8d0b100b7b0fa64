import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryPaths } from '../../src/mapping/index.ts'
import { inNode } from '../../src/query/simplify.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

test('logs whose signature the dictionary has no room for are stored and found all the same', () => {
  const blocks = generatedBlocks(6)
  const roomy = createTestStore(blocks)
  const full = createTestStore(blocks, { listedSignatures: 5 })
  const keys = full.read(() => full.reader.signatures('log').map(({ key }) => key))
  assert.ok(keys.includes('unlisted'), 'the dictionary is not full')
  assert.deepEqual(full.all('log'), roomy.all('log'))
  assert.deepEqual(full.all('event'), roomy.all('event'))

  const paths = queryPaths('log')
  const known = new Set(keys.map(key => key.slice(0, 66)))
  const unlisted = roomy.all('log').filter(({ _source }) => !known.has(_source.signature as string))
  assert.ok(unlisted.length > 10)
  for (const { _source } of unlisted.slice(0, 20))
    for (const [path, value] of [
      ['signature', _source.signature as string],
      ['topics', (_source.topics as string[]).at(-1)!],
    ] as const) {
      const node = inNode(paths.get(path)!, [value])
      const found = roomy.evaluate('log', node)
      assert.ok(found.positions.length > 0)
      assert.deepEqual(full.evaluate('log', node).positions, found.positions, `${path} ${value}`)
    }
  roomy.close()
  full.close()
})
