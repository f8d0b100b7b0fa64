import type { Document } from '../../documents/document.ts'
import { createSearcher } from '../../engine/query/searcher.ts'
import { openReader } from '../../engine/reader.ts'
import { rawOfDocuments, type Source } from '../../export/from-documents.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'

export type StoredBlocks = ReturnType<typeof openStoredBlocks>

const PAGE = 5_000

/** Reads stored blocks as a node would tell them. */
export const openStoredBlocks = (store: string, chainId: number | undefined) => {
  const reader = openReader(store, nativeBinding())
  const { search } = createSearcher(reader)
  const within = (kind: Kind, from: number, to: number): Source[] => {
    const found: Source[] = []
    const query = { range: { 'blockNumber.num': { gte: from, lte: to } } }
    const ofBlock = { range: { 'number.num': { gte: from, lte: to } } }
    let after: unknown[] | undefined
    for (;;) {
      const more = after ? { search_after: after } : {}
      const body = { query: kind === 'block' ? ofBlock : query, sort: [{ _doc: 'asc' }], size: PAGE, ...more }
      const request = parseSearch(JSON.stringify(body), [kind], Date.now())
      const { hits } = search(request, { deadline: Number.POSITIVE_INFINITY })
      for (const { document } of hits) found.push((document as Document)._source as Source)
      if (hits.length < PAGE) return found
      after = hits.at(-1)!.sort as unknown[]
    }
  }
  return {
    /** Those of a range that are stored in part, ascending. */
    read(from: number, to: number) {
      const [txsOf, logsOf, tracesOf] = (['tx', 'log', 'trace'] as const).map(kind =>
        Map.groupBy(within(kind, from, to), hashOf),
      )
      return within('block', from, to)
        .filter(({ partial }) => partial === true)
        .map(block => {
          const hash = block.hash as string
          const [txs = [], logs = [], traces = []] = [txsOf, logsOf, tracesOf].map(of => of!.get(hash))
          return rawOfDocuments(block, { chainId, txs, logs, traces })
        })
    },
    /** Which of these transactions are stored. */
    transactions(hashes: readonly string[]) {
      const query = { terms: { hash: hashes } }
      const request = parseSearch(JSON.stringify({ query, size: hashes.length }), ['tx'], Date.now())
      const { hits } = search(request, { deadline: Number.POSITIVE_INFINITY })
      return new Set(hits.map(({ document }) => (document as Document)._source.hash as string))
    },
    close: reader.close,
  }
}

const hashOf = ({ blockHash }: Source): string => blockHash as string
