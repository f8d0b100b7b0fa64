import { type AbiEvent, type AbiParameter, getAddress, toEventSelector } from 'viem'
import type { RawBlock } from '../../src/chain/wire.ts'
import { inbox } from './acts.ts'
import { type Chain, chainId, type Deployed, roles } from './chain.ts'
import type { Stage } from './stage.ts'
import { calendar } from './story.ts'

/** Both are counted and asked from what was recorded. */
export interface Description {
  /** What is on the demo chain, for people. */
  page: string
  /** Its tokens in the form of `data/tokens.txt`: a pack has no node that could be asked for their decimals. */
  tokens: string
}

export const describe = async (blocks: RawBlock[], chain: Chain, stage: Stage): Promise<Description> => {
  const transactions = blocks.flatMap(({ block }) => block.transactions)
  const receipts = blocks.flatMap(raw => raw.receipts)
  const logs = receipts.flatMap(receipt => receipt.logs)
  const traces = blocks.flatMap(raw => raw.traces ?? []) as Trace[]
  const failed = receipts.filter(({ status }) => status === '0x0')
  const ofType = (type: number) => transactions.filter(tx => Number(tx.type) === type).length
  const traced = (type: string) => traces.filter(trace => trace.type === type).length
  const first = blocks[0]!.block
  const last = blocks.at(-1)!.block
  const time = (at: string) => new Date(Number(at) * 1000).toISOString().replace('.000', '')

  const counts: [string, number][] = [
    ['blocks', blocks.length],
    ['blocks without transactions', blocks.filter(({ block }) => block.transactions.length === 0).length],
    ['transactions', transactions.length],
    ['transactions of type 0 (legacy)', ofType(0)],
    ['transactions of type 1 (access list)', ofType(1)],
    ['transactions of type 2 (EIP-1559)', ofType(2)],
    ['transactions of type 3 (blobs)', ofType(3)],
    ['transactions of type 4 (delegation)', ofType(4)],
    ['failed transactions', failed.length],
    ['transactions that create a contract', transactions.filter(({ to }) => to === null).length],
    ['logs', logs.length],
    ['logs without a topic', logs.filter(({ topics }) => topics.length === 0).length],
    ['traces', traces.length],
    ['traces of type call', traced('call')],
    ['traces of type create', traced('create')],
    ['traces of type suicide', traced('suicide')],
    ['failed traces', traces.filter(({ error }) => error !== undefined).length],
  ]

  const accounts = Object.values(chain.actors).map(({ name, address }) => {
    const sent = transactions.filter(({ from }) => from === address.toLowerCase()).length
    const received = transactions.filter(({ to }) => to === address.toLowerCase()).length
    const failures = failed.filter(({ from }) => from === address.toLowerCase()).length
    return [name, code(address), sent, received, failures, roles[name]]
  })

  const deployed = [...Object.values(stage), ...stage.later].filter((one): one is Deployed => 'address' in one)
  const contracts = deployed
    .map(contract => {
      const create = traces.find(trace => trace.result?.address === contract.address.toLowerCase())
      if (create === undefined) throw new Error(`no trace creates the ${contract.name}`)
      const own = logs.filter(({ address }) => address === contract.address.toLowerCase()).length
      return { contract, block: create.blockNumber, own }
    })
    .sort((a, b) => a.block - b.block)

  const tokens: { contract: Deployed; standard: string; symbol: string; decimals: number | undefined }[] = []
  for (const { contract } of contracts) {
    const standard = standardOf(contract)
    if (standard === undefined) continue
    const symbol = standard === 'ERC-1155' ? '' : fromBytes(await chain.read<string>(contract, 'symbol'))
    const counts = contract.abi.some(item => item.type === 'function' && item.name === 'decimals')
    tokens.push({
      contract,
      standard,
      symbol,
      decimals: counts ? await chain.read<number>(contract, 'decimals') : undefined,
    })
  }

  const events = new Map<string, AbiEvent & { known: boolean }>()
  for (const [name, { abi }] of Object.entries(chain.contracts)) {
    for (const item of abi) {
      if (item.type !== 'event' || item.anonymous === true) continue
      const key = `${toEventSelector(item)} ${1 + item.inputs.filter(({ indexed }) => indexed).length}`
      if (!events.has(key)) events.set(key, { ...item, known: name !== 'Harbor' })
    }
  }
  const counted = new Map<string, number>()
  let nameless = 0
  let unknown = 0
  for (const { topics } of logs) {
    const key = `${topics[0]} ${topics.length}`
    if (topics.length === 0) nameless++
    else if (!events.has(key)) unknown++
    else counted.set(key, (counted.get(key) ?? 0) + 1)
  }
  const eventRows = [...counted]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([key, count]): Row => {
      const event = events.get(key)!
      const text = `${event.name}${format(event.inputs)}`
      return [event.known ? code(text) : `${code(text)} (1)`, code(key.slice(0, 66)), Number(key.slice(67)), count]
    })

  const page = `# The demo chain

\`demo.ndjson.gz\` is a block pack: blocks ${Number(first.number)} to ${Number(last.number)} of chain ${chainId}, network \`ethereum/demo/local\`, from ${time(first.timestamp)} to
${time(last.timestamp)}, about 12 seconds apart. A real node (anvil, hardfork Prague) ran real contracts; nothing is made up but the people. It is
recorded by \`node scripts/demo/record.ts\`, always the same, and this page is counted from it. Removed from what the node
said: the blobs of type 3 transactions, which other nodes do not send either.

The contracts are those in \`scripts/demo/contracts/\` (MIT), built upon OpenZeppelin's (MIT), and the factory and the pairs of
Uniswap v2 as published in the package \`@uniswap/v2-core\` (GPL-3.0-or-later).

## Counts

${table(['what', 'count'], counts)}

## Accounts

\`to\` is the number of transactions that go directly to the account; tokens reach it by others. The accounts come from a published
test vector of BIP-39: never send anything of value to them.

${table(['name', 'address', 'from', 'to', 'failed', 'what it does'], accounts)}

Forty strangers without a key receive now and then; blobs go to ${code(getAddress(inbox))}.

## Contracts

${table(
  ['name', 'address', 'created in block', 'logs'],
  contracts.map(({ contract, block, own }) => [contract.name, code(contract.address), block, own]),
)}

## Tokens

${table(
  ['name', 'symbol', 'decimals', 'address', 'standard'],
  tokens.map(({ contract, standard, symbol, decimals = '' }) => [
    contract.name,
    symbol,
    decimals,
    code(contract.address),
    standard,
  ]),
)}

\`demo-tokens.txt\` lists those with decimals, but for the spam.

## Events

${table(['event', 'topic 0', 'topics', 'count'], [...eventRows, ['no topic at all', '', 0, nameless], ['under topics that no signature has', '', '', unknown]])}

Where two events share topic 0, the number of topics tells them apart.

(1) No common list of signatures knows these; \`chainsieve abi add data/demo-abi.json\` does. One \`Transfer\` is forged: its
data is cut off. The logs under unknown topics are an anonymous event of the harbor, and two that nobody published.

## Blocks to look at

${table(['block', 'what happens'], Object.entries(calendar))}

In blocks 180 to 189 nothing happens.
`
  const list = tokens.flatMap(({ contract, symbol, decimals }) =>
    // No list would have the spam.
    decimals === undefined || symbol.includes(' ') ? [] : [`${chainId} ${contract.address} ${decimals} ${symbol}\n`],
  )
  const head = `# Tokens of the demo chain: chain id, address, decimals, symbol.
# Written by scripts/demo/record.ts; do not edit.
`
  return { page, tokens: head + list.join('') }
}

interface Trace {
  type: string
  blockNumber: number
  error?: string
  result?: { address?: string }
}

type Row = (string | number)[]

const code = (text: string) => `\`${text}\``

const table = (head: string[], rows: Row[]): string => {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const standardOf = ({ abi }: Deployed): string | undefined => {
  const has = (name: string) => abi.some(item => item.type === 'event' && item.name === name)
  if (has('TransferSingle')) return 'ERC-1155'
  if (has('ApprovalForAll')) return 'ERC-721'
  return has('Transfer') ? 'ERC-20' : undefined
}

const format = (params: readonly (AbiParameter & { indexed?: boolean | undefined })[]): string => {
  const one = (param: (typeof params)[number]) => {
    const type = 'components' in param ? param.type.replace('tuple', format(param.components)) : param.type
    return [type, param.indexed ? 'indexed' : '', param.name ?? ''].filter(word => word !== '').join(' ')
  }
  return `(${params.map(one).join(', ')})`
}

/** The oldest tokens have 32 bytes for a symbol. */
const fromBytes = (symbol: string): string =>
  symbol.startsWith('0x') ? Buffer.from(symbol.slice(2), 'hex').toString().replace(/\0+$/, '') : symbol
