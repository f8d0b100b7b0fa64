import type { ListedState } from '../../delivery/ledger/listing.ts'
import type { DeliveryState } from '../../delivery/ledger/records.ts'
import { refuse } from '../../lib/errors.ts'
import { DAY_MS, partsBetween } from '../../lib/time.ts'
import type { InputPlace } from '../../rules/input.ts'
import { createNameCounter } from '../../search/index-names.ts'
import { jsonResponse } from '../answer.ts'
import { actorOf } from '../context.ts'
import { invalid } from '../errors.ts'
import {
  answerSchema,
  closedSchema,
  enumSchema,
  listSchema,
  nullableSchema,
  schemaRef,
  stringSchema,
} from '../openapi/schema.ts'
import {
  choiceParameter,
  integerParameter,
  jsonBody,
  readMembers,
  ruleOf,
  storedRule,
  timeParameter,
} from '../request.ts'
import { alertState, type Redelivery, redelivery, type WideRedelivery, wideRedelivery } from '../shapes/rules.ts'
import { RULE_PATH, ruleRoute } from './service.ts'

export const alertsRoute = ruleRoute(
  'get',
  `${RULE_PATH}/alerts`,
  'What the rule matched and what became of each match, newest first.',
  { query: ['size', 'before', 'state'], answers: 'Alerts' },
  (alerting, parameters) => async c => {
    const rule = ruleOf(c, alerting)
    const { size, before, state } = parameters(c)
    return jsonResponse(
      await alerting.service.alerts(rule, {
        size: pageSizeOf(size),
        before,
        state: choiceParameter('state', state, alertState.options),
      }),
    )
  },
)

export const pageSizeOf = (text: string | undefined, byDefault = 20): number =>
  integerParameter('size', text, { max: 1_000 }) ?? byDefault

/** Half hours of a day, which may begin in the middle of one. */
const DEFAULT_BUCKETS = 49
const MAX_SERIES_BUCKETS = 500

export const alertSeriesRoute = ruleRoute(
  'get',
  '/alerting/series',
  'How many alerts each rule had, by time.',
  { query: ['from', 'to', 'buckets', 'rules'], answers: 'AlertSeries' },
  ({ rules, service, limits, gate }, parameters) =>
    async c => {
      const given = parameters(c)
      const to = timeParameter('to', given.to) ?? Date.now()
      const from = timeParameter('from', given.from) ?? to - DAY_MS
      if (to < from)
        throw refuse('illegal_argument_exception', 'The URL parameter [to] must not be earlier than [from].')
      const buckets = integerParameter('buckets', given.buckets, { max: MAX_SERIES_BUCKETS }) ?? DEFAULT_BUCKETS
      const { id } = c.get('account')
      const asked = given.rules === undefined ? undefined : [...new Set(given.rules.split(','))]
      if (asked) createNameCounter(limits)(asked)
      const wanted = asked?.map(text => storedRule(rules, id, integerParameter('rules', text)!)) ?? rules.list(id)
      return jsonResponse(await gate(id, () => service.series(wanted, partsBetween(from, to, buckets))))
    },
)

const LISTED_STATES = Object.keys({
  queued: true,
  waiting: true,
  retried: true,
  delivered: true,
  dead: true,
  cancelled: true,
  silenced: true,
} satisfies Record<ListedState | DeliveryState, true>) as ListedState[]

export const deliveriesRoute = ruleRoute(
  'get',
  '/alerting/deliveries',
  'Deliveries of the account across its rules, newest first.',
  {
    query: ['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'],
    values: { state: enumSchema(LISTED_STATES) },
    answers: {
      200: answerSchema(
        closedSchema({ deliveries: listSchema(schemaRef('Delivery')), next: nullableSchema(stringSchema) }),
      ),
    },
  },
  ({ service }, parameters) =>
    async c => {
      const given = parameters(c)
      const { channel, target, alert } = given
      const filter = {
        ...{ channel, target, alert },
        rule: integerParameter('rule', given.rule),
        state: choiceParameter('state', given.state, LISTED_STATES),
        since: timeParameter('since', given.since),
        until: timeParameter('until', given.until),
        before: integerParameter('before', given.before),
        limit: pageSizeOf(given.size, 50),
      }
      return jsonResponse(await service.deliveries({ account: c.get('account').id, ...filter }))
    },
)

export const deliveryRoute = ruleRoute(
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
      return jsonResponse(found)
    },
)

export const destinationsRoute = ruleRoute(
  'get',
  '/alerting/destinations',
  'What waits for each receiver of the account, and what it never got.',
  { answers: 'Destinations' },
  ({ service }) =>
    async c =>
      jsonResponse(await service.destinations(c.get('account').id)),
)

export const redeliverRoute = ruleRoute(
  'post',
  '/alerting/deliveries/redeliver',
  'Sends deliveries again that fulfil all that the body names.',
  { body: jsonBody(schemaRef('WideRedelivery'), { dead: true }), answers: 'Redelivered' },
  ({ rules, service, limits }) =>
    async c => {
      const body = await readMembers(c, limits, wideRedelivery, checkWide)
      if (!('members' in body)) return invalid(body.faults)
      const done = await service.redeliverAll(c.get('account').id, body.members)
      const detail = Object.fromEntries(Object.entries(body.members).filter(([, value]) => value !== undefined))
      rules.note(actorOf(c), null, 'rule redeliver', detail)
      return jsonResponse(done)
    },
)

const checkWide = (place: InputPlace, members: WideRedelivery, read: keyof WideRedelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.values(members).every(value => value === undefined || value === false))
    place.fault(
      'The body must name what to send again: a "delivery", a "rule", an "alert", a "target", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}

export const redeliverRuleRoute = ruleRoute(
  'post',
  `${RULE_PATH}/redeliver`,
  'Sends deliveries again: of one alert, of a time, or all that are dead.',
  { body: jsonBody(schemaRef('Redelivery'), { dead: true }), answers: 'Redelivered' },
  alerting => async c => {
    const rule = ruleOf(c, alerting)
    const body = await readMembers(c, alerting.limits, redelivery, checkWhich)
    if (!('members' in body)) return invalid(body.faults)
    const done = await alerting.service.redeliver(rule, body.members)
    alerting.rules.note(actorOf(c), rule.id, 'rule redeliver')
    return jsonResponse(done)
  },
)

const checkWhich = (place: InputPlace, members: Redelivery, read: keyof Redelivery) => {
  if (read !== 'dead') return
  checkTimes(place, members)
  if (Object.keys(redelivery.entries).every(name => [undefined, false].includes(place.member(name).value as undefined)))
    place.fault(
      'The body must name what to send again: an "alert", times "from" or "to", or "dead": true for all dead deliveries.',
    )
}

const checkTimes = (place: InputPlace, { from, to }: Redelivery) => {
  if (from !== undefined && to !== undefined && to < from) place.member('to').fault('to must not be earlier than from.')
}
