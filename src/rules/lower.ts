import type { Kind } from '../mapping/index.ts'
import type { CompareNode, Node } from '../query/ast.ts'
import { operandOf } from '../query/compare.ts'
import { andNode } from '../query/simplify.ts'
import { attributeSteps } from './attributes.ts'
import { hintOf } from './prefilter.ts'
import { type RuleCondition, type RuleConfig, type RuleOperator, TARGET_KINDS } from './rule.ts'

/** All conditions of a rule. */
export const lowerConditions = ({ targetType, targetMap }: RuleConfig): CompareNode[] => {
  const kind = TARGET_KINDS[targetType]
  const conditions = targetMap.flatMap(condition => flattenCondition(kind, [], false, condition))
  return targetType === 'Method' ? [...conditions, TOP_LEVEL] : conditions
}

/** A method is called by the transaction itself. */
const TOP_LEVEL: CompareNode = Object.freeze({
  op: 'compare',
  kind: 'call',
  steps: Object.freeze(['depth']),
  how: 'equal',
  operands: Object.freeze([operandOf('0')]),
  ignoreCase: false,
  scaled: false,
})

const flattenCondition = (
  kind: Kind,
  around: readonly string[],
  scaled: boolean,
  condition: RuleCondition,
): CompareNode[] => {
  const { name, operator, value, useScaledValue, operatorParameters } = condition
  const names = [...around, name]
  const isScaled = scaled || useScaledValue === true
  if (operator === 'Inspect')
    return (operatorParameters ?? []).flatMap(inner => flattenCondition(kind, names, isScaled, inner))
  const operands = value === undefined ? [] : typeof value === 'string' ? [value] : value
  return [
    Object.freeze({
      op: 'compare',
      kind,
      steps: Object.freeze(attributeSteps(kind, names)),
      ...OPERATOR_MEANINGS[operator],
      operands: Object.freeze(operands.map(operandOf)),
      scaled: isScaled,
    }),
  ]
}

export const OPERATOR_MEANINGS = {
  Greater: { how: 'greater', ignoreCase: false },
  'Greater or Equal': { how: 'greaterOrEqual', ignoreCase: false },
  Less: { how: 'less', ignoreCase: false },
  'Less or Equal': { how: 'lessOrEqual', ignoreCase: false },
  Equals: { how: 'equal', ignoreCase: false },
  'Equals (ignore case)': { how: 'equal', ignoreCase: true },
  'Equals any': { how: 'equal', ignoreCase: false },
  'Equals any (ignore case)': { how: 'equal', ignoreCase: true },
} as const satisfies Record<Exclude<RuleOperator, 'Inspect'>, Pick<CompareNode, 'how' | 'ignoreCase'>>

/** A query for the conditions. A hint precedes its condition, or replaces it if it is exact. */
export const toQuery = (kind: Kind, conditions: readonly CompareNode[]): Node =>
  andNode(
    conditions.flatMap((condition): Node[] => {
      const { node, exact } = hintOf(kind, condition)
      return exact ? [node] : [node, condition]
    }),
  )
