import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  type AbiEvent,
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  getAddress,
  parseAbiItem,
  toEventSelector,
} from 'viem'
import type { RpcBlock, RpcReceipt } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../../src/decode/registry.ts'
import { parseSignature } from '../../src/decode/signature.ts'
import type { AbiParam, EventAbi } from '../../src/decode/types.ts'
import { processorTime } from '../support/processor.ts'

const read = (name: string) => readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8')
const events = parseRegistry(read('events.txt'))
const registry = createRegistry(events)

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

/** `Transfer(address indexed from, …)` of every answer, written out anew. */
const found = (topic0: string, indexed: number) => registry.find(topic0, indexed).map(written)
const written = ({ name, inputs }: EventAbi) => `${name}${params(inputs)}`
const params = (list: readonly AbiParam[]): string =>
  `(${list.map(({ name, type, components, indexed }) => [components ? type.replace('tuple', params(components)) : type, indexed ? 'indexed' : '', name].filter(Boolean).join(' ')).join(', ')})`

test('the registry holds thousands of topics, one declaration for each topic and number of indexed arguments', () => {
  const topics = new Set(events.map(event => event.topic0))
  assert.ok(topics.size >= 4600, `${topics.size} topics`)
  assert.equal(new Set(events.map(event => `${event.topic0} ${event.indexed}`)).size, events.length)
  assert.equal(registry.size, events.length)
  const signatures = events.map(event => event.signature)
  assert.deepEqual(signatures, [...signatures].sort(), 'lines stand in the order of their declarations')
})

test('every topic is the hash of its declaration, as viem reckons it', () => {
  const wrong = events.filter(({ topic0, signature }) => toEventSelector(`event ${signature}`) !== topic0)
  assert.deepEqual(wrong, [])
})

test('every declaration is read as viem reads it', () => {
  let compared = 0
  for (const { signature, indexed } of events) {
    const ours = parseSignature(signature)
    assert.equal(written(ours), signature)
    assert.equal(ours.inputs.filter(input => input.indexed).length, indexed)
    let theirs: AbiEvent
    try {
      theirs = parseAbiItem(`event ${signature}`) as AbiEvent
    } catch {
      // viem refuses argument names that are words of Solidity; Vyper allows them.
      continue
    }
    compared++
    assert.deepEqual(plain(ours.inputs), plain(theirs.inputs), signature)
  }
  assert.ok(compared > events.length * 0.99, `${compared} of ${events.length} compared`)
})

const plain = (list: readonly (AbiParam | AbiParameter)[]): unknown[] =>
  list.map(input => ({
    name: input.name ?? '',
    type: input.type,
    indexed: ('indexed' in input && input.indexed) || false,
    components: 'components' in input && input.components ? plain(input.components) : [],
  }))

test('what everybody knows has the names everybody knows', () => {
  assert.deepEqual(
    [
      found(TRANSFER, 2),
      found(TRANSFER, 3),
      found(TRANSFER, 0),
      found(APPROVAL, 2),
      found(APPROVAL, 3),
      found('0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c', 1),
      found('0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65', 1),
      found('0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822', 2),
      found('0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1', 0),
      found('0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67', 2),
      found('0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62', 3),
      found('0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31', 2),
      found('0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5', 0),
    ],
    [
      ['Transfer(address indexed from, address indexed to, uint256 value)'],
      ['Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'],
      ['Transfer(address from, address to, uint256 tokenId)'],
      ['Approval(address indexed owner, address indexed spender, uint256 value)'],
      ['Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)'],
      ['Deposit(address indexed dst, uint256 wad)'],
      ['Withdrawal(address indexed src, uint256 wad)'],
      [
        'Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
      ],
      ['Sync(uint112 reserve0, uint112 reserve1)'],
      [
        'Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
      ],
      ['TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)'],
      ['ApprovalForAll(address indexed owner, address indexed operator, bool approved)'],
      ['DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)'],
    ],
  )
})

test('the number of topics decides; flags are derived only where they leave no doubt', () => {
  const topic0 = `0x${'ab'.repeat(32)}`
  const { find } = createRegistry([{ topic0, indexed: 1, signature: 'Moved(address indexed from, uint256 amount)' }])
  assert.deepEqual(find(topic0, 1).map(written), ['Moved(address indexed from, uint256 amount)'])
  assert.deepEqual(find(topic0, 0).map(written), ['Moved(address from, uint256 amount)'])
  assert.deepEqual(find(topic0, 2).map(written), ['Moved(address indexed from, uint256 indexed amount)'])
  assert.deepEqual(find(topic0, 3), [])
  assert.deepEqual(find(`0x${'cd'.repeat(32)}`, 1), [])
  assert.equal(find(topic0, 1), find(topic0, 1), 'the same objects each time')

  const three = createRegistry([{ topic0, indexed: 1, signature: 'Moved(address indexed a, uint256 b, uint256 c)' }])
  assert.deepEqual(three.find(topic0, 2), [], 'which two are indexed nobody can tell')
})

test('a broken line of the registry is named with its remedy', () => {
  const good = `${TRANSFER} Transfer(address indexed from, address indexed to, uint256 value)`
  assert.deepEqual(parseRegistry(`# comment\n\n${good}\n`), [
    {
      topic0: TRANSFER,
      indexed: 2,
      signature: 'Transfer(address indexed from, address indexed to, uint256 value)',
    },
  ])
  for (const bad of [
    'Transfer(address from)',
    `${TRANSFER}`,
    `${TRANSFER} Transfer`,
    good.toUpperCase(),
    good.slice(1),
    ' ',
  ]) {
    assert.throws(() => parseRegistry(`# comment\n${good}\n${bad}\n`), {
      code: 'registry_broken_line',
      next: 'stop',
      message: `data/events.txt, line 3: expected a topic and a declaration, such as 0x1c41…bad1 Sync(uint112 reserve0, uint112 reserve1), not ${JSON.stringify(bad.length > 100 ? `${bad.slice(0, 100)}…` : bad)}. Write the file again with node scripts/registry/build.ts or restore the original one`,
    })
  }
})

test('loading the registry takes a small part of the 300 ms until the first answer', () => {
  const text = read('events.txt')
  // The best of five: what the machine does beside it makes the memory slow.
  const times = Array.from({ length: 5 }, () => {
    const start = processorTime()
    createRegistry(parseRegistry(text)).find(TRANSFER, 2)
    return processorTime() - start
  })
  assert.ok(Math.min(...times) < 60, `${Math.min(...times)} ms`)
})

test('tokens are found by chain and address', () => {
  const list = parseTokens(read('tokens.txt'))
  const tokens = createTokenList(list)
  assert.ok(tokens.size >= 2000, `${tokens.size} tokens`)
  assert.deepEqual(
    [
      tokens.find(1, '0xdac17f958d2ee523a2206206994597c13d831ec7'),
      tokens.find(1, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')?.decimals,
      tokens.find(1, '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2')?.decimals,
      tokens.find(1, '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599')?.decimals,
      tokens.find(56, '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d')?.decimals,
      tokens.find(8453, '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')?.decimals,
      tokens.find(2, '0xdac17f958d2ee523a2206206994597c13d831ec7'),
    ],
    [
      { chainId: 1, address: '0xdac17f958d2ee523a2206206994597c13d831ec7', decimals: 6, symbol: 'USDT' },
      6,
      18,
      8,
      18,
      6,
      undefined,
    ],
  )
  const lines = read('tokens.txt')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  assert.deepEqual(
    lines.map(line => line.split(' ')[1]!),
    list.map(token => getAddress(token.address)),
    'addresses stand checksummed in the file',
  )
  assert.equal(new Set(list.map(token => `${token.chainId} ${token.address}`)).size, list.length)
})

test('a broken line of the token list is named with its remedy', () => {
  const address = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
  for (const bad of [
    address,
    `1 ${address} 6`,
    `1 ${address} 256 USDT`,
    `one ${address} 6 USDT`,
    `1 ${address}0 6 USDT`,
    `1 ${address} 6 US DT`,
  ]) {
    assert.throws(() => parseTokens(`# comment\n${bad}\n`), {
      code: 'tokens_broken_line',
      message: `data/tokens.txt, line 2: expected chain id, address, decimals and symbol, such as 1 ${address} 6 USDT, not ${JSON.stringify(bad)}. Write the file again with node scripts/registry/build.ts or restore the original one`,
    })
  }
})

const mainnet = new URL('../../../shared/mainnet/blocks.ndjson.gz', import.meta.url)

test('names 95 of 100 logs of real blocks', { skip: !existsSync(mainnet) && 'no recorded mainnet blocks here' }, () => {
  const blocks = gunzipSync(readFileSync(mainnet)).toString().trimEnd().split('\n')
  const logs = blocks
    .map(line => JSON.parse(line) as { block: RpcBlock; receipts: RpcReceipt[] })
    .flatMap(({ receipts }) => receipts.flatMap(receipt => receipt.logs))
  const candidates = (topics: readonly string[]) => registry.find(topics[0] ?? '', topics.length - 1)
  const named = logs.filter(({ topics, data }) =>
    candidates(topics).some(event => createEventDecoder(event)(topics, data).error === null),
  )
  const namedByViem = logs.filter(({ topics, data }) =>
    candidates(topics).some(event => decodes(event, data as `0x${string}`)),
  )
  assert.deepEqual(named, namedByViem)
  assert.equal(logs.length, 972)
  assert.ok(named.length / logs.length >= 0.95, `${named.length} of ${logs.length} logs named`)
})

/** Whether viem reads the data by this declaration and nothing is left over. */
function decodes({ inputs }: EventAbi, data: `0x${string}`): boolean {
  const plain = inputs.filter(input => !input.indexed) as AbiParameter[]
  if (plain.length === 0) return data === '0x'
  try {
    return encodeAbiParameters(plain, decodeAbiParameters(plain, data)).length === data.length
  } catch {
    return false
  }
}
