import { checksumAddress } from '../lib/keccak.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { nestedPaths } from '../mapping/index.ts'
import type { CompareNode, CompareOperand } from '../query/ast.ts'
import { operandOf } from '../query/compare.ts'
import { parseExact } from '../query/exact.ts'
import { shortenText } from '../query/json.ts'
import { argumentTypesOf, isListPosition, type OwnAbis, type TypesAt } from './argument-types.ts'
import { attributeSteps } from './attributes.ts'
import { quotedList } from './input.ts'
import { OPERATOR_MEANINGS } from './lower.ts'
import { type AttributeField, findAttributeField, hintOf } from './prefilter.ts'
import {
  isListValue,
  isLogic,
  kindOfTarget,
  type RuleCondition,
  type RuleConfig,
  type RuleOperator,
  type TargetType,
} from './rule.ts'
import { lookedFor } from './windows/steps.ts'

/** Requirement on a value, and what to write instead. */
export interface Unsatisfiable {
  must: string
  remedy: string
  /** Set if numbers would be compared as text, which is never intended. */
  asText?: true
}

/** Makes a test of the values of one condition. */
export const unsatisfiableTest = (
  targetType: TargetType,
  names: readonly string[],
  operator: Exclude<RuleOperator, 'Inspect'>,
  typesAt: TypesAt,
): ((value: string) => Unsatisfiable | undefined) => {
  const kind = kindOfTarget(targetType)
  const steps = attributeSteps(kind, names)
  const meaning = OPERATOR_MEANINGS[operator]
  if (nestedPaths(kind).includes(steps[0] ?? '')) {
    // A condition may have thousands of values.
    let integers: boolean | undefined
    return value => {
      if (isNumberText(value)) return undefined
      integers ??= areIntegers(typesAt(steps.slice(1)))
      return integers ? notNumber(value, meaning.how) : undefined
    }
  }
  const at = findAttributeField(kind, steps)
  if (at === undefined) return () => undefined
  const node = { op: 'compare', kind, steps, ...meaning, scaled: false } as const
  return value => whyNever(at, { ...node, operands: [operandOf(value)] })
}

const MAX_WARNINGS = 20
/** Conditions of one rule that are checked. Programs write far more of them. */
const MAX_LOOKED_AT = 50

/**
 * Warnings of values that never match, which an earlier version may have stored, and of texts that
 * are compared with numbers.
 */
export const findUnsatisfiable = (config: RuleConfig, own: OwnAbis): string[] =>
  lookedFor(config)
    .flatMap(one => unsatisfiableIn(one, own))
    .slice(0, MAX_WARNINGS)

const unsatisfiableIn = (config: RuleConfig, own: OwnAbis): string[] => {
  const { targetType, targetMap } = config
  // Faults of these are refused.
  if (targetType === 'State') return []
  const typesAt = argumentTypesOf(config, own)
  const found: string[] = []
  for (const { names, operator, value = [] } of comparisonsIn(targetMap, []).slice(0, MAX_LOOKED_AT)) {
    const impossible = unsatisfiableTest(targetType, names, operator, typesAt)
    for (const one of typeof value === 'string' ? [value] : isListValue(value) ? [] : value) {
      const why = impossible(one)
      const [name, shown] = [shortenText(names.join('.')), shortenText(JSON.stringify(one))]
      if (why?.asText || isDoubtfulComparison(targetType, names, operator, one, typesAt))
        found.push(`${name} is compared with ${shown} as text, since that is not a number. ${remedyFor(one)}`)
      else if (why !== undefined)
        found.push(`${name} never matches ${shown}: the value must be ${why.must}. ${why.remedy}`.trim())
      if (found.length === MAX_WARNINGS) return found
    }
  }
  return found
}

/** Whether an argument of unknown type is compared by size with a text. */
const isDoubtfulComparison = (
  targetType: TargetType,
  names: readonly string[],
  operator: RuleOperator,
  value: string,
  typesAt: TypesAt,
): boolean => {
  if (operator.startsWith('Equals') || isNumberText(value)) return false
  const kind = kindOfTarget(targetType)
  const [list = '', ...steps] = attributeSteps(kind, names)
  if (!nestedPaths(kind).includes(list)) return false
  const types = typesAt(steps)
  return types === undefined || [...types].some(isIntegerArgumentType)
}

const isNumberText = (text: string): boolean => parseExact(text) !== undefined
const isIntegerArgumentType = (type: string): boolean => /^u?int\d+$/.test(type)
const areIntegers = (types: ReadonlySet<string> | undefined): boolean =>
  types !== undefined && [...types].every(isIntegerArgumentType)

const notNumber = (text: string, how: CompareNode['how'], must = 'a number'): Unsatisfiable => ({
  must,
  remedy: remedyFor(text),
  ...(how !== 'equal' && { asText: true }),
})

/** Suggests how to write a number, for example without separators. */
const remedyFor = (text: string): string => {
  const plain = text.trim().replace(SEPARATORS, '')
  return plain !== text && isNumberText(plain)
    ? `Write "${shortenText(plain)}".`
    : 'Write decimal digits without separators or units, or 0x-hex.'
}

const SEPARATORS = /(?<=^[+-]?\d{1,3}(?:[,_'\s]\d{3})*)[,_'\s](?=\d{3}(?!\d))/g

const comparisonsIn = (
  conditions: readonly RuleCondition[],
  around: readonly string[],
): { names: string[]; operator: Exclude<RuleOperator, 'Inspect'>; value: RuleCondition['value'] }[] =>
  conditions.flatMap(condition => {
    if (isLogic(condition)) return comparisonsIn(condition.operatorParameters, around)
    const { name, operator, value, sameElement, operatorParameters } = condition
    const names = [...around, name]
    if (operator !== 'Inspect') return [{ names, operator, value }]
    const inner = comparisonsIn(operatorParameters ?? [], names)
    // Types are known of places in the list, which are not meant.
    return sameElement ? inner.filter(it => !isListPosition(it.names[names.length]!)) : inner
  })

const whyNever = (at: AttributeField, compare: CompareNode): Unsatisfiable | undefined => {
  const [operand] = compare.operands
  const { field } = at
  if (compare.how !== 'equal' && operand!.number === undefined && ORDERED_KINDS.has(at.fieldKind))
    return notNumber(operand!.text, compare.how, at.fieldKind === 'seconds' ? SECONDS : undefined)
  if (compare.how !== 'equal') return hintOf(at.kind, compare).node.op === 'none' ? outOfRange(at, compare) : undefined
  const { text } = operand!
  const isHex = HEX_PATTERN.test(text)
  if (field.bytes !== undefined && !(isHex && text.length === 2 + 2 * field.bytes))
    return { must: `0x and the ${2 * field.bytes} hex digits of ${field.bytes} bytes`, remedy: describeLength(text) }
  if (field.values) return outOfList(field.values, text, compare.ignoreCase)
  const [, name] = (field.identifier && WITH_ARGUMENTS.exec(text)) || []
  if (name !== undefined) return { must: 'a name without its arguments', remedy: `Write "${shortenText(name)}".` }
  if (NUMBER_KINDS.has(at.fieldKind) && operand!.number === undefined) return notNumber(text, compare.how)
  return hintOf(at.kind, compare).node.op === 'none' ? unlike(at, operand!) : undefined
}

const HEX_PATTERN = /^0x[0-9a-f]*$/i
const ADDRESS_PATTERN = /^0x[0-9a-f]{40}$/i
const WITH_ARGUMENTS = /^([A-Za-z_$][\w$]*)\(/
/** Kinds of number of which the index knows too little. */
const NUMBER_KINDS: ReadonlySet<string> = new Set(['long', 'integers', 'integer256', 'decimal', 'hexNumber'])
const ORDERED_KINDS: ReadonlySet<string> = new Set([...NUMBER_KINDS, 'quantity', 'wide', 'amount', 'double', 'seconds'])

const SECONDS = 'a time in whole seconds since 1970'

const describeLength = (text: string): string =>
  HEX_PATTERN.test(text) ? `It has ${text.length - 2} of them.` : 'It has other characters.'

const outOfList = (values: readonly string[], text: string, ignoreCase: boolean): Unsatisfiable | undefined => {
  const isOne = ignoreCase ? values.some(it => it.toLowerCase() === text.toLowerCase()) : values.includes(text)
  return isOne
    ? undefined
    : { must: `one of ${quotedList(values, 'or')}`, remedy: didYouMean(shortenText(text), values).trim() }
}

const outOfRange = (
  { kind, path }: AttributeField,
  { how, operands: [operand], steps }: CompareNode,
): Unsatisfiable => {
  const bound = shortenText(JSON.stringify(operand!.text))
  const shown = shortenText(steps.join('.'))
  return {
    must: `a value that ${shown} can be ${ORDER_WORDS[how as keyof typeof ORDER_WORDS]}`,
    remedy: `No ${path} of ${kind} documents is ${ORDER_WORDS[how as keyof typeof ORDER_WORDS]} ${bound}.`,
  }
}

const ORDER_WORDS = {
  greater: 'greater than',
  greaterOrEqual: 'greater than or equal to',
  less: 'less than',
  lessOrEqual: 'less than or equal to',
} as const satisfies Record<Exclude<CompareNode['how'], 'equal'>, string>

const unlike = ({ fieldKind, encoding, path }: AttributeField, { text, number }: CompareOperand): Unsatisfiable => {
  switch (fieldKind) {
    case 'address':
      return encoding === 'raw' && ADDRESS_PATTERN.test(text)
        ? {
            must: 'an address in the letter case of EIP-55',
            remedy: `Write "${checksumAddress(text.toLowerCase())}", or name ${path}, which takes any letter case.`,
          }
        : { must: 'an address, which is 0x and 40 hex digits', remedy: describeLength(text) }
    case 'hex':
    case 'hexList':
      return { must: 'hex, which is 0x and hex digits', remedy: '' }
    case 'boolean':
      return { must: '"true" or "false"', remedy: '' }
    case 'quantity':
    case 'wide':
    case 'amount':
      if (number === undefined) return notNumber(text, 'equal')
      return encoding === 'coin'
        ? { must: 'an amount of at least 0 with up to 18 decimals', remedy: '' }
        : {
            must: 'an integer of at least 0',
            remedy: fieldKind === 'amount' ? `${path}.coin takes fractions.` : '',
          }
    case 'seconds':
      return { must: SECONDS, remedy: '' }
    case 'datetime':
      return { must: 'a time such as "2024-05-17T12:00:00", or whole seconds since 1970', remedy: '' }
    case 'double':
      return { must: 'a number that a double holds exactly as it is written', remedy: '' }
    default:
      return { must: `a value that ${path} can have`, remedy: '' }
  }
}
