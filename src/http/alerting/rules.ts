import type { Limits } from '../../limits/index.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import { checkRule } from '../../rules/schema.ts'
import { networkOf } from '../../rules/store.ts'
import type { Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { checkIfMatch, etagOf, isKnown, readObject, ruleOf } from './request.ts'
import type { Alerting, AlertingService } from './service.ts'
import { showRules } from './show.ts'

/** `GET /alerting/rules/`: all of the account's. */
export const listRules =
  ({ rules, service }: Alerting): Handler =>
  async c =>
    json(await showRules(service, rules.list(c.get('account').id)))

/** `POST /alerting/rules/` */
export const createRule =
  ({ rules, service }: Alerting, limits: Limits): Handler =>
  async c => {
    const checked = checkRule(await readObject(c, limits), service)
    if (!checked.rule) return invalid(checked.faults)
    const { startBlock, ...input } = checked.rule
    const start = startBlock ?? (await service.startBlockOf(networkOf(input)))
    const rule = rules.create(c.get('account').id, input, start)
    return answer({ service }, rule, 201, { location: `/alerting/rules/${rule.id}/` })
  }

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
    const change = await readObject(c, limits)
    for (;;) {
      const before = ruleOf(c, alerting)
      checkIfMatch(c, before)
      const checked = checkRule({ ...before.input, ...change }, service)
      if (!checked.rule) return invalid(checked.faults)
      const { startBlock, ...input } = checked.rule
      const start = startBlock ?? (await startAfterMove(service, before, input))
      const after = rules.update(before.account, before.id, input, { ifRevision: before.revision, startBlock: start })
      // Somebody else's change came between reading and writing: this one is made to what that has left.
      if (after === 'absent' || after === 'changed') continue
      return answer(alerting, after)
    }
  }

/** Blocks of one network are no start in another. */
const startAfterMove = (service: AlertingService, before: StoredRule, input: RuleInput) =>
  networkOf(input) === before.network ? undefined : service.startBlockOf(networkOf(input))

/** `DELETE /alerting/rules/<id>/` */
export const removeRule =
  (alerting: Alerting): Handler =>
  c => {
    for (;;) {
      const rule = ruleOf(c, alerting)
      checkIfMatch(c, rule)
      if (alerting.rules.remove(rule.account, rule.id, rule.revision) === 'removed')
        return new Response(null, { status: 204 })
    }
  }

const answer = async (
  { service }: Pick<Alerting, 'service'>,
  rule: StoredRule,
  status = 200,
  headers: Record<string, string> = {},
): Promise<Response> => {
  const [shown] = await showRules(service, [rule])
  return json(shown, status, { etag: etagOf(rule), ...headers })
}
