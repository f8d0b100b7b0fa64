import type { DecodedCall } from './calls.ts'
import type { Signature } from './types.ts'

/** Calls of unknown selectors, and of what one declaration may come to, that are remembered at a time. */
const MOST = 200_000

/** Of a call: which of its kind it is, as logs have it, told by what is stored once for all of them. */
export const createCallSignatures = (): ((call: DecodedCall) => Signature) => {
  const known = new Map<object | string, Map<number, Signature>>()
  return ({ selector, function: declared, probability, args, error }) => {
    const by = declared ?? selector!
    let ways = known.get(by)
    if (!ways) {
      if (known.size >= MOST) known.clear()
      ways = new Map()
      known.set(by, ways)
    }
    // What fails to decode is kept apart from what decodes, why it fails is told when it is shown.
    const way = args === null && error !== null ? -1 - probability : probability
    let signature = ways.get(way)
    if (!signature) {
      const event = declared && { name: declared.name, inputs: declared.inputs }
      const failed = way < 0
      signature = {
        of: 'call',
        key: `${CALL}${selector}/${probability}/${failed ? 'x' : ''}/${JSON.stringify(event)}`,
        topic: selector,
        indexed: 0,
        event,
        probability,
        error: failed ? 'the call data does not decode' : null,
      }
      ways.set(way, signature)
    }
    return signature
  }
}

/** What the keys of calls' signatures begin with. */
const CALL = 'call/'

/** Of which a stored key is: the key is all that a store keeps of it. */
export const signatureOf = (key: string): Signature['of'] => (key.startsWith(CALL) ? 'call' : 'log')
