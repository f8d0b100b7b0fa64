import { isRecord } from '../../lib/arrays.ts'
import { checkDistinct } from '../check-alerts.ts'
import {
  checkBoolean,
  checkList,
  checkObject,
  checkOneOf,
  checkOptional,
  type InputPlace,
  reportExpected,
} from '../input.ts'
import { DOCUMENT_TARGETS, type TargetType } from '../rule.ts'
import { checkFieldName, checkSpan, MAX_BY, type WhenContext } from './check.ts'
import { checkAcross } from './check-across.ts'

const MAX_SEQUENCE_STEPS = 5

const NOT_WITH_STEPS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['conditions', 'keys', 'resolve'].map(name => [name, `"${name}" does not go with steps: leave it out.`]),
  ),
  by: '"by" belongs to each step: write it there.',
  hold: '"hold" does not go with steps: leave it out.',
}

/** Checks `when` with steps: matches that follow each other. Returns the target type of alerts, if it is known. */
export const checkSteps = (place: InputPlace, context: WhenContext): TargetType | undefined => {
  if (!checkObject(place, { what: 'when', known: ['steps', 'within', 'until', 'across'], elsewhere: NOT_WITH_STEPS }))
    return undefined
  const steps = [...checkList(place.member('steps'), { of: 'steps', min: 1, max: MAX_SEQUENCE_STEPS })]
  if (steps.length === 1) place.member('steps').fault('steps has one step: a sequence has 2 to 5.')
  const targets = steps.map((it, i) =>
    checkStep(it, context, { mayInherit: i === 0, mayBeMissing: i > 0 && i === steps.length - 1 }),
  )
  checkSpan(place.member('within'), 'within')
  checkAcross(place, steps, context.network)
  checkOptional(place.member('until'), it => {
    checkStep(it, context, { mayInherit: false, mayBeMissing: false })
    if (it.member('network').value !== undefined)
      it.member('network').fault('until ends a sequence in whichever network it comes: leave network out.')
    checkSameLength(it, steps[0])
  })
  for (const it of steps.slice(1)) checkSameLength(it, steps[0])
  const last = steps.at(-1)?.value
  return isRecord(last) && last.missing === true ? 'Block' : targets.at(-1)
}

interface StepRole {
  /** What it looks for may be that of the rule. */
  mayInherit: boolean
  mayBeMissing: boolean
}

const checkStep = (
  place: InputPlace,
  context: WhenContext,
  { mayInherit, mayBeMissing }: StepRole,
): TargetType | undefined => {
  const known = ['targetType', 'targetMap', 'by', 'missing', 'network']
  if (!checkObject(place, { what: 'a step', known })) return undefined
  const [type, conditions, missing] = ['targetType', 'targetMap', 'missing'].map(it => place.member(it)) as [
    InputPlace,
    InputPlace,
    InputPlace,
  ]
  const inherits = mayInherit && type.value === undefined && conditions.value === undefined
  const target = inherits ? context.target : checkStepTarget(type)
  if (!inherits) context.checkTargetMap(conditions, target)
  checkOptional(place.member('by'), it => {
    const names = [...checkList(it, { of: 'names', max: MAX_BY })]
    for (const name of names) checkFieldName(name, { ...context, target })
    checkDistinct(names)
  })
  if (missing.value === undefined || mayBeMissing) checkOptional(missing, checkBoolean)
  else missing.fault('Only the last step can be missing: leave missing out.')
  return target
}

const checkStepTarget = (place: InputPlace): TargetType | undefined => checkOneOf(place, DOCUMENT_TARGETS, 'one of')

/** The values of `by` are paired by their places. */
const checkSameLength = (place: InputPlace, first: InputPlace | undefined) => {
  const [here, there] = [numberOfNames(place), numberOfNames(first)]
  if (here !== there)
    reportExpected(
      place.member('by'),
      `a list of as many names as that of the first step, which has ${there}`,
      'The first name is paired with the first one there, and so on.',
    )
}

const numberOfNames = (place: InputPlace | undefined): number =>
  isRecord(place?.value) && Array.isArray(place.value.by) ? place.value.by.length : 0
