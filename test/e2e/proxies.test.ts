import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeAbiParameters, type Hex, keccak256, toEventSelector, toFunctionSelector, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { PROXY_QUESTIONS } from '../../src/decode/proxies.ts'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { codeOf, initCodeOf } from '../support/deploy.ts'
import { startRelay } from '../support/relay.ts'
import { after, type Server, serve, succeed, tempFolder, until } from './program.ts'

/** Proxies of all kinds on a real node, of which only the implementations' ABIs are known. */
const NETWORK = 'ethereum/anvil/local'
const skip = anvilPath === undefined && 'there is no anvil for this platform'

const SLOT = Object.fromEntries(
  Object.entries(PROXY_QUESTIONS).map(([kind, { slot = '0x0' }]) => [kind, slot]),
) as Record<keyof typeof PROXY_QUESTIONS, string>
/** Of the administrator (EIP-1967). */
const ADMIN = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'
const selectorOf = (signature: string) => toFunctionSelector(signature).slice(2)
const topicOf = (signature: string) => toEventSelector(signature).slice(2)
const push = (hex: string) => `${(0x5f + hex.length / 2).toString(16)}${hex}`
const call = (signature: string, ...values: (string | bigint)[]) =>
  `${toFunctionSelector(signature)}${values.map(value => BigInt(value).toString(16).padStart(64, '0')).join('')}`

/** Runs `yes` for calls of one function, else `no`. */
const dispatch = (signature: string, yes: string, no: string) => {
  const head = `5f3560e01c${push(selectorOf(signature))}14`
  return `${head}60${(head.length / 2 + 3 + no.length / 2).toString(16).padStart(2, '0')}57${no}5b${yes}`
}
const store = (slot: string) => `600435${push(slot.slice(2).padStart(64, '0'))}55`
const emit = (signature: string) => `6004355f52${push(topicOf(signature))}60205fa100`
const upgradeTo = (slot: string) => `${store(slot)}600435${push(topicOf('Upgraded(address)'))}5f5fa200`

/** Emits Landed with what it is called with, or has whoever runs its code run another one. */
const harbor = (mark: string) =>
  `0x${dispatch('upgradeTo(address)', upgradeTo(SLOT['EIP-1967']), emit('Landed(uint256)'))}${mark}`
/** Offers what its first slot holds, and changes it. */
const BEACON = `0x${dispatch('implementation()', '5f545f5260205ff3', upgradeTo('0x0'))}`
const cloneOf = (address: string) => `0x363d3d373d3d3d363d73${address.slice(2)}5af43d82803e903d91602b57fd5bf3`

/** Answers every call with some bytes. */
const answering = (data: string) => {
  const length = ((data.length - 2) / 2).toString(16).padStart(4, '0')
  return `0x61${length}80600a5f395ff3${data.slice(2)}`
}
/** Stores a value in a slot, and tells of a cut. */
const CUT = `0x602435600435557f${topicOf('DiamondCut((address,uint8,bytes4[])[],address,bytes)')}5f5fa100`

const LAND = 'land(uint256)'

const setUp = async (t: TestContext) => {
  const anvil = await startAnvil({ after: fn => after(t, fn) }, ['--hardfork', 'prague'])
  const [wallet, admin] = (await anvil.call<string[]>('eth_accounts')) as [string, string]
  const deploy = async (code: string, storage: Record<string, string | bigint> = {}) => {
    const values = Object.fromEntries(Object.entries(storage).map(([slot, value]) => [slot, BigInt(value)]))
    return (await anvil.send({ from: wallet, data: initCodeOf(code, values) })).contractAddress.toLowerCase()
  }
  const run = async (to: string, data: string, from = wallet) => {
    const { status, transactionHash } = await anvil.send({ from, to, data })
    assert.equal(status, '0x1', data)
    return transactionHash
  }
  const folder = tempFolder(t)
  const written = (name: string, ...lines: string[]) => {
    writeFileSync(join(folder, `${name}.txt`), lines.join('\n'))
    return join(folder, `${name}.txt`)
  }
  const relay = await startRelay({ after: fn => after(t, fn) }, anvil.url)
  const questions = () => {
    const { eth_getCode = 0, eth_getStorageAt = 0, eth_call = 0 } = relay.counts
    return { eth_getCode, eth_getStorageAt, eth_call }
  }
  const args = ['--network', NETWORK, '--rpc', relay.url, '--poll-interval', '20ms']
  return { anvil, wallet, admin, deploy, run, written, questions, args, data: join(folder, 'data') }
}

/** What a transaction's call and the event that it emits are decoded as. */
const decoded = async (server: Server, hash: string) => {
  const find = async (entity: string, query: object) =>
    (await server.search(NETWORK, entity, { query: { term: query } })).hits.hits[0]?._source
  const tx = await until(
    () => find('tx', { hash }),
    found => found !== undefined,
    server.err,
  )
  const [event, called] = await Promise.all(['event', 'call'].map(entity => find(entity, { transactionHash: hash })))
  return { method: tx!.method ?? null, event, called }
}
const shown = async (server: Server, hash: string) => {
  const { method, event, called } = await decoded(server, hash)
  return [method, `${called?.str} ${called?.probability}`, event ? `${event.str} ${event.probability}` : null]
}
const by = (name: string) => ['land', `land(${name}=7) 1`, `Landed(${name}=7) 1`]

test('what is called and emitted through a proxy is decoded by the ABI of what it runs, before and after upgrades', {
  skip,
}, async t => {
  const { anvil, wallet, admin, deploy, run, written, questions, args, data } = await setUp(t)
  const [V1, V2, FIXED] = [await deploy(harbor('01')), await deploy(harbor('02')), await deploy(harbor('03'))]
  for (const [name, address] of Object.entries({ V1, V2, FIXED })) {
    const abi = written(name, `event Landed(uint256 of${name})`, `function land(uint256 of${name})`)
    await succeed(t, ['abi', 'add', '--network', NETWORK, '--address', address, abi], { data })
  }
  const uups = await deploy(codeOf('ERC1967Proxy'), { [SLOT['EIP-1967']]: V1 })
  const transparent = await deploy(codeOf('TransparentUpgradeableProxy', 'OpenZeppelin 4'), {
    [SLOT['EIP-1967']]: V1,
    [ADMIN]: admin,
  })
  const beacon = await deploy(BEACON, { 0: V1 })
  const beaconProxy = await deploy(codeOf('BeaconProxy', 'OpenZeppelin 4'), { [SLOT['EIP-1967 beacon']]: beacon })
  const fixed = [
    await deploy(cloneOf(FIXED)),
    await deploy(codeOf('SafeProxy'), { 0: FIXED }),
    await deploy(codeOf('Proxiable'), { [SLOT['EIP-1822']]: FIXED }),
    await deploy(codeOf('Delegate897'), { 0: FIXED }),
    await deploy(cloneOf(await deploy(cloneOf(await deploy(cloneOf(FIXED)))))),
  ]
  const tooFar = await deploy(cloneOf(fixed.at(-1)!))

  const server = await serve(t, data, args)
  const land = async (to: string, from?: string) => shown(server, await run(to, call(LAND, 7n), from))
  for (const proxy of [uups, transparent, beaconProxy]) assert.deepEqual(await land(proxy), by('ofV1'), proxy)
  for (const proxy of fixed) assert.deepEqual(await land(proxy), by('ofFIXED'), proxy)
  assert.deepEqual((await land(tooFar))[2], null)

  // Whatever stands for the same, exactly so.
  const documents = await Promise.all([V1, uups].map(async to => decoded(server, await run(to, call(LAND, 7n)))))
  const [direct, through] = documents.map(({ method, event, called }) => [
    method,
    ...[event, called].map(it => [it?.event, it?.method, it?.selector, it?.args, it?.str, it?.error, it?.probability]),
  ])
  assert.deepEqual(through, direct)

  await run(uups, call('upgradeTo(address)', V2))
  await run(transparent, call('upgradeTo(address)', V2), admin)
  await run(beacon, call('upgradeTo(address)', V2))
  for (const proxy of [uups, transparent, beaconProxy]) assert.deepEqual(await land(proxy), by('ofV2'), proxy)
  assert.deepEqual(await land(V1), by('ofV1'))

  // A contract that is created now is told of as what it runs.
  const born = await deploy(codeOf('ERC1967Proxy'), { [SLOT['EIP-1967']]: V2 })
  const [contract] = await until(
    async () => (await server.search(NETWORK, 'contract', { query: { ids: { values: [born] } } })).hits.hits,
    hits => hits.length > 0,
  )
  const { implementation, abi, name, probability } = contract!._source
  assert.deepEqual(
    [implementation, abi, name, probability],
    [checksumAddress(V2), { source: 'implementation' }, 'V2', 1],
  )

  // An account runs the code of a contract as well.
  const [sponsor, authority] = [
    '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    toHex(7n, { size: 32 }),
  ].map(key => privateKeyToAccount(key as Hex))
  assert.equal(sponsor!.address, checksumAddress(wallet))
  const authorization = await authority!.signAuthorization({ contractAddress: FIXED as Hex, chainId: 31337, nonce: 0 })
  const raw = await sponsor!.signTransaction({
    ...{ type: 'eip7702', chainId: 31337, gas: 200_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
    ...{ nonce: Number(await anvil.call('eth_getTransactionCount', wallet, 'latest')), to: wallet as Hex },
    authorizationList: [authorization],
  })
  await anvil.call('eth_sendRawTransaction', raw)
  assert.deepEqual(await land(authority!.address), by('ofFIXED'))

  // All of that is known after a restart, too.
  server.signal('SIGTERM')
  await server.ended
  const before = questions()
  const again = await serve(t, data, args)
  for (const [proxy, name] of [
    [uups, 'ofV2'],
    [transparent, 'ofV2'],
    [beaconProxy, 'ofV2'],
    [fixed[0]!, 'ofFIXED'],
  ] as const)
    assert.deepEqual(await shown(again, await run(proxy, call(LAND, 7n))), by(name))
  assert.deepEqual(questions(), before)
  await run(uups, call('upgradeTo(address)', V1))
  assert.deepEqual(await shown(again, await run(uups, call(LAND, 7n))), by('ofV1'))
  assert.deepEqual(questions(), before)
})

test('a call of a diamond is decoded by the ABI of its facet, also after a cut', { skip }, async t => {
  const { deploy, run, written, args, data } = await setUp(t)
  const slotFor = (signature: string) =>
    keccak256(
      encodeAbiParameters(
        [{ type: 'bytes4' }, { type: 'bytes32' }],
        [toFunctionSelector(signature), keccak256(toHex('diamond.standard.diamond.storage'))],
      ),
    )
  const high = (address: string) => `${address}${'00'.repeat(12)}`
  const facets = (...all: [address: string, ...signatures: string[]][]) =>
    answering(
      encodeAbiParameters([{ type: 'tuple[]', components: [{ type: 'address' }, { type: 'bytes4[]' }] }], [
        all.map(([address, ...signatures]) => [address as Hex, signatures.map(it => toFunctionSelector(it))]),
      ] as never),
    )
  const [V1, V2, cutter] = [await deploy(harbor('01')), await deploy(harbor('02')), await deploy(CUT)]
  const [loupe1, loupe2] = [
    await deploy(facets([V1, LAND], [cutter, 'cut(uint256,uint256)'])),
    await deploy(facets([V2, LAND])),
  ]
  const diamond = await deploy(codeOf('DiamondProxy', 'runs 200'), {
    [slotFor('facets()')]: high(loupe1),
    [slotFor(LAND)]: high(V1),
    [slotFor('cut(uint256,uint256)')]: high(cutter),
  })
  for (const [name, address] of Object.entries({ V1, V2 })) {
    const abi = written(name, `event Landed(uint256 of${name})`, `function land(uint256 of${name})`)
    await succeed(t, ['abi', 'add', '--network', NETWORK, '--address', address, abi], { data })
  }
  const server = await serve(t, data, args)
  const land = async () => shown(server, await run(diamond, call(LAND, 7n)))
  assert.deepEqual(await land(), by('ofV1'))
  await run(diamond, call('cut(uint256,uint256)', slotFor(LAND), high(V2)))
  await run(diamond, call('cut(uint256,uint256)', slotFor('facets()'), high(loupe2)))
  assert.deepEqual(await land(), by('ofV2'))
})

test('an ABI for a code is that of all contracts of this code; without such ABIs, nothing is asked', {
  skip,
}, async t => {
  const { deploy, run, written, questions, args, data } = await setUp(t)
  const code = harbor('01')
  const [one, other, third] = [await deploy(code), await deploy(code), await deploy(harbor('02'))]
  const proxy = await deploy(codeOf('ERC1967Proxy'), { [SLOT['EIP-1967']]: other })
  const server = await serve(t, data, args)
  const land = async (to: string) => shown(server, await run(to, call(LAND, 7n)))
  const unknown = [null, 'null null', null]
  for (const to of [one, proxy]) assert.deepEqual(await land(to), unknown)
  // The codes of the contracts that were created, as ever.
  assert.deepEqual(questions(), { eth_getCode: 4, eth_getStorageAt: 0, eth_call: 0 })

  const abi = written('Harbor', 'event Landed(uint256 berth)', 'function land(uint256 berth)')
  const added = await succeed(t, ['abi', 'add', '--code-hash', keccak256(code as Hex), '--json', abi], { data })
  assert.deepEqual(JSON.parse(added), [
    {
      name: 'Harbor',
      network: null,
      address: null,
      codeHash: keccak256(code as Hex),
      probability: 1,
      events: 1,
      functions: 1,
    },
  ])
  await until(
    () => land(one),
    seen => seen[0] === 'land',
    server.err,
  )
  for (const to of [one, other, proxy]) assert.deepEqual(await land(to), by('berth'))
  // Whose code is all but the same.
  const like = ['land', 'land(berth=7) 0.95', 'Landed(berth=7) 0.95']
  assert.deepEqual(await land(third), like)
  const documentOf = async (address: string) => {
    const [contract] = await until(
      async () => (await server.search(NETWORK, 'contract', { query: { ids: { values: [address] } } })).hits.hits,
      hits => hits.length > 0,
    )
    const { abi, name, probability } = contract!._source
    return [abi, name, probability]
  }
  assert.deepEqual(await documentOf(await deploy(code)), [{ source: 'codeHash' }, 'Harbor', 1])
  assert.deepEqual(await documentOf(await deploy(harbor('04'))), [{ source: 'similar' }, 'Harbor', 0.95])
  // Of the proxy, and of the new ones for their documents: what was created under the eyes of the index is known.
  assert.deepEqual(questions(), { eth_getCode: 7, eth_getStorageAt: 1, eth_call: 0 })
})

test('what is stored is decoded anew through proxies that the store knows of, and for codes', { skip }, async t => {
  const { deploy, run, written, args, data } = await setUp(t)
  const [V1, V2] = [await deploy(harbor('01')), await deploy(harbor('02'))]
  const [clone, uups] = [
    await deploy(cloneOf(await deploy(cloneOf(V1)))),
    await deploy(codeOf('ERC1967Proxy'), { [SLOT['EIP-1967']]: V1 }),
  ]
  const code = harbor('03')
  const same = [await deploy(code), await deploy(code), await deploy(cloneOf(await deploy(code)))]
  const other = await deploy(harbor('04'))
  await run(uups, call('upgradeTo(address)', V2))
  const server = await serve(t, data, args)
  const hashes = new Map<string, string>()
  for (const to of [clone, uups, ...same, other]) {
    hashes.set(to, await run(to, call(LAND, 7n)))
    assert.deepEqual(await shown(server, hashes.get(to)!), [null, 'null null', null])
  }
  // What it runs now is not what it ran then.
  await run(uups, call('upgradeTo(address)', V1))
  const add = async (name: string, ...holder: string[]) => {
    const abi = written(name, `event Landed(uint256 of${name})`, `function land(uint256 of${name})`)
    await succeed(t, ['abi', 'add', '--network', NETWORK, ...holder, '--redecode', abi], { data })
  }
  await add('V1', '--address', V1)
  await add('V2', '--address', V2)
  await add('Code', '--code-hash', keccak256(code as Hex))
  const becomes = (to: string, want: (string | null)[]) =>
    until(
      () => shown(server, hashes.get(to)!),
      seen => JSON.stringify(seen) === JSON.stringify(want),
      server.err,
    )
  await becomes(clone, by('ofV1'))
  await becomes(uups, by('ofV2'))
  for (const to of same) await becomes(to, by('ofCode'))
  await becomes(other, [null, 'null null', null])
  assert.doesNotMatch(server.err(), /level=error/)
})
