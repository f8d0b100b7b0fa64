import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { ClusterOptions } from '../../../src/cluster/connection/options.ts'
import { bulkLine } from '../../../src/cluster/ship/line.ts'
import { createBlocks } from '../../../src/engine/blocks.ts'
import { openDocuments } from '../../../src/engine/reader.ts'
import { createDocumentLines } from '../../../src/engine/show/lines.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import type { Target } from './target.ts'

/** All documents of a store as our import sends them, ready for `_bulk`, in one file. */
export interface Ready {
  path: string
  kinds: Record<Kind, { documents: number; bytes: number }>
  blocks: { first: number; last: number }
}

export const writeReady = async (
  store: string,
  { naming, network }: Pick<Target, 'network'> & { naming: Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'> },
  path: string,
): Promise<Ready> => {
  const kinds = Object.fromEntries(KINDS.map(kind => [kind, { documents: 0, bytes: 0 }])) as Ready['kinds']
  const reader = openDocuments(store)
  const lines = createDocumentLines(reader)
  const out = createWriteStream(path, { highWaterMark: 1 << 22 })
  reader.begin()
  try {
    const ranges = createBlocks(reader.db).ranges()
    const all = function* () {
      for (const { from, to } of ranges) for (let block = from; block <= to; block++) yield* lines.block(block)
      for (const range of ranges) yield* lines.tokens(range, Number.MAX_SAFE_INTEGER, () => false)
    }
    for (const document of all()) {
      const { index, id, version, source, tail } = bulkLine(naming, network, BATCH, document)
      const held = kinds[document.kind]
      held.documents++
      held.bytes += source.length - 1 + tail.length
      const action = `{"index":{"_id":"${id}","_index":"${index}","version":${version},"version_type":"external_gte"}}\n`
      out.write(action)
      out.write(Buffer.from(source.subarray(0, -1)))
      if (!out.write(`${tail}\n`)) await once(out, 'drain')
    }
    out.end()
    await once(out, 'close')
    return { path, kinds, blocks: { first: ranges[0]!.from, last: ranges.at(-1)!.to } }
  } finally {
    reader.end()
    reader.close()
  }
}

const BATCH = { number: 1, tokens: 1 }
