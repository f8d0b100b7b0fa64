import type { ListedState } from '../../delivery/ledger/listing.ts'
import type { DeliveryState } from '../../delivery/ledger/records.ts'
import { refuse } from '../../lib/errors.ts'
import { DAY_MS, partsBetween } from '../../lib/time.ts'
import type { Place } from '../../rules/place.ts'
import { createNameCounter } from '../../search/index-names.ts'
import { json } from '../answer.ts'
import { actorOf } from '../context.ts'
import { invalid } from '../errors.ts'
import { answer, closed, listOf, oneOf, orNull, ref, text } from '../openapi/schema.ts'
import { integerOf, jsonBody, oneOfThese, readMembers, ruleOf, storedRule, timeOf } from '../request.ts'
import { alertState, type Redelivery, redelivery, type WideRedelivery, wideRedelivery } from '../shapes/rules.ts'
import { RULE, ruleRoute } from './service.ts'

export const listAlerts = ruleRoute(
  'get',
  `${RULE}/alerts`,
  'What the rule matched and what became of each match, newest first.',
  { query: ['size', 'before', 'state'], answers: 'Alerts' },
  (alerting, parameters) => async c => {
    const rule = ruleOf(c, alerting)
    const { size, before, state } = parameters(c)
    return json(
      await alerting.service.alerts(rule, {
        size: sizeOf(size),
        before,
        state: oneOfThese('state', state, alertState.options),
      }),
    )
  },
)

/** How many one page of a list has. */
export const sizeOf = (text: string | undefined, byDefault = 20): number =>
  integerOf('size', text, { max: 1_000 }) ?? byDefault

/** Half hours of a day, which may begin in the middle of one. */
const DEFAULT_BUCKETS = 49
const MOST_BUCKETS = 500

export const alertSeries = ruleRoute(
  'get',
  '/alerting/series',
  'How many alerts each rule had, by time.',
  { query: ['from', 'to', 'buckets', 'rules'], answers: 'AlertSeries' },
  ({ rules, service, limits, gate }, parameters) =>
    async c => {
      const given = parameters(c)
      const to = timeOf('to', given.to) ?? Date.now()
      const from = timeOf('from', given.from) ?? to - DAY_MS
      if (to < from)
        throw refuse('illegal_argument_exception', 'The URL parameter [to] must not be earlier than [from].')
      const buckets = integerOf('buckets', given.buckets, { max: MOST_BUCKETS }) ?? DEFAULT_BUCKETS
      const { id } = c.get('account')
      const asked = given.rules === undefined ? undefined : [...new Set(given.rules.split(','))]
      if (asked) createNameCounter(limits)(asked)
      const wanted = asked?.map(text => storedRule(rules, id, integerOf('rules', text)!)) ?? rules.list(id)
      return json(await gate(id, () => service.series(wanted, partsBetween(from, to, buckets))))
    },
)

const LISTED_STATES = Object.keys({
  queued: true,
  waiting: true,
  retried: true,
  delivered: true,
  dead: true,
  cancelled: true,
} satisfies Record<ListedState | DeliveryState, true>) as ListedState[]

export const listDeliveries = ruleRoute(
  'get',
  '/alerting/deliveries',
  'Deliveries of the account across its rules, newest first.',
  {
    query: ['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'],
    values: { state: oneOf(LISTED_STATES) },
    answers: { 200: answer(closed({ deliveries: listOf(ref('Delivery')), next: orNull(text) })) },
  },
  ({ service }, parameters) =>
    async c => {
      const given = parameters(c)
      const { channel, target, alert } = given
      const filter = {
        ...{ channel, target, alert },
        rule: integerOf('rule', given.rule),
        state: oneOfThese('state', given.state, LISTED_STATES),
        since: timeOf('since', given.since),
        until: timeOf('until', given.until),
        before: integerOf('before', given.before),
        limit: sizeOf(given.size, 50),
      }
      return json(await service.deliveries({ account: c.get('account').id, ...filter }))
    },
)

export const getDelivery = ruleRoute(
  'get',
  '/alerting/deliveries/{id}',
  'One delivery with every attempt.',
  { answers: 'WholeDelivery' },
  ({ service }) =>
    async c => {
      const id = c.req.param('id')!
      const found = /^[1-9]\d{0,14}$/.test(id) ? await service.delivery(c.get('account').id, Number(id)) : undefined
      if (!found)
        throw refuse(
          'resource_not_found_exception',
          `This account has no delivery ${id}: its deliveries are at /alerting/deliveries/.`,
        )
      return json(found)
    },
)

export const listDestinations = ruleRoute(
  'get',
  '/alerting/destinations',
  'What waits for each receiver of the account, and what it never got.',
  { answers: 'Destinations' },
  ({ service }) =>
    async c =>
      json(await service.destinations(c.get('account').id)),
)

export const redeliverMany = ruleRoute(
  'post',
  '/alerting/deliveries/redeliver',
  'Sends deliveries again that fulfil all that the body names.',
  { body: jsonBody(ref('WideRedelivery'), { dead: true }), answers: 'Redelivered' },
  ({ rules, service, limits }) =>
    async c => {
      const body = await readMembers(c, limits, wideRedelivery, checkWide)
      if (!('members' in body)) return invalid(body.faults)
      const done = await service.redeliverAll(c.get('account').id, body.members)
      const detail = Object.fromEntries(Object.entries(body.members).filter(([, value]) => value !== undefined))
      rules.note(actorOf(c), null, 'rule redeliver', detail)
      return json(done)
    },
)

const checkWide = (place: Place, members: WideRedelivery, read: keyof WideRedelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.values(members).every(value => value === undefined || value === false))
    place.fault(
      'The body must name what to send again: a "delivery", a "rule", an "alert", a "target", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}

export const redeliver = ruleRoute(
  'post',
  `${RULE}/redeliver`,
  'Sends deliveries again: of one alert, of a time, or all that are dead.',
  { body: jsonBody(ref('Redelivery'), { dead: true }), answers: 'Redelivered' },
  alerting => async c => {
    const rule = ruleOf(c, alerting)
    const body = await readMembers(c, alerting.limits, redelivery, checkWhich)
    if (!('members' in body)) return invalid(body.faults)
    const done = await alerting.service.redeliver(rule, body.members)
    alerting.rules.note(actorOf(c), rule.id, 'rule redeliver')
    return json(done)
  },
)

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
