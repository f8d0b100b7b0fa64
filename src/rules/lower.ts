import type { Kind } from '../mapping/index.ts'
import type { CompareNode, ElementCondition, ElementNode, Node } from '../query/ast.ts'
import { entersElements, operandOf } from '../query/compare.ts'
import { andNode, notNode, orNode } from '../query/simplify.ts'
import { createValueList, type ValueList } from '../query/value-list.ts'
import { attributeSteps } from './attributes.ts'
import { hintOf } from './prefilter.ts'
import { isListValue, isLogic, kindOfTarget, type RuleCondition, type RuleConfig, type RuleOperator } from './rule.ts'

/** A condition of a rule, or several of which all, one or not one must hold. */
export type ConditionNode =
  | CompareNode
  | ElementNode
  | { readonly op: 'and' | 'or'; readonly of: readonly ConditionNode[] }
  | { readonly op: 'not'; readonly of: ConditionNode }

/** Finds a watch list of the rule's account. */
export type FindList = (name: string) => ValueList

export const NO_LISTS: FindList = name => createValueList(name)

/** All conditions of a rule. Without `lists`, watch lists are empty. */
export const lowerConditions = ({ targetType, targetMap }: RuleConfig, lists = NO_LISTS): ConditionNode[] => {
  const kind = kindOfTarget(targetType)
  const conditions = targetMap.flatMap(condition => flattenCondition({ kind, lists }, [], false, condition))
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
  to: { kind: Kind; lists: FindList },
  around: readonly string[],
  scaled: boolean,
  condition: RuleCondition,
): ConditionNode[] => {
  if (isLogic(condition)) {
    const of = condition.operatorParameters.map(inner =>
      joinConditions('and', flattenCondition(to, around, scaled, inner)),
    )
    const one = joinConditions('or', of)
    const node = condition.operator === 'Or' ? one : negation(one)
    return node.op === 'and' ? [...node.of] : [node]
  }
  const { name, operator, value, useScaledValue, sameElement, operatorParameters } = condition
  const names = [...around, name]
  const isScaled = scaled || useScaledValue === true
  if (operator === 'Inspect') {
    const inner = (operatorParameters ?? []).flatMap(inner => flattenCondition(to, names, isScaled, inner))
    return sameElement ? onSameElement(attributeSteps(to.kind, names), inner) : inner
  }
  const operands = value === undefined || isListValue(value) ? [] : typeof value === 'string' ? [value] : value
  return [
    Object.freeze({
      op: 'compare',
      kind: to.kind,
      steps: Object.freeze(attributeSteps(to.kind, names)),
      ...OPERATOR_MEANINGS[operator],
      operands: Object.freeze(operands.map(operandOf)),
      ...(isListValue(value) && { list: to.lists(value.list) }),
      scaled: isScaled,
    }),
  ]
}

/** Conditions that follow for any elements come first, as the matcher finds rules by them. */
const onSameElement = (steps: readonly string[], inner: readonly ConditionNode[]): ConditionNode[] => {
  const all = inner as readonly ElementCondition[]
  const follows = (node: ConditionNode): boolean =>
    node.op === 'compare'
      ? entersElements(node.steps[steps.length] ?? '')
      : 'of' in node && [node.of].flat().every(follows)
  const before = inner.filter(node => !hasNegation(node) && follows(node))
  return [...before, Object.freeze({ op: 'element', steps, all })]
}

const hasNegation = (node: ConditionNode): boolean => node.op === 'not' || ('of' in node && node.of.some(hasNegation))

const joinConditions = (op: 'and' | 'or', of: readonly ConditionNode[]): ConditionNode => {
  const all = of.flatMap(inner => (inner.op === op ? inner.of : [inner]))
  const flat = op === 'or' ? withEqualsJoined(all) : all
  return flat.length === 1 ? flat[0]! : Object.freeze({ op, of: Object.freeze(flat) })
}

/** Equalities of one attribute as one with several operands, which is looked up. */
const withEqualsJoined = (nodes: readonly ConditionNode[]): ConditionNode[] => {
  const places = new Map<string, number>()
  const joined: ConditionNode[] = []
  for (const node of nodes) {
    const name =
      node.op === 'compare' && node.how === 'equal' && !node.list
        ? JSON.stringify([node.steps, node.ignoreCase, node.scaled])
        : ''
    const before = joined[places.get(name) ?? -1]
    if (node.op === 'compare' && before?.op === 'compare')
      joined[places.get(name)!] = Object.freeze({ ...before, operands: [...before.operands, ...node.operands] })
    else {
      if (name !== '') places.set(name, joined.length)
      joined.push(node)
    }
  }
  return joined
}

/** Not below what is negated twice, which the matcher finds by its keys then. */
const negation = (node: ConditionNode): ConditionNode => {
  if (node.op === 'not') return node.of
  if (node.op === 'or' && node.of.some(({ op }) => op === 'not')) return joinConditions('and', node.of.map(negation))
  return Object.freeze({ op: 'not', of: node })
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
export const toQuery = (kind: Kind, conditions: readonly ConditionNode[], leaf = withHint): Node =>
  andNode(conditions.map(condition => queryOfCondition(kind, condition, leaf)))

/** The same without hints, to test documents one by one. */
export const toDocumentQuery = (kind: Kind, conditions: readonly ConditionNode[]): Node =>
  toQuery(kind, conditions, (_, condition) => condition)

const withHint = (kind: Kind, condition: CompareNode): Node => {
  const { node, exact } = hintOf(kind, condition)
  return exact ? node : andNode([node, condition])
}

const queryOfCondition = (kind: Kind, condition: ConditionNode, leaf: typeof withHint): Node => {
  switch (condition.op) {
    case 'and':
      return toQuery(kind, condition.of, leaf)
    case 'or':
      return orNode(condition.of.map(inner => queryOfCondition(kind, inner, leaf)))
    case 'not':
      return notNode(queryOfCondition(kind, condition.of, leaf))
    case 'element':
      return condition
    case 'compare':
      return leaf(kind, condition)
  }
}
