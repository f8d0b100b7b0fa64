import { STATES as LISTED_STATES } from '../alerting/deliveries.ts'
import { EVERYWHERE, type Operation, type Tag } from './operations.ts'
import { type Answers, answer, closed, listOf, oneOf, orNull, ref, type Schema, text } from './schema.ts'

const json = (schema: Schema, example: unknown, required = true) => ({ schema, example, required })

type About = Partial<Pick<Operation, 'open' | 'query' | 'values' | 'headers' | 'body'>> & { answers: string | Answers }

/** By default it takes the URL parameters that clients send everywhere, and answers 200 by the schema of that name. */
const operation =
  (tag: Tag) =>
  (method: Operation['method'], path: string, doc: string, about: About | string): Operation => {
    const { answers, ...more } = typeof about === 'string' ? { answers: about } : about
    const told = typeof answers === 'string' ? { 200: answer(ref(answers)) } : answers
    return { method, path, tag, doc, query: EVERYWHERE, ...more, answers: told }
  }
const server = operation('Server')
const rules = operation('Rules')
const management = operation('Management')

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
  server('get', '/health', 'Whether the process lives.', { open: true, query: [], answers: 'Health' }),
  server('get', '/ready', 'Whether the server does all that it should do.', {
    open: true,
    query: [],
    answers: { 200: answer(ref('Readiness')), 503: answer(ref('Readiness'), 'It does not; the reasons say why.') },
  }),
  server('get', '/openapi.json', 'This description.', {
    open: true,
    query: [],
    answers: { 200: answer({ type: 'object', required: ['openapi', 'info', 'paths'] }) },
  }),
  server('get', '/openapi', 'This description, as a page to read.', {
    open: true,
    query: [],
    answers: { 200: { description: 'The page.', content: { 'text/html': text } } },
  }),
  server('get', '/status', 'Networks, their nodes, and deliveries of the account.', {
    query: ['access_token'],
    answers: 'Status',
  }),
  operation('Elasticsearch')('get', '/', 'Name and version, which clients ask for first.', {
    query: ['access_token'],
    answers: 'Information',
  }),
]

const METRICS = server('get', '/metrics', 'Figures for Prometheus. `--metrics` says who needs no token.', {
  query: ['access_token'],
  answers: { 200: { description: 'The figures.', content: { 'text/plain': text } } },
})

const RULE = '/alerting/rules/{id}'

const RULES: readonly Operation[] = [
  rules(
    'get',
    '/alerting/rules',
    'All rules of the account, in the order of their ids; with `size` or `after`, one page of them.',
    {
      query: ['size', 'after', ...EVERYWHERE],
      answers: { 200: answer({ anyOf: [listOf(ref('StoredRule')), ref('Rules')] }) },
    },
  ),
  rules('post', '/alerting/rules', 'Creates a rule.', {
    body: json(ref('Rule'), RULE_EXAMPLE),
    answers: { 201: answer(ref('StoredRule'), 'The rule was created.') },
  }),
  rules('post', '/alerting/rules/bulk', 'Creates the rules of all lines, or none if one of them has a fault.', {
    body: {
      schema: { type: 'string', description: 'One rule as JSON in each line.' },
      example: `${JSON.stringify(RULE_EXAMPLE)}\n`,
      type: 'application/x-ndjson',
      required: true,
    },
    answers: { 201: answer(ref('CreatedRules'), 'All rules were created, in the order of their lines.') },
  }),
  rules(
    'post',
    '/alerting/rules/simulate',
    'Shows how often a rule would have fired in the stored blocks. Sends nothing.',
    { body: json(ref('RuleToSimulate'), { ...RULE_EXAMPLE, size: 1 }), answers: 'Simulation' },
  ),
  rules(
    'post',
    '/alerting/rules/test',
    'Shows what each alert of a rule would send for a stored document. Sends nothing.',
    { body: json(ref('RuleToTest'), RULE_EXAMPLE), answers: 'TestPreview' },
  ),
  rules('get', RULE, 'One rule.', {
    headers: ['If-None-Match'],
    answers: { 200: answer(ref('StoredRule')), 304: { description: 'The client has this revision.' } },
  }),
  rules('put', RULE, 'Changes what the body has, and keeps the rest; with `replace`, the body is the whole rule.', {
    query: ['replace', ...EVERYWHERE],
    headers: ['If-Match'],
    body: json(ref('RuleChange'), { enabled: false }),
    answers: 'StoredRule',
  }),
  rules(
    'delete',
    RULE,
    'Deletes a rule. The header `Cancelled-Deliveries` says how many queued deliveries that cancelled.',
    { headers: ['If-Match'], answers: { 204: { description: 'The rule was deleted.' } } },
  ),
  rules('post', `${RULE}/simulate`, 'Shows how often the rule would have fired in the stored blocks. Sends nothing.', {
    body: json(ref('SimulationRange'), { size: 1 }, false),
    answers: 'Simulation',
  }),
  rules('post', `${RULE}/test`, 'Sends each of its alerts once, marked as a test.', {
    body: json(ref('TestRequest'), {}, false),
    answers: 'TestResult',
  }),
  rules('get', `${RULE}/alerts`, 'What the rule matched and what became of each match, newest first.', {
    query: ['size', 'before', 'state', ...EVERYWHERE],
    answers: 'Alerts',
  }),
  rules('post', `${RULE}/redeliver`, 'Sends deliveries again: of one alert, of a time, or all that are dead.', {
    body: json(ref('Redelivery'), { dead: true }),
    answers: 'Redelivered',
  }),
  rules('get', '/alerting/series', 'How many alerts each rule had, by time.', {
    query: ['from', 'to', 'buckets', 'rules', ...EVERYWHERE],
    answers: 'AlertSeries',
  }),
  rules('get', '/alerting/deliveries', 'Deliveries of the account across its rules, newest first.', {
    query: [...['rule', 'state', 'channel', 'target', 'alert', 'since', 'until', 'size', 'before'], ...EVERYWHERE],
    values: { state: oneOf(LISTED_STATES) },
    answers: { 200: answer(closed({ deliveries: listOf(ref('Delivery')), next: orNull(text) })) },
  }),
  rules('post', '/alerting/deliveries/redeliver', 'Sends deliveries again that fulfil all that the body names.', {
    body: json(ref('WideRedelivery'), { dead: true }),
    answers: 'Redelivered',
  }),
  rules('get', '/alerting/deliveries/{id}', 'One delivery with every attempt.', 'WholeDelivery'),
  rules(
    'get',
    '/alerting/destinations',
    'What waits for each receiver of the account, and what it never got.',
    'Destinations',
  ),
]

const STORAGE = ['network', ...EVERYWHERE]
const ABI_WHERE = ['network', 'address', 'codeHash', 'name']

/** Routes by which a server is managed. */
const MANAGEMENT: readonly Operation[] = [
  management('get', '/account', 'Whose token this is, what it may do, and what this server has.', 'Account'),
  management('get', '/status/rates', 'How fast networks were indexed in the last hour.', {
    query: STORAGE,
    answers: 'Rates',
  }),
  management('get', '/status/storage', 'What takes how much room in the store of a network. Needs the scope admin.', {
    query: STORAGE,
    answers: { 200: answer(ref('Storage')), 202: answer(ref('Storage'), 'It is measured now: ask again.') },
  }),
  management('get', '/abis', 'The ABIs that were added. Needs the scope admin, as do all routes of ABIs.', {
    query: [...ABI_WHERE, ...EVERYWHERE],
    answers: { 200: answer(closed({ abis: listOf(ref('Abi')) })) },
  }),
  management('post', '/abis', 'Adds ABIs: one in any form that the command line reads, or several.', {
    query: [...ABI_WHERE, 'redecode', ...EVERYWHERE],
    body: { schema: ref('NewAbis'), required: true },
    answers: {
      201: answer(closed({ abis: listOf(ref('Abi')), redecodings: listOf(ref('Redecoding')) }), 'They were added.'),
    },
  }),
  management('get', '/abis/{id}', 'One ABI with its declarations.', 'WholeAbi'),
  management('delete', '/abis/{id}', 'Removes an ABI. What was decoded by it stays so.', {
    answers: { 204: { description: 'It was removed.' } },
  }),
  management(
    'get',
    '/{technology}/{blockchain}/{network}/abi/{address}',
    'What decodes the logs and calls of a contract.',
    'AbiOfAddress',
  ),
  management(
    'get',
    '/redecodings',
    'What is decoded again now, and what waits for its turn. Needs the scope admin, as do the next two.',
    { answers: { 200: answer(closed({ redecodings: listOf(ref('Redecoding')) })) } },
  ),
  management('post', '/redecodings', 'Decodes stored blocks again by some ABIs.', {
    body: { schema: ref('NewRedecodings'), required: true },
    answers: { 202: answer(closed({ redecodings: listOf(ref('Redecoding')) }), 'They were asked for.') },
  }),
  management('delete', '/redecodings/{id}', 'Stops decoding again. What is decoded already stays so.', {
    answers: { 202: answer(ref('Redecoding'), 'It stops before its next step.') },
  }),
]

/** What this server has beside what is below `…/es`. */
export const ownOperations = (has: Record<'rules' | 'metrics' | 'management', boolean>): Operation[] => [
  ...SERVER,
  ...(has.metrics ? [METRICS] : []),
  ...(has.rules ? RULES : []),
  ...(has.management ? MANAGEMENT : []),
]
