import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import type { Range } from '../../lib/ranges.ts'
import { type Kind, RECORD_KINDS } from '../../mapping/index.ts'
import type { StoreReader } from '../reader.ts'
import { blockOf, PLACES_PER_BLOCK, positionOf } from '../schema.ts'
import { showsOf } from './source-writers.ts'

export interface DocumentLine {
  kind: Kind
  id: string
  block: number
  position: number
  routing: string | undefined
  parent: string | undefined
  /** Valid until the next line. */
  source: Uint8Array
}

/**
 * All visible documents of a store. Each step runs between `begin` and `end` of the reader, in a
 * transaction that may differ from the last step's.
 */
export type DocumentLines = ReturnType<typeof createDocumentLines>

export const createDocumentLines = (reader: StoreReader) => {
  const shows = showsOf(reader)
  const sources = new Map(Object.entries(shows).map(([kind, show]) => [kind, show.source(true)!]))
  const out = createByteWriter(1 << 14)
  const contracts = reader.prepare('SELECT pos FROM contract WHERE pos BETWEEN ? AND ? ORDER BY pos').pluck()
  const tokensIn = reader.prepare('SELECT pos FROM token WHERE pos BETWEEN ? AND ? ORDER BY pos').pluck()
  const changed = reader.prepare('SELECT pos FROM token WHERE change > ? AND pos IS NOT NULL ORDER BY change').pluck()
  const block = reader.prepare('SELECT 1 FROM block WHERE number = ?').pluck()
  /** A token outlives the block that first showed it. */
  const isStored = (position: number): boolean => block.get(blockOf(position)) !== undefined
  const lastChange = reader.prepare('SELECT max(change) FROM token').pluck()

  const written = (write: (out: ByteWriter) => void): string => {
    out.truncate(0)
    write(out)
    return out.latin1()
  }

  const line = (kind: Kind, position: number): DocumentLine | undefined => {
    const show = shows[kind]
    if (!show.find(position)) return undefined
    const { routing, parent } = show
    const found = {
      kind,
      id: written(show.id),
      block: blockOf(position),
      position,
      routing: routing && written(routing),
      parent: parent && written(parent),
    }
    out.truncate(0)
    sources.get(kind)!(out)
    return { ...found, source: out.view() }
  }

  function* lines(kind: Kind, positions: readonly number[]): Generator<DocumentLine, void> {
    for (const position of positions) {
      const found = line(kind, position)
      if (found) yield found
    }
  }

  /** Positions of a block's documents except tokens. */
  function* candidates(number: number): Generator<readonly [Kind, readonly number[]], void> {
    const [from, to] = [positionOf(number, 0), positionOf(number, PLACES_PER_BLOCK - 1)]
    yield ['block', [from]]
    for (const kind of RECORD_KINDS) {
      const positions: number[] = []
      reader.records.each(kind, from, to, position => positions.push(position))
      yield [kind, positions]
      if (kind === 'log') yield ['event', positions]
    }
    yield ['contract', contracts.all(from, to) as number[]]
  }

  return {
    /** All documents of a block except tokens. */
    *block(number: number): Generator<DocumentLine, void> {
      for (const [kind, positions] of candidates(number)) yield* lines(kind, positions)
    },
    /** Positions of a block's visible documents, including tokens first seen in it. */
    *places(number: number): Generator<readonly [kind: Kind, position: number], void> {
      for (const [kind, positions] of candidates(number))
        for (const position of positions) if (shows[kind].find(position)) yield [kind, position]
      const tokens = tokensIn.all(positionOf(number, 0), positionOf(number, PLACES_PER_BLOCK - 1)) as number[]
      for (const position of tokens) if (shows.token.find(position)) yield ['token', position]
    },
    /** Tokens first seen in `blocks`, or in `others` and changed after `since`. */
    *tokens(
      blocks: Range | undefined,
      since: number,
      others: (block: number) => boolean,
    ): Generator<DocumentLine, void> {
      const inBlocks = blocks
        ? tokensIn.all(positionOf(blocks.from, 0), positionOf(blocks.to, PLACES_PER_BLOCK - 1))
        : []
      yield* lines('token', (inBlocks as number[]).filter(isStored))
      const positions = (changed.all(since) as number[]).filter(isStored)
      yield* lines(
        'token',
        positions.filter(position => others(blockOf(position))),
      )
    },
    /** The newest change of a token. */
    lastChange: (): number => (lastChange.get() as number | null) ?? 0,
  }
}
