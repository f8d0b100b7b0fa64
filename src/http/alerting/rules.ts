import { messageOf, refuse } from '../../lib/errors.ts'
import { filledLines } from '../../lib/lines.ts'
import { createPauses, createYield, LOOP_PIECE_MS, mapInTurns } from '../../lib/scheduling/event-loop.ts'
import { overLimit } from '../../limits/index.ts'
import { withoutKeys } from '../../rules/hidden-keys.ts'
import { faultInList, MAX_FAULTS } from '../../rules/input.ts'
import type { RuleInput, StoredRule } from '../../rules/rule.ts'
import { checkRule, type RuleFault } from '../../rules/schema.ts'
import { checkRuleQuota, type NewRule, networkOf } from '../../rules/store.ts'
import { jsonResponse, sendAnswer } from '../answer.ts'
import { readRequestBody } from '../body.ts'
import { actorOf } from '../context.ts'
import { invalid } from '../errors.ts'
import { answerSchema, listSchema, schemaRef } from '../openapi/schema.ts'
import {
  AROUND,
  checkIfMatch,
  etagOf,
  hasCurrentRevision,
  integerParameter,
  jsonBody,
  readRuleBody,
  ruleOf,
} from '../request.ts'
import { pageSizeOf } from './deliveries.ts'
import {
  type Alerting,
  type AlertingService,
  hasListOf,
  RULE_EXAMPLE,
  RULE_PATH,
  RULES_PATH,
  ruleRoute,
} from './service.ts'

export const rulesRoute = ruleRoute(
  'get',
  RULES_PATH,
  'All rules of the account, in the order of their ids; with `size` or `after`, one page of them.',
  {
    query: ['size', 'after'],
    answers: { 200: answerSchema({ anyOf: [listSchema(schemaRef('StoredRule')), schemaRef('Rules')] }) },
  },
  (alerting, parameters) => async c => {
    const { id } = c.get('account')
    const { size, after } = parameters(c)
    if (size !== undefined || after !== undefined)
      return jsonResponse(
        await rulePage(alerting, id, { after: integerParameter('after', after) ?? 0, size: pageSizeOf(size) }),
      )
    return sendAnswer(c, alerting.log, {
      status: 200,
      body: ReadableStream.from(listText(alerting, id)).pipeThrough(new TextEncoderStream()),
    })
  },
)

export const createRuleRoute = ruleRoute(
  'post',
  RULES_PATH,
  'Creates a rule.',
  {
    body: jsonBody(schemaRef('Rule'), RULE_EXAMPLE),
    answers: { 201: answerSchema(schemaRef('StoredRule'), 'The rule was created.') },
  },
  ({ rules, service, limits }) =>
    async c => {
      const checked = checkRule(await readRuleBody(c, limits), {
        refusedHost: service.refusedHost,
        abis: service.abis,
        hasList: hasListOf(rules, c.get('account').id),
        limits,
      })
      if (!checked.rule) return invalid(checked.faults)
      const { startBlock, ...input } = checked.rule
      const { id } = c.get('account')
      const start = startBlock ?? (await service.startBlockOf(networkOf(input)))
      const rule = rules.together(() => {
        checkRuleQuota(rules, id, { after: [input] }, limits)
        return rules.create(id, input, start, actorOf(c))
      })
      await rules.synced()
      return ruleResponse({ service }, rule, { status: 201, headers: { location: `/alerting/rules/${rule.id}/` } })
    },
)

export const ruleRouteOfId = ruleRoute(
  'get',
  RULE_PATH,
  'One rule.',
  {
    headers: ['If-None-Match'],
    answers: { 200: answerSchema(schemaRef('StoredRule')), 304: { description: 'The client has this revision.' } },
  },
  alerting => c => {
    const rule = ruleOf(c, alerting)
    if (hasCurrentRevision(c, rule)) return new Response(null, { status: 304, headers: { etag: etagOf(rule) } })
    return ruleResponse(alerting, rule)
  },
)

export const updateRuleRoute = ruleRoute(
  'put',
  RULE_PATH,
  'Changes what the body has, and keeps the rest; with `replace`, the body is the whole rule.',
  {
    query: ['replace'],
    headers: ['If-Match'],
    body: jsonBody(schemaRef('RuleChange'), { enabled: false }),
    answers: 'StoredRule',
  },
  alerting => async c => {
    const { rules, service, limits } = alerting
    const change = await readRuleBody(c, limits)
    const since = Date.now()
    const replaces = new URLSearchParams(c.req.url.split('?')[1]).get('replace') === 'true'
    for (;;) {
      const before = ruleOf(c, alerting)
      checkIfMatch(c, before)
      const checked = checkRule(replaces ? change : { ...before.input, ...change }, {
        refusedHost: service.refusedHost,
        abis: service.abis,
        hasList: hasListOf(rules, c.get('account').id),
        limits,
        before: before.input,
      })
      if (!checked.rule) return invalid(checked.faults)
      const { startBlock, ...input } = checked.rule
      const start = startBlock ?? (await startAfterMove(service, before, input))
      const after = rules.together(() => {
        checkRuleQuota(rules, before.account, { before: [before.input], after: [input] }, limits)
        return rules.update(before.account, before.id, input, {
          ifRevision: before.revision,
          startBlock: start,
          by: actorOf(c),
        })
      })
      // The rule was changed between reading and writing: apply this change to the result.
      if (after === 'absent' || after === 'changed') continue
      await rules.synced()
      const pauses = before.enabled && !after.enabled
      const more = pauses ? { cancelledDeliveries: await service.cancel(after, 'paused', since) } : {}
      return ruleResponse(alerting, after, { more })
    }
  },
)

/** A block of one network is not a start in another. */
const startAfterMove = (service: AlertingService, before: StoredRule, input: RuleInput) =>
  networkOf(input) === before.network ? undefined : service.startBlockOf(networkOf(input))

/** Number of deliveries that a deletion cancelled; old clients expect no body. */
const CANCELLED_HEADER = 'cancelled-deliveries'

export const removeRuleRoute = ruleRoute(
  'delete',
  RULE_PATH,
  'Deletes a rule. The header `Cancelled-Deliveries` says how many queued deliveries that cancelled.',
  { headers: ['If-Match'], answers: { 204: { description: 'The rule was deleted.' } } },
  alerting => async c => {
    const { rules, service } = alerting
    const since = Date.now()
    for (;;) {
      const rule = ruleOf(c, alerting)
      checkIfMatch(c, rule)
      if (rules.remove(rule.account, rule.id, rule.revision, actorOf(c)) !== 'removed') continue
      await rules.synced()
      const cancelled = await service.cancel(rule, 'deleted', since)
      return new Response(null, {
        status: 204,
        headers: cancelled === null ? {} : { [CANCELLED_HEADER]: String(cancelled) },
      })
    }
  },
)

const ruleResponse = async (
  { service }: Pick<Alerting, 'service'>,
  rule: StoredRule,
  { status = 200, headers = {}, more = {} }: { status?: number; headers?: Record<string, string>; more?: object } = {},
): Promise<Response> =>
  jsonResponse({ ...(await ruleAnswer(service, rule)), ...more }, status, { etag: etagOf(rule), ...headers })

export const createRulesRoute = ruleRoute(
  'post',
  `${RULES_PATH}/bulk`,
  'Creates the rules of all lines, or none if one of them has a fault.',
  {
    body: {
      schema: { type: 'string', description: 'One rule as JSON in each line.' },
      example: `${JSON.stringify(RULE_EXAMPLE)}\n`,
      type: 'application/x-ndjson',
      required: true,
    },
    answers: { 201: answerSchema(schemaRef('CreatedRules'), 'All rules were created, in the order of their lines.') },
  },
  ({ rules, service, limits }) =>
    async c => {
      const { id } = c.get('account')
      const { refusedHost, abis } = service
      const body = await readRequestBody(c, limits)
      const pause = createPauses()
      const starts = new Map<string, number | null>()
      const list: NewRule[] = []
      const faults: RuleFault[] = []
      let index = 0
      for (const line of filledLines(body)) {
        await pause()
        if (index === limits.rulesAtOnce) throw overLimit('rulesAtOnce', limits)
        if (line.length > AROUND * limits.rule) throw overLimit('rule', limits, `[${index}]`)
        const checked = checkRule(parseRuleLine(line, index), {
          refusedHost,
          abis,
          hasList: hasListOf(rules, id),
          limits,
        })
        faults.push(...checked.faults.map(fault => faultInList(index, fault)))
        if (faults.length >= MAX_FAULTS) break
        index++
        if (!checked.rule) continue
        const { startBlock, ...input } = checked.rule
        const network = networkOf(input)
        if (startBlock === undefined && !starts.has(network)) starts.set(network, await service.startBlockOf(network))
        list.push({ input, startBlock: startBlock ?? starts.get(network) ?? null })
      }
      if (faults.length > 0) return invalid(faults.slice(0, MAX_FAULTS))
      if (index === 0) throw refuse('parsing_exception', 'The body has no rule: send one as JSON in each line.')
      const made = rules.together(() => {
        checkRuleQuota(rules, id, { after: list.map(({ input }) => input) }, limits)
        return rules.createAll(id, list, actorOf(c))
      })
      await rules.synced()
      return jsonResponse({ rules: made.map(({ id, input: { name } }) => ({ id, name })) }, 201)
    },
)

const parseRuleLine = (line: Uint8Array, index: number): unknown => {
  try {
    // Copied, since TextDecoder refuses shared memory.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(line))) as unknown
  } catch (error) {
    throw refuse(
      'parsing_exception',
      `[${index}] is not JSON: ${messageOf(error)}. Each line has one whole rule; jq -c '.[]' makes lines of a list.`,
      error,
    )
  }
}

/** A rule as its owner sees it: its text and its status on the server. */
const ruleAnswer = async (service: AlertingService, rule: StoredRule): Promise<object> =>
  ruleWithCounts(service, rule, await service.triggerCounts([rule.id]))

const ruleWithCounts = (service: AlertingService, rule: StoredRule, counts: ReadonlyMap<number, number>): object => ({
  id: rule.id,
  ...withoutKeys(rule.input),
  enabled: rule.enabled,
  startBlock: rule.startBlock,
  createdAt: new Date(rule.createdAt).toISOString(),
  updatedAt: new Date(rule.updatedAt).toISOString(),
  triggerCount: counts.get(rule.id) ?? 0,
  idle: service.idle(rule) ?? null,
  failing: service.failing(rule).map(({ channel, target, since, at, status, error }) => ({
    ...{ channel, target, since, at, status, error },
  })),
  warnings: rule.unfit === undefined ? service.warnings(rule) : [rule.unfit],
})

/** Some of an account's rules, ordered by id. */
const rulePage = async (
  { rules, service }: Alerting,
  account: number,
  page: { after: number; size: number },
): Promise<{ rules: object[]; next: string | null }> => {
  const ids = rules.ids(account, page)
  const counts = await service.triggerCounts(ids)
  const shown = await mapInTurns(ids, id => {
    const rule = rules.get(account, id)
    return rule && ruleWithCounts(service, rule, counts)
  })
  return {
    rules: shown.filter(rule => rule !== undefined),
    next: ids.length < page.size ? null : String(ids.at(-1)),
  }
}

const yieldTurn = createYield()

/** Streams an account's rules as a JSON list: many rules must not delay other requests. */
async function* listText({ rules, service }: Alerting, account: number): AsyncGenerator<string, void> {
  const ids = rules.ids(account)
  const counts = await service.triggerCounts(ids)
  let separator = '['
  for (let at = 0; at < ids.length; ) {
    await yieldTurn()
    const started = performance.now()
    let piece = ''
    do {
      // One may have been deleted in between.
      const rule = rules.get(account, ids[at++]!)
      if (rule === undefined) continue
      piece += separator + JSON.stringify(ruleWithCounts(service, rule, counts))
      separator = ','
    } while (at < ids.length && performance.now() - started < LOOP_PIECE_MS)
    yield piece
  }
  yield separator === '[' ? '[]' : ']'
}
