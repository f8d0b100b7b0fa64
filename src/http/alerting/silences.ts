import { refuse } from '../../lib/errors.ts'
import { checkSilence } from '../../rules/silences/check.ts'
import type { StoredSilence } from '../../rules/silences/store.ts'
import { jsonResponse } from '../answer.ts'
import { actorOf } from '../context.ts'
import { invalid } from '../errors.ts'
import { answerSchema, schemaRef } from '../openapi/schema.ts'
import { jsonBody, readRuleBody } from '../request.ts'
import type { SilenceAnswer } from '../shapes/rules.ts'
import { ruleRoute } from './service.ts'

const SILENCES_PATH = '/alerting/silences'

export const silencesRoute = ruleRoute(
  'get',
  SILENCES_PATH,
  'Silences of the account, newest first. Those that are over are listed for 30 days.',
  { answers: 'Silences' },
  ({ rules }) =>
    c =>
      jsonResponse({ silences: rules.silences.all(c.get('account').id).map(it => silenceAnswer(it, Date.now())) }),
)

export const createSilenceRoute = ruleRoute(
  'post',
  SILENCES_PATH,
  'Silences alerts for a time: they exist, but are not sent.',
  {
    body: jsonBody(schemaRef('NewSilence'), {
      matcher: { rules: [7], fields: { address: '0xdAC17F958D2ee523a2206206994597C13D831ec7' } },
      to: '2030-05-17T12:00:00Z',
      reason: 'Planned upgrade of the token',
    }),
    answers: { 201: answerSchema(schemaRef('Silence'), 'The silence was created.') },
  },
  ({ rules, limits }) =>
    async c => {
      const now = Date.now()
      const { silence, faults } = checkSilence(await readRuleBody(c, limits), { now, limits })
      if (!silence) return invalid(faults)
      const made = rules.silences.add(c.get('account').id, silence, actorOf(c))
      await rules.synced()
      return jsonResponse(silenceAnswer(made, now), 201)
    },
)

export const removeSilenceRoute = ruleRoute(
  'delete',
  `${SILENCES_PATH}/{id}`,
  'Ends a silence at once and removes it. What it silenced is not sent.',
  { answers: { 204: { description: 'The silence was removed.' } } },
  ({ rules }) =>
    async c => {
      const id = c.req.param('id')!
      if (!/^[1-9]\d{0,14}$/.test(id) || !rules.silences.remove(c.get('account').id, Number(id), actorOf(c)))
        throw refuse(
          'resource_not_found_exception',
          `This account has no silence ${id}: its silences are at /alerting/silences/.`,
        )
      await rules.synced()
      return new Response(null, { status: 204 })
    },
)

export const silenceAnswer = ({ account: _, from, to, createdAt, ...silence }: StoredSilence, now: number) =>
  ({
    ...silence,
    ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    createdAt: new Date(createdAt).toISOString(),
    state: now < from ? 'waiting' : now < to ? 'active' : 'over',
  }) satisfies SilenceAnswer
