/**
 * Questions about the demo chain, each answered by at most two calls that somebody makes who knows
 * the descriptions of the tools alone. `from` makes the second call of the answer to the first.
 */
export interface Question {
  ask: string
  calls: readonly (Call | ((answer: Found) => Call))[]
  /** Text in the last answer. */
  answer: RegExp
}

/** The members of answers that second calls need. */
interface Found {
  rows?: string[][]
  simulated?: string
}

type Call = readonly [tool: string, input?: Record<string, unknown>]

const network = 'ethereum/demo/local'
const DUSD = 'event.raw:Transfer AND address:"token:DUSD"'
const search = (entity: string, query: unknown, more: object = {}): Call => [
  'search',
  { network, entity, query, ...more },
]
const aggregate = (entity: string, more: object): Call => ['aggregate', { network, entity, ...more }]
const firstId = ({ rows }: Found): string => rows![0]![0]!.slice(0, 66)
const explained = (answer: Found): Call => ['explain_transaction', { network, hash: firstId(answer) }]

export const LARGE_TRANSFERS = {
  name: 'Large DUSD transfers',
  targetType: 'Event',
  targetMap: [
    { name: 'event', operator: 'Equals', value: 'Transfer' },
    { name: 'address', operator: 'Equals', value: 'token:DUSD' },
    {
      name: 'args',
      operator: 'Inspect',
      operatorParameters: [{ name: 'value', operator: 'Greater', value: '100000', useScaledValue: true }],
    },
  ],
  alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://alerts.example/' } }],
}

export const QUESTIONS: readonly Question[] = [
  {
    ask: 'Which networks are there?',
    calls: [['networks']],
    answer: /"network":"ethereum\/demo\/local","currency":"ETH"/,
  },
  { ask: 'What is the newest block?', calls: [['networks']], answer: /"newestBlock":"420"/ },
  { ask: 'Is the server well?', calls: [['status']], answer: /"reasons":\[\]/ },
  { ask: 'What does gas cost?', calls: [['gas', { network }]], answer: /"standard":"10\.804426587"/ },
  {
    ask: 'Who used the most gas in block 400?',
    calls: [search('tx', 'blockNumber.num:400', { sort: 'gasUsed.num:desc', size: 1, columns: ['from', 'gasUsed'] })],
    answer: /"0x1454168e82efA260f49a6F86612cc6414Ba633e9","167871"/,
  },
  {
    ask: 'Why did the newest failed transaction fail?',
    calls: [search('tx', 'status:false', { size: 1 }), explained],
    answer: /"reason":"⟦OwnableUnauthorizedAccount\(account=0x2F07c220dC62CE9531bC44B695A6D93578806d8d\)⟧"/,
  },
  {
    ask: 'Alert me when more than 100,000 DUSD moves.',
    calls: [
      ['rule_simulate', { network, rule: LARGE_TRANSFERS }],
      ({ simulated }) => ['rule_create', { network, rule: LARGE_TRANSFERS, simulated }],
    ],
    answer: /"id":"\d+"/,
  },
  {
    ask: 'How often did more than 100,000 DUSD move?',
    calls: [['rule_simulate', { network, rule: LARGE_TRANSFERS }]],
    answer: /"total":"18"/,
  },
  { ask: 'How many transactions failed?', calls: [search('tx', 'status:false', { size: 1 })], answer: /"total":"85"/ },
  {
    ask: 'Which errors do transactions fail with?',
    calls: [aggregate('tx', { query: 'status:false', by: 'revertName' })],
    answer: /"OwnableUnauthorizedAccount|"Error"/,
  },
  {
    ask: 'Who received the most DUSD?',
    calls: [aggregate('event', { query: DUSD, by: 'args.to', metrics: ['sum:args.value'], top: 1 })],
    answer: /"0x58A57ed9d8d624cBD12e2C467D34787555bB1b25","25","10063779.6"/,
  },
  {
    ask: 'What was the largest DUSD transfer?',
    calls: [aggregate('event', { query: DUSD, metrics: ['max:args.value'] })],
    answer: /"598","[\d.]+"/,
  },
  {
    ask: 'Who sent the most transactions?',
    calls: [aggregate('tx', { by: 'from', top: 1 })],
    answer: /"0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C","363"/,
  },
  {
    ask: 'How many accounts sent transactions?',
    calls: [aggregate('tx', { metrics: ['cardinality:from'] })],
    answer: /"1717","12"/,
  },
  {
    ask: 'How many transactions were there in each hour?',
    calls: [aggregate('tx', { by: 'timestamp', interval: 'hour' })],
    answer: /"2025-01-01T00:00:00.000Z","1173"\],\["2025-01-01T01:00:00.000Z","544"/,
  },
  {
    ask: 'What was the largest payment of ETH?',
    calls: [search('tx', undefined, { sort: 'value:desc', size: 1, columns: ['_id', 'from', 'to', 'value'] })],
    answer: /"500 ETH"/,
  },
  {
    ask: 'What was the highest gas price?',
    calls: [aggregate('tx', { metrics: ['max:gasPrice'] })],
    answer: /"22\.116588246 gwei"/,
  },
  {
    ask: 'Which events are the most frequent?',
    calls: [aggregate('event', { by: 'event', top: 3 })],
    answer: /"Transfer","1565"\],\["Sync","342"\],\["Swap","313"/,
  },
  {
    ask: 'What is DUSD?',
    calls: [['address', { network, address: 'token:DUSD' }]],
    answer: /"is":"token contract".*"decimals":"6".*"standard":"ERC-20"/,
  },
  { ask: 'Which tokens are there?', calls: [search('token', undefined, { size: 50 })], answer: /"total":"14".*"WETH"/ },
  {
    ask: 'Who deployed DUSD?',
    calls: [['address', { network, address: 'token:DUSD' }]],
    answer: /"creator":"0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"/,
  },
  {
    ask: 'What happened in the newest swap?',
    calls: [search('event', 'event.raw:Swap', { size: 1 }), explained],
    answer: /"amount":"6300 DUSD"/,
  },
  {
    ask: 'When was block 100 mined?',
    calls: [['get', { network, id: '100' }]],
    answer: /"timestamp":"2025-01-01T00:2/,
  },
  {
    ask: 'How full was block 400?',
    calls: [['get', { network, id: '400', columns: ['gasUsed', 'gasLimit'] }]],
    answer: /"gasLimit":"30000000","gasUsed":"167871"/,
  },
  {
    ask: 'Which field has the fee of a transaction?',
    calls: [['fields', { entity: 'tx', like: 'price' }]],
    answer: /effectiveGasPrice/,
  },
  {
    ask: 'Is this query right: {"term":{"evnt":"Transfer"}}?',
    calls: [['query_check', { network, entity: 'event', query: { term: { evnt: 'Transfer' } } }]],
    answer: /Did you mean \\"event\\"/,
  },
  {
    ask: 'Which contract is called the most?',
    calls: [aggregate('tx', { by: 'to', top: 1 })],
    answer: /"0x[\dA-Fa-f]{40}","\d+"/,
  },
  {
    ask: 'Which methods of DUSD are called?',
    calls: [aggregate('tx', { query: 'to:"token:DUSD"', by: 'method' })],
    answer: /"transfer","\d+"/,
  },
  {
    ask: 'How much ETH was sent in total?',
    calls: [aggregate('tx', { metrics: ['sum:value'] })],
    answer: /"1717","1535\.8586\d* ETH"/,
  },
  { ask: 'Which rules do I have?', calls: [['rule_list']], answer: /"name":"Large DUSD transfers|"rules":\[/ },
]
