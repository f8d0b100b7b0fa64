import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { refuse } from '../../lib/errors.ts'
import { type AgentAnswer, type AgentSession, requestJson } from '../ask.ts'
import { fittingRows } from '../fit.ts'
import { CHAIN_TEXT, showDocument, showText } from '../show.ts'
import { resolveTokens, tokensAmong } from '../tokens.ts'
import { agentTool, countUpTo, networkInput, optionalInput, readMember, textInput } from './tool.ts'

const RULES_URL = '/alerting/rules/'

const ruleInput = v.strictObject({
  name: textInput,
  targetType: textInput,
  targetMap: v.array(v.looseObject({})),
  alerts: optionalInput(v.array(v.looseObject({}))),
  maxConfirmationCount: optionalInput(v.union([v.number(), textInput])),
  description: optionalInput(textInput),
})
/** Where the description of another tool has its members. */
const sameRule = v.looseObject({})

/** Takes the place of receivers that are not chosen yet: checks and simulations send nothing. */
const NO_RECEIVER = [{ type: 'Webhook (POST)', parameters: { url: 'https://receiver.example/' } }]

/** The rule as the HTTP API has it, with addresses for symbols of tokens. */
const wholeRule = async (session: AgentSession, network: string, given: object) => {
  const short = readMember('rule', ruleInput, given)
  const { value, resolved } = await resolveTokens(session, network, short.targetMap)
  const { name, targetType, alerts = [], maxConfirmationCount = 0, description } = short
  const [technology, blockchain, last] = network.split('/')
  return {
    resolved,
    hasReceiver: alerts.length > 0,
    rule: {
      ...{ name, maxConfirmationCount, technology, blockchain, network: last },
      ...(description !== undefined && { description }),
      config: { targetType, targetMap: value, alerts: alerts.length > 0 ? alerts : NO_RECEIVER },
    },
  }
}
type WholeRule = Awaited<ReturnType<typeof wholeRule>>['rule']

/** Signs what a rule matches, for the time that this process runs: receivers may change afterwards. */
const SIGNING_KEY = randomBytes(32)
const signRule = ({ owner }: AgentSession, { technology, blockchain, network, config }: WholeRule): string =>
  createHmac('sha256', SIGNING_KEY)
    .update(JSON.stringify([owner, technology, blockchain, network, config.targetType, inOneOrder(config.targetMap)]))
    .digest('base64url')

/** With the members of objects in one order. */
const inOneOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOneOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => [key, inOneOrder(one)])
}

interface Simulated extends AgentAnswer {
  total: string
  hits: { _id: string; _source: Record<string, unknown> }[]
  holes?: unknown[]
  alerts?: string | null
  windows?: { episodes: object[] }
  warnings?: string[]
}

const trySimulation = async (session: AgentSession, rule: WholeRule, range: object): Promise<Simulated> =>
  (await requestJson(session, 'POST', `${RULES_URL}simulate/`, { ...rule, ...range })) as Simulated

export const ruleCheckTool = agentTool(
  'rule_check',
  'Whether a rule is valid, with every fault. Stores and sends nothing. rule: as in rule_simulate.',
  {
    scope: 'rules',
    input: { network: networkInput, rule: sameRule },
    output: { valid: 'boolean', warnings: 'array' },
    async run({ network, rule: short }, session) {
      const { rule, resolved, hasReceiver } = await wholeRule(session, network, short)
      const { warnings = [] } = await trySimulation(session, rule, { lastBlocks: 1, size: 1 })
      return { valid: true, warnings: [...warnings, ...missingReceiver(hasReceiver)], resolved }
    },
  },
)

const missingReceiver = (hasReceiver: boolean): string[] =>
  hasReceiver ? [] : ['The rule has no receiver yet: add alerts before rule_create.']

const MAX_SHOWN_HITS = 20
const FEW_HITS = 3

export const ruleSimulateTool = agentTool(
  'rule_simulate',
  `How often a rule would have fired in stored blocks, with its newest hits. Its \`simulated\` is needed by rule_create. alerts may be absent here. More than 100,000 DUSD moves:
{"name":"Large DUSD transfers","targetType":"Event","targetMap":[{"name":"event","operator":"Equals","value":"Transfer"},{"name":"address","operator":"Equals","value":"token:DUSD"},{"name":"args","operator":"Inspect","operatorParameters":[{"name":"value","operator":"Greater","value":"100000","useScaledValue":true}]}],"alerts":[{"type":"Webhook (POST)","parameters":{"url":"https://x.io/"}}]}
targetType: Event Transaction Block Call Trace Log Contract Token. operator: Equals, "Equals any", Greater, Less, "Greater or Equal", "Less or Equal".`,
  {
    scope: 'rules',
    input: {
      network: networkInput,
      rule: ruleInput,
      lastBlocks: optionalInput(v.number()),
      size: optionalInput(countUpTo(MAX_SHOWN_HITS)),
    },
    output: { total: 'string', hits: 'array', simulated: 'string', warnings: 'array', truncated: 'boolean' },
    async run({ network, rule: short, lastBlocks, size = FEW_HITS }, session) {
      const { rule, resolved, hasReceiver } = await wholeRule(session, network, short)
      const found = await trySimulation(session, rule, { lastBlocks, size })
      const { total, hits, holes = [], alerts, windows, warnings = [] } = found
      const addresses = hits.map(({ _source: { address, to } }) => address ?? to)
      const tokens = await tokensAmong(session, network, maySearch(session) ? addresses : [])
      const showing = { currency: session.currencyOf(network), tokens }
      const shown = hits.map(({ _id, _source }) => ({ _id, ...brief(showDocument(_source, showing)) }))
      const answerWith = (kept: readonly object[]) => ({
        ...{ total, hits: kept, simulated: signRule(session, rule), holes, resolved, alerts },
        ...(windows && { episodes: windows.episodes.slice(0, MAX_SHOWN_HITS) }),
        warnings: [...warnings, ...missingReceiver(hasReceiver)],
        ...(kept.length < shown.length && { truncated: true, next: 'Only the newest hits are shown: ask for fewer.' }),
        note: CHAIN_TEXT,
      })
      return answerWith(fittingRows(shown, answerWith))
    },
  },
)

/** Without it, amounts have no symbols. */
const maySearch = ({ scopes }: AgentSession): boolean => scopes?.has('search') ?? true

/** What tells one hit from another. */
const brief = (shown: AgentAnswer): AgentAnswer =>
  Object.fromEntries(
    [
      'blockNumber',
      'number',
      'timestamp',
      'from',
      'to',
      'address',
      'event',
      'method',
      'value',
      'args',
      'error',
      'symbol',
    ]
      .filter(name => shown[name] !== undefined)
      .map(name => [name, shown[name]]),
  )

export const ruleListTool = agentTool(
  'rule_list',
  'The rules of your account, how often they fired, and why they are idle.',
  {
    scope: 'rules',
    input: { cursor: optionalInput(textInput) },
    output: { rules: 'array', truncated: 'boolean', cursor: 'string' },
    async run({ cursor }, session) {
      const after = cursor === undefined ? '' : `&after=${encodeURIComponent(cursor)}`
      const { rules, next } = (await requestJson(session, 'GET', `${RULES_URL}?size=${RULES_PER_PAGE}${after}`)) as {
        rules: ListedAgentRule[]
        next: string | null
      }
      const answerWith = (kept: readonly ListedAgentRule[]) => {
        const more = kept.length < rules.length ? kept.at(-1)!.id : next
        return {
          rules: kept.map(briefRule),
          ...(more !== null && { truncated: true, cursor: more, next: 'For more, repeat the call with this cursor.' }),
        }
      }
      return answerWith(fittingRows(rules, answerWith))
    },
  },
)

const RULES_PER_PAGE = 50

interface ListedAgentRule extends AgentAnswer {
  id: string
  config: { targetType: string; targetMap: unknown; alerts: { type: string }[] }
}

const briefRule = ({ config, ...rule }: ListedAgentRule): AgentAnswer => ({
  ...{ id: rule.id, name: rule.name, enabled: rule.enabled },
  network: [rule.technology, rule.blockchain, rule.network].join('/'),
  ...{ targetType: config.targetType, targetMap: config.targetMap, receivers: config.alerts.map(({ type }) => type) },
  ...{ fired: rule.triggerCount, idle: rule.idle, warnings: rule.warnings },
})

export const ruleCreateTool = agentTool(
  'rule_create',
  'Stores a rule that rule_simulate has seen: pass the same rule with `simulated`, and its receivers in alerts. Ask the user before.',
  {
    scope: 'rules',
    changes: true,
    input: { network: networkInput, rule: sameRule, simulated: textInput },
    output: { id: 'string', warnings: 'array' },
    async run({ network, rule: short, simulated }, session) {
      const { rule, resolved, hasReceiver } = await wholeRule(session, network, short)
      if (!hasReceiver) throw refuse('no_receiver', 'rule.alerts: name at least one receiver, and ask the user which.')
      const [wanted, given] = [Buffer.from(signRule(session, rule)), Buffer.from(simulated)]
      if (wanted.length !== given.length || !timingSafeEqual(wanted, given))
        throw refuse(
          'not_simulated',
          'simulated: this rule was not simulated, or has other conditions now. Call rule_simulate with it, and pass what that answers.',
        )
      const { id, name, enabled, idle, warnings } = await requestJson(session, 'POST', RULES_URL, rule)
      session.record('rule_create', Number(id))
      return { id, name: showText(String(name)), enabled, idle, warnings, resolved }
    },
  },
)

export const rulePauseTool = agentTool('rule_pause', 'Pauses a rule, or resumes it with paused false.', {
  scope: 'rules',
  changes: true,
  input: { id: v.union([textInput, v.number()]), paused: optionalInput(v.boolean()) },
  output: { id: 'string', enabled: 'boolean' },
  async run({ id: given, paused = true }, session) {
    if (!/^\d{1,15}$/.test(String(given))) throw refuse('bad_id', 'id: the number of a rule, as rule_list shows it.')
    const { id, enabled, idle, cancelledDeliveries } = await requestJson(session, 'PUT', `${RULES_URL}${given}/`, {
      enabled: !paused,
    })
    session.record(paused ? 'rule_pause' : 'rule_resume', Number(id))
    return { id, enabled, idle, ...(cancelledDeliveries !== undefined && { cancelledDeliveries }) }
  },
})
