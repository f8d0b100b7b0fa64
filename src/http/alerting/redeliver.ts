import type { Limits } from '../../limits/index.ts'
import type { Place } from '../../rules/place.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { type Redelivery, redelivery } from '../shapes/rules.ts'
import { readMembers, ruleOf } from './request.ts'
import type { Alerting } from './service.ts'

/** `POST /alerting/rules/<id>/redeliver/`: sends again what one alert, or those of a time, or those that were given up had to tell. */
export const redeliver =
  (alerting: Alerting, limits: Limits): Handler =>
  async c => {
    const rule = ruleOf(c, alerting)
    const body = await readMembers(c, limits, redelivery, checkWhich)
    if (!('members' in body)) return invalid(body.faults)
    const done = await alerting.service.redeliver(rule, body.members)
    alerting.rules.note(actorOf(c), rule.id, 'rule redeliver')
    return json(done)
  }

const checkWhich = (place: Place, members: Redelivery, read: keyof Redelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.keys(redelivery.entries).every(name => [undefined, false].includes(place.member(name).value as undefined)))
    place.fault(
      'The body must name what to send again: an "alert", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}

export const checkTimes = (place: Place, { from, to }: Redelivery) => {
  if (from !== undefined && to !== undefined && to < from) place.member('to').fault('to must not be earlier than from.')
}
