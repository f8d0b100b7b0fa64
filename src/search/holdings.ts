import { statSync } from 'node:fs'
import { createByteWriter } from '../lib/bytes.ts'
import { byKind, KINDS, type Kind } from '../mapping/index.ts'
import { ALL } from '../query/ast.ts'
import type { OpenStore } from './open-store.ts'
import type { Holdings } from './service.ts'

/** How many documents of each kind a store has, by counts that are kept, and the bytes of its file. */
export const holdingsOf = ({ searcher }: OpenStore, store: string): Holdings => ({
  counts: byKind(KINDS, kind => countOf(searcher, kind)),
  bytes: statSync(store).size,
})

const countOf = (searcher: OpenStore['searcher'], kind: Kind): number => {
  const request = { parts: [{ kind, query: ALL }], sort: [], from: 0, size: 0, source: false, trackTotal: true }
  return searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, { index: '', out: createByteWriter(64) }).total
}
