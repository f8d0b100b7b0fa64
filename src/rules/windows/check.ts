import { isRecord } from '../../lib/arrays.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { parseExact } from '../../query/exact.ts'
import { AGGREGATES, WINDOW_OPERATORS, type WindowCondition } from '../../windows/spec.ts'
import { canonicalKey, holdsForNone } from '../../windows/window.ts'
import { checkAttribute } from '../attributes.ts'
import { checkDistinct } from '../check-alerts.ts'
import {
  checkByteLength,
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOneOf,
  checkOptional,
  type InputPlace,
  reportExpected,
} from '../input.ts'
import type { TargetType } from '../rule.ts'
import { checkAcross } from './check-across.ts'

export { AGGREGATES, WINDOW_OPERATORS }

export interface WhenContext {
  target: TargetType | undefined
  limits: Limits
  /** The pattern of the rule's networks; undefined if it has faults. */
  network: string | undefined
  /** Checks the conditions of a step. */
  checkTargetMap(place: InputPlace, target: TargetType | undefined): void
}

export const MAX_BY = 3
const MAX_CONDITIONS = 4
/** Windows that one is compared with. */
const MAX_COMPARED = 100
/** The longest windows. */
const LONGEST_WINDOW = { blocks: 1_000_000, seconds: 90 * 86_400 }

const WITH_STEPS = { until: '"until" goes with steps: leave it out.' }

/** Checks `when`: windows over the matches of a rule. */
export const checkWhen = (place: InputPlace, context: WhenContext): void => {
  const known = ['by', 'keys', 'within', 'conditions', 'hold', 'resolve', 'across']
  if (!checkObject(place, { what: 'when', known, elsewhere: WITH_STEPS })) return
  const by = place.member('by')
  const keys = place.member('keys')
  const names = Array.isArray(by.value) ? by.value.length : 0
  checkOptional(by, it => {
    const all = [...checkList(it, { of: 'names', max: MAX_BY })]
    for (const name of all) checkFieldName(name, context)
    checkDistinct(all)
  })
  checkOptional(keys, it => checkKeys(it, names, context))
  checkSpan(place.member('within'), 'within')
  checkAcross(place, [], context.network)
  const conditions = place.member('conditions')
  const all = [...checkList(conditions, { of: 'conditions', min: 1, max: MAX_CONDITIONS })]
  const within = place.member('within').value
  for (const it of all) checkWindowCondition(it, context, within, true)
  checkDistinct(all)
  const firsts = all.filter(({ value }) => isRecord(value) && value.aggregate === 'First')
  for (const it of firsts.slice(1)) it.fault(`${it.label} is a second "First": a rule has one of them at most.`)
  checkOptional(place.member('hold'), it => {
    if (firsts.length > 0)
      return it.fault('"First" holds in one block only, so nothing could hold for longer: leave hold out.')
    checkSpan(it, 'hold')
  })
  checkOptional(place.member('resolve'), it => {
    if (firsts.length > 0)
      return it.fault('"First" has no episode, which resolve could end: each first value is one alert.')
    const ends = [...checkList(it, { of: 'conditions', min: 1, max: MAX_CONDITIONS })]
    for (const end of ends) checkWindowCondition(end, context, within, false)
    checkDistinct(ends)
  })
  if (names === 0 || keys.value !== undefined) return
  for (const it of all)
    if (isRecord(it.value) && holdsForNone(it.value as unknown as WindowCondition))
      it.fault(
        `${it.label} holds where nothing matched, and of what never matched the rule knows no value: name those to watch in keys, or leave by out.`,
      )
}

const checkKeys = (place: InputPlace, names: number, { limits }: WhenContext) => {
  if (names !== 1) place.fault(`keys are values of the only name in by, which has ${names}.`)
  if (Array.isArray(place.value) && place.value.length > limits.ruleValues)
    return place.fault(overLimit('ruleValues', limits, place.label).message)
  const seen = new Set<string>()
  for (const it of checkList(place, { of: 'values', min: 1 })) {
    const key = checkFilled(it)
    if (key === undefined || !checkByteLength(it, 'ruleValue', limits)) continue
    if (seen.has(canonicalKey(key))) it.fault(`${it.label} is in the list twice: leave it out.`)
    seen.add(canonicalKey(key))
  }
}

export const checkSpan = (place: InputPlace, what: string) => {
  if (!checkObject(place, { what, known: ['blocks', 'seconds'] })) return
  const parts = (['blocks', 'seconds'] as const).map(name => ({ name, it: place.member(name) }))
  const given = parts.filter(({ it }) => it.value !== undefined)
  if (given.length !== 1) place.fault(`${place.label} must have either "blocks" or "seconds".`)
  for (const { name, it } of given) checkInteger(it, { min: 1, max: LONGEST_WINDOW[name] })
}

const checkWindowCondition = (place: InputPlace, context: WhenContext, within: unknown, mayBeFirst: boolean) => {
  const known = ['aggregate', 'name', 'operator', 'value', 'relativeTo']
  if (!checkObject(place, { what: 'a condition of windows', known })) return
  checkOptional(place.member('relativeTo'), it => checkRelative(it, place.member('aggregate'), within))
  const allowed = AGGREGATES.filter(it => mayBeFirst || it !== 'First')
  const aggregate = checkOneOf(place.member('aggregate'), allowed, 'one of')
  const [name, operator, value] = ['name', 'operator', 'value'].map(it => place.member(it)) as [
    InputPlace,
    InputPlace,
    InputPlace,
  ]
  if (aggregate === 'Count') {
    if (name.value !== undefined) reportExpected(name, 'left out', '"Count" counts matches.')
  } else if (aggregate !== undefined) checkFieldName(name, context)
  if (aggregate === 'First') {
    for (const it of [operator, value])
      if (it.value !== undefined) reportExpected(it, 'left out', '"First" compares nothing.')
    return
  }
  checkOneOf(operator, WINDOW_OPERATORS, 'an operator')
  const text = checkByteLength(value, 'ruleValue', context.limits) ? checkFilled(value, 'a number as text') : undefined
  if (text !== undefined && parseExact(text) === undefined)
    reportExpected(value, 'a decimal or 0x-hex number', 'Write an amount as "1000.5".')
}

const checkRelative = (place: InputPlace, aggregate: InputPlace, within: unknown) => {
  if (aggregate.value !== 'Count' && aggregate.value !== 'Sum')
    return place.fault('relativeTo goes with "Count" and "Sum", which add up over windows: leave it out.')
  if (!checkObject(place, { what: 'relativeTo', known: ['windows'] })) return
  const windows = place.member('windows')
  checkInteger(windows, { min: 1, max: MAX_COMPARED })
  for (const unit of ['blocks', 'seconds'] as const) {
    const length = isRecord(within) ? Number(within[unit]) : Number.NaN
    if (length * (Number(windows.value) + 1) > LONGEST_WINDOW[unit])
      windows.fault(
        `These windows reach back more than ${LONGEST_WINDOW[unit]} ${unit} together: compare with fewer, or make within shorter.`,
      )
  }
}

export const checkFieldName = (place: InputPlace, { target, limits }: Pick<WhenContext, 'target' | 'limits'>) => {
  const name = checkFilled(place, 'the name of a field')
  if (name === undefined || !checkByteLength(place, 'ruleValue', limits) || target === undefined) return
  const complaint = checkAttribute(target, [name])
  if (complaint !== undefined) place.fault(complaint)
}
