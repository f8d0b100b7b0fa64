import { isJsonObject, type Json, type JsonObject, listAt, valueAt } from '../../api/json.ts'
import { targetOf } from './model.ts'

const OF_STEP = ['targetType', 'targetMap', 'by']
const OF_CONDITION = ['aggregate', 'name', 'operator', 'value', 'relativeTo']

const OF_WINDOWS = ['by', 'keys', 'within', 'conditions', 'hold', 'resolve', 'across']

/** Members of a rule that the form has no place for, and leaves as they are. */
export const untouchedOf = (rule: JsonObject): string[] => {
  const when = valueAt(rule, 'config.when')
  const isOfState = targetOf(rule) === 'State'
  const hasSteps = valueAt(when, 'steps') !== undefined
  const conditions = [...listAt(when, 'conditions'), ...(isOfState ? [] : listAt(when, 'resolve'))]
  const known: Record<string, readonly string[]> = {
    config: ['targetType', 'targetMap', 'alerts', 'read', 'when', 'notify'],
    'config.read': ['balances', 'address', 'call', 'args', 'decimals', 'every'],
    'config.when': hasSteps
      ? ['steps', 'within', 'until', 'across']
      : isOfState
        ? ['by', 'hold', 'resolve']
        : OF_WINDOWS,
    'config.when.until': OF_STEP,
    'config.notify': ['resolved', 'again', 'quiet', 'group'],
    'config.notify.again': ['after', 'if'],
  }
  const found = [
    ...Object.entries(known).flatMap(([path, names]) => unknownMembers(valueAt(rule, path), names)),
    ...listAt(when, 'steps').flatMap(it => unknownMembers(it, [...OF_STEP, 'missing', 'network'])),
    ...conditions.flatMap(it => unknownMembers(it, OF_CONDITION)),
    ...conditions.flatMap(it => unknownMembers(valueAt(it, 'relativeTo'), ['windows'])),
  ]
  return [...new Set(found)]
}

const unknownMembers = (value: Json | undefined, known: readonly string[]): string[] =>
  isJsonObject(value) ? Object.keys(value).filter(name => !known.includes(name)) : []
