import type { AbiParam } from '../../decode/types.ts'
import { isRecord } from '../../lib/arrays.ts'
import { messageOf } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { parseExact } from '../../query/exact.ts'
import { shortenText } from '../../query/json.ts'
import {
  checkDistinctTexts,
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOptional,
  checkString,
  elementsUnlike,
  type InputPlace,
  quotedList,
  reportExpected,
} from '../input.ts'
import { encodeCall, parseCall } from './call.ts'
import { stateSteps } from './fields.ts'

/** Longest distance of two readings: a day of blocks of a second. */
export const MAX_READ_BLOCKS = 86_400
const MAX_READ_DECIMALS = 77

/** Checks what a rule of the target `State` reads, and that lists of conditions name parts of it. */
export const checkState = (read: InputPlace, conditions: readonly InputPlace[], limits: Limits): void => {
  const known = ['balances', 'address', 'call', 'args', 'decimals', 'every']
  if (!checkObject(read, { what: 'what a State rule reads', known })) return
  const every = read.member('every')
  if (checkObject(every, { what: 'every', known: ['blocks'] }))
    checkInteger(every.member('blocks'), { min: 1, max: MAX_READ_BLOCKS })
  const balances = read.member('balances')
  const isCall = read.member('call').value !== undefined || read.member('address').value !== undefined
  if ((balances.value !== undefined) === isCall)
    return void read.fault('read must have either "balances", a list of addresses, or "address" and "call".')
  const outputs = isCall ? checkCall(read) : checkBalances(read, balances, limits)
  const hasDecimals = read.member('decimals').value !== undefined
  if (outputs) for (const list of conditions) checkReadNames(list, [], { outputs, isCall, hasDecimals })
}

const checkBalances = (read: InputPlace, place: InputPlace, limits: Limits): AbiParam[] => {
  for (const name of ['args', 'decimals'])
    if (read.member(name).value !== undefined) read.member(name).fault(`${name} goes with a call: leave it out.`)
  if (Array.isArray(place.value) && place.value.length > limits.ruleReadings)
    place.fault(overLimit('ruleReadings', limits, place.label).message)
  else {
    const elements = [...checkList(place, { of: 'addresses', min: 1 })]
    for (const it of elements) checkAddress(it)
    checkDistinctTexts(elements)
  }
  return []
}

const checkAddress = (place: InputPlace) => {
  if (typeof place.value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(place.value))
    reportExpected(place, 'an address: 0x and 40 hexadecimal digits')
}

const checkCall = (read: InputPlace): readonly AbiParam[] | undefined => {
  checkAddress(read.member('address'))
  checkOptional(read.member('decimals'), it => checkInteger(it, { min: 0, max: MAX_READ_DECIMALS }))
  const call = read.member('call')
  const text = checkFilled(call, 'the declaration of a function')
  if (text === undefined) return undefined
  let abi: ReturnType<typeof parseCall>
  try {
    abi = parseCall(text)
  } catch (error) {
    return void call.fault(`call is no function that can be read: ${messageOf(error)}.`)
  }
  const args = read.member('args')
  const given = args.value === undefined ? [] : [...checkList(args, { of: 'texts' })]
  if (given.length !== abi.inputs.length)
    args.fault(`args must have ${abi.inputs.length} values, one for each argument of ${abi.name}.`)
  else
    for (const [i, it] of given.entries())
      try {
        if (checkString(it) !== undefined) encodeCall({ ...abi, inputs: [abi.inputs[i]!] }, [it.value as string])
      } catch (error) {
        it.fault(`${it.label} is not right: ${messageOf(error)}.`)
      }
  return abi.outputs
}

/** Conditions that name what no reading has, or order by what is no number. */
const checkReadNames = (
  place: InputPlace,
  around: string[],
  context: { outputs: readonly AbiParam[]; isCall: boolean; hasDecimals: boolean },
): void => {
  const { outputs, isCall, hasDecimals } = context
  if (!Array.isArray(place.value)) return
  for (const i of place.value.keys()) {
    const it = place.element(i)
    if (!isRecord(it.value)) continue
    const { name, operator, value, useScaledValue, operatorParameters } = it.value
    const names = typeof name === 'string' ? [...around, name] : around
    if (Array.isArray(operatorParameters)) {
      checkReadNames(it.member('operatorParameters'), names, context)
      continue
    }
    const steps = stateSteps(names)
    const [first, second = ''] = steps[0] === 'previous' ? steps.slice(1) : steps
    const missing = first === (isCall ? 'value' : 'result')
    const isUnknown =
      first === 'result' && !outputs.some((output, pos) => output.name === second || String(pos) === second)
    if (missing)
      it.member('name').fault(
        isCall ? 'A call has "result", not "value": name result.NAME.' : 'A balance has "value", not "result".',
      )
    else if (isUnknown)
      it.member('name').fault(
        `The call returns nothing named ${shortenText(JSON.stringify(second))}: ${quotedList(
          outputs.map((output, pos) => output.name || String(pos)),
          'or',
        )}.`,
      )
    const isScaled = useScaledValue === true || (first === 'result' && steps.at(-1) === 'scaled')
    if (isCall && isScaled && !hasDecimals)
      it.fault('It compares scaled values, and nothing says by how much: set config.read.decimals.')
    const ordered = typeof operator === 'string' && /^(Greater|Less)/.test(operator)
    if (!ordered || (first !== 'value' && first !== 'result' && first !== 'blockNumber')) continue
    const numeric = (operand: unknown) => typeof operand !== 'string' || parseExact(operand) !== undefined
    for (const wrong of numeric(value) ? elementsUnlike(it.member('value'), numeric) : [it.member('value')])
      reportExpected(wrong, 'a decimal or 0x-hex number', 'Write an amount as "1000.5".')
  }
}
