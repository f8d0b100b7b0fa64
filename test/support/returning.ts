import { createDeclarations } from '../../src/cluster/restore/declarations.ts'
import { decodedOfDocuments } from '../../src/cluster/restore/decoded-blocks.ts'
import type { RemoteDocument } from '../../src/cluster/restore/restore.ts'
import { createOffloading } from '../../src/engine/shipping/offload.ts'
import { createOffloadedReader, OFFLOADED_KINDS } from '../../src/engine/shipping/restore-offloaded.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { documentsIn, type Shipped } from './ship.ts'
import type { TestStore } from './store.ts'

/** Takes the documents of all whole blocks out of a store, as if they lay in a cluster. */
export const emptyStore = (store: TestStore) => {
  const { shelf } = store.writer
  const blocks = { from: 0, to: Number.MAX_SAFE_INTEGER }
  store.writer.also(() => void shelf.commit(shelf.begin(blocks), blocks, 0))
  const emptying = createOffloading(store.db, 0)
  const step = () => {
    let more = false
    store.writer.also(() => {
      more = emptying.mark() !== undefined || emptying.sweep()
    })
    return more
  }
  while (step());
  while (store.writer.empty().more);
}

/** Documents that leave a store, in the order in which a cluster tells them. */
export const fetchedOf = (all: ReadonlyMap<string, Shipped>, from: number, to: number): RemoteDocument[] =>
  [...all.values()]
    .filter(({ kind, block }) => (OFFLOADED_KINDS as readonly string[]).includes(kind) && block >= from && block <= to)
    .sort((a, b) => a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))

/** Brings all of them back, so many at once. */
export const refill = (store: TestStore, all: ReadonlyMap<string, Shipped>, documents = 1_000) => {
  const reader = createOffloadedReader(store.db)
  const declarations = createDeclarations(of => store.read(() => store.reader.signatures(of)))
  let runs = 0
  for (let run = reader.next(documents, 50); run; run = reader.next(documents, 50)) {
    const building = store.preparer.start()
    const blocks = Map.groupBy(fetchedOf(all, run.from, run.to), ({ position }) => Math.floor(position / 2 ** 22))
    for (const [, some] of [...blocks].sort(([a], [b]) => a - b))
      building.add(decodedOfDocuments(some, { declarations, decimals: () => undefined }))
    const batch = building.finish()
    if (!store.writer.restore(batch, run.segment)) throw new Error('the segment is no more')
    store.preparer.committed(batch.added)
    store.writer.verified()
    while (store.writer.merge(batch.first));
    runs++
  }
  return runs
}

/** A store whose documents lay elsewhere for a while. */
export const returned = (store: TestStore, documents?: number): TestStore => {
  const all = documentsIn(store)
  emptyStore(store)
  refill(store, all, documents)
  return store
}
