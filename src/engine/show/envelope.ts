import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import { asFloat } from '../../query/similarity.ts'
import type { Found } from '../query/sort.ts'
import type { Show } from './hits.ts'
import { piece } from './pieces.ts'

/** Writes a hit up to its `sort`; false where there is none. Where no score is given, each hit has its own. */
export type WriteHit = (found: Pick<Found, 'position' | 'score'>, out: ByteWriter) => boolean

export const hitWriter = (
  show: Show,
  envelope: string,
  score: string | undefined,
  source: ReturnType<Show['source']>,
): WriteHit => {
  const { routing, parent } = show
  const head = piece(envelope)
  const toSource = source ? ',"_source":' : ''
  const behindScore = routing ? ',"_routing":"' : toSource
  const behindId = piece(`","_score":${score === undefined ? '' : `${score}${behindScore}`}`)
  const behindRouting = piece(`","_parent":"`)
  const behindParent = piece(`"${toSource}`)
  return ({ position, score: own = 1 }, out) => {
    if (!show.find(position)) return false
    out.bytes(head)
    show.id(out)
    out.bytes(behindId)
    if (score === undefined) out.text(`${asFloat(own)}${behindScore}`)
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

export const envelopeOf = (index: string, kind: Kind): string =>
  `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_id":"`
