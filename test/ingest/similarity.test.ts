import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Code, readCode } from '../../src/decode/contract-code.ts'
import { similarityOf } from '../../src/decode/features.ts'
import { createFeatureLookup } from '../../src/engine/lookups/index.ts'
import { createSimilarity } from '../../src/ingest/contracts/similarity.ts'
import { readCompiled } from '../support/compiled.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

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
