/**
 * Records the demo chain: `node scripts/demo/record.ts` writes `data/demo.ndjson.gz`, `data/demo.md`,
 * `data/demo-tokens.txt` and `data/demo-abi.json`. It needs anvil (an optional dependency) and, for compiler and contracts, npm and its registry; the
 * output is committed, so that nothing else needs any of these. Every recording comes out the same.
 */
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { numberToHex } from 'viem'
import type { RawBlock, RpcBlock, RpcReceipt, RpcTrace } from '../../src/chain/wire.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { chainId, createChain, genesisTime, mnemonic } from './chain.ts'
import { compile } from './compile.ts'
import { describe } from './describe.ts'
import { lastBlock, play } from './story.ts'

const data = new URL('../../data/', import.meta.url)
const contracts = compile()
const options = {
  'chain-id': chainId,
  timestamp: genesisTime,
  // Pinned, like the packages, so that a newer default cannot change the recording.
  hardfork: 'prague',
  mnemonic,
  accounts: 12,
  balance: 10_000,
}
const anvil = await startAnvil(Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]))
try {
  const chain = createChain(anvil, contracts)
  const stage = await play(chain)
  const blocks: RawBlock[] = []
  for (let number = 0; number <= lastBlock; number++) blocks.push(await record(anvil, number))
  const text = blocks.map(block => `${JSON.stringify(block)}\n`).join('')
  const pack = gzipSync(text, { level: 9 })
  const abi = contracts.Harbor!.abi.filter(({ type }) => type === 'event' || type === 'function')
  writeFileSync(new URL('demo.ndjson.gz', data), pack)
  writeFileSync(new URL('demo-abi.json', data), `${JSON.stringify(abi, null, 2)}\n`)
  const { page, tokens } = await describe(blocks, chain, stage)
  writeFileSync(new URL('demo.md', data), page)
  writeFileSync(new URL('demo-tokens.txt', data), tokens)
  console.log(`${blocks.length} blocks, ${text.length} bytes, ${pack.length} packed`)
} finally {
  await anvil.stop()
}

async function record(anvil: Anvil, number: number): Promise<RawBlock> {
  const at = numberToHex(number)
  const block = (await anvil.rpc('eth_getBlockByNumber', at, true)) as RpcBlock
  for (const transaction of block.transactions) {
    // anvil keeps the sidecar of a blob transaction with it, 131 kB a blob; other nodes do not.
    for (const name of ['blobs', 'commitments', 'proofs']) delete transaction[name]
  }
  return {
    chainId,
    block,
    receipts: (await anvil.rpc('eth_getBlockReceipts', at)) as RpcReceipt[],
    traces: (await anvil.rpc('trace_block', at)) as RpcTrace[],
  }
}
