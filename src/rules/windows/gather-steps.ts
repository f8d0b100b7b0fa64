import { changingMatches, type StepMatch } from '../../windows/sequence.ts'
import { type Entity, entityDocument, placeInBlock } from '../entities.ts'
import type { StoredRule } from '../rule.ts'
import type { LastMatch } from './gather.ts'
import { createMatchReaders, type MatchReader, matchShape } from './read.ts'
import { type SequencePart, type SequenceSpec, sequenceShape } from './steps.ts'

/** Matches of the steps of a rule in one block. */
export interface GatheredSteps {
  rule: StoredRule
  matches: StepMatch[]
  /** Of each match that may complete a sequence. */
  lasts: (LastMatch | undefined)[]
}

/** Gathers what the steps of rules find in one block. */
export const createStepGathering = () => {
  const rules = new Map<StoredRule, FoundStep[]>()
  const readers = new Map<SequencePart, MatchReader>()
  const makeReader = createMatchReaders()
  const readerOf = (part: SequencePart): MatchReader => {
    const known = readers.get(part) ?? makeReader(matchShape(part.config.targetType, { by: [...part.by] }))
    readers.set(part, known)
    return known
  }
  return {
    /** False if it needs decimals that are not known yet. */
    add(rule: StoredRule, part: SequencePart, entity: Entity): boolean {
      const reader = readerOf(part)
      if (reader.waits(entity)) return false
      const key = reader.key(entity)
      // What has no value is the same as nothing else.
      if ((JSON.parse(key) as unknown[]).includes(null)) return true
      const found = rules.get(rule) ?? []
      rules.set(rule, found)
      found.push({ key, step: part.step, at: placeInBlock(entity), entity })
      return true
    },
    finish: (): GatheredSteps[] => [...rules].map(([rule, found]) => gatheredSteps(rule, found)),
  }
}

interface FoundStep extends Omit<StepMatch, 'id'> {
  entity: Entity
}

/** Documents are built only of matches that may change anything. */
const gatheredSteps = (rule: StoredRule, found: readonly FoundStep[]): GatheredSteps => {
  const { steps, isMissing } = sequenceShape(rule.input.config.when as SequenceSpec)
  const matches: StepMatch[] = []
  const lasts: (LastMatch | undefined)[] = []
  for (const place of changingMatches(found, steps)) {
    const { entity, ...match } = found[place]!
    const document = entityDocument(entity)!
    matches.push({ ...match, id: document._id })
    lasts.push(!isMissing && match.step === steps - 1 ? { kind: entity.kind, document } : undefined)
  }
  return { rule, matches, lasts }
}
