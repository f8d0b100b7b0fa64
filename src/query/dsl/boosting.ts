import { refuse } from '../../lib/errors.ts'
import { known, unexpected, where } from '../json-node.ts'
import { readDouble } from '../numbers.ts'
import type { Clause } from './clause.ts'

export const boosting: Clause = {
  doc: 'Matches what positive matches. If negative matches too, the score is multiplied by negative_boost.',
  example: {
    positive: { match: { event: 'transfer approval' } },
    negative: { term: { event: 'approval' } },
    negative_boost: 0.5,
  },
  lower(place, scope, inner) {
    const keys = known(place, 'an object such as {"positive": {…}, "negative": {…}, "negative_boost": 0.5}', KEYS)
    const { positive, negative, negative_boost } = keys
    for (const key of KEYS) if (keys[key] === undefined) throw unexpected(place, `an object with [${key}]`)
    const factor = readDouble(negative_boost!)
    if (factor < 0)
      throw refuse(
        'illegal_argument_exception',
        `${where(negative_boost!)}: [boosting] query requires 'negative_boost' to be set to be a positive value.`,
      )
    const { node, score } = inner(positive!, scope)
    const { node: unwanted } = inner(negative!, scope)
    if (score === undefined || unwanted.op === 'none') return { node, score }
    return { node, score: Object.freeze({ by: 'lowered', of: score, where: unwanted, factor }) }
  },
}

const KEYS = ['positive', 'negative', 'negative_boost'] as const
