import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from 'viem'
import type { StateQuestion } from '../../src/chain/source.ts'
import type { Hex, RawBlock } from '../../src/chain/wire.ts'
import { type Code, createCodeReader, readCode } from '../../src/decode/abi-finder.ts'
import { similarityOf } from '../../src/decode/code-similarity.ts'
import { createFeatureLookup } from '../../src/engine/dictionary-reader.ts'
import { type ContractsOptions, createChainContracts } from '../../src/ingest/contracts/contracts.ts'
import { createSimilarity } from '../../src/ingest/contracts/similar-abi.ts'
import { type ChainsieveError, retry } from '../../src/lib/errors.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { readCompiled } from '../support/compiled.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const never = new AbortController().signal
const at = (id: number): Hex => `0x${(0xabc000 + id).toString(16).padStart(40, '0')}`

/** Blocks of so many contracts each. */
const creating = (...counts: number[]): RawBlock[] => {
  let last = 0
  return counts.map((txs, i) => {
    const [raw] = makeChain({ blocks: 1, txs, from: i }) as [RawBlock]
    for (const receipt of raw.receipts) receipt.contractAddress = at(++last)
    return raw
  })
}

const setUp = (answer: (address: string) => string | ChainsieveError, rest: Partial<ContractsOptions> = {}) => {
  const asked: string[][] = []
  const contracts = createChainContracts({
    implementationOf: () => null,
    async state(questions: readonly StateQuestion[]) {
      const addresses = questions.map(question => ('codeOf' in question ? question.codeOf : ''))
      asked.push(addresses)
      return addresses.map(address => {
        const code = answer(address)
        if (typeof code !== 'string') throw code
        return code
      })
    },
    abiOf: () => ({ name: null, source: null, probability: null }),
    readCode: createCodeReader(),
    log: silent,
    ...rest,
  })
  const hashes = (raw: RawBlock) => contracts.in(raw).map(({ code }) => code?.hash ?? null)
  return { asked, contracts, hashes }
}

const hashOf = (code: `0x${string}`) => keccak256(code)

test('codes that no trace tells are asked for, fifty at a time; what has none is known to have none', async () => {
  const { asked, contracts, hashes } = setUp(address => (address === at(2) ? '0x' : '0x6001'))
  const blocks = creating(3, 0, 60)
  assert.deepEqual(blocks.map(contracts.isOpen), [true, false, true])
  await contracts.prefetch(blocks, never)
  await contracts.prefetch(blocks, never)
  assert.deepEqual(
    asked.map(addresses => addresses.length),
    [50, 13],
  )
  assert.deepEqual(blocks.map(contracts.isOpen), [false, false, false])
  assert.deepEqual(hashes(blocks[0]!), [hashOf('0x6001'), null, hashOf('0x6001')])
})

test('what traces tell is not asked for', async () => {
  const { asked, contracts, hashes } = setUp(() => '0x')
  const [raw] = creating(1) as [RawBlock]
  const { hash, number, transactions } = raw.block
  const place = { blockHash: hash, blockNumber: Number(number), subtraces: 0, traceAddress: [] }
  raw.traces = [
    {
      ...place,
      type: 'create',
      transactionHash: transactions[0]!.hash,
      transactionPosition: 0,
      action: { from: at(0), gas: '0x0', init: '0x', value: '0x0' },
      result: { address: at(1), code: '0x6002', gasUsed: '0x0' },
    },
  ]
  await contracts.prefetch([raw], never)
  assert.deepEqual([asked, hashes(raw)], [[], [hashOf('0x6002')]])
})

test('a node that does not answer is not asked for a while, tells so, and what it has answered is kept', async () => {
  let time = 0
  let fails = true
  const lines: string[] = []
  const { asked, contracts, hashes } = setUp(
    address =>
      fails && address === at(60) ? retry('node_bad_answer', 'eth_getCode: the answer is not hex text') : '0x6001',
    { now: () => time, log: createLog({ write: line => void lines.push(line), json: false }) },
  )
  const blocks = creating(40, 40)
  await contracts.prefetch(blocks, never)
  await contracts.prefetch(blocks, never)
  assert.equal(asked.length, 2)
  assert.deepEqual(blocks.map(contracts.isOpen), [false, true])
  assert.deepEqual(hashes(blocks[1]!).slice(8, 12), [hashOf('0x6001'), hashOf('0x6001'), null, null])
  assert.match(lines.join(), /Cannot ask the node for the codes of contracts, continues without/)
  fails = false
  time = 60_001
  await contracts.prefetch(blocks, never)
  assert.deepEqual([asked.length, blocks.map(contracts.isOpen)], [3, [false, false]])
})

test('a node that cannot be reached is waited for; who insists asks at once, and then waits a moment', async () => {
  let fails = 2
  const sleeps: number[] = []
  const unreachable = setUp(() => (fails-- > 0 ? retry('node_unreachable', 'no connection') : '0x6001'))
  const [raw] = creating(1) as [RawBlock]
  await unreachable.contracts.prefetch([raw], never)
  assert.deepEqual([unreachable.asked.length, unreachable.contracts.isOpen(raw)], [3, false])

  let answer: string | ChainsieveError = retry('node_error', 'missing trie node')
  const clock = { ...systemClock, sleep: async (ms: number) => void sleeps.push(ms) }
  const { contracts, asked } = setUp(() => answer, { clock })
  const [other] = creating(1) as [RawBlock]
  await contracts.prefetch([other], never)
  await contracts.require(other, never)
  assert.deepEqual([asked.length, sleeps, contracts.isOpen(other)], [2, [3_000], true])
  answer = '0x6001'
  await contracts.require(other, never)
  assert.deepEqual([asked.length, sleeps, contracts.isOpen(other)], [3, [3_000], false])
})

const compiled = readCompiled()
const codeOf = (name: string, by: string): Code =>
  readCode(compiled.find(contract => contract.name === name && contract.by.includes(by))!.code)
const vault = codeOf('Vault', 'runs 200')
const fork = codeOf('VaultFork', 'runs 200')
const lock = codeOf('Lock', 'runs 200')
const proxy = codeOf('ERC1967Proxy', '')
const HOLDER = `0x${'ab'.repeat(20)}`
test('the nearest is the code with an ABI that has most in common, if it is much', () => {
  const likeness = createSimilarity(() => undefined)
  for (const code of [vault, fork, lock, proxy]) likeness.note(code)
  assert.equal(likeness.nearest(fork.hash), null, 'none has an ABI')
  likeness.compareWith(
    new Map([
      [lock.hash, lock.hash],
      [vault.hash, HOLDER],
    ]),
  )
  const similarity = similarityOf(vault.features, fork.features)
  assert.ok(similarity > 0.9 && similarity < 1, `${similarity}`)
  assert.deepEqual(likeness.nearest(fork.hash), { holder: HOLDER, similarity })
  assert.equal(likeness.nearest(vault.hash), null, 'it has one itself')
  assert.equal(likeness.nearest(`0x${'00'.repeat(32)}`), null, 'nobody read it')
  likeness.compareWith(new Map([[lock.hash, lock.hash]]))
  assert.equal(likeness.nearest(fork.hash), null, 'a lock is no vault')
})
test('proxies are not compared', () => {
  const other = readCode(
    compiled.find(({ name, by }) => name === 'ERC1967Proxy' && by.includes('runs 1 '))?.code ?? '0x00',
  )
  const likeness = createSimilarity(() => undefined)
  for (const code of [proxy, other, vault]) likeness.note(code)
  likeness.compareWith(new Map([[proxy.hash, HOLDER]]))
  assert.equal(likeness.nearest(other.hash), null)
  assert.equal(likeness.nearest(vault.hash), null)
})
test('codes that the store holds are compared by their stored vectors, but for those of proxies', () => {
  const store = createTestStore(demoBlocks())
  const features = createFeatureLookup(store.db)
  let proxies = 0
  for (const { _source } of store.all('contract')) {
    const { codeHash, standardSource } = _source as { codeHash: string; standardSource: string | null }
    assert.equal(features(codeHash) === undefined, standardSource === 'bytecode', codeHash)
    if (standardSource === 'bytecode') proxies++
  }
  assert.ok(proxies > 0)
  assert.equal(features(`0x${'00'.repeat(32)}`), undefined)
  store.close()
})
