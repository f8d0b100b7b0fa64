import type { Limits } from '../../limits/index.ts'
import { type Fault, placeOf } from '../../rules/place.ts'
import { checkRule } from '../../rules/schema.ts'
import { actorOf, type Handler, whileConnected } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { testRequest } from '../shapes/rules.ts'
import type { Gate } from './gate.ts'
import { fitRuleOf, readMembers, readRule, readShape } from './request.ts'
import type { Alerting } from './service.ts'

/** `POST /alerting/rules/<id>/test/`: sends each of its alerts once, marked as a test. */
export const testRule =
  (alerting: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const rule = fitRuleOf(c, alerting)
    const body = await readMembers(c, limits, testRequest)
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    alerting.rules.note(actorOf(c), rule.id, 'rule test')
    return json(await gate(rule.account, () => alerting.service.test(rule, members._id, whileConnected(c))))
  }

/** `POST /alerting/rules/test/`: what a rule that need not be stored would send; nothing is sent. */
export const previewTest =
  ({ service }: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const { _id, ...rule } = await readRule(c, limits)
    const faults: Fault[] = []
    const { _id: id } = readShape(testRequest, placeOf({ _id }, faults))
    const checked = checkRule(rule, { refusedHost: service.refusedHost, abis: service.abis, limits })
    if (!checked.rule || faults.length > 0) return invalid([...checked.faults, ...faults])
    const { rule: input } = checked
    return json(await gate(c.get('account').id, () => service.preview(input, id, whileConnected(c))))
  }
