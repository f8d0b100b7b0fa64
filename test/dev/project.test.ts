import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  artifactsState,
  createCodeNaming,
  createNaming,
  findProjects,
  readArtifacts,
  replaceAbis,
} from '../../src/dev/project.ts'
import { readStoredAbis } from '../../src/ingest/decoding/abi-files.ts'

const tempFolder = (t: TestContext, files: Record<string, unknown> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-project-'))
  t.after(() => rmSync(folder, { recursive: true }))
  write(folder, files)
  return folder
}

const write = (folder: string, files: Record<string, unknown>) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

const event = (name: string) => ({ type: 'event', name, inputs: [{ name: 'n', type: 'uint256', indexed: false }] })

test('the artifacts of a project are where its tool leaves them', t => {
  const found = (files: Record<string, unknown>) => {
    const folder = tempFolder(t, files)
    return findProjects(folder).map(({ tool, artifacts }) => `${tool} ${artifacts.slice(folder.length + 1)}`)
  }
  assert.deepEqual(found({}), [])
  assert.deepEqual(found({ 'package.json': {}, 'out/A.json': {} }), [])
  assert.deepEqual(found({ 'foundry.toml': '' }), ['Foundry out'])
  assert.deepEqual(found({ 'foundry.toml': '[profile.default]\nsrc = "src"\nout = "build/sol"\n' }), [
    'Foundry build/sol',
  ])
  assert.deepEqual(found({ 'foundry.toml': "  out='x' # here\n" }), ['Foundry x'])
  assert.deepEqual(found({ 'foundry.toml': '# out = "no"\nlayout = "no"\n' }), ['Foundry out'])
  for (const ending of ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'])
    assert.deepEqual(found({ [`hardhat.config.${ending}`]: '' }), ['Hardhat artifacts/contracts'])
  assert.deepEqual(found({ 'hardhat.config.json': '' }), [])
  assert.deepEqual(found({ 'foundry.toml': '', 'hardhat.config.ts': '' }), [
    'Foundry out',
    'Hardhat artifacts/contracts',
  ])
})

test('artifacts of both tools are read, whatever lies beside them is not', t => {
  const folder = tempFolder(t, {
    'Token.sol/Token.json': { abi: [event('A')], bytecode: { object: '0x6001' } },
    'Token.sol/Token.0.8.19.json': { abi: [event('A')], bytecode: { object: '0x6002' } },
    'IToken.sol/IToken.json': { abi: [event('A')], bytecode: { object: '0x' } },
    'Bank.sol/Bank.json': {
      _format: 'hh-sol-artifact-1',
      contractName: 'TheBank',
      abi: [event('B')],
      bytecode: '0x6003',
    },
    'Bank.sol/Bank.dbg.json': { abi: [event('C')] },
    'build-info/0123.json': { abi: [event('C')] },
    'Empty.sol/Empty.json': { abi: [], bytecode: { object: '0x6004' } },
    'list.json': [event('C')],
    'null.json': 'null',
    'half.json': '{"abi": [',
    'notes.txt': '',
  })
  const { artifacts, broken } = readArtifacts(folder)
  assert.deepEqual(
    artifacts.map(({ file, contract, creation }) => [file.slice(folder.length + 1), contract, creation]),
    [
      ['Bank.sol/Bank.json', 'TheBank', '6003'],
      ['IToken.sol/IToken.json', 'IToken', undefined],
      ['Token.sol/Token.0.8.19.json', 'Token', '6002'],
      ['Token.sol/Token.json', 'Token', '6001'],
    ],
  )
  assert.deepEqual(
    broken.map(({ file }) => file.slice(folder.length + 1)),
    ['half.json'],
  )
  assert.deepEqual(readArtifacts(join(folder, 'nowhere')), { artifacts: [], broken: [] })
})

test('the state of a folder changes with its artifacts, and with nothing else', t => {
  const folder = tempFolder(t, { 'a/A.json': {} })
  let before = artifactsState(folder)
  const hasChanged = () => {
    const now = artifactsState(folder)
    const changed = now !== before
    before = now
    return changed
  }
  write(folder, { 'notes.txt': 'x', 'build-info/1.json': {}, 'a/A.dbg.json': {} })
  assert.equal(hasChanged(), false)
  write(folder, { 'a/B.json': {} })
  assert.equal(hasChanged(), true)
  write(folder, { 'aside.tmp': { abi: 1 } })
  renameSync(join(folder, 'aside.tmp'), join(folder, 'a/B.json'))
  assert.equal(hasChanged(), true)
  rmSync(folder, { recursive: true })
  assert.equal(hasChanged(), true)
  assert.equal(before, '')
  mkdirSync(folder)
})

test('a contract is known by its creation code, with arguments behind it and libraries linked into it', () => {
  const library = `__$${'0'.repeat(34)}$__`
  const none = { deployed: undefined }
  const nameOf = createNaming([
    { file: '', contract: 'Interface', creation: undefined, ...none },
    { file: '', contract: 'Short', creation: '6001', ...none },
    { file: '', contract: 'Long', creation: '600160', ...none },
    { file: '', contract: 'Linked', creation: `60ff73${library}6002${library}00`, ...none },
  ])
  const address = 'ab'.repeat(20)
  assert.equal(nameOf('0x6001'), 'Short')
  assert.equal(nameOf('0x6001ff'), 'Short')
  assert.equal(nameOf('0x600160'), 'Long')
  assert.equal(nameOf(`0x60ff73${address}6002${address}00${'0'.repeat(64)}`), 'Linked')
  assert.equal(nameOf(`0x60ff73${address}6003${address}00`), undefined)
  assert.equal(nameOf('0x'), undefined)
})

test('a contract is known by its deployed code, whatever its immutables and libraries are', t => {
  const library = `__$${'0'.repeat(34)}$__`
  const abi = [event('A')]
  const immutable = { start: 1, length: 2 }
  const folder = tempFolder(t, {
    'Plain.json': { abi, deployedBytecode: { object: '0x6001aabb' } },
    'Fixed.json': { abi, deployedBytecode: { object: '0x60000000', immutableReferences: { 7: [immutable] } } },
    'Hardhat.json': {
      abi,
      contractName: 'Mine',
      deployedBytecode: '0x61000000ff',
      immutableReferences: { 7: [immutable] },
    },
    'Linked.json': { abi, deployedBytecode: { object: `0x73${library}00` } },
    'Abstract.json': { abi, deployedBytecode: { object: '0x' } },
    'Odd.json': { abi, deployedBytecode: { object: '0x62', immutableReferences: { 7: [{ start: 'x' }, null], 8: 1 } } },
  })
  const nameOf = createCodeNaming(readArtifacts(folder).artifacts)
  const address = 'Ab'.repeat(20)
  const named: [code: string, name: string | undefined][] = [
    ['0x6001AAbb', 'Plain'],
    ['0x60abcd00', 'Fixed'],
    ['0x60abcd01', undefined],
    ['0x61abcd00ff', 'Mine'],
    [`0x73${address}00`, 'Linked'],
    [`0x74${address}00`, undefined],
    ['0x62', 'Odd'],
    ['0x', undefined],
  ]
  for (const [code, name] of named) assert.equal(nameOf(code), name, code)
})

test('a folder of ABIs holds those of the last build and no others, with names that tell whether they changed', t => {
  const folder = tempFolder(t)
  const [out, abis] = [join(folder, 'out'), join(folder, 'abis')]
  const replace = (files: Record<string, unknown>) => {
    rmSync(out, { recursive: true, force: true })
    write(out, files)
    return replaceAbis(abis, readArtifacts(out).artifacts).map(({ file }) => file.slice(out.length + 1))
  }
  const held = () =>
    readStoredAbis(abis)
      .map(({ name, events }) => `${name}: ${events.map(it => it.name).join(' ')}`)
      .sort()
  assert.deepEqual(replace({ 'A.json': { abi: [event('One')] }, 'B.json': { abi: [event('Two')] } }), [])
  assert.deepEqual(held(), ['A: One', 'B: Two'])
  const names = readdirSync(abis)
  assert.deepEqual(replace({ 'A.json': { abi: [event('One')] }, 'B.json': { abi: [event('Three')] } }), [])
  assert.deepEqual(held(), ['A: One', 'B: Three'])
  assert.equal(names.filter(name => readdirSync(abis).includes(name)).length, 1)
  // One that is no ABI after all takes none of the others along.
  assert.deepEqual(replace({ 'A.json': { abi: [event('One')] }, 'Bad.json': { abi: [{ type: 'event' }] } }), [
    'Bad.json',
  ])
  assert.deepEqual(held(), ['A: One'])
  assert.deepEqual(readdirSync(folder).sort(), ['abis', 'out'])
})
