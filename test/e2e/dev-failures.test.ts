import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeErrorResult, getAddress, toFunctionSelector } from 'viem'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { startRelay } from '../support/relay.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, pause, start, tempFolder, until } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'

const ABI = [
  { type: 'error', name: 'TooPoor', inputs: ['available', 'required'].map(name => ({ name, type: 'uint256' })) },
  { type: 'error', name: 'Error', inputs: [{ name: 'message', type: 'string' }] },
  { type: 'error', name: 'Panic', inputs: [{ name: 'code', type: 'uint256' }] },
  { type: 'function', name: 'fail', inputs: [], outputs: [], stateMutability: 'nonpayable' },
] as const

/** Creation code of a contract with this code. */
const creationOf = (code: string) => `0x60${(code.length / 2).toString(16).padStart(2, '0')}8060093d393df3${code}`

/** Reverts with what stands behind the selector. */
const REVERTS = '600436038060046000376000fd'
const LOOPS = '5b600056'
const BREAKS = 'fe'
/** Passes calls on with 20,000 gas, and what comes back. */
const passesOn = (to: string) =>
  `36600060003760006000366000600073${to.slice(2)}614e20f13d600060003e6035573d6000fd5b3d6000f3`

/** Follows a node for the developer of a contract `Bank` with this ABI. */
const startDev = (t: TestContext, url: string) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'out', 'Bank.sol'), { recursive: true })
  writeFileSync(join(folder, 'foundry.toml'), '[profile.default]\n')
  const artifact = { abi: ABI, bytecode: { object: creationOf(REVERTS) } }
  writeFileSync(join(folder, 'out', 'Bank.sol', 'Bank.json'), JSON.stringify(artifact))
  const dev = start(t, ['dev', '-v', '--port', '0', '--rpc', url], { cwd: folder })
  const says = (pattern: RegExp) =>
    until(
      () => dev.out(),
      text => pattern.test(text),
      () => dev.out() + dev.err(),
    )
  return { dev, says }
}

const sendsOn = (anvil: Anvil) => {
  const send = (transaction: object) => anvil.send({ gas: '0x186a0', ...transaction })
  const fail = toFunctionSelector('fail()')
  return {
    from: anvil.from,
    deploy: async (code: string) => (await send({ data: creationOf(code) })).contractAddress,
    fails: async (to: string, data = '0x') => (await send({ to, data: `${fail}${data.slice(2)}` })).transactionHash,
  }
}

test('why transactions fail is told, found by searches and by rules', { skip }, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const { dev, says } = startDev(t, anvil.url)
  await says(/Follows chain/)

  const { from, deploy, fails } = sendsOn(anvil)
  const bank = await deploy(REVERTS)
  const [vault, loop, broken] = [await deploy(passesOn(bank)), await deploy(LOOPS), await deploy(BREAKS)]
  const outer = await deploy(passesOn(loop))

  const poor = encodeErrorResult({ abi: ABI, errorName: 'TooPoor', args: [3n, 5n] })
  const hashes = {
    custom: await fails(bank, poor),
    inner: await fails(vault, poor),
    message: await fails(vault, encodeErrorResult({ abi: ABI, errorName: 'Error', args: ['not enough\n money'] })),
    panic: await fails(bank, encodeErrorResult({ abi: ABI, errorName: 'Panic', args: [0x11n] })),
    listed: await fails(bank, `0x118cdaa7${from.slice(2).padStart(64, '0')}`),
    unknown: await fails(bank, '0x12345678'),
    silent: await fails(bank),
    gas: await fails(loop),
    innerGas: await fails(outer),
    broken: await fails(broken),
  }
  await says(new RegExp(`${hashes.broken}.*FAILED`))

  const [, url, token] = /at (http:\S+) for[\s\S]*?Token: (\S+)/.exec(dev.out())!
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${url}/${path}/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`)
    return response.json()
  }
  type Hits = { hits: { hits: { _id: string; _source: Record<string, unknown> }[] } }
  const search = async (entity: string, query: unknown, fields: readonly string[]) => {
    const body = { query, size: -1, sort: '_doc', _source: fields }
    const { hits } = (await post(`ethereum/dev/local/es/${entity}/search`, body)) as Hits
    return hits.hits
  }
  const FIELDS = ['error', 'revertReason', 'revertName', 'revertData', 'revertAddress', 'revertTrace']
  const found = await search('tx', { term: { status: false } }, FIELDS)
  const of = (name: keyof typeof hashes) => found.find(({ _id }) => _id === hashes[name])?._source
  const sum = (address: string) => getAddress(address)
  const tooPoor = { error: 'TooPoor(available=3, required=5)', revertReason: 'TooPoor(available=3, required=5)' }
  const begun = { revertAddress: sum(bank), revertTrace: [] }
  assert.equal(found.length, 10)
  assert.deepEqual(of('custom'), { ...tooPoor, revertName: 'TooPoor', revertData: poor, ...begun })
  assert.deepEqual(of('inner'), { ...tooPoor, revertName: 'TooPoor', revertData: poor, ...begun, revertTrace: [0] })
  const said = String.raw`not enough\u000a money`
  assert.equal(of('message')?.error, said)
  assert.equal(of('message')?.revertName, 'Error')
  assert.equal(of('panic')?.error, 'Panic(0x11): arithmetic overflow or underflow')
  assert.equal(of('listed')?.error, `OwnableUnauthorizedAccount(account=${sum(from)})`)
  assert.deepEqual(of('unknown'), { error: 'Reverted', revertData: '0x12345678', ...begun })
  assert.deepEqual(of('silent'), { error: 'Reverted', ...begun })
  assert.deepEqual(of('gas'), { error: 'Out of gas', revertAddress: sum(loop), revertTrace: [] })
  assert.deepEqual(of('innerGas'), { error: 'Out of gas', revertAddress: sum(loop), revertTrace: [0] })
  assert.deepEqual(of('broken'), { error: 'Bad instruction', revertAddress: sum(broken), revertTrace: [] })

  const ids = async (entity: string, query: unknown) => (await search(entity, query, [])).map(({ _id }) => _id).sort()
  const both = [hashes.custom, hashes.inner]
  assert.deepEqual(await ids('tx', { term: { revertName: 'TooPoor' } }), both.toSorted())
  assert.deepEqual(
    await ids('tx', { term: { revertAddress: bank } }),
    [...both, hashes.message, hashes.panic, hashes.listed, hashes.unknown, hashes.silent].sort(),
  )
  assert.deepEqual(await ids('tx', { match: { error: { query: 'ENOUGH money', operator: 'and' } } }), [hashes.message])
  assert.deepEqual(await ids('tx', { match_phrase: { error: 'out of gas' } }), [hashes.gas, hashes.innerGas].sort())
  assert.deepEqual(await ids('tx', { term: { 'revertReason.raw': said } }), [hashes.message])
  const steps = [`${hashes.custom}_X`, `${hashes.inner}_X`, `${hashes.inner}_X_0`]
  for (const [entity, letter] of [
    ['trace', 't'],
    ['call', 'c'],
  ] as const) {
    const want = steps.map(id => id.replace('X', letter)).sort()
    assert.deepEqual(await ids(entity, { term: { revertName: 'TooPoor' } }), want)
    assert.deepEqual(await ids(entity, { match: { revertReason: 'toopoor' } }), want)
    assert.deepEqual((await search(entity, { ids: { values: want } }, ['revertReason', 'revertName']))[0]?._source, {
      revertReason: tooPoor.revertReason,
      revertName: 'TooPoor',
    })
  }

  const rule = (target: string, name: string, value: string) =>
    ruleOn('ethereum/dev/local', [target, name, 'Equals', value], [webhookTo('http://127.0.0.1:1/')], { size: 0 })
  const total = async (...asked: Parameters<typeof rule>) =>
    ((await post('alerting/rules/simulate', rule(...asked))) as { total: number }).total
  assert.equal(await total('Transaction', 'revertName', 'TooPoor'), 2)
  assert.equal(await total('Transaction', 'error', 'Out of gas'), 2)
  assert.equal(await total('Trace', 'revertName', 'TooPoor'), 3)
  assert.equal(await total('Call', 'revertReason', tooPoor.revertReason), 3)

  const lines = dev
    .out()
    .replaceAll(/gas [\d,]+/g, 'gas N')
    .split('\n')
  const at = lines.findIndex(line => line.includes(hashes.inner))
  assert.deepEqual(
    lines.slice(at, at + 2).map(line => line.replace(/^#\d+ +[\d:]+ +/, '')),
    [
      `tx     ${sum(vault)}.fail()  from 0xf39F…2266  gas N  ${hashes.inner}  FAILED: ${tooPoor.error} in Bank.fail()`,
      `                  Bank.fail()  gas N  FAILED: ${tooPoor.error}`,
    ],
  )
  assert.ok(lines.some(line => line.includes(`${hashes.gas}  FAILED: Out of gas`)))
})

test('why transactions fail is asked by eth_call where the node has no traces', { skip }, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const relay = await startRelay({ after: fn => after(t, fn) }, anvil.url, ['trace_', 'debug_'])
  const { from, deploy, fails } = sendsOn(anvil)
  const [bank, broken] = [await deploy(REVERTS), await deploy(BREAKS)]
  const { dev, says } = startDev(t, relay.url)
  await says(/#2 .*tx /)
  const error = (name: 'Error' | 'Panic', arg: string | bigint) =>
    encodeErrorResult({ abi: ABI, errorName: name, args: [arg] } as Parameters<typeof encodeErrorResult>[0])
  const wanted: [hash: string, says: string][] = [
    [
      await fails(bank, encodeErrorResult({ abi: ABI, errorName: 'TooPoor', args: [3n, 5n] })),
      'TooPoor(available=3, required=5)',
    ],
    [await fails(bank, error('Error', 'not the owner')), 'not the owner'],
    [await fails(bank, error('Panic', 0x12n)), 'Panic(0x12): division or modulo by zero'],
    [
      await fails(bank, `0x118cdaa7${from.slice(2).padStart(64, '0')}`),
      `OwnableUnauthorizedAccount(account=${getAddress(from)})`,
    ],
    [await fails(bank, '0x12345678'), 'Reverted'],
    [await fails(broken), 'EVM error InvalidFEOpcode'],
  ]
  const failureOf = (hash: string) => new RegExp(`${hash}  FAILED: (.*)`).exec(dev.out())?.[1]
  await says(new RegExp(`${wanted.at(-1)![0]}.*FAILED`))
  assert.deepEqual(
    wanted.map(([hash]) => failureOf(hash)),
    wanted.map(([, text]) => text),
  )

  relay.without = ['trace_', 'debug_', 'eth_call']
  const unanswered = await fails(bank, error('Error', 'nobody hears this'))
  await says(new RegExp(`${unanswered}.*FAILED`))
  assert.equal(failureOf(unanswered), 'Reverted')
  assert.equal(dev.out().match(/^The node has no traces: .*eth_call/gm)?.length, 1, dev.out())

  relay.target = 'http://127.0.0.1:1'
  await says(/Waiting for a node/)
  // Whether the server is ready is looked at each second, and nodes are given up only after a while.
  await until(
    async () => (await (await fetch(`${/at (http:\S+) for/.exec(dev.out())![1]}/ready`)).text()) || '',
    text => text.includes('nodes_failing'),
    dev.err,
  )
  await pause(2_000)
  assert.doesNotMatch(dev.err(), /without traces|Is not ready/)
})
