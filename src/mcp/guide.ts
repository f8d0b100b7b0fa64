import { KINDS, MAPPING } from '../mapping/index.ts'
import { CLAUSES } from '../query/dsl/index.ts'
import { CHAIN_TEXT } from './show.ts'
import { fieldLines } from './tools/chain.ts'

/** What agents may read and start from, besides tools. */

export const INSTRUCTIONS = `Chainsieve: search and alert rules over EVM chains. Call networks first. Integers are decimal text, amounts have their unit. Prefer explain_transaction, address and aggregate to many searches. If an answer is truncated, \`next\` says how to get the rest. ${CHAIN_TEXT}`

interface Resource {
  uri: string
  name: string
  description: string
  text(): string
}

export const RESOURCES: readonly Resource[] = [
  ...KINDS.map(kind => ({
    uri: `chainsieve://fields/${kind}`,
    name: `fields of ${kind}`,
    description: MAPPING[kind].doc,
    text: () => [`${MAPPING[kind].name}: ${MAPPING[kind].doc}`, ...fieldLines(kind)].join('\n'),
  })),
  {
    uri: 'chainsieve://query',
    name: 'query language',
    description: 'The clauses of queries on one page, each with an example.',
    text: () =>
      [
        'A query is one clause as JSON, or text in the syntax of Lucene. Fields: chainsieve://fields/{entity}.',
        ...Object.entries(CLAUSES).map(
          ([name, { example, on = 'event' }]) => `${name} (on ${on}): ${JSON.stringify({ [name]: example })}`,
        ),
      ].join('\n'),
  },
  {
    uri: 'chainsieve://examples',
    name: 'examples',
    description: 'Questions, and the calls that answer them.',
    text: () => EXAMPLES.map(({ question, tool, call }) => `${question}\n${tool} ${JSON.stringify(call)}`).join('\n\n'),
  },
]

const ON_DEMO = { network: 'ethereum/demo/local' }

/** A test calls all of them. */
export const EXAMPLES = [
  {
    question: 'Who used the most gas in block 400?',
    tool: 'search',
    call: { ...ON_DEMO, entity: 'tx', query: 'blockNumber.num:400', sort: 'gasUsed.num:desc', size: 1 },
  },
  {
    question: 'Which errors do transactions fail with?',
    tool: 'aggregate',
    call: { ...ON_DEMO, entity: 'tx', query: 'status:false', by: 'revertName' },
  },
  {
    question: 'Who received the most DUSD?',
    tool: 'aggregate',
    call: {
      ...{ ...ON_DEMO, entity: 'event', query: 'event.raw:Transfer AND address:"token:DUSD"' },
      ...{ by: 'args.to', metrics: ['sum:args.value'], top: 5 },
    },
  },
  {
    question: 'How many transactions were there in each hour?',
    tool: 'aggregate',
    call: { ...ON_DEMO, entity: 'tx', by: 'timestamp', interval: 'hour' },
  },
  {
    question: 'What is the contract of DUSD, and who uses it?',
    tool: 'address',
    call: { ...ON_DEMO, address: 'token:DUSD' },
  },
]

interface Prompt {
  name: string
  description: string
  arguments: readonly { name: string; description: string; required: true }[]
  text(given: Readonly<Record<string, string>>): string
}

const promptArgument = (name: string, description: string) => ({ name, description, required: true as const })
const networkArgument = promptArgument('network', 'Such as ethereum/demo/local.')

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'why_failed',
    description: 'Why a transaction failed.',
    arguments: [networkArgument, promptArgument('hash', 'Hash of the transaction.')],
    text: ({ network, hash }) =>
      `Why did the transaction ${hash} on ${network} fail? Call explain_transaction once. Name the reason, the contract and call in which it arose, and what the sender can do.`,
  },
  {
    name: 'trace_funds',
    description: 'Where the funds of an address went.',
    arguments: [networkArgument, promptArgument('address', 'The address.')],
    text: ({ network, address }) =>
      `Where did the funds of ${address} on ${network} go? Call address, then aggregate its Transfer events by args.to, and its transactions by to. Give amounts with units and the block range.`,
  },
  {
    name: 'describe_address',
    description: 'What an address is and does.',
    arguments: [networkArgument, promptArgument('address', 'The address, or token:SYMBOL.')],
    text: ({ network, address }) =>
      `What is ${address} on ${network}, and what does it do? Call address. Describe it in five sentences.`,
  },
  {
    name: 'create_alert',
    description: 'An alert rule, tried on history before it is stored.',
    arguments: [networkArgument, promptArgument('what', 'What to be told of, such as "more than 100,000 DUSD moves".')],
    text: ({ network, what }) =>
      `Make a rule on ${network} that tells me when: ${what}. Call rule_simulate, show me how often it would have fired, and ask me for the receiver. Call rule_create only after I agree.`,
  },
  {
    name: 'summarise_activity',
    description: 'What happened on a network in some blocks.',
    arguments: [networkArgument, promptArgument('blocks', 'Such as 400 TO 420.')],
    text: ({ network, blocks }) =>
      `What happened on ${network} in blocks ${blocks}? Call aggregate on events by event and on tx by method, with the query "blockNumber.num:[${blocks}]". Name the largest transfers and all failures.`,
  },
]
