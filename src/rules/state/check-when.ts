import { isRecord } from '../../lib/arrays.ts'
import { checkList, checkObject, checkOptional, type InputPlace, reportExpected } from '../input.ts'
import { checkSpan } from '../windows/check.ts'

const BY_NEWEST = 'A State rule is decided by its newest reading'

/** Checks `when` of a rule of the target `State`, but the conditions of `resolve`. */
export const checkStateWhen = (
  place: InputPlace,
  { read, conditions }: { read: InputPlace; conditions: InputPlace },
): void => {
  const known = ['by', 'hold', 'resolve']
  const elsewhere = {
    conditions: `${BY_NEWEST}: leave conditions out, and write in targetMap what it must meet.`,
    within: `${BY_NEWEST}: leave within out, or write in hold how long it must meet targetMap.`,
    across: `${BY_NEWEST}, which is of one network: leave across out.`,
    keys: `${BY_NEWEST}, and reads all of read.balances: leave keys out.`,
  }
  if (!checkObject(place, { what: 'when', known, elsewhere })) return
  const by = place.member('by')
  checkOptional(by, it => {
    for (const name of checkList(it, { of: 'names', max: 1 }))
      if (name.value !== 'address') reportExpected(name, '"address"', 'Readings are told apart by nothing else.')
  })
  const names = Array.isArray(by.value) ? by.value.length : 0
  const balances = read.member('balances').value
  if (names === 0 && Array.isArray(balances) && balances.length > 1)
    place.fault('The rule reads several balances, each of which is decided by itself: write "by": ["address"].')
  checkOptional(place.member('hold'), it => checkSpan(it, 'hold'))
  for (const list of [conditions, place.member('resolve')]) refuseErrors(list)
}

const refuseErrors = (place: InputPlace): void => {
  if (!Array.isArray(place.value)) return
  for (const i of place.value.keys()) {
    const it = place.element(i)
    if (!isRecord(it.value)) continue
    if (typeof it.value.name === 'string' && /^error(\.|$)/.test(it.value.name))
      it.member('name').fault(
        'With "when", a reading with an error decides nothing: leave when out to be told of errors.',
      )
    refuseErrors(it.member('operatorParameters'))
  }
}
