import { checksumAddress, isChecksummed } from '../lib/keccak.ts'
import { type Kind, lookup, nestedPaths } from '../mapping/index.ts'
import type { Compare, Node } from '../query/ast.ts'
import { operandOf } from '../query/compare.ts'
import { cut } from '../query/cut.ts'
import { and } from '../query/simplify.ts'
import { stepsOf } from './attributes.ts'
import { hintOf } from './hints.ts'
import { type Condition, type Operator, type RuleConfig, TARGET_KINDS } from './rule.ts'

/** All that must hold for an entity to match the rule. */
export const lower = ({ targetType, targetMap }: RuleConfig): Compare[] => {
  const kind = TARGET_KINDS[targetType]
  const conditions = targetMap.flatMap(condition => flatten(kind, [], false, condition))
  return targetType === 'Method' ? [...conditions, TOP_LEVEL] : conditions
}

/** A method is called by a transaction itself. */
const TOP_LEVEL: Compare = Object.freeze({
  op: 'compare',
  kind: 'call',
  steps: Object.freeze(['depth']),
  how: 'equal',
  operands: Object.freeze([operandOf('0')]),
  ignoreCase: false,
  scaled: false,
})

/** An `Inspect` only makes the way longer. */
const flatten = (kind: Kind, around: readonly string[], scaled: boolean, condition: Condition): Compare[] => {
  const { name, operator, value, useScaledValue, operatorParameters } = condition
  const names = [...around, name]
  const isScaled = scaled || useScaledValue === true
  if (operator === 'Inspect') return (operatorParameters ?? []).flatMap(inner => flatten(kind, names, isScaled, inner))
  const operands = value === undefined ? [] : typeof value === 'string' ? [value] : value
  return [
    Object.freeze({
      op: 'compare',
      kind,
      steps: Object.freeze(stepsOf(kind, names)),
      ...OPERATORS[operator],
      operands: Object.freeze(operands.map(operandOf)),
      scaled: isScaled,
    }),
  ]
}

const OPERATORS = {
  Greater: { how: 'greater', ignoreCase: false },
  'Greater or Equal': { how: 'greaterOrEqual', ignoreCase: false },
  Less: { how: 'less', ignoreCase: false },
  'Less or Equal': { how: 'lessOrEqual', ignoreCase: false },
  Equals: { how: 'equal', ignoreCase: false },
  'Equals (ignore case)': { how: 'equal', ignoreCase: true },
  'Equals any': { how: 'equal', ignoreCase: false },
  'Equals any (ignore case)': { how: 'equal', ignoreCase: true },
} as const satisfies Record<Exclude<Operator, 'Inspect'>, Pick<Compare, 'how' | 'ignoreCase'>>

/** The conditions as a query: what indexes can tell of each goes before it, and stands in its place where that is all of it. */
export const toQuery = (kind: Kind, conditions: readonly Compare[]): Node =>
  and(
    conditions.flatMap((condition): Node[] => {
      const { node, exact } = hintOf(kind, condition)
      return exact ? [node] : [node, condition]
    }),
  )

/** A sentence of warning where a condition, or one of its operands, is such that nothing ever matches it. */
export const neverMatches = (kind: Kind, condition: Compare): string | undefined => {
  const { steps, how, operands, ignoreCase, scaled } = condition
  const path = cut(steps.join('.'))
  const isArgument = nestedPaths(kind).includes(steps[0] ?? '')
  if (scaled && !isArgument) return `${path} has no scaled value, because only arguments have one: nothing matches.`
  const isAddress = lookup(kind, path)?.kind === 'address' || (isArgument && steps.length === 2 && !scaled)
  const wrong = operands.find(({ text }) => ADDRESS.test(text) && !isChecksummed(text))?.text
  if (how === 'equal' && !ignoreCase && isAddress && wrong !== undefined) {
    const right = checksumAddress(wrong.toLowerCase())
    return `${path}: no address is written as ${wrong}, because addresses are compared with the letter case of EIP-55. Write ${right}, or use "Equals (ignore case)".`
  }
  if (hintOf(kind, condition).node.op !== 'none') return undefined
  const shown = operands.map(({ text }) => JSON.stringify(cut(text))).join(', ')
  const remedy = operands.some(({ text }) => HEX.test(text)) && !ignoreCase && how === 'equal'
  return `${path} is never ${SAID[how]} ${cut(shown)}: nothing matches.${remedy ? ' Hex is in lower case: use "Equals (ignore case)" for other letter cases.' : ''}`
}

const ADDRESS = /^0x[0-9a-f]{40}$/i
/** Hex that would be found in lower case. */
const HEX = /^0x[0-9a-f]*[A-F][0-9a-fA-F]*$/

const SAID = {
  equal: 'equal to',
  greater: 'greater than',
  greaterOrEqual: 'greater than or equal to',
  less: 'less than',
  lessOrEqual: 'less than or equal to',
} as const satisfies Record<Compare['how'], string>
