import type { ListedState } from '../../delivery/ledger/listing.ts'
import type { DeliveryState } from '../../delivery/ledger/records.ts'
import { refuse } from '../../lib/errors.ts'
import { partsBetween } from '../../lib/intervals.ts'
import type { Limits } from '../../limits/index.ts'
import type { Place } from '../../rules/place.ts'
import { createNameCounter } from '../../search/names.ts'
import { json } from '../answer.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { integerOf, oneOfThese, readMembers, readParameters, ruleOf, storedRule, timeOf } from '../request.ts'
import { alertState, type Redelivery, redelivery, type WideRedelivery, wideRedelivery } from '../shapes/rules.ts'
import type { Alerting } from './service.ts'
import type { Gate } from './simulate.ts'

/** `GET /alerting/rules/<id>/alerts/?size=&before=&state=`: what it matched and what became of each, the newest first. */
export const listAlerts =
  (alerting: Alerting): Handler =>
  async c => {
    const rule = ruleOf(c, alerting)
    const { size, before, state } = readParameters(c, ['size', 'before', 'state'])
    return json(
      await alerting.service.alerts(rule, {
        size: sizeOf(size),
        before,
        state: oneOfThese('state', state, alertState.options),
      }),
    )
  }

/** How many one page of a list has. */
export const sizeOf = (text: string | undefined, byDefault = 20): number =>
  integerOf('size', text, { max: 1_000 }) ?? byDefault

const DAY_MS = 86_400_000
/** Half hours of a day, which may begin in the middle of one. */
const BUCKETS = 49
const MOST_BUCKETS = 500

/** `GET /alerting/series/`: how many alerts rules had, by time; of all rules of the account, or of some. */
export const alertSeries =
  ({ rules, service }: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const given = readParameters(c, ['from', 'to', 'buckets', 'rules'])
    const to = timeOf('to', given.to) ?? Date.now()
    const from = timeOf('from', given.from) ?? to - DAY_MS
    if (to < from) throw refuse('illegal_argument_exception', 'The URL parameter [to] must not be earlier than [from].')
    const buckets = integerOf('buckets', given.buckets, { max: MOST_BUCKETS }) ?? BUCKETS
    const { id } = c.get('account')
    const asked = given.rules === undefined ? undefined : [...new Set(given.rules.split(','))]
    if (asked) createNameCounter(limits)(asked)
    const wanted = asked?.map(text => storedRule(rules, id, integerOf('rules', text)!)) ?? rules.list(id)
    return json(await gate(id, () => service.series(wanted, partsBetween(from, to, buckets))))
  }

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
      limit: sizeOf(given.size, 50),
    }
    return json(await service.deliveries({ account: c.get('account').id, ...filter }))
  }

const PARAMETERS = ['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'] as const

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
    const body = await readMembers(c, limits, wideRedelivery, checkWide)
    if (!('members' in body)) return invalid(body.faults)
    const done = await service.redeliverAll(c.get('account').id, body.members)
    const detail = Object.fromEntries(Object.entries(body.members).filter(([, value]) => value !== undefined))
    rules.note(actorOf(c), null, 'rule redeliver', detail)
    return json(done)
  }

const checkWide = (place: Place, members: WideRedelivery, read: keyof WideRedelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.values(members).every(value => value === undefined || value === false))
    place.fault(
      'The body must name what to send again: a "delivery", a "rule", an "alert", a "target", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}

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

const checkTimes = (place: Place, { from, to }: Redelivery) => {
  if (from !== undefined && to !== undefined && to < from) place.member('to').fault('to must not be earlier than from.')
}
