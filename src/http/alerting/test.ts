import type { Limits } from '../../limits/index.ts'
import { filled } from '../../rules/place.ts'
import { actorOf, type Handler, whileConnected } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import type { Gate } from './gate.ts'
import { fitRuleOf, readMembers } from './request.ts'
import type { Alerting } from './service.ts'

/** `POST /alerting/rules/<id>/test/`: sends each of its alerts once, marked as a test. */
export const testRule =
  (alerting: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const rule = fitRuleOf(c, alerting)
    const body = await readMembers(c, limits, ['_id'], place => {
      const id = place.member('_id')
      return id.value === undefined ? undefined : filled(id, 'the id of a stored document')
    })
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    alerting.rules.note(actorOf(c), rule.id, 'rule test')
    return json(await gate(rule.account, () => alerting.service.test(rule, members, whileConnected(c))))
  }
