import type { PartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import type { BatchNumbers } from '../../engine/shipping/shipping-state.ts'
import type { DocumentLine } from '../../engine/show/document-stream.ts'
import type { Range } from '../../lib/ranges.ts'
import type { BulkLine } from '../bulk/bulk.ts'
import { clusterId, type IndexNaming, indexNameOf, metaText } from '../indices/names.ts'
import type { ShipContext } from './context.ts'

/**
 * Sends lines while the batch counts, a few milliseconds at a time; `touched` collects their
 * indices. Each turn sees another snapshot of the store, with the same documents. Documents belong
 * to the batch, or to `numbers`.
 */
export type Send = (
  lines: Iterator<DocumentLine, void>,
  batch: BatchNumbers,
  touched: Set<string>,
  numbers?: BatchNumbers,
) => Promise<void>

/** Time limit of a turn: no block of the head waits longer. */
const SEND_TURN_MS = 4

export const createSending = (options: ShipContext): Send => {
  const { network, naming, reader, shelf, metrics, bulk, session, publishing } = options
  const countDocuments = metrics.counter('chainsieve_cluster_documents_total').of({})
  const countBytes = metrics.counter('chainsieve_cluster_bytes_total').of({})
  return async (lines, batch, touched, numbers = batch) => {
    for (;;) {
      // Other processes have to know changes before the next document.
      await publishing.publishChanges()
      await session.turn()
      if (!shelf.isUnderWay(batch.number)) return
      const end = performance.now() + SEND_TURN_MS
      let room: Promise<void> | undefined
      let isDone = false
      reader.begin()
      try {
        while (!room && !isDone && performance.now() < end) {
          const { value, done } = lines.next()
          if (done) isDone = true
          else {
            const line = bulkLine(naming, network, numbers, value)
            touched.add(line.index)
            countDocuments()
            countBytes(line.source.length + line.tail.length)
            room = bulk().put(line) ?? undefined
          }
        }
      } finally {
        reader.end()
      }
      await room
      if (isDone) return
    }
  }
}

/** Lines of stored blocks while there is room; `onBlocks` receives the last complete block. */
export function* linesOf(
  { from, to }: Range,
  { block, next }: { block(number: number): Iterable<DocumentLine> } & Pick<PartialBlocks, 'next'>,
  { hasRoom, onBlocks }: { hasRoom(bytes: number): boolean; onBlocks(last: number): void },
): Generator<DocumentLine, void> {
  let bytes = 0
  const first = next(from)
  let number = first
  for (; number <= to && (number === first || hasRoom(bytes)); number = next(number + 1)) {
    for (const line of block(number)) {
      bytes += line.source.length
      yield line
    }
    onBlocks(number)
  }
  if (number > to) onBlocks(to)
}

/** A document that replaces another one or is added next to it. */
export interface PatchLine extends DocumentLine {
  /** Batch of the existing document: the new one is visible wherever that one was. */
  batch: number
}
/** The cluster orders such writes by version. */
export const patchLine = (naming: IndexNaming, network: string, version: number, line: PatchLine): BulkLine => {
  const { batch } = line
  return { ...bulkLine(naming, network, { number: batch, tokens: batch }, line), version }
}
/**
 * A document as the cluster stores it: the shown bytes, then metadata. The bytes are valid as long
 * as those of `source`.
 */
export const bulkLine = (
  naming: IndexNaming,
  network: string,
  { number, tokens }: BatchNumbers,
  { kind, id, block, position, routing, parent, source }: DocumentLine,
): BulkLine & { source: Uint8Array; tail: string } => {
  const batch = kind === 'token' ? tokens : number
  const tail = `${metaText(kind, { batch, block, position, routing, parent })}}`
  const index = indexNameOf(naming, network, kind, block)
  return { index, id: clusterId(kind, id, position), version: batch, source, tail }
}
