import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import { piece } from '../forms/json.ts'
import type { Found } from '../query/found.ts'
import type { Show } from './show.ts'

/** Writes a hit up to its `sort` and tells how many bytes stand before its score; 0 where there is none. */
export type WriteHit = (position: number, score: string, out: ByteWriter) => number

export const hitWriter = (show: Show, envelope: string, source: ReturnType<Show['source']>): WriteHit => {
  const { routing, parent } = show
  const head = piece(envelope)
  const toSource = source ? ',"_source":' : ''
  const behindId = piece(`","_score":`)
  const behindScore = piece(routing ? ',"_routing":"' : toSource)
  const behindRouting = piece(`","_parent":"`)
  const behindParent = piece(`"${toSource}`)
  return (position, score, out) => {
    if (!show.find(position)) return 0
    const start = out.length
    out.bytes(head)
    show.id(out)
    out.bytes(behindId)
    const before = out.length - start
    out.ascii(score)
    out.bytes(behindScore)
    if (routing && parent) {
      routing(out)
      out.bytes(behindRouting)
      parent(out)
      out.bytes(behindParent)
    }
    source?.(out)
    return before
  }
}

export const envelopeOf = (index: string, kind: Kind): string =>
  `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_id":"`

/** Writes scores as they stand in hits; neighbours often have the same one. */
export const scoreWriter = (isHidden: boolean): ((found: Pick<Found, 'score'>) => string) => {
  if (isHidden) return () => 'null'
  let last = 1
  let text = '1'
  return ({ score = 1 }) => {
    if (score !== last) {
      last = score
      text = `${asFloat(score)}`
    }
    return text
  }
}

/** As in Elasticsearch: sorted hits have no score, unless they are sorted by it, or it is asked for. */
export const hidesScores = ({ sort, trackScores }: Pick<SearchRequest, 'sort' | 'trackScores'>): boolean =>
  sort.length > 0 && !trackScores && !sort.some(({ by }) => by === '_score')
