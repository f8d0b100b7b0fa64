import { type Limits, overNow } from '../../limits/index.ts'
import { type Fault, type Place, placeOf } from '../../rules/place.ts'
import { checkRule } from '../../rules/schema.ts'
import { json } from '../answer.ts'
import { actorOf, askedBy, type Handler, whileConnected } from '../context.ts'
import { invalid } from '../errors.ts'
import { fitRuleOf, readMembers, readRule, readShape } from '../request.ts'
import { type SimulationRange, simulationRange, testRequest } from '../shapes/rules.ts'
import type { Alerting } from './service.ts'

/** Lets an account run a number of simulations and tests at once; a further one must try again later. */
export type Gate = <T>(account: number, work: () => Promise<T>) => Promise<T>

export const createGate = (limits: Limits): Gate => {
  const busy = new Map<number, number>()
  return async (account, work) => {
    const count = busy.get(account) ?? 0
    if (count >= limits.simulations) throw overNow('simulations', limits)
    busy.set(account, count + 1)
    try {
      return await work()
    } finally {
      const left = busy.get(account)! - 1
      if (left > 0) busy.set(account, left)
      else busy.delete(account)
    }
  }
}

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
