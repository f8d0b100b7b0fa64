import { signatureOf } from '../../decode/call-signatures.ts'
import type { Db } from '../../sqlite/database.ts'
import { FACETS, signatureOfFacet } from './terms.ts'

export type Counted = 'block' | 'tx' | 'log' | 'trace' | 'call'

/** Which kind's ordinals the postings of a facet hold. */
export const kindOfFacet = (facet: number, calls: CallSignatures): Counted => {
  const signature = signatureOfFacet(facet)
  if (signature !== undefined) return calls.has(signature) ? 'call' : 'log'
  switch (facet) {
    case FACETS['block.hash']:
    case FACETS['block.miner']:
      return 'block'
    case FACETS['tx.from']:
    case FACETS['tx.to']:
    case FACETS['tx.contractAddress']:
    case FACETS['tx.hash']:
    case FACETS['tx.method']:
    case FACETS.failed:
      return 'tx'
    case FACETS['trace.action.from']:
    case FACETS['trace.action.to']:
    case FACETS['trace.action.address']:
    case FACETS['trace.action.refundAddress']:
    case FACETS['trace.action.author']:
    case FACETS['trace.result.address']:
    case FACETS['trace.error']:
      return 'trace'
    case FACETS['call.from']:
    case FACETS['call.selector']:
      return 'call'
    default:
      return 'log'
  }
}

export interface CallSignatures {
  has(signature: number): boolean
}

/** Which signatures are those of calls; asked one by one, since there may be many. */
export const callSignatures = (db: Db): CallSignatures => {
  let known = signaturesOfCalls.get(db)
  if (!known) {
    const select = db.prepare('SELECT key FROM signature WHERE id = ?').pluck()
    const answers = new Map<number, boolean>()
    known = {
      has(signature) {
        let answer = answers.get(signature)
        if (answer === undefined) {
          answer = signatureOf(select.get(signature) as string) === 'call'
          answers.set(signature, answer)
        }
        return answer
      },
    }
    signaturesOfCalls.set(db, known)
  }
  return known
}
const signaturesOfCalls = new WeakMap<Db, CallSignatures>()
