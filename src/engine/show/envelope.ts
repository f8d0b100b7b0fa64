import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Found } from '../query/sort.ts'
import type { Show } from './hits.ts'
import { piece } from './pieces.ts'

/** Writes a hit up to its `sort`; false where there is none. */
export type WriteHit = (found: Pick<Found, 'position'>, out: ByteWriter) => boolean

export const hitWriter = (
  show: Show,
  envelope: string,
  score: string,
  source: ReturnType<Show['source']>,
): WriteHit => {
  const { routing, parent } = show
  const head = piece(envelope)
  const toSource = source ? ',"_source":' : ''
  const behindId = piece(`","_score":${score}${routing ? ',"_routing":"' : toSource}`)
  const behindRouting = piece(`","_parent":"`)
  const behindParent = piece(`"${toSource}`)
  return ({ position }, out) => {
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

export const envelopeOf = (index: string, kind: Kind): string =>
  `{"_index":${JSON.stringify(`${index}-${kind}`)},"_type":"${kind}","_id":"`
