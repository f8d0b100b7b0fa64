import { type CheckOptions, checkBlock } from '../chain/check/check-block.ts'
import type { RawBlock } from '../chain/wire.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { ChainsieveError, refuse, stop } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import { blockOfDocument, type ExportedSource, rawOfDocuments } from './from-documents.ts'
import { type Encoder, parseHit, takeBytes } from './lines.ts'
import { readHits } from './page.ts'
import type { AskPage } from './run.ts'

export interface PackingOptions {
  ask: AskPage
  chainId: number | undefined
  limits: Limits
}

const MAX_PACK_HITS = 5_000

/** Encodes blocks as lines of a pack, rebuilt from documents and checked like an import. */
export const createPack = ({ ask, chainId, limits }: PackingOptions): Encoder => {
  const out = createByteWriter(1 << 16)
  /** Documents of a kind in a range of blocks, by block hash, in chain order. */
  const within = async (kind: string, from: string, to: string, signal: AbortSignal) => {
    const found = new Map<string, ExportedSource[]>()
    const query = { range: { 'blockNumber.num': { gte: Number(from), lte: Number(to) } } }
    let after: unknown[] | undefined
    for (;;) {
      const more = after ? { search_after: after } : {}
      const body = { query, sort: [{ _doc: 'asc' }], size: MAX_PACK_HITS, track_total_hits: false, ...more }
      const hits = readHits(await ask(kind, JSON.stringify(body), signal)).map(parseHit)
      for (const { _source } of hits) {
        const hash = _source.blockHash as string
        const list = found.get(hash) ?? []
        if (list.length === 0) found.set(hash, list)
        list.push(_source)
      }
      if (hits.length < MAX_PACK_HITS) return found
      after = (hits.at(-1) as unknown as { sort: unknown[] }).sort
    }
  }
  return {
    async add(hits, signal) {
      const sources = hits.map(hit => parseHit(hit)._source)
      for (const { partial, number } of sources)
        if (partial === true)
          throw refuse(
            'block_partial',
            `block ${Number((number as { raw: string }).raw)} is stored in part, as a scope wants it: a pack holds whole blocks. Export documents instead (--format ndjson), or narrow the range with --from and --to`,
          )
      const [from, to] = [blockOfDocument(sources[0]!).number, blockOfDocument(sources.at(-1)!).number]
      const txs = await within('tx', from, to, signal)
      const logs = await within('log', from, to, signal)
      const traces = await within('trace', from, to, signal)
      for (const source of sources) {
        const of = (found: Map<string, ExportedSource[]>) => found.get(source.hash as string) ?? []
        const raw = rawOfDocuments(source, { chainId, txs: of(txs), logs: of(logs), traces: of(traces) })
        checkPackBlock(raw, limits)
        out.text(`${JSON.stringify(raw)}\n`)
      }
    },
    isFull: () => out.length > 0,
    clear: () => out.clear(),
    take: () => ({ part: takeBytes(out) }),
  }
}

/**
 * Excerpts do not match their header's bloom, so they are marked again. On a chain without blooms
 * none match, so only excerpts with gaps are detectable.
 */
const checkPackBlock = (raw: RawBlock, limits: Limits): void => {
  const { block } = raw
  const last = Number(block.transactions.at(-1)?.transactionIndex ?? -1)
  const stated = Math.max(last, block.transactions.length) + 1
  const tries: CheckOptions[] = [{}, { excerpts: true }, { bloom: false }, { bloom: false, excerpts: true }]
  let fault: ChainsieveError | undefined
  for (const options of tries) {
    delete block.transactionCount
    if (options.excerpts) block.transactionCount = stated
    fault = packFault(raw, { limits, ...options })
    if (!fault) return
  }
  throw stop('block_unusable', `the stored documents do not make a block again: ${fault!.message}`, fault)
}

const packFault = (raw: RawBlock, options: CheckOptions): ChainsieveError | undefined => {
  try {
    checkBlock(raw, options)
    return undefined
  } catch (error) {
    if (error instanceof ChainsieveError) return error
    throw error
  }
}
