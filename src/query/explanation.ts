import { asFloat } from './similarity.ts'

/** How a score comes about, as `_explanation` shows it. */
export interface Explanation {
  readonly value: number
  readonly description: string
  readonly details: readonly Explanation[]
}

export const explanation = (
  value: number,
  description = 'the score of the document',
  details: readonly Explanation[] = [],
): Explanation => ({ value: asFloat(value), description, details })
