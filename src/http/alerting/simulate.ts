import type { Limits } from '../../limits/index.ts'
import { type Fault, integer, type Place, placeOf } from '../../rules/place.ts'
import { checkRule } from '../../rules/schema.ts'
import { askedBy, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import type { Gate } from './gate.ts'
import { fitRuleOf, readMembers, readRule } from './request.ts'
import type { Alerting, SimulationRange } from './service.ts'

/** `POST /alerting/rules/simulate/`: a rule that need not be stored, over stored history; nothing is sent. */
export const simulate =
  ({ service }: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const { fromBlock, toBlock, lastBlocks, size, buckets, ...rule } = await readRule(c, limits)
    const faults: Fault[] = []
    const range = rangeAt(placeOf({ fromBlock, toBlock, lastBlocks, size, buckets }, faults))
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
    const body = await readMembers(c, limits, ['fromBlock', 'toBlock', 'lastBlocks', 'size', 'buckets'], rangeAt)
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    return json(await gate(account, () => alerting.service.simulate(input, members, askedBy(c))))
  }

const MAX_HITS = 1_000
const MAX_BUCKETS = 500

const rangeAt = (place: Place): SimulationRange => {
  const at = (name: string, bounds: { min: number; max?: number }) => {
    const member = place.member(name)
    return member.value === undefined ? undefined : integer(member, bounds)
  }
  const fromBlock = at('fromBlock', { min: 0 })
  const toBlock = at('toBlock', { min: 0 })
  if (fromBlock !== undefined && toBlock !== undefined && toBlock < fromBlock)
    place.member('toBlock').fault(`toBlock is ${toBlock}, and must not be below fromBlock, which is ${fromBlock}.`)
  const lastBlocks = at('lastBlocks', { min: 1 })
  if (lastBlocks !== undefined && (fromBlock !== undefined || toBlock !== undefined))
    place.member('lastBlocks').fault('lastBlocks stands in place of fromBlock and toBlock: give either.')
  const size = at('size', { min: 0, max: MAX_HITS })
  const buckets = at('buckets', { min: 1, max: MAX_BUCKETS })
  return {
    ...{ fromBlock, toBlock, size },
    ...(lastBlocks !== undefined && { lastBlocks }),
    ...(buckets !== undefined && { buckets }),
  }
}
