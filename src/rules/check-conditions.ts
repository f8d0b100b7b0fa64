import { isRecord } from '../lib/arrays.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { parseExact } from '../query/exact.ts'
import { shortenText } from '../query/json.ts'
import { argumentTypesOf, isListPosition, type OwnAbis, type TypesAt } from './argument-types.ts'
import { checkAttribute, checkOutermost, leadsToArgument, leadsToElements } from './attributes.ts'
import { checkDistinct } from './check-alerts.ts'
import {
  checkBoolean,
  checkByteLength,
  checkFilled,
  checkList,
  checkObject,
  checkOneOf,
  checkString,
  elementsUnlike,
  type InputPlace,
  quotedList,
  reportExpected,
} from './input.ts'
import {
  kindOfTarget,
  LOGIC_OPERATORS,
  type LogicCondition,
  RULE_OPERATORS,
  type RuleCondition,
  type RuleOperator,
  type TargetType,
} from './rule.ts'
import { unsatisfiableTest } from './unsatisfiable.ts'

/** Checks a rule's `targetMap`. `target` is undefined if it is faulty. */
export const checkConditions = (
  place: InputPlace,
  target: TargetType | undefined,
  { limits, isKept, abis, hasList }: Pick<ConditionContext, 'limits' | 'isKept' | 'hasList'> & { abis: OwnAbis },
): void => {
  const counts = countRuleConditions(place.value)
  const over = (['ruleConditions', 'ruleValues'] as const).filter(limit => counts[limit] > limits[limit])
  for (const limit of over) place.fault(overLimit(limit, limits, place.label).message)
  // A list that is too long is not looked through.
  if (over.length > 0) return
  const targets = [...checkList(place, { of: 'conditions', min: 1, max: 10 })]
  const typesAt =
    target === undefined || target === 'State'
      ? undefined
      : argumentTypesOf({ targetType: target, targetMap: place.value as RuleCondition[] }, abis)
  for (const it of targets)
    checkCondition(it, 1, {
      target,
      steps: [],
      scaled: false,
      sameElement: false,
      logic: [],
      limits,
      isKept,
      hasList,
      typesAt,
    })
  checkDistinct(targets)
}

/** Counts conditions of all levels, and the values that they compare with. */
const countRuleConditions = (targetMap: unknown): { ruleConditions: number; ruleValues: number } => {
  const counts = { ruleConditions: 0, ruleValues: 0 }
  let level = elementsOrNone(targetMap)
  for (let depth = 1; depth <= 3 + MAX_LOGIC && level.length > 0; depth++) {
    counts.ruleConditions += level.length
    const records = level.filter(isRecord)
    for (const { value } of records) counts.ruleValues += elementsOrNone(value).length
    level = records.flatMap(({ operatorParameters }) => elementsOrNone(operatorParameters))
  }
  return counts
}

const elementsOrNone = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

interface ConditionContext {
  /** Undefined if it is faulty. */
  target: TargetType | undefined
  steps: readonly string[]
  scaled: boolean
  /** Whether it is about one element of a list. */
  sameElement: boolean
  /** The operators of logic around it. */
  logic: readonly LogicCondition['operator'][]
  limits: Limits
  /** Stored conditions are not refused for values that never match. */
  isKept: boolean
  /** Whether the account has a watch list. */
  hasList: ((name: string) => boolean) | undefined
  typesAt: TypesAt | undefined
}

const CONDITION_MEMBERS = ['name', 'operator', 'value', 'sameElement', 'operatorParameters'] as const
const SECOND_LEVEL_MEMBERS = [
  'name',
  'operator',
  'value',
  'useScaledValue',
  'sameElement',
  'operatorParameters',
] as const
const COMPARING_OPERATORS = RULE_OPERATORS.filter(it => it !== 'Inspect')
const WITH_LIST: readonly (RuleOperator | undefined)[] = ['Equals any', 'Equals any (ignore case)']
const WITH_ARGS: readonly TargetType[] = ['Event', 'Call', 'Method', 'State']

const checkCondition = (place: InputPlace, level: 1 | 2 | 3, around: ConditionContext) => {
  const { target, steps, logic } = around
  const logical = LOGIC_OPERATORS.find(it => isRecord(place.value) && it === place.value.operator)
  if (logical !== undefined) return checkLogic(place, logical, level, around)
  const known = level === 2 ? SECOND_LEVEL_MEMBERS : CONDITION_MEMBERS
  if (!checkObject(place, { what: 'a condition', known, elsewhere: ELSEWHERE })) return
  const name = checkFilled(place.member('name'))
  const { limits, isKept } = around
  checkByteLength(place.member('name'), 'ruleValue', limits)
  const operator = operatorAt(place.member('operator'), level)
  const isList = isRecord(place.member('value').value)
  if (isList) watchListAt(place.member('value'), operator, around)
  else operandAt(place.member('value'), operator)
  for (const it of longOperands(place.member('value'), limits)) checkByteLength(it, 'ruleValue', limits)
  const scaled = level === 2 ? scaledAt(place.member('useScaledValue'), around) : around.scaled
  if (scaled && isList)
    place.member('useScaledValue').fault('A watch list is not compared in units of a token: leave useScaledValue out.')
  else if (scaled) numericAt(place.member('value'), operator)

  const unknown =
    target && name !== undefined && operator === 'Inspect' && level === 1 ? checkOutermost(target, name) : undefined
  if (unknown !== undefined) place.member('name').fault(unknown)
  // An unknown attribute hides the faults inside.
  const inside = unknown === undefined && name !== undefined
  const sameElement = sameElementAt(place, { ...around, steps: inside ? [...steps, name] : [] })
  const way: ConditionContext = inside
    ? { ...around, steps: [...steps, name], scaled, sameElement }
    : { ...around, target: undefined, steps: [], scaled, sameElement }
  if (inside && around.sameElement && isListPosition(name)) {
    // Types are known of places in the list, which are not meant.
    way.typesAt = undefined
    if (target !== undefined && target !== 'State' && !leadsToArgument(kindOfTarget(target), steps))
      place.member('name').fault('sameElement looks at each element: leave its position out.')
  }
  const inner = place.member('operatorParameters')
  const inspects = operator === 'Inspect' || (operator === undefined && Array.isArray(inner.value))
  if (inspects && level !== 3) {
    const min = operator === 'Inspect' ? 1 : 0
    const parameters = checkList(inner, { of: 'conditions on what is inspected', min })
    for (const parameter of parameters) checkCondition(parameter, level === 1 ? 2 : 3, way)
  } else if (operator !== undefined && inner.value !== undefined && inner.value !== null)
    reportExpected(
      inner,
      'null or left out',
      `Only "Inspect" takes it${level === 3 ? ', and the third level is the last' : ''}.`,
    )

  if (way.target === undefined || inspects) return
  const complaint = checkAttribute(way.target, way.steps)
  if (complaint !== undefined) place.member('name').fault(complaint)
  // Scaled values were checked above.
  else if (operator !== undefined && !isKept && way.typesAt && !scaled)
    possibleAt(
      place.member('value'),
      unsatisfiableTest(way.target, way.steps, operator, way.typesAt),
      WITHOUT_EFFECT[logic.at(-1) ?? 'none'],
    )
}

/** Whether conditions are about one element of a list, in which a tuple or an object is looked into. */
const sameElementAt = (condition: InputPlace, { target, steps, sameElement }: ConditionContext): boolean => {
  const place = condition.member('sameElement')
  if (place.value === undefined || checkBoolean(place) !== true) return sameElement
  if (condition.member('operator').value !== 'Inspect') place.fault('Only "Inspect" takes sameElement: leave it out.')
  else if (sameElement) place.fault('An "Inspect" around it has sameElement already: leave it out here.')
  else if (target === 'State') place.fault('Readings of state are not compared by element: leave sameElement out.')
  else if (target !== undefined && steps.length > 0 && !leadsToElements(kindOfTarget(target), steps))
    place.fault('sameElement needs a list: an argument that is an array of tuples, or a list of objects.')
  return true
}

/** Refuses values that never match, or would be compared as text. */
const possibleAt = (place: InputPlace, impossible: ReturnType<typeof unsatisfiableTest>, effect: string) => {
  const found = (value: unknown) => (typeof value === 'string' ? impossible(value) : undefined)
  for (const it of found(place.value) ? [place] : elementsUnlike(place, value => found(value) === undefined)) {
    const { must, remedy, asText } = found(it.value)!
    reportExpected(it, must, asText ? remedy : `${remedy} ${effect}`.trim())
  }
}

/** What a condition does that never holds, by the operator around it. */
const WITHOUT_EFFECT = {
  none: 'Nothing would ever match.',
  Or: 'The alternative would never hold.',
  Not: 'It would exclude nothing.',
}

/** `Or` and `Not` inside each other. */
const MAX_LOGIC = 5

const checkLogic = (
  place: InputPlace,
  operator: LogicCondition['operator'],
  level: 1 | 2 | 3,
  around: ConditionContext,
) => {
  const named = { name: `"${operator}" has no name: name what its conditions compare.` }
  const elsewhere = { ...named, value: `"${operator}" compares nothing itself: it has operatorParameters.` }
  const tolerated = ['name', 'value'].filter(it => (place.member(it).value ?? null) === null)
  checkObject(place, { what: `"${operator}"`, known: LOGIC_MEMBERS, tolerated, elsewhere })
  const logic = [...around.logic, operator]
  if (logic.length > MAX_LOGIC)
    return place.fault(`"Or" and "Not" are nested more than ${MAX_LOGIC} deep: make it flatter.`)
  for (const it of checkList(place.member('operatorParameters'), { of: 'conditions', min: 1 }))
    checkCondition(it, level, { ...around, logic })
}

const LOGIC_MEMBERS = ['operator', 'operatorParameters'] as const

const ELSEWHERE = {
  useScaledValue:
    'useScaledValue belongs to conditions of the second level, which compare an argument: remove it here.',
}

const operatorAt = (place: InputPlace, level: 1 | 2 | 3): RuleOperator | undefined => {
  // Those of logic were checked before.
  if (level < 3) return checkOneOf(place, [...RULE_OPERATORS, ...LOGIC_OPERATORS], 'an operator') as RuleOperator
  if (place.value !== 'Inspect')
    return checkOneOf(place, [...COMPARING_OPERATORS, ...LOGIC_OPERATORS], 'an operator') as typeof place.value &
      Exclude<RuleOperator, 'Inspect'>
  return reportExpected(place, 'another operator', 'The third level is the last: it compares.')
}

const operandAt = (place: InputPlace, operator: RuleOperator | undefined) => {
  const { value } = place
  if (operator === undefined) return
  // Inspect has no operand, but clients that fill every property send null.
  if (operator === 'Inspect' && (value === undefined || value === null)) return
  if (!WITH_LIST.includes(operator)) {
    const instead = operator === 'Equals (ignore case)' ? 'Equals any (ignore case)' : 'Equals any'
    if (Array.isArray(value))
      reportExpected(
        place,
        `a string with "${operator}"`,
        operator.startsWith('Equals') ? `"${instead}" takes a list.` : '',
      )
    else checkString(place, `a string with "${operator}"`)
  } else if (typeof value === 'string')
    reportExpected(
      place,
      `a list of strings with "${operator}"`,
      `Put it in brackets, or use "${operator.replace(' any', '')}".`,
    )
  else if (!Array.isArray(value)) reportExpected(place, `a list of strings with "${operator}"`)
  else for (const it of elementsUnlike(place, isString)) checkString(it)
}

/** The name of a watch list in the place of values. */
const watchListAt = (place: InputPlace, operator: RuleOperator | undefined, { hasList, isKept }: ConditionContext) => {
  if (!checkObject(place, { what: 'a watch list', known: ['list'] })) return
  const name = checkFilled(place.member('list'), 'the name of a watch list')
  if (operator !== undefined && !WITH_LIST.includes(operator))
    reportExpected(
      place,
      `a string with "${operator}"`,
      `A watch list goes with ${quotedList(WITH_LIST as string[], 'or')}.`,
    )
  else if (name !== undefined && !isKept && hasList?.(name) === false)
    place.member('list').fault(`This account has no list ${shortenText(JSON.stringify(name))}: create it first.`)
}

/** Values that may be too long: many short ones cost only a look at each. */
const longOperands = (place: InputPlace, { ruleValue: most }: Limits): Iterable<InputPlace> => {
  const isShort = (value: unknown) => typeof value === 'string' && value.length * MAX_UTF8_BYTES <= most
  return Array.isArray(place.value) ? elementsUnlike(place, isShort) : [place]
}

/** Most bytes of a UTF-16 code unit in UTF-8. */
const MAX_UTF8_BYTES = 3

const scaledAt = (place: InputPlace, { target, steps }: ConditionContext): boolean => {
  if (place.value === undefined || checkBoolean(place) !== true) return false
  const list = target === 'State' ? 'result' : 'args'
  if ((target !== undefined && !WITH_ARGS.includes(target)) || (steps.length > 0 && steps[0] !== list))
    place.fault(
      `useScaledValue can be true only for arguments, which are the "${list}" of ${target === 'State' ? '"State"' : quotedList(WITH_ARGS.slice(0, 3))}: leave it out.`,
    )
  return true
}

const numericAt = (place: InputPlace, operator: RuleOperator | undefined) => {
  if (operator === undefined || operator === 'Inspect') return
  // Values that are not text were reported above.
  const numeric = (operand: unknown) => typeof operand !== 'string' || parseExact(operand) !== undefined
  for (const operand of numeric(place.value) ? elementsUnlike(place, numeric) : [place])
    reportExpected(operand, 'a decimal or 0x-hex number, since useScaledValue is true', 'Write an amount as "1000.5".')
}

const isString = (value: unknown) => typeof value === 'string'
