import { type SequenceShape, UNTIL } from '../../windows/sequence.ts'
import { reachOf, type WindowSpan, type WindowSpec } from '../../windows/spec.ts'
import type { RuleCondition, RuleConfig, RuleInput, StoredRule, TargetType } from '../rule.ts'

/** What comes in its turn. The first step may leave out what the rule itself says. */
export interface SequenceStep {
  targetType?: TargetType
  targetMap?: RuleCondition[]
  /** Fields whose values must be the same in all steps, paired by their places. */
  by?: string[]
  /** With the last step only: it must not come. */
  missing?: boolean
  /** Path of the network in which it comes; without, any one of the rule. */
  network?: string
}

/** `when` of a rule whose matches follow each other. */
export interface SequenceSpec {
  steps: SequenceStep[]
  within: WindowSpan
  /** Ends a sequence that has begun. */
  until?: SequenceStep
  /** Over all networks of the rule, in the order of their times. */
  across?: boolean
}

/** A part of a rule with steps, as the matcher takes rules. */
export interface SequencePart {
  /** From 0, or `UNTIL`. */
  step: number
  by: readonly string[]
  network?: string | undefined
  config: RuleConfig
  /** Of the conditions in the rule. */
  path: string
}

export const isSequence = (when: RuleConfig['when']): when is SequenceSpec => when !== undefined && 'steps' in when

/** `when` of a rule without steps. */
export const windowSpecOf = ({ when }: Pick<RuleConfig, 'when'>): WindowSpec => when as WindowSpec

export const sequenceShape = ({ steps, within, until }: SequenceSpec): SequenceShape => ({
  ...{ steps: steps.length, isMissing: steps.at(-1)?.missing === true, hasUntil: until !== undefined },
  within,
})

/** How far before a block lies what decides on it: a step that does not come is told after the window. */
export const lookedBack = ({ when }: Pick<RuleConfig, 'when'>): WindowSpan => {
  if (!isSequence(when)) return reachOf(when as WindowSpec)
  const { steps, within } = when
  return within.blocks !== undefined && steps.at(-1)?.missing === true ? { blocks: within.blocks + 1 } : within
}

/** Of a rule without steps, none. */
export const sequenceParts = (config: RuleConfig): SequencePart[] => {
  const { when } = config
  if (!isSequence(when)) return []
  const partOf = ({ targetType, targetMap, by = [], network }: SequenceStep, step: number): SequencePart => ({
    ...{ step, by, network },
    path: `config.${targetMap ? `when.${step === UNTIL ? 'until' : `steps[${step}]`}.` : ''}targetMap`,
    config: {
      ...config,
      targetType: targetType ?? config.targetType,
      targetMap: targetMap ?? config.targetMap,
    },
  })
  return [...when.steps.map(partOf), ...(when.until ? [partOf(when.until, UNTIL)] : [])]
}

/** What a rule looks for: itself, or each of its steps. */
export const lookedFor = (config: RuleConfig): RuleConfig[] => {
  const parts = sequenceParts(config)
  return parts.length === 0 ? [config] : parts.map(part => part.config)
}

const ANY_BLOCK: Pick<RuleConfig, 'targetType' | 'targetMap'> = {
  targetType: 'Block',
  targetMap: [{ name: 'number', operator: 'Greater or Equal', value: '0' }],
}

/**
 * A rule that finds the documents which alerts of this one show: those of the step that completes a
 * sequence, or blocks, where the last step is missing.
 */
export const asAlerted = (rule: RuleInput): RuleInput => {
  const { when, ...config } = rule.config
  if (!isSequence(when)) return rule
  const { missing, targetType = config.targetType, targetMap = config.targetMap } = when.steps.at(-1)!
  return { ...rule, config: { ...config, ...(missing ? ANY_BLOCK : { targetType, targetMap }) } }
}

/** The target type of the documents in alerts. */
export const targetOfAlerts = (rule: RuleInput): TargetType => asAlerted(rule).config.targetType

const partOfRule = new WeakMap<StoredRule, { rule: StoredRule; part: SequencePart }>()

/** The rules that the matcher of a network indexes for one: itself, or one for each step that may come there. */
export const matchedRules = (rule: StoredRule, own?: string): StoredRule[] => {
  const parts = sequenceParts(rule.input.config)
  if (parts.length === 0) return [rule]
  const here = parts.filter(({ network }) => network === undefined || own === undefined || network === own)
  return here.map(part => {
    const matched = { ...rule, input: { ...rule.input, config: part.config } }
    partOfRule.set(matched, { rule, part })
    return matched
  })
}

/** The step that such a rule stands for. */
export const stepOfRule = (rule: StoredRule): { rule: StoredRule; part: SequencePart } | undefined =>
  partOfRule.get(rule)
