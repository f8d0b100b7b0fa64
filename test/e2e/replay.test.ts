import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeErrorResult, encodeFunctionData, getAddress } from 'viem'
import type { DevNews } from '../../src/dev/chain-news.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { startRelay } from '../support/relay.ts'
import { after, chainsieve, tempFolder } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'

const ABI = [
  { type: 'error', name: 'TooPoor', inputs: ['available', 'required'].map(name => ({ name, type: 'uint256' })) },
  {
    type: 'function',
    name: 'take',
    inputs: [
      { name: 'amount', type: 'uint256' },
      { name: 'why', type: 'bytes' },
    ],
    outputs: [],
    stateMutability: 'nonpayable',
  },
  { type: 'event', name: 'Taken', inputs: [{ name: 'amount', type: 'uint256', indexed: false }] },
] as const

const POOR = encodeErrorResult({ abi: [ABI[0]], args: [3n, 5n] })
const call = (amount: bigint) => encodeFunctionData({ abi: [ABI[1]], args: [amount, POOR] })

/** Creation code of a contract with this code. */
const creationOf = (code: string) => `0x60${(code.length / 2).toString(16).padStart(2, '0')}8060093d393df3${code}`
/** Reverts with the bytes behind the selector and three words, as many as the error has. */
const BANK = '60446064' + '600037' + '60446000fd'
/** Passes calls on, and what comes back. */
const passesOn = (to: string) =>
  `36600060003760006000366000600073${to.slice(2)}620186a0f13d600060003e6037573d6000fd5b3d6000f3`
/** Passes calls on, and goes on where they fail. */
const swallows = (to: string) => `36600060003760006000366000600073${to.slice(2)}620186a0f100`

const setUp = async (t: TestContext) => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const folder = tempFolder(t)
  const send = (transaction: object) => anvil.send({ gas: '0x493e0', ...transaction })
  const deploy = async (code: string) => (await send({ data: creationOf(code) })).contractAddress
  const bank = await deploy(BANK)
  const vault = await deploy(passesOn(bank))
  const calm = await deploy(swallows(vault))
  mkdirSync(join(folder, 'out', 'Bank.sol'), { recursive: true })
  writeFileSync(join(folder, 'foundry.toml'), '[profile.default]\n')
  const artifact = { abi: ABI, bytecode: { object: creationOf(BANK) }, deployedBytecode: { object: `0x${BANK}` } }
  writeFileSync(join(folder, 'out', 'Bank.sol', 'Bank.json'), JSON.stringify(artifact))
  const replayAt = (url: string, hash: string, ...args: string[]) =>
    chainsieve(t, ['replay', hash, '--rpc', url, ...args], { cwd: folder, data: join(folder, 'none') })
  const replay = (hash: string, ...args: string[]) => replayAt(anvil.url, hash, ...args)
  return { anvil, send, bank: getAddress(bank), vault: getAddress(vault), calm: getAddress(calm), replay, replayAt }
}

/** Without what differs from run to run. */
const linesOf = (out: string) =>
  out
    .replaceAll(/gas [\d,]+/g, 'gas N')
    .replaceAll(/#\d+ +[\d:]+/g, '#N')
    .replaceAll(/0x[0-9a-f]{64}\b/g, 'HASH')
    .trimEnd()
    .split('\n')
    .slice(1)

test('a transaction is replayed with its inner calls, their arguments and where it failed', { skip }, async t => {
  const { send, bank, vault, calm, replay, anvil } = await setUp(t)
  const input = call(7n)
  const why = POOR
  const taken = `take(amount=7, why=${why})`
  const failed = await replay((await send({ to: vault, data: input })).transactionHash)
  assert.equal(failed.code, 0, failed.err)
  assert.match(failed.out, /^Decodes by the ABIs of 1 contract in .*\/out \(Foundry\)\.\n/)
  assert.deepEqual(linesOf(failed.out), [
    `#N  tx     ${vault}.${taken}  from 0xf39F…2266  gas N  HASH  FAILED: TooPoor(available=3, required=5) in Bank.${taken}`,
    `                  Bank.${taken}  gas N  FAILED: TooPoor(available=3, required=5)`,
  ])

  // What is swallowed does not fail the transaction.
  const { transactionHash: hash } = await send({ to: calm, data: input, value: '0x0' })
  const calmed = await replay(hash)
  assert.deepEqual(linesOf(calmed.out), [
    `#N  tx     ${calm}.${taken}  from 0xf39F…2266  gas N  HASH  ok`,
    `                  ${vault}.${taken}  gas N  FAILED: TooPoor(available=3, required=5)`,
    `                    Bank.${taken}  gas N  FAILED: TooPoor(available=3, required=5)`,
  ])
  const news = (await replay(hash.toUpperCase().replace('X', 'x'), '--json')).out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as DevNews)
  assert.deepEqual(
    news.map(({ type }) => type),
    ['artifacts', 'tx'],
  )
  const [, tx] = news as [DevNews, Extract<DevNews, { type: 'tx' }>]
  assert.deepEqual(
    tx.steps.map(({ depth, to, contract, call, error }) => [depth, to, contract, call, error]),
    [
      [1, vault, null, taken, 'TooPoor(available=3, required=5)'],
      [2, bank, 'Bank', taken, 'TooPoor(available=3, required=5)'],
    ],
  )

  // The project's contracts are known where the transaction itself creates them, too.
  const created = await send({ data: creationOf(BANK) })
  assert.deepEqual(linesOf((await replay(created.transactionHash)).out), [
    `#N  tx     new Bank at ${getAddress(created.contractAddress)}  from 0xf39F…2266  gas N  HASH  ok`,
  ])

  // Several transactions in one block: of each its own.
  await anvil.call('evm_setAutomine', false)
  const [from] = (await anvil.call<string[]>('eth_accounts')) as [string]
  const hashes: string[] = []
  for (const amount of [1n, 2n, 3n])
    hashes.push(await anvil.call<string>('eth_sendTransaction', { from, to: calm, data: call(amount), gas: '0x493e0' }))
  const pending = await replay(hashes[1]!)
  assert.deepEqual([pending.code, /is not in a block yet: try again when it is\./.test(pending.err)], [1, true])
  await anvil.call('evm_mine')
  const second = linesOf((await replay(hashes[1]!)).out)
  assert.equal(second.length, 3)
  for (const line of second) assert.match(line, /take\(amount=2, /)

  const other = tempFolder(t)
  const plain = await chainsieve(t, ['replay', hash, '--rpc', anvil.url], { cwd: other, data: join(other, 'none') })
  assert.match(plain.out, /^There is no Foundry or Hardhat project in this folder/)
  assert.match(plain.out, /^ {18}0x\S+\.0x[\da-f]{8}\(\) /m)
})

test('other ways to traces, and eth_call where there is none', { skip }, async t => {
  const { send, vault, replay, replayAt, anvil } = await setUp(t)
  const { transactionHash: hash } = await send({ to: vault, data: call(7n) })
  const whole = linesOf((await replay(hash)).out)
  const by = async (...without: string[]) => {
    const relay = await startRelay({ after: fn => after(t, fn) }, anvil.url, without)
    const { out, err, code } = await replayAt(relay.url, hash)
    assert.equal(code, 0, err)
    return linesOf(out)
  }
  assert.deepEqual(await by('debug_'), whole)
  assert.deepEqual(await by('trace_'), whole)
  const [note, tx, ...steps] = await by('debug_', 'trace_')
  assert.match(
    note!,
    /^The node gives no traces, so inner calls are not known \(debug_traceTransaction: the method debug_traceTransaction does not exist \(-32601\); trace_transaction: .*\)\. The reason comes from eth_call on the state after block 3, without earlier transactions of block 4\.$/,
  )
  assert.match(tx!, /FAILED: TooPoor\(available=3, required=5\)$/)
  assert.deepEqual(steps, [])
  const [none, failed] = await by('debug_', 'trace_', 'eth_call')
  assert.match(
    none!,
    / eth_call on the state after block 3 does not answer, either: the method eth_call does not exist\.$/,
  )
  assert.match(failed!, /FAILED: Reverted$/)
})

test('what cannot be replayed is told of in one line', { skip }, async t => {
  const { replayAt, anvil } = await setUp(t)
  const unknown = `0x${'12'.repeat(32)}`
  const asked = async (hash: string, url = anvil.url) => {
    const { code, err } = await replayAt(url, hash)
    return [code, err]
  }
  assert.deepEqual(await asked(unknown), [
    1,
    `chainsieve: ${anvil.url} does not have the transaction ${unknown}: check the hash, and name its node with --rpc.\n`,
  ])
  const [code, err] = await asked(unknown, 'http://127.0.0.1:1')
  assert.equal(code, 1)
  assert.match(
    String(err),
    /^chainsieve: http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\. Is the node running there\? --rpc names another one\.\n$/,
  )
  const [misused, why] = await asked('0x12')
  assert.equal(misused, 2)
  assert.match(String(why), /Which transaction\? Name it by its hash, 0x and 64 hex digits, not "0x12"\./)
})
