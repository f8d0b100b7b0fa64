import type { Log } from '../../lib/log.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import { checkRule } from '../../rules/schema.ts'
import { networkOf, type Rules } from '../../rules/store.ts'
import { sendAnswer } from '../answer.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { checkIfMatch, etagOf, isKnown, readRule, ruleOf } from './request.ts'
import type { Alerting, AlertingService } from './service.ts'
import { listText, showRule } from './show.ts'

/** `GET /alerting/rules/`: all of the account's. */
export const listRules =
  (alerting: Alerting, log: Log): Handler =>
  c =>
    sendAnswer(c, log, {
      status: 200,
      body: ReadableStream.from(listText(alerting, c.get('account').id)).pipeThrough(new TextEncoderStream()),
    })

/** `POST /alerting/rules/` */
export const createRule =
  ({ rules, service }: Alerting, limits: Limits): Handler =>
  async c => {
    const checked = checkRule(await readRule(c, limits), { refusedHost: service.refusedHost, limits })
    if (!checked.rule) return invalid(checked.faults)
    const { startBlock, ...input } = checked.rule
    const { id } = c.get('account')
    const start = startBlock ?? (await service.startBlockOf(networkOf(input)))
    const rule = rules.together(() => {
      checkRoom(rules.sizeOf(id), input, limits)
      return rules.create(id, input, start, actorOf(c))
    })
    await rules.synced()
    return answer({ service }, rule, 201, { location: `/alerting/rules/${rule.id}/` })
  }

/** Refuses a rule that its account has no room for beside what it has. */
const checkRoom = ({ rules, bytes }: ReturnType<Rules['sizeOf']>, input: RuleInput, limits: Limits) => {
  if (rules >= limits.rules) throw overLimit('rules', limits)
  if (bytes + sizeOf(input) > limits.ruleBytes) throw overLimit('ruleBytes', limits)
}

const sizeOf = (input: RuleInput): number => Buffer.byteLength(JSON.stringify(input))

/** `GET /alerting/rules/<id>/` */
export const getRule =
  (alerting: Alerting): Handler =>
  c => {
    const rule = ruleOf(c, alerting)
    if (isKnown(c, rule)) return new Response(null, { status: 304, headers: { etag: etagOf(rule) } })
    return answer(alerting, rule)
  }

/** `PUT /alerting/rules/<id>/`: changes what the body has and keeps the rest. */
export const updateRule =
  (alerting: Alerting, limits: Limits): Handler =>
  async c => {
    const { rules, service } = alerting
    const change = await readRule(c, limits)
    for (;;) {
      const before = ruleOf(c, alerting)
      checkIfMatch(c, before)
      const checked = checkRule({ ...before.input, ...change }, { refusedHost: service.refusedHost, limits })
      if (!checked.rule) return invalid(checked.faults)
      const { startBlock, ...input } = checked.rule
      const start = startBlock ?? (await startAfterMove(service, before, input))
      // What has become no larger is let through also where there is too much already.
      const grown = sizeOf(input) - sizeOf(before.input)
      const after = rules.together(() => {
        if (grown > 0 && rules.sizeOf(before.account).bytes + grown > limits.ruleBytes)
          throw overLimit('ruleBytes', limits)
        return rules.update(before.account, before.id, input, {
          ifRevision: before.revision,
          startBlock: start,
          by: actorOf(c),
        })
      })
      // Somebody else's change came between reading and writing: this one is made to what that has left.
      if (after === 'absent' || after === 'changed') continue
      await rules.synced()
      return answer(alerting, after)
    }
  }

/** Blocks of one network are no start in another. */
const startAfterMove = (service: AlertingService, before: StoredRule, input: RuleInput) =>
  networkOf(input) === before.network ? undefined : service.startBlockOf(networkOf(input))

/** `DELETE /alerting/rules/<id>/` */
export const removeRule =
  (alerting: Alerting): Handler =>
  async c => {
    const { rules } = alerting
    for (;;) {
      const rule = ruleOf(c, alerting)
      checkIfMatch(c, rule)
      if (rules.remove(rule.account, rule.id, rule.revision, actorOf(c)) !== 'removed') continue
      await rules.synced()
      return new Response(null, { status: 204 })
    }
  }

const answer = async (
  { service }: Pick<Alerting, 'service'>,
  rule: StoredRule,
  status = 200,
  headers: Record<string, string> = {},
): Promise<Response> => {
  return json(await showRule(service, rule), status, { etag: etagOf(rule), ...headers })
}
