import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createAbiWatch,
  readOwnAbis,
  readStoredAbis,
  removeAbisByName,
  storeAbiFiles,
} from '../../src/ingest/decoding/abi-files.ts'
import { createLog, type Log } from '../../src/lib/log.ts'

const ANYWHERE = { address: null, network: null }
const ADDRESS = `0x${'Ab'.repeat(20)}`
const NETWORK = 'ethereum/ethereum/mainnet'

const setUp = (t: TestContext) => {
  const root = mkdtempSync(join(tmpdir(), 'chainsieve-abis-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'abis')
  const file = (name: string, text: string): string => {
    writeFileSync(join(root, name), text)
    return join(root, name)
  }
  return { root, folder, file, names: () => readStoredAbis(folder).map(({ name }) => name) }
}

test('an ABI is kept under its own name or that of its file, with how sure it is', t => {
  const { folder, file } = setUp(t)
  const output = { abi: ['event A()'] }
  const files = [
    file('Token.json', '["function f(bool x)"]'),
    file('metadata.json', JSON.stringify({ output, settings: { compilationTarget: { 'a.sol': 'Vault' } } })),
    file('export.csv', '0xa9059cbb,transfer(address,uint256)\n'),
    file('written.txt', 'event B()'),
  ]
  const added = storeAbiFiles(folder, files, { address: ADDRESS, network: NETWORK })
  const where = { address: ADDRESS.toLowerCase(), codeHash: null, network: NETWORK }
  const f = { name: 'f', inputs: [{ name: 'x', type: 'bool' }], outputs: [] }
  const transfer = { name: 'transfer', inputs: ['address', 'uint256'].map(type => ({ name: '', type })) }
  assert.deepEqual(added, [
    { name: 'Token', ...where, probability: 1, events: [], functions: [f] },
    { name: 'Vault', ...where, probability: 1, events: [{ name: 'A', inputs: [] }], functions: [] },
    { name: 'export', ...where, probability: 0.6, events: [], functions: [transfer] },
    { name: 'written', ...where, probability: 1, events: [{ name: 'B', inputs: [] }], functions: [] },
  ])
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  assert.deepEqual(readStoredAbis(folder).toSorted(byName), added.toSorted(byName))
  assert.equal(readOwnAbis(folder, 'a/b/c').length, 0)
  assert.equal(readOwnAbis(folder, NETWORK).length, 4)
})

test('where one file is bad, nothing is kept', t => {
  const { root, folder, file, names } = setUp(t)
  const good = file('Good.json', '["event A()"]')
  const bad = file('Bad.txt', 'event A()\nevent B(uint7)')
  assert.throws(() => storeAbiFiles(folder, [good, bad], ANYWHERE), {
    next: 'refuse',
    code: 'bad_abi',
    message: new RegExp(`^${bad}: line 2: a type is expected, not "uint7"`),
  })
  assert.throws(() => storeAbiFiles(folder, [good, join(root, 'none.json')], ANYWHERE), { code: 'abi_unreadable' })
  assert.throws(() => storeAbiFiles(folder, [good, join(root, 'Good.json', 'none')], ANYWHERE), {
    code: 'abi_unreadable',
  })
  assert.deepEqual(names(), [])
})

test('what an older version kept counts as an ABI', t => {
  const { folder, file } = setUp(t)
  storeAbiFiles(folder, [file('A.json', '["event A()"]')], ANYWHERE)
  const old = { name: 'Old', ...ANYWHERE, events: [], functions: [] }
  writeFileSync(join(folder, '0123456789abcdef.json'), JSON.stringify(old))
  assert.deepEqual(readStoredAbis(folder)[0], { ...old, probability: 1, codeHash: null })
})

test('ABIs are removed by name, all of it or those of one network and contract', t => {
  const { folder, file, names } = setUp(t)
  const token = file('Token.json', '["event A()"]')
  const other = file('Vault.json', '["event B()"]')
  const its = { address: ADDRESS, network: NETWORK }
  for (const where of [ANYWHERE, its, { ...its, network: 'a/b/c' }]) storeAbiFiles(folder, [token, other], where)

  assert.throws(() => removeAbisByName(folder, ['Token', 'Valut'], ANYWHERE), {
    next: 'refuse',
    code: 'unknown_abi',
    message: 'there is no ABI Valut, but Vault: chainsieve abi list shows all ABIs',
  })
  assert.throws(() => removeAbisByName(folder, ['x'.repeat(30)], ANYWHERE), {
    message: `there is no ABI ${'x'.repeat(30)}: chainsieve abi list shows all ABIs`,
  })
  assert.throws(() => removeAbisByName(folder, ['Token'], { address: null, network: 'x/y/z' }), {
    message: 'no ABI Token is for that network, address or code: chainsieve abi list shows all ABIs',
  })
  assert.equal(names().length, 6)

  const removed = removeAbisByName(folder, ['Token'], {
    address: ADDRESS.toUpperCase().replace('0X', '0x'),
    network: NETWORK,
  })
  assert.deepEqual(
    removed.map(({ name, network, address }) => ({ name, network, address })),
    [{ name: 'Token', network: NETWORK, address: ADDRESS.toLowerCase() }],
  )
  assert.deepEqual(names().toSorted(), ['Token', 'Token', 'Vault', 'Vault', 'Vault'])
  removeAbisByName(folder, ['Vault', 'Token'], ANYWHERE)
  assert.deepEqual(readdirSync(folder), [])
  assert.throws(() => removeAbisByName(join(folder, 'none'), ['Token'], ANYWHERE), { code: 'unknown_abi' })
})

test('an ABI for a code is kept, listed and removed as such, and one without is the same file as ever', t => {
  const { folder, file, names } = setUp(t)
  const hash = `0x${'Cd'.repeat(32)}`
  const token = file('Token.json', '["event A()"]')
  storeAbiFiles(folder, [token], { ...ANYWHERE, codeHash: hash })
  const kept = { name: 'Token', address: null, codeHash: hash.toLowerCase(), network: null, probability: 1 }
  assert.deepEqual(readStoredAbis(folder), [{ ...kept, events: [{ name: 'A', inputs: [] }], functions: [] }])
  assert.equal(readOwnAbis(folder, NETWORK)[0]?.codeHash, kept.codeHash)
  storeAbiFiles(folder, [token], ANYWHERE)
  assert.ok(readdirSync(folder).includes('068a90700b8756df.json'), String(readdirSync(folder)))
  assert.deepEqual(names(), ['Token', 'Token'])
  assert.throws(() => removeAbisByName(folder, ['Token'], { ...ANYWHERE, codeHash: `0x${'11'.repeat(32)}` }), {
    code: 'unknown_abi',
  })
  assert.equal(removeAbisByName(folder, ['Token'], { ...ANYWHERE, codeHash: hash })[0]?.codeHash, kept.codeHash)
  assert.equal(readStoredAbis(folder)[0]?.codeHash, null)
})

test('what is made of ABIs is made anew where they change, at most once a second', t => {
  const { folder, file, names } = setUp(t)
  let now = 0
  const said: string[] = []
  const say = (level: string) => (message: string) => said.push(`${level}: ${message}`)
  const log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') } as unknown as Log
  let made = 0
  const watch = createAbiWatch({ folder, network: NETWORK, log, now: () => now }, own => {
    made++
    return own.flatMap(({ events }) => events.map(({ name }) => name)).sort()
  })
  assert.deepEqual(watch(), [])
  storeAbiFiles(folder, [file('A.json', '["event A()"]')], ANYWHERE)
  storeAbiFiles(folder, [file('C.json', '["event C()"]')], { address: null, network: 'a/b/c' })
  now = 999
  assert.deepEqual(watch(), [])
  now = 1000
  assert.deepEqual(watch(), ['A'])
  storeAbiFiles(folder, [file('D.json', '["event D()"]')], ANYWHERE)
  assert.deepEqual(watch(), ['A'])
  assert.deepEqual(watch(0), ['A', 'D'], 'whoever cannot wait for it gets it at once')
  removeAbisByName(folder, ['D'], ANYWHERE)
  assert.deepEqual(watch(0), ['A'])
  made = 2
  now = 5000
  const [before, again] = [watch(), watch()]
  assert.equal(before, again)
  assert.equal(made, 2)

  writeFileSync(join(folder, 'broken.json'), '{')
  for (now of [6000, 7000, 8000]) assert.equal(watch(), before)
  rmSync(join(folder, 'broken.json'))
  now = 9000
  assert.deepEqual(watch(), ['A'])
  removeAbisByName(folder, names(), ANYWHERE)
  now = 10_000
  assert.deepEqual(watch(), [])
  assert.deepEqual(said, [
    'info: Loaded changed ABIs',
    'info: Loaded changed ABIs',
    'info: Loaded changed ABIs',
    'error: Cannot read the ABIs, continues with the previous ones',
    'info: Loaded changed ABIs',
  ])
})

test('of a folder, the artifacts below it are added, and nothing else that compilers leave there', t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-abis-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const abi = [{ type: 'error', name: 'TooPoor', inputs: [] }]
  const files = {
    'out/Bank.sol/Bank.json': { abi },
    'out/Bank.sol/Bank.dbg.json': { buildInfo: 'x' },
    'out/Empty.sol/Empty.json': { abi: [] },
    'out/build-info/1.json': { abi },
    'out/cache.json': {},
    'empty/cache.json': {},
    'mixed/ERC20.json': [{ type: 'event', name: 'Transfer', inputs: [] }, { type: 'fallback' }],
    'mixed/deep/Bank.json': { abi, address: '0x1' },
    'mixed/accounts.json': [{ type: 'user' }],
    'mixed/names.json': ['event A()'],
    'mixed/none.json': [],
    'mixed/null.json': null,
    'mixed/list.json': [null],
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), JSON.stringify(content))
  }
  const kept = join(folder, 'abis')
  const [added, ...more] = storeAbiFiles(kept, [join(folder, 'out')], { network: null, address: null })
  assert.deepEqual([added?.name, added?.errors, more], ['Bank', [{ name: 'TooPoor', inputs: [] }], []])
  assert.throws(
    () => storeAbiFiles(kept, [join(folder, 'empty')], { network: null, address: null }),
    /no JSON ABI and no artifact of Foundry/,
  )

  writeFileSync(join(folder, 'mixed/tsconfig.json'), '{ // comments\n}')
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: true })
  const names = storeAbiFiles(kept, [join(folder, 'mixed')], ANYWHERE, undefined, log).map(({ name }) => name)
  assert.deepEqual(names, ['ERC20', 'Bank'])
  const { message, files: skipped } = JSON.parse(lines[0]!)
  assert.equal(message, 'Skipped files without an ABI')
  assert.equal(
    skipped,
    'accounts.json (no ABI), list.json (no ABI), names.json (no ABI), none.json (an empty ABI), null.json (no ABI), tsconfig.json (not JSON)',
  )
  // What looks like an ABI, and is none, is not passed over in silence.
  writeFileSync(join(folder, 'mixed/bad.json'), '[{"type": "event", "name": 5}]')
  assert.throws(() => storeAbiFiles(kept, [join(folder, 'mixed')], ANYWHERE), /bad\.json/)
})
