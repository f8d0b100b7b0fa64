import type { DeliveryState } from '../../delivery/ledger.ts'
import type { ListedState } from '../../delivery/listing.ts'
import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { Place } from '../../rules/place.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { integerOf, oneOfThese, timeOf } from '../parameters.ts'
import { type WideRedelivery, wideRedelivery } from '../shapes/rules.ts'
import { checkTimes } from './redeliver.ts'
import { readMembers, readParameters } from './request.ts'
import type { Alerting } from './service.ts'

/** `GET /alerting/deliveries/`: the account's, across its rules, the newest first. */
export const listDeliveries =
  ({ service }: Alerting): Handler =>
  async c => {
    const given = readParameters(c, PARAMETERS)
    const { channel, target, alert } = given
    const filter = {
      ...{ channel, target, alert },
      rule: integerOf('rule', given.rule),
      state: oneOfThese('state', given.state, STATES),
      since: timeOf('since', given.since),
      until: timeOf('until', given.until),
      before: integerOf('before', given.before),
      limit: integerOf('size', given.size, { max: MOST }) ?? DEFAULT_SIZE,
    }
    return json(await service.deliveries({ account: c.get('account').id, ...filter }))
  }

const PARAMETERS = ['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'] as const
const DEFAULT_SIZE = 50
const MOST = 1_000

export const STATES = Object.keys({
  queued: true,
  waiting: true,
  retried: true,
  delivered: true,
  dead: true,
  cancelled: true,
} satisfies Record<ListedState | DeliveryState, true>) as ListedState[]

/** `GET /alerting/deliveries/<id>/`: one, with every attempt. */
export const getDelivery =
  ({ service }: Alerting): Handler =>
  async c => {
    const id = c.req.param('id')!
    const found = /^[1-9]\d{0,14}$/.test(id) ? await service.delivery(c.get('account').id, Number(id)) : undefined
    if (!found)
      throw refuse(
        'resource_not_found_exception',
        `This account has no delivery ${id}: its deliveries are at /alerting/deliveries/.`,
      )
    return json(found)
  }

/** `GET /alerting/destinations/`: what waits for each receiver, and what it never got. */
export const listDestinations =
  ({ service }: Alerting): Handler =>
  async c =>
    json(await service.destinations(c.get('account').id))

/** `POST /alerting/deliveries/redeliver/`: sends again what fulfils all that the body names. */
export const redeliverMany =
  ({ rules, service }: Alerting, limits: Limits): Handler =>
  async c => {
    const body = await readMembers(c, limits, wideRedelivery, checkWhich)
    if (!('members' in body)) return invalid(body.faults)
    const done = await service.redeliverAll(c.get('account').id, body.members)
    const detail = Object.fromEntries(Object.entries(body.members).filter(([, value]) => value !== undefined))
    rules.note(actorOf(c), null, 'rule redeliver', detail)
    return json(done)
  }

const checkWhich = (place: Place, members: WideRedelivery, read: keyof WideRedelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.values(members).every(value => value === undefined || value === false))
    place.fault(
      'The body must name what to send again: a "delivery", a "rule", an "alert", a "target", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}
