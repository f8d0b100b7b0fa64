import { createHash } from 'node:crypto'
import type { CompareNode } from '../query/ast.ts'
import type { ConditionNode } from './lower.ts'
import { isScaled } from './match-group.ts'

/** A rule's conditions by their sorted names, and the groups that it could be in. */
export interface RuleShape {
  nodes: ReadonlyMap<string, ConditionNode>
  choices: readonly GroupChoice[]
}

export interface GroupChoice {
  /** Equal for rules that differ in nothing but the operand of the bound. */
  name: string
  bound: CompareNode | undefined
}

/** Bounds of one rule that are considered: each costs a name as long as the rule. */
const MAX_BOUNDS = 10

export const ruleShape = (nodes: readonly ConditionNode[]): RuleShape => {
  const named = new Map(nodes.map(node => [conditionName(node), node]))
  const inOrder = new Map([...named.keys()].sort().map(name => [name, named.get(name)!]))
  const bounds = [...inOrder.values()].filter(isBound).slice(0, MAX_BOUNDS)
  const choices = bounds.length === 0 ? [undefined] : bounds
  return { nodes: inOrder, choices: choices.map(bound => ({ name: nameOfGroup(inOrder, bound), bound })) }
}

/** Amounts in whole tokens have no keys: an equality of them is a bound. */
const isBound = (node: ConditionNode): node is CompareNode =>
  node.op === 'compare' &&
  node.operands.length === 1 &&
  (node.how !== 'equal' || (isScaled(node) && node.operands[0]!.number !== undefined))

export const nameOfAttribute = ({ steps, scaled }: Pick<CompareNode, 'steps' | 'scaled'>): string =>
  `${JSON.stringify(steps)}${scaled ? 's' : ''}`

export const conditionName = (node: ConditionNode): string => {
  if (node.op === 'compare') return comparisonName(node)
  const of = node.op === 'element' ? node.all : node.op === 'not' ? [node.of] : node.of
  const names = [...new Set(of.map(conditionName))].sort()
  return shortName(`${node.op}${node.op === 'element' ? JSON.stringify(node.steps) : ''}(${names.join('\n')})`)
}

const comparisonName = (node: CompareNode): string =>
  `${nameOfAttribute(node)}${COMPARISON_SIGNS[node.how]}${node.ignoreCase ? 'i' : ''}${node.list ? `list ${node.list.name}` : JSON.stringify(node.operands.map(({ text }) => text))}`

const COMPARISON_SIGNS = {
  equal: '=',
  greater: '>',
  greaterOrEqual: '>=',
  less: '<',
  lessOrEqual: '<=',
} as const satisfies Record<CompareNode['how'], string>

const nameOfGroup = (nodes: RuleShape['nodes'], bound: CompareNode | undefined): string => {
  const names: string[] = []
  for (const [name, node] of nodes) if (node !== bound) names.push(name)
  if (bound !== undefined)
    names.push(
      `${nameOfAttribute(bound)}${COMPARISON_SIGNS[bound.how]}${bound.operands[0]!.number === undefined ? 'text' : 'number'}`,
    )
  return shortName(names.join('\n'))
}

const shortName = (name: string): string =>
  name.length <= MAX_SHAPE_NAME ? name : createHash('sha256').update(name).digest('base64')

/** Longer names are hashed, which saves memory for wide rules. */
const MAX_SHAPE_NAME = 400
