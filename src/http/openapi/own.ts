import { STATES as LISTED_STATES } from '../alerting/deliveries.ts'
import { EVERYWHERE, type Operation, told } from './operations.ts'
import { closed, listOf, oneOf, orNull, ref, type Schema, text } from './schema.ts'

const json = (schema: Schema, example: unknown, required = true) => ({ schema, example, required })

const RULE_EXAMPLE = {
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'demo',
  network: 'local',
  config: {
    targetType: 'Event',
    targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://alerts.example/chain' } }],
  },
}

/** Routes of the server itself. */
const SERVER: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/health', tag: 'Server', open: true },
    doc: 'Whether the process lives.',
    answers: { 200: told(ref('Health')) },
  },
  {
    ...{ method: 'get', path: '/ready', tag: 'Server', open: true },
    doc: 'Whether the server does all that it should do.',
    answers: { 200: told(ref('Readiness')), 503: told(ref('Readiness'), 'It does not; the reasons say why.') },
  },
  {
    ...{ method: 'get', path: '/openapi.json', tag: 'Server', open: true },
    doc: 'This description.',
    answers: { 200: told({ type: 'object', required: ['openapi', 'info', 'paths'] }) },
  },
  {
    ...{ method: 'get', path: '/openapi', tag: 'Server', open: true },
    doc: 'This description, as a page to read.',
    answers: { 200: { description: 'The page.', content: { 'text/html': text } } },
  },
  {
    ...{ method: 'get', path: '/status', tag: 'Server' },
    doc: 'Networks, their nodes, and deliveries of the account.',
    query: ['access_token'],
    answers: { 200: told(ref('Status')) },
  },
  {
    ...{ method: 'get', path: '/', tag: 'Elasticsearch' },
    doc: 'Name and version, which clients ask for first.',
    query: ['access_token'],
    answers: { 200: told(ref('Information')) },
  },
]

const METRICS: Operation = {
  ...{ method: 'get', path: '/metrics', tag: 'Server' },
  doc: 'Figures for Prometheus. `--metrics` says who needs no token.',
  query: ['access_token'],
  answers: { 200: { description: 'The figures.', content: { 'text/plain': text } } },
}

const RULE = '/alerting/rules/{id}'

const RULES: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/alerting/rules', tag: 'Rules' },
    doc: 'All rules of the account, in the order of their ids; with `size` or `after`, one page of them.',
    query: ['size', 'after', ...EVERYWHERE],
    answers: { 200: told({ anyOf: [listOf(ref('StoredRule')), ref('Rules')] }) },
  },
  {
    ...{ method: 'post', path: '/alerting/rules', tag: 'Rules' },
    doc: 'Creates a rule.',
    query: EVERYWHERE,
    body: json(ref('Rule'), RULE_EXAMPLE),
    answers: { 201: told(ref('StoredRule'), 'The rule was created.') },
  },
  {
    ...{ method: 'post', path: '/alerting/rules/bulk', tag: 'Rules' },
    doc: 'Creates the rules of all lines, or none if one of them has a fault.',
    query: EVERYWHERE,
    body: {
      schema: { type: 'string', description: 'One rule as JSON in each line.' },
      example: `${JSON.stringify(RULE_EXAMPLE)}\n`,
      type: 'application/x-ndjson',
      required: true,
    },
    answers: { 201: told(ref('CreatedRules'), 'All rules were created, in the order of their lines.') },
  },
  {
    ...{ method: 'post', path: '/alerting/rules/simulate', tag: 'Rules' },
    doc: 'Shows how often a rule would have fired in the stored blocks. Sends nothing.',
    query: EVERYWHERE,
    body: json(ref('RuleToSimulate'), { ...RULE_EXAMPLE, size: 1 }),
    answers: { 200: told(ref('Simulation')) },
  },
  {
    ...{ method: 'post', path: '/alerting/rules/test', tag: 'Rules' },
    doc: 'Shows what each alert of a rule would send for a stored document. Sends nothing.',
    query: EVERYWHERE,
    body: json(ref('RuleToTest'), RULE_EXAMPLE),
    answers: { 200: told(ref('TestPreview')) },
  },
  {
    ...{ method: 'get', path: RULE, tag: 'Rules' },
    doc: 'One rule.',
    query: EVERYWHERE,
    headers: ['If-None-Match'],
    answers: { 200: told(ref('StoredRule')), 304: { description: 'The client has this revision.' } },
  },
  {
    ...{ method: 'put', path: RULE, tag: 'Rules' },
    doc: 'Changes what the body has, and keeps the rest; with `replace`, the body is the whole rule.',
    query: ['replace', ...EVERYWHERE],
    headers: ['If-Match'],
    body: json(ref('RuleChange'), { enabled: false }),
    answers: { 200: told(ref('StoredRule')) },
  },
  {
    ...{ method: 'delete', path: RULE, tag: 'Rules' },
    doc: 'Deletes a rule. The header `Cancelled-Deliveries` says how many queued deliveries that cancelled.',
    query: EVERYWHERE,
    headers: ['If-Match'],
    answers: { 204: { description: 'The rule was deleted.' } },
  },
  {
    ...{ method: 'post', path: `${RULE}/simulate`, tag: 'Rules' },
    doc: 'Shows how often the rule would have fired in the stored blocks. Sends nothing.',
    query: EVERYWHERE,
    body: json(ref('SimulationRange'), { size: 1 }, false),
    answers: { 200: told(ref('Simulation')) },
  },
  {
    ...{ method: 'post', path: `${RULE}/test`, tag: 'Rules' },
    doc: 'Sends each of its alerts once, marked as a test.',
    query: EVERYWHERE,
    body: json(ref('TestRequest'), {}, false),
    answers: { 200: told(ref('TestResult')) },
  },
  {
    ...{ method: 'get', path: `${RULE}/alerts`, tag: 'Rules' },
    doc: 'What the rule matched and what became of each match, newest first.',
    query: ['size', 'before', 'state', ...EVERYWHERE],
    answers: { 200: told(ref('Alerts')) },
  },
  {
    ...{ method: 'post', path: `${RULE}/redeliver`, tag: 'Rules' },
    doc: 'Sends deliveries again: of one alert, of a time, or all that are dead.',
    query: EVERYWHERE,
    body: json(ref('Redelivery'), { dead: true }),
    answers: { 200: told(ref('Redelivered')) },
  },
  {
    ...{ method: 'get', path: '/alerting/series', tag: 'Rules' },
    doc: 'How many alerts each rule had, by time.',
    query: ['from', 'to', 'buckets', 'rules', ...EVERYWHERE],
    answers: { 200: told(ref('AlertSeries')) },
  },
  {
    ...{ method: 'get', path: '/alerting/deliveries', tag: 'Rules' },
    doc: 'Deliveries of the account across its rules, newest first.',
    query: [...['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'], ...EVERYWHERE],
    values: { state: oneOf(LISTED_STATES) },
    answers: { 200: told(closed({ deliveries: listOf(ref('Delivery')), next: orNull(text) })) },
  },
  {
    ...{ method: 'post', path: '/alerting/deliveries/redeliver', tag: 'Rules' },
    doc: 'Sends deliveries again that fulfil all that the body names.',
    query: EVERYWHERE,
    body: json(ref('WideRedelivery'), { dead: true }),
    answers: { 200: told(ref('Redelivered')) },
  },
  {
    ...{ method: 'get', path: '/alerting/deliveries/{id}', tag: 'Rules' },
    doc: 'One delivery with every attempt.',
    query: EVERYWHERE,
    answers: { 200: told(ref('WholeDelivery')) },
  },
  {
    ...{ method: 'get', path: '/alerting/destinations', tag: 'Rules' },
    doc: 'What waits for each receiver of the account, and what it never got.',
    query: EVERYWHERE,
    answers: { 200: told(ref('Destinations')) },
  },
]

/** What this server has beside what is below `…/es`. */
export const ownOperations = ({
  rules,
  metrics,
  management,
}: Record<'rules' | 'metrics' | 'management', boolean>): Operation[] => [
  ...SERVER,
  ...(metrics ? [METRICS] : []),
  ...(rules ? RULES : []),
  ...(management ? MANAGEMENT : []),
]

const STORAGE = ['network', ...EVERYWHERE]
const ABI_WHERE = ['network', 'address', 'codeHash', 'name']

/** Routes by which a server is managed. */
const MANAGEMENT: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account', tag: 'Management' },
    doc: 'Whose token this is, what it may do, and what this server has.',
    query: EVERYWHERE,
    answers: { 200: told(ref('Account')) },
  },
  {
    ...{ method: 'get', path: '/status/rates', tag: 'Management' },
    doc: 'How fast networks were indexed in the last hour.',
    query: STORAGE,
    answers: { 200: told(ref('Rates')) },
  },
  {
    ...{ method: 'get', path: '/status/storage', tag: 'Management' },
    doc: 'What takes how much room in the store of a network. Needs the scope admin.',
    query: STORAGE,
    answers: { 200: told(ref('Storage')), 202: told(ref('Storage'), 'It is measured now: ask again.') },
  },
  {
    ...{ method: 'get', path: '/abis', tag: 'Management' },
    doc: 'The ABIs that were added. Needs the scope admin, as do all routes of ABIs.',
    query: [...ABI_WHERE, ...EVERYWHERE],
    answers: { 200: told(closed({ abis: listOf(ref('Abi')) })) },
  },
  {
    ...{ method: 'post', path: '/abis', tag: 'Management' },
    doc: 'Adds ABIs: one in any form that the command line reads, or several.',
    query: [...ABI_WHERE, 'redecode', ...EVERYWHERE],
    body: { schema: ref('NewAbis'), required: true },
    answers: {
      201: told(closed({ abis: listOf(ref('Abi')), redecodings: listOf(ref('Redecoding')) }), 'They were added.'),
    },
  },
  {
    ...{ method: 'get', path: '/abis/{id}', tag: 'Management' },
    doc: 'One ABI with its declarations.',
    query: EVERYWHERE,
    answers: { 200: told(ref('WholeAbi')) },
  },
  {
    ...{ method: 'delete', path: '/abis/{id}', tag: 'Management' },
    doc: 'Removes an ABI. What was decoded by it stays so.',
    query: EVERYWHERE,
    answers: { 204: { description: 'It was removed.' } },
  },
  {
    ...{ method: 'get', path: '/{technology}/{blockchain}/{network}/abi/{address}', tag: 'Management' },
    doc: 'What decodes the logs and calls of a contract.',
    query: EVERYWHERE,
    answers: { 200: told(ref('AbiOfAddress')) },
  },
  {
    ...{ method: 'get', path: '/redecodings', tag: 'Management' },
    doc: 'What is decoded again now, and what waits for its turn. Needs the scope admin, as do the next two.',
    query: EVERYWHERE,
    answers: { 200: told(closed({ redecodings: listOf(ref('Redecoding')) })) },
  },
  {
    ...{ method: 'post', path: '/redecodings', tag: 'Management' },
    doc: 'Decodes stored blocks again by some ABIs.',
    query: EVERYWHERE,
    body: { schema: ref('NewRedecodings'), required: true },
    answers: { 202: told(closed({ redecodings: listOf(ref('Redecoding')) }), 'They were asked for.') },
  },
  {
    ...{ method: 'delete', path: '/redecodings/{id}', tag: 'Management' },
    doc: 'Stops decoding again. What is decoded already stays so.',
    query: EVERYWHERE,
    answers: { 202: told(ref('Redecoding'), 'It stops before its next step.') },
  },
]
