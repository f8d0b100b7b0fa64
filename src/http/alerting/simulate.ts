import { createInputPlace, type InputPlace, type RuleFault } from '../../rules/input.ts'
import { checkRule } from '../../rules/schema.ts'
import { jsonResponse } from '../answer.ts'
import { actorOf, askedBy, whileConnected } from '../context.ts'
import { invalid } from '../errors.ts'
import { schemaRef } from '../openapi/schema.ts'
import { fitRuleOf, jsonBody, readMembers, readRuleBody, readShape } from '../request.ts'
import { type SimulationRange, simulationRange, testRequest } from '../shapes/rules.ts'
import { hasListOf, RULE_EXAMPLE, RULE_PATH, RULES_PATH, ruleRoute } from './service.ts'

export const simulateRoute = ruleRoute(
  'post',
  `${RULES_PATH}/simulate`,
  'Shows how often a rule would have fired in the stored blocks. Sends nothing.',
  { body: jsonBody(schemaRef('RuleToSimulate'), { ...RULE_EXAMPLE, size: 1 }), answers: 'Simulation' },
  ({ rules, service, limits, gate }) =>
    async c => {
      const { fromBlock, toBlock, lastBlocks, size, buckets, ...rule } = await readRuleBody(c, limits)
      const faults: RuleFault[] = []
      const place = createInputPlace({ fromBlock, toBlock, lastBlocks, size, buckets }, faults)
      const range = readShape(simulationRange, place, checkRange)
      const checked = checkRule(rule, {
        refusedHost: service.refusedHost,
        abis: service.abis,
        hasList: hasListOf(rules, c.get('account').id),
        limits,
        draft: true,
      })
      if (!checked.rule || faults.length > 0) return invalid([...checked.faults, ...faults])
      const { rule: input } = checked
      return jsonResponse(await gate(c.get('account').id, () => service.simulate(input, range, askedBy(c))))
    },
)

export const simulateRuleRoute = ruleRoute(
  'post',
  `${RULE_PATH}/simulate`,
  'Shows how often the rule would have fired in the stored blocks. Sends nothing.',
  { body: jsonBody(schemaRef('SimulationRange'), { size: 1 }, false), answers: 'Simulation' },
  alerting => async c => {
    const { account, input } = fitRuleOf(c, alerting)
    const body = await readMembers(c, alerting.limits, simulationRange, checkRange)
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    return jsonResponse(await alerting.gate(account, () => alerting.service.simulate(input, members, askedBy(c))))
  },
)

const checkRange = (
  place: InputPlace,
  { fromBlock, toBlock, lastBlocks }: SimulationRange,
  read: keyof SimulationRange,
) => {
  if (read === 'toBlock' && fromBlock !== undefined && toBlock !== undefined && toBlock < fromBlock)
    place.member('toBlock').fault(`toBlock is ${toBlock}, and must not be below fromBlock, which is ${fromBlock}.`)
  if (read === 'lastBlocks' && lastBlocks !== undefined && (fromBlock !== undefined || toBlock !== undefined))
    place.member('lastBlocks').fault('lastBlocks replaces fromBlock and toBlock: give either.')
}

export const testRuleRoute = ruleRoute(
  'post',
  `${RULE_PATH}/test`,
  'Sends each of its alerts once, marked as a test.',
  { body: jsonBody(schemaRef('TestRequest'), {}, false), answers: 'TestResult' },
  alerting => async c => {
    const rule = fitRuleOf(c, alerting)
    const body = await readMembers(c, alerting.limits, testRequest)
    if (!('members' in body)) return invalid(body.faults)
    const { members } = body
    alerting.rules.note(actorOf(c), rule.id, 'rule test')
    return jsonResponse(
      await alerting.gate(rule.account, () => alerting.service.test(rule, members._id, whileConnected(c))),
    )
  },
)

export const previewTestRoute = ruleRoute(
  'post',
  `${RULES_PATH}/test`,
  'Shows what each alert of a rule would send for a stored document. Sends nothing.',
  { body: jsonBody(schemaRef('RuleToTest'), RULE_EXAMPLE), answers: 'TestPreview' },
  ({ rules, service, limits, gate }) =>
    async c => {
      const { _id, ...rule } = await readRuleBody(c, limits)
      const faults: RuleFault[] = []
      const { _id: id } = readShape(testRequest, createInputPlace({ _id }, faults))
      const checked = checkRule(rule, {
        refusedHost: service.refusedHost,
        abis: service.abis,
        hasList: hasListOf(rules, c.get('account').id),
        limits,
        draft: true,
      })
      if (!checked.rule || faults.length > 0) return invalid([...checked.faults, ...faults])
      const { rule: input } = checked
      return jsonResponse(await gate(c.get('account').id, () => service.preview(input, id, askedBy(c))))
    },
)
