import { messageOf } from '../lib/errors.ts'
import { type Kind, RECORD_KINDS } from '../mapping/index.ts'
import { parseSearch } from '../query/parse.ts'
import { findFaults } from '../sqlite/damage.ts'
import { createBlocks } from './blocks.ts'
import { createFilterKeys, filterMayHold } from './index/bloom-filter.ts'
import { blockAt } from './index/segment.ts'
import { createSegmentCursor } from './index/term-merge.ts'
import { createTermReading } from './index/term-rows.ts'
import { createSearcher, type Searcher } from './query/searcher.ts'
import { openReader, reading, type Segment, type StoreReader } from './reader.ts'
import { PLACES_PER_BLOCK, positionOf } from './schema.ts'
import { findSimilarFault } from './similarity-index.ts'

/**
 * Checks a store's consistency, given intact pages: links of blocks, counts of segments, filters
 * against the index, and search results. `deep` reads all records and segments instead of a sample.
 * Yields progress from 0 to 1.
 */
export function* verifyContents(store: string, deep: boolean, native?: string): Generator<number, string[]> {
  const reader = openReader(store, native)
  const faults: string[] = []
  try {
    const segments = reading(reader, () => [...reader.segments()])
    if (deep) faults.push(...findFaults(reader.db, 'integrity_check').map(fault => `SQLite finds: ${fault}`))
    if (deep) attempt(faults, 'similar contracts', () => checkSimilar(reader))
    yield* checkLinks(reader, segments, faults)
    // Documents of the others were offloaded.
    const held = segments.filter(({ emptied }) => !emptied)
    const sample = deep ? held : evenSample(held, SEGMENTS)
    const searcher = createSearcher(reader)
    for (const [i, segment] of sample.entries()) {
      attempt(faults, `blocks ${segment.first} to ${segment.last}`, () => {
        reading(reader, () => {
          checkRows(reader, segment, deep)
          checkFilter(reader, segment)
        })
        const { blocks, documents } = deep ? DEEP : SHALLOW
        for (const block of evenSample(segmentBlocks(reader, segment), blocks)) checkFound(searcher, block, documents)
      })
      yield 0.5 + (0.5 * (i + 1)) / sample.length
      if (faults.length >= MAX_FAULTS) break
    }
    return faults.slice(0, MAX_FAULTS)
  } finally {
    reader.close()
  }
}

/** Segments in a sample. */
const SEGMENTS = 24
/** Blocks to check per segment, and documents of each kind per block. */
const SHALLOW = { blocks: 3, documents: 2 }
const DEEP = { blocks: 8, documents: 4 }
/** Faults after which checks stop. */
const MAX_FAULTS = 20

const attempt = (faults: string[], where: string, check: () => void) => {
  try {
    check()
  } catch (error) {
    faults.push(`${where}: ${messageOf(error)}`)
  }
}

const checkSimilar = ({ db }: StoreReader) => {
  const fault = findSimilarFault(db)
  if (fault !== undefined) throw new Error(fault)
}

const evenSample = <T>(all: readonly T[], count: number): T[] => {
  if (all.length <= count) return [...all]
  const step = (all.length - 1) / (count - 1)
  return Array.from({ length: count }, (_, i) => all[Math.round(i * step)]!)
}

const segmentBlocks = (reader: StoreReader, segment: Segment): number[] =>
  reading(reader, () => {
    const header = reader.header(segment)
    return Array.from(header.times, (_, index) => blockAt(header, index))
  })

function* checkLinks(reader: StoreReader, segments: readonly Segment[], faults: string[]): Generator<number> {
  const blocks = createBlocks(reader.db)
  let before: { number: number; hash: string | undefined } | undefined
  for (const [i, segment] of segments.entries()) {
    const { first } = segment
    if (before && before.number >= first) faults.push(`block ${first} is listed twice`)
    for (const number of segmentBlocks(reader, segment)) {
      if (faults.length >= MAX_FAULTS) break
      attempt(faults, `block ${number}`, () => {
        const hash = blocks.hash(number)
        if (hash === undefined) throw new Error('it is listed, but not stored')
        if (before?.number === number - 1 && before.hash !== undefined && blocks.parentHash(number) !== before.hash)
          throw new Error(`it names another parent than block ${number - 1}, ${before.hash}`)
        before = { number, hash }
      })
    }
    yield (0.5 * (i + 1)) / segments.length
  }
}

/** Compares row counts with the segment's. `deep` reads all records, which compares checksums. */
const checkRows = (reader: StoreReader, segment: Segment, deep: boolean) => {
  const { ends, times } = reader.header(segment)
  if (times.length !== segment.block) throw new Error(`their segment lists ${times.length} blocks`)
  for (const kind of RECORD_KINDS) {
    const counted = ends[kind].at(-1) ?? 0
    if (counted !== segment[kind])
      throw new Error(`their segment counts ${segment[kind]} ${kind} documents, its head ${counted}`)
    if (!deep) continue
    let found = 0
    reader.records.each(
      kind,
      positionOf(segment.first, 0),
      positionOf(segment.last, PLACES_PER_BLOCK - 1),
      () => ++found > 0,
    )
    if (found !== counted) throw new Error(`${found} ${kind} documents are stored, and ${counted} are counted`)
  }
}

/** A filter that rejects a term of the index hides documents. */
const checkFilter = (reader: StoreReader, { id }: Segment) => {
  const reading = createTermReading(reader.db)
  const [root, filter] = [reading.root(id), reading.filter(id)]
  if (!root) throw new Error('they have no index')
  if (!filter) return
  const keys = createFilterKeys()
  for (const cursor = createSegmentCursor(reading, id, root); cursor.next(); ) keys.add(cursor.term)
  for (const key of keys.finish())
    if (!filterMayHold(filter, key)) throw new Error('their filter hides a term of the index')
}

/** Fields to search for documents of a kind. */
const FIELDS: Partial<Record<Kind, readonly string[]>> = {
  tx: ['from', 'to', 'method'],
  log: ['address', 'signature'],
  event: ['address', 'event.raw'],
  call: ['from', 'to', 'method.raw'],
}
const VERIFIED_KINDS: readonly Kind[] = ['tx', 'log', 'event', 'call', 'trace']

/** Documents of a block must be found by id and by their field values. */
const checkFound = (searcher: Searcher, block: number, count: number) => {
  const find = (kind: Kind, filter: unknown[], size: number) => {
    const body = JSON.stringify({ size, query: { bool: { filter } }, sort: '_doc' })
    return searcher.search(parseSearch(body, [kind], Date.now()), { deadline: Number.POSITIVE_INFINITY }).hits
  }
  const inBlock = { range: { 'blockNumber.num': { gte: block, lte: block } } }
  for (const kind of VERIFIED_KINDS)
    for (const { document } of evenSample(find(kind, [inBlock], 10_000), count)) {
      const { _id, _source } = document
      if (searcher.get(kind, _id)?._id !== _id) throw new Error(`the ${kind} ${_id} is not found by its id`)
      for (const field of FIELDS[kind] ?? []) {
        const value = (_source as Record<string, unknown>)[field.split('.')[0]!]
        if (typeof value !== 'string') continue
        if (!find(kind, [inBlock, { term: { [field]: value } }], 10_000).some(hit => hit.document._id === _id))
          throw new Error(`the ${kind} ${_id} is not found by its ${field}`)
      }
    }
}
