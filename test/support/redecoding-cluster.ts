import assert from 'node:assert/strict'
import { createClusterRedecoder, type OpenClusterRedecoder } from '../../src/cluster/redecoding/redecoder.ts'
import { createShippedReader } from '../../src/engine/shipping/shipped-ranges.ts'
import { memoryAsker } from './memory-asker.ts'
import type { MemoryCluster } from './memory-cluster.ts'
import { documentsIn, visibleIn } from './ship.ts'
import type { TestStore } from './store.ts'

/** Empties what lies so deep that blocks up to this one are below the head. */
export const emptyUpTo = (store: TestStore, last: number) => {
  store.db.prepare("INSERT OR REPLACE INTO looked (number, hash, parent) VALUES (?, x'', x'')").run(last + 256)
  while (store.writer.empty().more);
}
export const emptied = (store: TestStore) =>
  store.db.prepare('SELECT coalesce(sum(block), 0) FROM segment WHERE emptied = 1').pluck().get() as number

/** What it takes to decode documents of a cluster again. */
export const inCluster = <P>(
  store: TestStore,
  memory: MemoryCluster,
  patch: P,
): { elsewhere: OpenClusterRedecoder; patch: P } => ({
  elsewhere(abi, owners) {
    const { reader, decimals, preparer } = store
    const { visible } = createShippedReader(store.db)
    const { revise } = preparer
    const redecoder = createClusterRedecoder({
      asker: memoryAsker(memory),
      reader,
      visible,
      abi,
      owners,
      decimals,
      revise,
    })
    return { ...redecoder, close: async () => {} }
  },
  patch,
})

export const same = (store: TestStore, memory: MemoryCluster, oracle: TestStore) => {
  const found = visibleIn(memory.documents(), createShippedReader(store.db).visible())
  const wanted = documentsIn(oracle)
  // One by one: a diff of all is too long to read.
  for (const [key, document] of wanted) assert.deepEqual(found.get(key), document, key)
  for (const key of found.keys()) assert.ok(wanted.has(key), key)
}
