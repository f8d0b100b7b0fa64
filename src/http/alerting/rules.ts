import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import { checkRoom } from '../../rules/room.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import { checkRule } from '../../rules/schema.ts'
import { networkOf } from '../../rules/store.ts'
import { sendAnswer } from '../answer.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { integerOf } from '../parameters.ts'
import { sizeOf } from './alerts.ts'
import { checkIfMatch, etagOf, isKnown, readParameters, readRule, ruleOf } from './request.ts'
import type { Alerting, AlertingService } from './service.ts'
import { listText, showPage, showRule } from './show.ts'

/** `GET /alerting/rules/`: all of the account's; with `size` or `after`, one page of them. */
export const listRules =
  (alerting: Alerting, log: Log): Handler =>
  async c => {
    const { id } = c.get('account')
    const { size, after } = readParameters(c, ['size', 'after'])
    if (size !== undefined || after !== undefined)
      return json(await showPage(alerting, id, { after: integerOf('after', after) ?? 0, size: sizeOf(size) }))
    return sendAnswer(c, log, {
      status: 200,
      body: ReadableStream.from(listText(alerting, id)).pipeThrough(new TextEncoderStream()),
    })
  }

/** `POST /alerting/rules/` */
export const createRule =
  ({ rules, service }: Alerting, limits: Limits): Handler =>
  async c => {
    const checked = checkRule(await readRule(c, limits), {
      refusedHost: service.refusedHost,
      abis: service.abis,
      limits,
    })
    if (!checked.rule) return invalid(checked.faults)
    const { startBlock, ...input } = checked.rule
    const { id } = c.get('account')
    const start = startBlock ?? (await service.startBlockOf(networkOf(input)))
    const rule = rules.together(() => {
      checkRoom(rules, id, { after: [input] }, limits)
      return rules.create(id, input, start, actorOf(c))
    })
    await rules.synced()
    return answer({ service }, rule, { status: 201, headers: { location: `/alerting/rules/${rule.id}/` } })
  }

/** `GET /alerting/rules/<id>/` */
export const getRule =
  (alerting: Alerting): Handler =>
  c => {
    const rule = ruleOf(c, alerting)
    if (isKnown(c, rule)) return new Response(null, { status: 304, headers: { etag: etagOf(rule) } })
    return answer(alerting, rule)
  }

/** `PUT /alerting/rules/<id>/`: changes what the body has and keeps the rest; with `?replace=true` the body is all of the rule. */
export const updateRule =
  (alerting: Alerting, limits: Limits): Handler =>
  async c => {
    const { rules, service } = alerting
    const change = await readRule(c, limits)
    const since = Date.now()
    const replaces = new URLSearchParams(c.req.url.split('?')[1]).get('replace') === 'true'
    for (;;) {
      const before = ruleOf(c, alerting)
      checkIfMatch(c, before)
      const checked = checkRule(replaces ? change : { ...before.input, ...change }, {
        refusedHost: service.refusedHost,
        abis: service.abis,
        limits,
        before: before.input,
      })
      if (!checked.rule) return invalid(checked.faults)
      const { startBlock, ...input } = checked.rule
      const start = startBlock ?? (await startAfterMove(service, before, input))
      const after = rules.together(() => {
        checkRoom(rules, before.account, { before: [before.input], after: [input] }, limits)
        return rules.update(before.account, before.id, input, {
          ifRevision: before.revision,
          startBlock: start,
          by: actorOf(c),
        })
      })
      // Somebody else changed the rule between reading and writing: this change is applied to the result.
      if (after === 'absent' || after === 'changed') continue
      await rules.synced()
      const pauses = before.enabled && !after.enabled
      const more = pauses ? { cancelledDeliveries: await service.cancel(after, 'paused', since) } : {}
      return answer(alerting, after, { more })
    }
  }

/** A block of one network is not a start in another. */
const startAfterMove = (service: AlertingService, before: StoredRule, input: RuleInput) =>
  networkOf(input) === before.network ? undefined : service.startBlockOf(networkOf(input))

/** How many deliveries a deletion cancelled. The answer has no body, as clients of old expect. */
const CANCELLED = 'cancelled-deliveries'

/** `DELETE /alerting/rules/<id>/`: what is queued for it is cancelled. */
export const removeRule =
  (alerting: Alerting): Handler =>
  async c => {
    const { rules, service } = alerting
    const since = Date.now()
    for (;;) {
      const rule = ruleOf(c, alerting)
      checkIfMatch(c, rule)
      if (rules.remove(rule.account, rule.id, rule.revision, actorOf(c)) !== 'removed') continue
      await rules.synced()
      const cancelled = await service.cancel(rule, 'deleted', since)
      return new Response(null, { status: 204, headers: cancelled === null ? {} : { [CANCELLED]: String(cancelled) } })
    }
  }

const answer = async (
  { service }: Pick<Alerting, 'service'>,
  rule: StoredRule,
  { status = 200, headers = {}, more = {} }: { status?: number; headers?: Record<string, string>; more?: object } = {},
): Promise<Response> =>
  json({ ...(await showRule(service, rule)), ...more }, status, { etag: etagOf(rule), ...headers })
