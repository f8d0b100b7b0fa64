import type { StepMatch } from '../../windows/sequence.ts'
import { type Entity, entityDocument, placeInBlock } from '../entities.ts'
import type { StoredRule } from '../rule.ts'
import type { LastMatch } from './gather.ts'
import { createMatchReaders, type MatchReader } from './read.ts'
import { isSequence, type SequencePart, sequenceShape } from './steps.ts'

/** Matches of the steps of a rule in one block. */
export interface GatheredSteps {
  rule: StoredRule
  matches: StepMatch[]
  /** Of each match that may complete a sequence. */
  lasts: (LastMatch | undefined)[]
}

/** Gathers what the steps of rules find in one block. */
export const createStepGathering = () => {
  const rules = new Map<StoredRule, { matches: StepMatch[]; lasts: (LastMatch | undefined)[] }>()
  const readers = new Map<SequencePart, MatchReader>()
  const makeReader = createMatchReaders()
  const readerOf = (part: SequencePart): MatchReader => {
    const known = readers.get(part) ?? makeReader(part.config.targetType, { by: [...part.by] })
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
      const found = rules.get(rule) ?? { matches: [], lasts: [] }
      rules.set(rule, found)
      const { step } = part
      const document = entityDocument(entity)!
      found.matches.push({ key, step, at: placeInBlock(entity), id: document._id })
      found.lasts.push(step === completingStep(rule) ? { kind: entity.kind, document } : undefined)
      return true
    },
    finish: (): GatheredSteps[] => [...rules].map(([rule, found]) => ({ rule, ...found })),
  }
}

const completingStep = ({ input: { config } }: StoredRule): number | undefined => {
  const shape = isSequence(config.when) ? sequenceShape(config.when) : undefined
  return shape === undefined || shape.isMissing ? undefined : shape.steps - 1
}
