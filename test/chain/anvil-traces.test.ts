import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { checkTraces } from '../../src/chain/check/check-traces.ts'
import { fromCallTracer } from '../../src/chain/check/normal-traces.ts'
import { createRpcSource } from '../../src/chain/rpc-source.ts'
import type { RpcTrace } from '../../src/chain/wire.ts'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { rangeOf } from '../support/chain-source.ts'
import { hex } from '../support/pack.ts'

const skip = anvilPath === undefined

const at = (n: number) => `0xc0de${n.toString(16).padStart(36, '0')}`
const builtIn = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

/** PUSH of a number or an address. */
const push = (value: number | string): string => {
  const text = typeof value === 'string' ? value.slice(2) : value.toString(16)
  const even = text.length % 2 === 0 ? text : `0${text}`
  return (0x5f + even.length / 2).toString(16) + even
}

const OPCODES = { call: 'f1', callcode: 'f2', delegatecall: 'f4', staticcall: 'fa', create: 'f0', create2: 'f5' }

/** Calls with so many bytes of zeros, and drops what comes of it. */
const call = (
  kind: 'call' | 'callcode' | 'delegatecall' | 'staticcall',
  to: string,
  { gas = 0xffff, value = 0, bytes = 0 }: { gas?: number; value?: number | string; bytes?: number } = {},
): string => {
  const amount = kind === 'call' || kind === 'callcode' ? push(value) : ''
  return `60006000${push(bytes)}6000${amount}${push(to)}${push(gas)}${OPCODES[kind]}50`
}

/** Creates from at most 32 bytes of initialisation code. */
const create = (kind: 'create' | 'create2', init: string, value = 0): string => {
  const size = init.length / 2
  return `${push(`0x${init}`)}600052${kind === 'create2' ? '602a' : ''}${push(size)}${push(32 - size)}${push(value)}${OPCODES[kind]}50`
}

const RETURN_42 = '602a60005260206000f3'
const REVERT = '60006000fd'
const SUICIDE = '33ff'
/** Returns its code of ten bytes. */
const INIT = `69${RETURN_42}600052600a6016f3`

const CODES = {
  answer: RETURN_42,
  revert: '63deadbeef6000526004601cfd',
  invalid: 'fe',
  undefinedOpcode: '0c',
  loop: '5b600056',
  badJump: '600556',
  underflow: '01',
  overflow: '5b6001600056',
  store: '6001600055',
  suicide: SUICIDE,
  outOfBounds: '6001600060003e',
  log: '60aa600052602060006000a1',
}
const PLACES = Object.fromEntries(Object.keys(CODES).map((name, i) => [name, at(i + 1)])) as Record<
  keyof typeof CODES,
  string
>

/** Contracts that act on those, each called by one transaction. */
const SCENES: Record<string, string> = {
  kinds: (['call', 'callcode', 'delegatecall', 'staticcall'] as const)
    .flatMap(kind =>
      (['answer', 'revert', 'invalid', 'undefinedOpcode', 'badJump', 'underflow', 'outOfBounds', 'log'] as const).map(
        it => call(kind, PLACES[it]),
      ),
    )
    .join(''),
  gas: call('call', PLACES.loop) + call('call', PLACES.overflow, { gas: 0xffffff }),
  static: call('staticcall', PLACES.store) + call('staticcall', PLACES.suicide) + call('staticcall', at(100)),
  values:
    call('call', PLACES.answer, { value: 1 }) +
    call('callcode', PLACES.answer, { value: 2 }) +
    call('delegatecall', PLACES.answer) +
    call('call', `0x${'99'.repeat(20)}`, { value: 3 }) +
    call('call', PLACES.answer, { value: `0x80${'00'.repeat(31)}` }),
  creations:
    create('create', INIT) +
    create('create', INIT, 1) +
    create('create2', INIT) +
    create('create', REVERT) +
    create('create', SUICIDE, 1) +
    create('create', 'fe'),
  collision: create('create2', INIT) + create('create2', INIT),
  suicides: call('call', PLACES.suicide) + call('delegatecall', PLACES.suicide) + call('call', PLACES.answer) + SUICIDE,
  precompiles:
    call('call', builtIn(4), { bytes: 32 }) +
    call('staticcall', builtIn(2), { bytes: 32 }) +
    call('delegatecall', builtIn(4)) +
    call('call', builtIn(4), { value: 1 }) +
    call('call', builtIn(6), { bytes: 128, gas: 1 }) +
    call('staticcall', builtIn(0xb), { bytes: 1 }),
  undone: call('call', at(103)) + REVERT,
  /** Calls itself with all its gas, so goes as deep as that allows. */
  deep: `6000600060006000600030${'5a'}f150`,
}

/** Both forms of a block in which all of that is done. */
const record = async (t: TestContext): Promise<{ anvil: Anvil; number: number; hashes: Record<string, string> }> => {
  const anvil = await startAnvil(t)
  const [from] = (await anvil.call<string[]>('eth_accounts')) as [string]
  const scenes = Object.keys(SCENES)
  const codes = [
    ...Object.entries(CODES).map(([, code], i) => [at(i + 1), code]),
    ...scenes.map((it, i) => [at(100 + i), SCENES[it]]),
  ]
  for (const [address, code] of codes) {
    await anvil.call('anvil_setCode', address, `0x${code}`)
    await anvil.call('anvil_setBalance', address, '0x1000')
  }
  await anvil.call('evm_setAutomine', false)
  const hashes: Record<string, string> = {}
  const send = async (name: string, transaction: Record<string, unknown>) => {
    hashes[name] = await anvil.call('eth_sendTransaction', { from, gas: hex(900_000), ...transaction })
  }
  for (const [i, name] of scenes.entries()) {
    const gas =
      name === 'kinds' ? 6_000_000 : name === 'gas' || name === 'undone' || name === 'deep' ? 4_000_000 : 900_000
    await send(name, { to: at(100 + i), value: '0x64', gas: hex(gas) })
  }
  for (const name of ['revert', 'invalid', 'loop', 'suicide'] as const)
    await send(`straight ${name}`, { to: PLACES[name] })
  await send('transfer', { to: `0x${'77'.repeat(20)}`, value: '0x5' })
  await send('straight to a precompile', { to: builtIn(4), value: '0x1' })
  await send('created', { data: `0x${INIT}`, value: '0x1' })
  await send('created and reverted', { data: `0x${REVERT}` })
  await send('created invalid', { data: '0xfe' })
  await send('created and gone', { data: `0x${SUICIDE}` })
  await anvil.call('evm_mine')
  return { anvil, number: Number(await anvil.call('eth_blockNumber')), hashes }
}

test('both forms of a real block are the same traces', { skip }, async t => {
  const { anvil, number, hashes } = await record(t)
  const source = createRpcSource({ urls: [anvil.url], traces: 'all' })
  t.after(() => source.close())
  const blocks = await rangeOf(source, 0, number)
  assert.deepEqual(source.tracing?.(), { method: 'trace_block' })
  assert.deepEqual(blocks[0]!.traces, [])
  const raw = blocks[number]!
  assert.equal(raw.block.transactions.length, Object.keys(hashes).length)

  const trees = await anvil.call('debug_traceBlockByNumber', hex(number), { tracer: 'callTracer' })
  const ofGeth = fromCallTracer(raw, trees)
  checkTraces({ ...raw, traces: ofGeth })
  assert.deepEqual(ofGeth, raw.traces)

  const told = (name: string, field: (trace: RpcTrace) => unknown) =>
    raw.traces!.filter(it => it.type !== 'reward' && it.transactionHash === hashes[name]).map(field)
  const error = (it: RpcTrace) => (it.type === 'reward' ? undefined : it.error)
  const results = [
    undefined,
    'Reverted',
    'Bad instruction',
    'Bad instruction',
    'Bad jump destination',
    'Stack underflow',
    'Out of bounds',
  ]
  assert.deepEqual(told('kinds', error), [
    undefined,
    ...[...results, undefined],
    ...[...results, undefined],
    ...[...results, undefined],
    ...[...results, 'Mutable Call In Static Context'],
  ])
  assert.deepEqual(told('gas', error), [undefined, 'Out of gas', 'Out of stack'])
  assert.deepEqual(told('static', error).slice(0, 3), [
    undefined,
    'Mutable Call In Static Context',
    'Mutable Call In Static Context',
  ])
  assert.deepEqual(
    told('values', it => (it.type === 'call' ? [it.action.callType, BigInt(it.action.value), it.error] : it)),
    [
      ['call', 100n, undefined],
      ['call', 1n, undefined],
      ['callcode', 2n, undefined],
      ['delegatecall', 100n, undefined],
      ['call', 3n, undefined],
      ['call', 1n << 255n, 'Insufficient balance for transfer'],
    ],
  )
  assert.deepEqual(
    told('creations', it => [it.type, it.type === 'create' && [it.action.creationMethod, it.result?.code, it.error]]),
    [
      ['call', false],
      ['create', ['create', `0x${RETURN_42}`, undefined]],
      ['create', ['create', `0x${RETURN_42}`, undefined]],
      ['create', ['create2', `0x${RETURN_42}`, undefined]],
      ['create', ['create', '0x', 'Reverted']],
      ['create', ['create', '0x', undefined]],
      ['suicide', false],
      ['create', ['create', undefined, 'Bad instruction']],
    ],
  )
  assert.deepEqual(told('collision', error), [undefined, undefined, 'Contract address collision'])
  assert.deepEqual(
    told('suicides', it => [it.traceAddress.join(), it.type, it.subtraces]),
    [
      ['', 'call', 4],
      ['0', 'call', 1],
      ['0,0', 'suicide', 0],
      ['1', 'call', 1],
      ['1,0', 'suicide', 0],
      ['2', 'call', 0],
      ['3', 'suicide', 0],
    ],
  )
  // The others move nothing; a delegatecall shows the value of its caller.
  assert.deepEqual(
    told('precompiles', it => it.type === 'call' && [it.action.callType, it.action.value, it.traceAddress.join()]),
    [
      ['call', '0x64', ''],
      ['delegatecall', '0x64', '0'],
      ['call', '0x1', '1'],
    ],
  )
  assert.equal(told('undone', error)[0], 'Reverted')
  assert.ok(told('deep', it => it).length > 100)
  const top = (name: string) => told(name, it => it)[0] as Extract<RpcTrace, { type: 'create' }>
  assert.equal(
    top('created').result?.address,
    raw.receipts.find(it => it.transactionHash === hashes.created)!.contractAddress,
  )
  assert.deepEqual(top('created and reverted').result, { code: '0x', gasUsed: '0x6' })
  assert.deepEqual([top('created invalid').result, top('created invalid').error], [null, 'Bad instruction'])
  assert.deepEqual(
    told('created and gone', it => it.type),
    ['create', 'suicide'],
  )
})
