import type { Kind } from '../../mapping/index.ts'
import type { StepMatch } from '../../windows/sequence.ts'
import { kindOfTarget, type RuleConfig } from '../rule.ts'
import { createDocumentReader } from './read.ts'
import { type SequencePart, sequenceParts } from './steps.ts'
import { type StoredMatch, withDecoding } from './stored.ts'
import { orderOfPlaces, placeOfDocument, type TransactionPlaces } from './stored-order.ts'

/** A part of a rule with steps, as stored blocks are searched for it. */
export interface StoredPart extends SequencePart {
  kind: Kind
  key(match: StoredMatch): string
}

export const storedParts = (config: RuleConfig): StoredPart[] =>
  sequenceParts(config).map(part => {
    const { targetType } = part.config
    const { key } = createDocumentReader<StoredMatch>(targetType, { by: [...part.by] })
    return { ...part, kind: kindOfTarget(targetType), key }
  })

/** A document that a part of a rule has matched. */
export interface PartMatch {
  part: StoredPart
  match: StoredMatch
}

/** What the steps of a rule find in one block. */
export interface BlockOfSteps {
  number: number
  matches: StepMatch[]
  /** Of each match. */
  documents: StoredMatch[]
}

/** Brings all that the parts of a rule have matched in one block into the order of the chain. */
export const stepsInBlock = (
  number: number,
  found: readonly PartMatch[],
  transactions: TransactionPlaces,
): BlockOfSteps => {
  const placed = found
    .map(({ part, match }) => ({ part, match, place: placeOfDocument(part.kind, match, transactions) }))
    .sort((a, b) => orderOfPlaces(a.place, b.place))
  const stepped: BlockOfSteps = { number, matches: [], documents: [] }
  let at = 0
  for (const [i, { part, match, place }] of placed.entries()) {
    if (i > 0 && orderOfPlaces(placed[i - 1]!.place, place) !== 0) at++
    const key = part.key(withDecoding(part.kind, match))
    // What has no value is the same as nothing else.
    if ((JSON.parse(key) as unknown[]).includes(null)) continue
    stepped.matches.push({ key, step: part.step, at, id: match._id })
    stepped.documents.push(match)
  }
  return stepped
}
