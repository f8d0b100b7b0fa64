import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest, SourceFilter } from '../../query/request.ts'
import type { Documents } from '../query/documents.ts'
import type { Found } from '../query/sort.ts'
import { sortValues } from '../query/sort-values.ts'
import type { Reader } from '../reader.ts'
import { createBlockShow } from './block.ts'
import { createCallShow } from './call.ts'
import { createContext } from './context.ts'
import { createDocumentShow } from './document.ts'
import { createEventShow } from './event.ts'
import { createLogShow } from './log.ts'
import { CLOSE, COMMA, piece } from './pieces.ts'
import { createTraceShow } from './trace.ts'
import { createTxShow } from './tx.ts'

/** Shows documents of one kind as JSON. A filter on `_source` decides what of them is read. */
export interface Show {
  /** Goes to a document; false where none is stored there (any more). All else is of that one. */
  find(position: number): boolean
  /** Each without quotes. */
  id(out: ByteWriter): void
  /** Both or none. */
  routing: ((out: ByteWriter) => void) | undefined
  parent: ((out: ByteWriter) => void) | undefined
  /** What writes `_source`; undefined where none is wanted. */
  source(filter: SourceFilter): ((out: ByteWriter) => void) | undefined
}

export interface HitsOptions {
  reader: Reader
  shown: Documents
  exact: Documents
}

export interface Hits {
  /** What appends matches of a request as JSON objects, with a comma or what else is wanted between two, and tells how many; what is gone meanwhile is left out. */
  writer(request: SearchRequest, index: string, between?: number): (found: readonly Found[], out: ByteWriter) => number
  /** A document by its position, as an answer to `get` shows it; false where there is none. */
  document(kind: Kind, position: number, index: string, out: ByteWriter): boolean
}

/** Hits as JSON, written straight from what is stored. */
export const createHits = ({ reader, shown, exact }: HitsOptions): Hits => {
  const context = createContext(reader)
  const shows: Record<Kind, Show> = {
    block: createBlockShow(context),
    tx: createTxShow(context),
    log: createLogShow(context),
    event: createEventShow(context),
    trace: createTraceShow(context),
    call: createCallShow(context),
    contract: createDocumentShow('contract', shown),
    token: createDocumentShow('token', shown),
  }
  const sources = new Map<string, ReturnType<Show['source']>>()
  /** Clients ask with few filters, again and again. */
  const sourceOf = (kind: Kind, filter: SourceFilter): ReturnType<Show['source']> => {
    const key = `${kind} ${JSON.stringify(filter)}`
    if (!sources.has(key)) {
      if (sources.size >= SOURCES) sources.clear()
      sources.set(key, shows[kind].source(filter))
    }
    return sources.get(key)
  }
  return {
    writer(request, index, between = COMMA) {
      const { sort, source, parts } = request
      const score = hidesScores(request) ? 'null' : '1'
      const writers = new Map(
        parts.map(({ kind }) => [kind, hitWriter(shows[kind], envelopeOf(index, kind), score, sourceOf(kind, source))]),
      )
      const sortOf = sortValues(request, { documents: exact, reader })
      return (found, out) => {
        let hits = 0
        for (let i = 0; i < found.length; i++) {
          if (i % FEW === 0) reader.check()
          const one = found[i]!
          const before = out.length
          if (hits > 0) out.byte(between)
          if (!writers.get(one.kind)!(one.position, out)) {
            out.truncate(before)
            continue
          }
          if (sort.length) out.text(`,"sort":${JSON.stringify(sortOf(one))}`)
          out.byte(CLOSE)
          hits++
        }
        return hits
      }
    },
    document(kind, position, index, out) {
      const show = shows[kind]
      if (!show.find(position)) return false
      out.text(envelopeOf(index, kind))
      show.id(out)
      out.ascii('","found":true,"_source":')
      sourceOf(kind, true)!(out)
      out.byte(CLOSE)
      return true
    },
  }
}

/** Writes a hit up to its `sort`. */
const hitWriter = (show: Show, envelope: string, score: string, source: ReturnType<Show['source']>) => {
  const { routing, parent } = show
  const head = piece(envelope)
  const toSource = source ? ',"_source":' : ''
  const behindId = piece(`","_score":${score}${routing ? ',"_routing":"' : toSource}`)
  const behindRouting = piece(`","_parent":"`)
  const behindParent = piece(`"${toSource}`)
  return (position: number, out: ByteWriter): boolean => {
    if (!show.find(position)) return false
    out.bytes(head)
    show.id(out)
    out.bytes(behindId)
    if (routing && parent) {
      routing(out)
      out.bytes(behindRouting)
      parent(out)
      out.bytes(behindParent)
    }
    source?.(out)
    return true
  }
}

const envelopeOf = (index: string, kind: Kind): string =>
  `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_id":"`

/** As in Elasticsearch: sorted hits have no score, unless they are sorted by it, or it is asked for. */
export const hidesScores = ({ sort, trackScores }: Pick<SearchRequest, 'sort' | 'trackScores'>): boolean =>
  sort.length > 0 && !trackScores && !sort.some(({ by }) => by === '_score')

const SOURCES = 100
/** Hits that take little time together. */
const FEW = 8
