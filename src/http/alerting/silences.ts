import { refuse } from '../../lib/errors.ts'
import { checkSilence } from '../../rules/silences/check.ts'
import type { StoredSilence } from '../../rules/silences/store.ts'
import { jsonResponse } from '../answer.ts'
import { actorOf, type RequestContext } from '../context.ts'
import { invalid } from '../errors.ts'
import { answerSchema, schemaRef } from '../openapi/schema.ts'
import { jsonBody, readRuleBody } from '../request.ts'
import type { SilenceAnswer } from '../shapes/rules.ts'
import { ruleRoute } from './service.ts'

const SILENCES_PATH = '/alerting/silences'
const SILENCE_PATH = `${SILENCES_PATH}/{id}`

export const silencesRoute = ruleRoute(
  'get',
  SILENCES_PATH,
  'Silences of the account, newest first. Those that are over are listed for 30 days.',
  { answers: 'Silences' },
  ({ rules }) =>
    c =>
      jsonResponse({ silences: rules.silences.all(c.get('account').id).map(it => silenceAnswer(it, Date.now())) }),
)

const SILENCE_BODY = jsonBody(schemaRef('NewSilence'), {
  matcher: { rules: [7], fields: { address: '0xdAC17F958D2ee523a2206206994597C13D831ec7' } },
  to: '2030-05-17T12:00:00Z',
  reason: 'Planned upgrade of the token',
})

export const createSilenceRoute = ruleRoute(
  'post',
  SILENCES_PATH,
  'Silences alerts for a time: they exist, but are not sent.',
  {
    body: SILENCE_BODY,
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

export const changeSilenceRoute = ruleRoute(
  'put',
  SILENCE_PATH,
  'Puts another silence in the place of one that is not over. Its number and author stay.',
  { body: SILENCE_BODY, answers: 'Silence' },
  ({ rules, limits }) =>
    async c => {
      const now = Date.now()
      const { silence, faults } = checkSilence(await readRuleBody(c, limits), { now, limits })
      if (!silence) return invalid(faults)
      const changed = rules.silences.change(c.get('account').id, silenceIdOf(c), silence, actorOf(c))
      if (!changed) throw unknownSilence(c, 'that is not over')
      await rules.synced()
      return jsonResponse(silenceAnswer(changed, now))
    },
)

export const removeSilenceRoute = ruleRoute(
  'delete',
  SILENCE_PATH,
  'Ends a silence at once and removes it. What it silenced is not sent.',
  { answers: { 204: { description: 'The silence was removed.' } } },
  ({ rules }) =>
    async c => {
      if (!rules.silences.remove(c.get('account').id, silenceIdOf(c), actorOf(c))) throw unknownSilence(c)
      await rules.synced()
      return new Response(null, { status: 204 })
    },
)

/** Not a number where the path names no silence. */
const silenceIdOf = (c: RequestContext): number => {
  const id = c.req.param('id')!
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.NaN
}

const unknownSilence = (c: RequestContext, which = '') =>
  refuse(
    'resource_not_found_exception',
    `This account has no silence ${[c.req.param('id'), which].filter(Boolean).join(' ')}: its silences are at ${SILENCES_PATH}/.`,
  )

export const silenceAnswer = ({ account: _, from, to, createdAt, ...silence }: StoredSilence, now: number) =>
  ({
    ...silence,
    ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    createdAt: new Date(createdAt).toISOString(),
    state: now < from ? 'waiting' : now < to ? 'active' : 'over',
  }) satisfies SilenceAnswer
