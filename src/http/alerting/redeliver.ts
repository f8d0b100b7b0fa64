import { parseTime } from '../../lib/time.ts'
import type { Limits } from '../../limits/index.ts'
import { boolean, expected, filled, type Place } from '../../rules/place.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { readMembers, ruleOf } from './request.ts'
import type { Alerting, Redelivery } from './service.ts'

/** `POST /alerting/rules/<id>/redeliver/`: sends again what one alert, or those of a time, or those that were given up had to tell. */
export const redeliver =
  (alerting: Alerting, limits: Limits): Handler =>
  async c => {
    const rule = ruleOf(c, alerting)
    const body = await readMembers(c, limits, ['alert', 'from', 'to', 'dead'], whichAt)
    if (!('members' in body)) return invalid(body.faults)
    const done = await alerting.service.redeliver(rule, body.members)
    alerting.rules.note(actorOf(c), rule.id, 'rule redeliver')
    return json(done)
  }

const whichAt = (place: Place): Redelivery => {
  const which = partsOf(place)
  const said = ['alert', 'from', 'to', 'dead'].some(
    name => ![undefined, false].includes(place.member(name).value as undefined),
  )
  if (!said)
    place.fault(
      'The body must name what to send again: an "alert", times "from" or "to", or "dead": true for all dead deliveries.',
    )
  return which
}

/** What a body may name wherever it is about. */
export const partsOf = (place: Place): Redelivery => {
  const at = <T>(name: string, read: (member: Place) => T | undefined): T | undefined => {
    const member = place.member(name)
    return member.value === undefined ? undefined : read(member)
  }
  const which = {
    alert: at('alert', member => filled(member, 'the id of an alert')),
    from: at('from', time),
    to: at('to', time),
    dead: at('dead', boolean),
  }
  if (which.from !== undefined && which.to !== undefined && which.to < which.from)
    place.member('to').fault('to must not be earlier than from.')
  return which
}

/** Epoch milliseconds. As everywhere, a time without a zone is UTC. */
const time = (place: Place): number | undefined => {
  const { value } = place
  const at = typeof value === 'string' ? parseTime(value) : undefined
  return at ?? expected(place, 'a time in ISO 8601 such as "2024-05-17T12:00:00Z"')
}
