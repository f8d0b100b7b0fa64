import type { BatchNumbers } from '../../engine/shipping/shipping-state.ts'
import type { DocumentLine } from '../../engine/show/lines.ts'
import type { BulkLine } from '../bulk/bulk.ts'
import type { ClusterOptions } from '../connection/options.ts'
import { metaText } from '../indices/meta.ts'
import { clusterId, indexNameOf } from '../indices/names.ts'

/** A document in place of one that is there, or beside it. */
export interface PatchLine extends DocumentLine {
  /** That of the one that is there: the new one is seen where that one was. */
  batch: number
}

/** It is written in the order of its version. */
export const patchLine = (
  naming: Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>,
  network: string,
  version: number,
  line: PatchLine,
): BulkLine => {
  const { batch } = line
  return { ...bulkLine(naming, network, { number: batch, tokens: batch }, line), version }
}

/** A document as the cluster takes it: what it shows byte for byte, and behind it what the cluster has to know. Its bytes hold as long as those of the document. */
export const bulkLine = (
  naming: Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>,
  network: string,
  { number, tokens }: BatchNumbers,
  { kind, id, block, position, routing, parent, source }: DocumentLine,
): BulkLine & { source: Uint8Array; tail: string } => {
  const batch = kind === 'token' ? tokens : number
  const tail = `${metaText(kind, { batch, block, position, routing, parent })}}`
  const index = indexNameOf(naming, network, kind, block)
  return { index, id: clusterId(kind, id, position), version: batch, source, tail }
}
