import type { Limits } from '../../limits/index.ts'
import { type Fault, type Place, placeOf } from '../../rules/place.ts'
import { checkRule } from '../../rules/schema.ts'
import { askedBy, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { type SimulationRange, simulationRange } from '../shapes/rules.ts'
import type { Gate } from './gate.ts'
import { fitRuleOf, readMembers, readRule, readShape } from './request.ts'
import type { Alerting } from './service.ts'

/** `POST /alerting/rules/simulate/`: a rule that need not be stored, over stored history; nothing is sent. */
export const simulate =
  ({ service }: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const { fromBlock, toBlock, lastBlocks, size, buckets, ...rule } = await readRule(c, limits)
    const faults: Fault[] = []
    const place = placeOf({ fromBlock, toBlock, lastBlocks, size, buckets }, faults)
    const range = readShape(simulationRange, place, checkRange)
    const checked = checkRule(rule, { refusedHost: service.refusedHost, abis: service.abis, limits })
    if (!checked.rule || faults.length > 0) return invalid([...checked.faults, ...faults])
    const { rule: input } = checked
    return json(await gate(c.get('account').id, () => service.simulate(input, range, askedBy(c))))
  }

/** `POST /alerting/rules/<id>/simulate/` */
export const simulateRule =
  (alerting: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const { account, input } = fitRuleOf(c, alerting)
    const body = await readMembers(c, limits, simulationRange, checkRange)
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    return json(await gate(account, () => alerting.service.simulate(input, members, askedBy(c))))
  }

const checkRange = (place: Place, { fromBlock, toBlock, lastBlocks }: SimulationRange, read: keyof SimulationRange) => {
  if (read === 'toBlock' && fromBlock !== undefined && toBlock !== undefined && toBlock < fromBlock)
    place.member('toBlock').fault(`toBlock is ${toBlock}, and must not be below fromBlock, which is ${fromBlock}.`)
  if (read === 'lastBlocks' && lastBlocks !== undefined && (fromBlock !== undefined || toBlock !== undefined))
    place.member('lastBlocks').fault('lastBlocks stands in place of fromBlock and toBlock: give either.')
}
