import { MAPPING } from '../../mapping/index.ts'
import { shortenText } from '../../query/json.ts'
import { leadsToAttribute } from '../attributes.ts'
import {
  checkBoolean,
  checkDistinctTexts,
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOptional,
  type InputPlace,
} from '../input.ts'
import { type NotifyConfig, TARGET_KINDS, type TargetType } from '../rule.ts'
import { stateAttributeFault } from '../state/fields.ts'

interface NotifyContext {
  target: TargetType | undefined
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

/** What a rule may say about its messages. */
const NOTIFY_CHECKS: Record<keyof NotifyConfig, NotifyCheck> = {
  quiet: checkQuiet,
  group: checkGroup,
  resolved: checkResolved,
}

export const checkNotify: NotifyCheck = (place, context) => {
  const known = Object.keys(NOTIFY_CHECKS)
  const elsewhere = { again: '"again" is not supported: leave it out.' }
  if (!checkObject(place, { what: 'notify', known, elsewhere })) return
  for (const [name, check] of Object.entries(NOTIFY_CHECKS)) checkOptional(place.member(name), it => check(it, context))
}
