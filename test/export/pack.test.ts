import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { createPack } from '../../src/export/pack.ts'
import { runExport, toStream } from '../../src/export/run.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { contentsOf, events, neighbours } from '../support/contents.ts'
import { createTestStore, demoBlocks, type TestStore } from '../support/store.ts'

/** The blocks of a store, by way of a pack. */
const packOf = async (store: TestStore, chainId: number): Promise<RawBlock[]> => {
  const ask = async (entities: string, body: string) => {
    const options = { deadline: Number.POSITIVE_INFINITY, now: 0 }
    return Buffer.from(
      answerSearch(createSearcher(store.reader), 'ethereum-test-net', entities, body, options).body as Uint8Array,
    )
  }
  const parts: Uint8Array[] = []
  const target = toStream(async part => void parts.push(part))
  const encoder = createPack({ ask, chainId, limits: DEFAULT_LIMITS })
  const signal = new AbortController().signal
  await runExport({
    ...{ ask, entities: 'block', query: '{}', encoder, target, signal, size: 4, most: 4 },
    onStep() {},
  })
  const lines = Buffer.concat(parts).toString().trimEnd().split('\n')
  return lines.map(line => JSON.parse(line) as RawBlock)
}

const CASES: [what: string, blocks: () => RawBlock[]][] = [
  ['odd blocks, real ones and excerpts', () => neighbours(24)],
  ['the demo chain, with traces', () => demoBlocks().slice(0, 120)],
]

for (const [what, blocks] of CASES)
  test(`a pack of what is stored makes the same store: ${what}`, async () => {
    const options = { events, run: 7 }
    const store = createTestStore(blocks(), options)
    const again = createTestStore(await packOf(store, blocks()[0]!.chainId!), options)
    try {
      const [found, due] = [contentsOf(again), contentsOf(store)]
      // Apart, since all that differs would be told.
      for (const part of ['blocks', 'numbers', 'rows', 'index'] as const) {
        assert.equal(found[part].length, due[part].length, part)
        for (const [i, one] of due[part].entries()) assert.deepEqual(found[part][i], one, `${part} ${i}`)
      }
      assert.equal(isDeepStrictEqual(found, due), true)
    } finally {
      store.close()
      again.close()
    }
  })
