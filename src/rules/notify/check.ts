import { isRecord } from '../../lib/arrays.ts'
import { MAPPING } from '../../mapping/index.ts'
import { compareExact, exactOf, parseExact } from '../../query/exact.ts'
import { shortenText } from '../../query/json.ts'
import { leadsToAttribute } from '../attributes.ts'
import {
  checkBoolean,
  checkDistinctTexts,
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOneOf,
  checkOptional,
  type InputPlace,
} from '../input.ts'
import { type NotifyConfig, TARGET_KINDS, type TargetType } from '../rule.ts'
import { stateAttributeFault } from '../state/fields.ts'
import { checkSpan } from '../windows/check.ts'

interface NotifyContext {
  target: TargetType | undefined
  when: InputPlace
  /** Those of the rule, which the target `State` shows. */
  conditions: InputPlace
  hasWindows: boolean
  /** Of these the alerts do not end. */
  hasSteps: boolean
}

type NotifyCheck = (place: InputPlace, context: NotifyContext) => void

const MAX_QUIET_NAMES = 3
/** Longest spans, for which the store keeps what it must remember. */
export const MAX_QUIET = { blocks: 1_000_000, seconds: 30 * 86_400 }

const checkQuiet: NotifyCheck = (place, { target, hasWindows }) => {
  if (hasWindows)
    return place.fault(
      `${place.label} is not supported beside "when", whose alerts come once for each key: leave it out.`,
    )
  if (!checkObject(place, { what: 'quiet', known: ['by', 'blocks', 'seconds'] })) return
  checkOptional(place.member('by'), it => checkNames(it, target))
  const [blocks, seconds] = [place.member('blocks'), place.member('seconds')]
  if ((blocks.value === undefined) === (seconds.value === undefined))
    place.fault(`${place.label} must have either "blocks" or "seconds": how long nothing is told after an alert.`)
  checkOptional(blocks, it => checkInteger(it, { min: 1, max: MAX_QUIET.blocks }))
  checkOptional(seconds, it => checkInteger(it, { min: 1, max: MAX_QUIET.seconds }))
  if (target === 'Token') place.fault(`A token is new only once: leave ${place.label} out.`)
}

export const MAX_GROUP = { size: 100, seconds: 3_600 }

const checkGroup: NotifyCheck = (place, { target }) => {
  if (!checkObject(place, { what: 'group', known: ['by', 'wait', 'size'] })) return
  checkOptional(place.member('by'), it => checkNames(it, target, ['network']))
  const wait = place.member('wait')
  if (checkObject(wait, { what: 'wait', known: ['seconds'] }))
    checkInteger(wait.member('seconds'), { min: 1, max: MAX_GROUP.seconds })
  checkOptional(place.member('size'), it => checkInteger(it, { min: 2, max: MAX_GROUP.size }))
}

const checkNames = (place: InputPlace, target: TargetType | undefined, others: readonly string[] = []) => {
  const names = [...checkList(place, { of: 'names of fields', max: MAX_QUIET_NAMES })]
  for (const it of names) {
    const name = checkFilled(it)
    if (name === undefined || target === undefined || others.includes(name)) continue
    if (target === 'State') {
      const fault = stateAttributeFault([name])
      if (fault !== undefined) it.fault(fault)
    } else if (!leadsToAttribute(TARGET_KINDS[target], name))
      it.fault(
        `${MAPPING[TARGET_KINDS[target]].name} has no field ${shortenText(JSON.stringify(name))}. An argument is args.NAME.`,
      )
  }
  checkDistinctTexts(names)
}

const checkResolved: NotifyCheck = (place, { hasWindows, hasSteps }) => {
  if (checkBoolean(place) === true && (!hasWindows || hasSteps))
    place.fault(`${place.label} needs "when" with conditions: only an alert of windows ends by itself. Leave it out.`)
}

const checkAgain: NotifyCheck = (place, { target, when, conditions, hasWindows, hasSteps }) => {
  const shown = listIn(target === 'State' ? conditions : when.member('conditions'))
  const hasFirst = shown.some(({ aggregate }) => aggregate === 'First')
  if (!hasWindows || hasSteps || hasFirst) {
    const why = hasFirst ? 'of "First"' : hasSteps ? 'of steps' : 'without "when"'
    return place.fault(
      `${place.label} needs "when" with conditions that hold for a while: an alert ${why} has no end before which it could be told again. Leave it out.`,
    )
  }
  if (when.member('across').value === true)
    return place.fault(`${place.label} is not supported beside "across": leave one of them out.`)
  if (!checkObject(place, { what: 'again', known: ['after', 'if'] })) return
  checkSpan(place.member('after'), 'after')
  checkOptional(place.member('if'), it => {
    if (checkOneOf(it, ['Worse'], 'left out or') === undefined || shown.some(mayWorsen)) return
    const where = target === 'State' ? 'targetMap, beside "Or" and "Not",' : 'when.conditions'
    it.fault(
      `No value of this rule can get worse: "Worse" needs a condition in ${where} with "Greater" or "Less" that several values meet. Write one, or leave if out.`,
    )
  })
}

/** Whether a value that meets a condition can move further beyond its bound. */
const mayWorsen = ({
  aggregate,
  operator,
  value,
  relativeTo,
  operatorParameters,
}: Record<string, unknown>): boolean => {
  if (operator === 'Inspect')
    return Array.isArray(operatorParameters) && operatorParameters.filter(isRecord).some(mayWorsen)
  if (typeof operator !== 'string') return false
  if (operator.startsWith('Greater')) return true
  if (!operator.startsWith('Less')) return false
  // A count of less than one is none.
  const bound = typeof value === 'string' ? parseExact(value) : undefined
  if ((aggregate !== 'Count' && aggregate !== 'Distinct') || relativeTo !== undefined || bound === undefined)
    return true
  const order = compareExact(exactOf(1n), bound)
  return order < 0 || (order === 0 && operator === 'Less or Equal')
}

const listIn = ({ value }: InputPlace): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

/** What a rule may say about its messages. */
const NOTIFY_CHECKS: Record<keyof NotifyConfig, NotifyCheck> = {
  quiet: checkQuiet,
  group: checkGroup,
  resolved: checkResolved,
  again: checkAgain,
}

export const checkNotify: NotifyCheck = (place, context) => {
  if (!checkObject(place, { what: 'notify', known: Object.keys(NOTIFY_CHECKS) })) return
  for (const [name, check] of Object.entries(NOTIFY_CHECKS)) checkOptional(place.member(name), it => check(it, context))
}
