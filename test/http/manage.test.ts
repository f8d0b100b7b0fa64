import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Act } from '../../src/accounts/audit.ts'
import type { TokenScope } from '../../src/accounts/index.ts'
import type { Management, NewAbi } from '../../src/http/manage/routes.ts'
import type { AbiAnswer, AbiOfAddress, RedecodingAnswer } from '../../src/http/shapes/management.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { ALICE, appOf, callerOf, MAINNET } from './support.ts'

const ID = '0123456789abcdef'
const ADDRESS = `0x${'ab'.repeat(20)}`
const HASH = `0x${'cd'.repeat(32)}`
const info = (over: Partial<AbiAnswer> = {}): AbiAnswer => ({
  ...{ id: ID, name: 'Harbour', network: null, address: null, codeHash: null, probability: 1 },
  ...{ events: 1, functions: 0, errors: 0, bytes: 9, addedAt: '2024-05-17T12:00:00.000Z' },
  ...over,
})
const redecoding: RedecodingAnswer = {
  ...{ id: '1-a~b~c-0', network: MAINNET, abi: ID, name: 'Harbour', askedAt: '2024-05-17T12:00:00.000Z' },
  ...{ state: 'waiting', nextBlock: null, blocksLeft: null },
}

const serve = ({ limits = {}, scopes }: { limits?: Partial<Limits>; scopes?: readonly TokenScope[] } = {}) => {
  const calls: unknown[] = []
  const trail: Act[] = []
  const management: Management = {
    token: id => ({
      ...{ id, account: 'alice', hint: 'cs_good', scopes: ['search'], createdAt: 0, expiresAt: 1_000 },
      ...{ rate: 90, revokedAt: null, lastUsedAt: null, replacedBy: null },
    }),
    note: (by, act) => {
      assert.deepEqual([by.account, by.token], [ALICE.id, ALICE.token])
      trail.push(act)
    },
    networks: () => [{ network: MAINNET, indexed: true, traces: 'all' }],
    abis: {
      list: async filter => {
        calls.push(filter)
        return [info()]
      },
      info: async id => (id === ID ? info() : undefined),
      get: async id => (id === ID ? { ...info(), abi: [] } : undefined),
      add: async (abis: readonly NewAbi[]) => {
        calls.push(...abis)
        return abis.map(({ name }) => info({ name: name ?? 'Unnamed' }))
      },
      remove: id => id === ID,
    },
    redecodings: {
      list: async () => [redecoding],
      start: async (abis, networks) => {
        calls.push({ abis, networks })
        return [redecoding]
      },
      stop: async id => (id === redecoding.id ? { ...redecoding, state: 'stopping' } : undefined),
    },
    abiOf: async (network, address, { account }) => ({ network, address, account }) as unknown as AbiOfAddress,
    rates: network => ({ everyMs: 1, networks: network === undefined ? [] : [{ network, samples: [] }] }),
    storage: async network => ({
      ...{ network, state: 'measuring', measuredAt: null, tookMs: null, error: null, storage: null },
    }),
  }
  const caller = { ...ALICE, ...(scopes && { scopes: new Set(scopes) }) }
  const app = appOf({
    management,
    accounts: { verify: () => caller },
    limits: { ...DEFAULT_LIMITS, ...limits },
  })
  const ask = callerOf(app, 'cs_alice')
  const call = async (...asked: Parameters<typeof ask>) => {
    const { status, body } = await ask(...asked)
    return { status, body }
  }
  return { call, calls, trail }
}

const reasonOf = async (reply: ReturnType<ReturnType<typeof serve>['call']>, status = 400): Promise<string> => {
  const { status: actual, body } = await reply
  assert.equal(actual, status, JSON.stringify(body))
  return body.error.reason
}

test('an account is told what its token may do, and what the server has', async () => {
  const { call } = serve({ scopes: ['search'] })
  const { status, body } = await call('GET', '/account')
  assert.equal(status, 200)
  const { limits, server, ...rest } = body
  assert.deepEqual(rest, {
    account: 'alice',
    token: {
      ...{ id: 7, hint: 'cs_good', scopes: ['search'] },
      ...{ createdAt: '1970-01-01T00:00:00.000Z', expiresAt: '1970-01-01T00:00:01.000Z', rate: 90 },
    },
  })
  assert.deepEqual(limits, DEFAULT_LIMITS)
  assert.deepEqual(
    [server.features, server.networks],
    [['search', 'abis'], [{ network: MAINNET, indexed: true, traces: 'all' }]],
  )
  assert.match(await reasonOf(call('GET', '/account?who=me')), /\[who\] is not known/)
})

test('ABIs, decoding again and storage need the scope admin, and the ABI of an address the scope search', async () => {
  const { call, calls } = serve({ scopes: ['rules'] })
  for (const [method, path] of [
    ...[
      ['GET', '/abis'],
      ['POST', '/abis/'],
      ['GET', `/abis/${ID}`],
      ['DELETE', `/abis/${ID}`],
    ],
    ...[
      ['GET', '/redecodings'],
      ['POST', '/redecodings'],
      ['DELETE', '/redecodings/1'],
      ['GET', '/status/storage'],
    ],
    ['GET', `/${MAINNET}/abi/${ADDRESS}`],
  ] as const)
    assert.match(await reasonOf(call(method, path), 403), /with the scope \[(admin|search)\]/, path)
  assert.deepEqual(calls, [])
})

test('ABIs are listed by what they are for', async () => {
  const { call, calls } = serve()
  assert.deepEqual(await call('GET', '/abis/'), { status: 200, body: { abis: [info()] } })
  await call('GET', `/abis?network=${MAINNET}&address=${ADDRESS.toUpperCase().replace('0X', '0x')}&name=Harbour`)
  assert.deepEqual(calls[1], { name: 'Harbour', network: MAINNET, address: ADDRESS, codeHash: undefined })
  assert.match(await reasonOf(call('GET', '/abis?address=0x12')), /\[address\] must be an address of 0x and 40 hex/)
  assert.match(await reasonOf(call('GET', '/abis?adress=0x12')), /\[adress\] is not known.*address/)
})

test('an ABI is shown and removed by its id', async () => {
  const { call, trail } = serve()
  assert.deepEqual(await call('GET', `/abis/${ID}/`), { status: 200, body: { ...info(), abi: [] } })
  assert.deepEqual(await call('DELETE', `/abis/${ID}`), { status: 204, body: undefined })
  assert.deepEqual(trail, [{ action: 'abi remove', target: ID }])
  for (const id of ['fedcba9876543210', 'ABCDEF0123456789', '..%2f..%2fetc', 'x'])
    for (const method of ['GET', 'DELETE'])
      assert.match(await reasonOf(call(method, `/abis/${id}`), 404), /There is no ABI/)
  assert.equal(trail.length, 1)
})

test('ABIs are taken as compilers write them, one or several', async () => {
  const { call, calls, trail } = serve()
  const none = { network: null, address: null, codeHash: null }
  const one = async (path: string, body: unknown, headers?: Record<string, string>) => {
    calls.length = 0
    const reply = await call('POST', path, body, headers)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return calls[0]
  }
  const abi = [{ type: 'event', name: 'E', inputs: [] }]
  const plain = { text: JSON.stringify(abi), place: 'The body', name: undefined, ...none }
  assert.deepEqual(await one('/abis', abi), plain)
  const foundry = { abi, bytecode: { object: '0x' } }
  assert.deepEqual(await one('/abis?name=Vault', foundry), { ...plain, text: JSON.stringify(foundry), name: 'Vault' })
  assert.deepEqual(await one('/abis', 'event E()', { 'content-type': 'text/plain' }), { ...plain, text: 'event E()' })
  assert.deepEqual(await one('/abis', { address: ADDRESS, network: MAINNET, abi }), {
    ...{ text: JSON.stringify({ abi }), place: 'abis[0]', name: undefined },
    ...{ network: MAINNET, address: ADDRESS, codeHash: null },
  })
  trail.length = 0
  const several = [
    { name: 'A', abi },
    { codeHash: HASH, abi: { abi, contractName: 'B' } },
    { contractName: 'C', abi },
  ]
  calls.length = 0
  const reply = await call('POST', `/abis?network=${MAINNET}&redecode`, { abis: several })
  assert.deepEqual(reply.body.redecodings, [redecoding])
  assert.deepEqual(
    (calls.slice(0, 3) as NewAbi[]).map(({ name, place, network, codeHash }) => [name, place, network, codeHash]),
    [
      ['A', 'abis[0]', MAINNET, null],
      [undefined, 'abis[1]', MAINNET, HASH],
      ['C', 'abis[2]', MAINNET, null],
    ],
  )
  assert.deepEqual(
    trail.map(({ action, target }) => [action, target]),
    [
      ['abi add', 'A'],
      ['abi add', 'Unnamed'],
      ['abi add', 'C'],
    ],
  )
})

test('an upload that is not good is refused by name, and nothing is kept', async () => {
  const { call, calls } = serve({ limits: { abiUpload: 1_000 } })
  const post = (body: unknown, path = '/abis') => call('POST', path, body)
  assert.match(await reasonOf(post(undefined)), /The body is missing/)
  assert.match(await reasonOf(post('[1')), /The body is not JSON/)
  assert.match(await reasonOf(post({ abis: [] })), /abis must be a list of 1 to 1000 ABIs/)
  assert.match(await reasonOf(post({ abis: [5] })), /abis\[0\] must be an object with "abi"/)
  assert.match(await reasonOf(post({ abis: [{ abi: [], adress: ADDRESS }] })), /"adress" is not a property of an ABI/)
  assert.match(await reasonOf(post({ abis: [{ abi: [], address: '0x1' }] })), /address must be 0x and 40 hex digits/)
  assert.match(await reasonOf(post({ abis: [{ abi: [], name: 5 }] })), /name must be/)
  assert.match(await reasonOf(post([], '/abis?network=a/b/c'), 404), /There is no network "a\/b\/c" here/)
  assert.match(await reasonOf(post([], `/abis?address=${ADDRESS}`)), /name the network of the contract/)
  const both = `/abis?network=${MAINNET}&address=${ADDRESS}&codeHash=${HASH}`
  assert.match(await reasonOf(post([], both)), /not both/)
  assert.match(await reasonOf(post([], '/abis?redecode=maybe')), /\[redecode\] must be "true" or "false"/)
  assert.match(await reasonOf(post(JSON.stringify('x'.repeat(1_001))), 413), /1kB|has more than/)
  assert.deepEqual(calls, [])
})

test('decoding again is asked for, told and stopped, and the audit trail has it', async () => {
  const { call, calls, trail } = serve()
  assert.deepEqual(await call('GET', '/redecodings'), { status: 200, body: { redecodings: [redecoding] } })
  const started = await call('POST', '/redecodings', { abis: [ID], networks: [MAINNET] })
  assert.deepEqual(started, { status: 202, body: { redecodings: [redecoding] } })
  assert.deepEqual(calls, [{ abis: [ID], networks: [MAINNET] }])
  assert.deepEqual((await call('DELETE', `/redecodings/${redecoding.id}`)).body, { ...redecoding, state: 'stopping' })
  assert.deepEqual(
    trail.map(({ action }) => action),
    ['redecode start', 'redecode stop'],
  )
  assert.match(await reasonOf(call('DELETE', '/redecodings/none'), 404), /There is no re-decoding none/)
  assert.match(await reasonOf(call('POST', '/redecodings', {})), /abis must be a list/)
  assert.match(await reasonOf(call('POST', '/redecodings', { abis: [5], networks: [] })), /abis\[0\] must be/)
  assert.match(await reasonOf(call('POST', '/redecodings', { abis: [ID], networks: ['x'] }), 404), /no network "x"/)
})

test('the ABI of an address, rates and storage are of a network that is here', async () => {
  const { call } = serve()
  assert.deepEqual((await call('GET', `/${MAINNET}/abi/${ADDRESS.replace('ab', 'AB')}/`)).body, {
    ...{ network: MAINNET, address: ADDRESS, account: ALICE.id },
  })
  assert.match(await reasonOf(call('GET', `/${MAINNET}/abi/0x12`)), /is not an address/)
  assert.match(await reasonOf(call('GET', `/a/b/c/abi/${ADDRESS}`), 404), /There is no network/)
  assert.deepEqual((await call('GET', `/status/rates?network=${MAINNET}`)).body.networks[0].network, MAINNET)
  assert.equal((await call('GET', '/status/rates')).status, 200)
  assert.match(await reasonOf(call('GET', '/status/rates?network=x'), 404), /There is no network/)
  assert.equal((await call('GET', `/status/storage?network=${MAINNET}`)).status, 202)
  assert.match(await reasonOf(call('GET', '/status/storage')), /Name the network/)
})
