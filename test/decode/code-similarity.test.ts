import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIMENSIONS, featuresOf, similarityOf } from '../../src/decode/code-similarity.ts'
import { readCompiled } from '../support/compiled.ts'

const compiled = readCompiled().map(it => ({ ...it, vector: featuresOf(it.code) }))
const vectorOf = (name: string, by = 'runs 200') => compiled.find(it => it.name === name && it.by === by)!.vector
const similarity = (a: string, b: string) => Number(similarityOf(vectorOf(a), vectorOf(b)).toFixed(2))

test('what is filled in at deployment, and metadata, change nothing', () => {
  for (const { name, code, vector } of compiled) {
    // Immutables are 32 bytes of zeros until then.
    const deployed = code.replaceAll(`7f${'00'.repeat(32)}`, `7f${'c3d4'.repeat(16)}`)
    assert.deepEqual(featuresOf(deployed), vector, name)
    const described = deployed.replace(/64697066735822.{68}/, `64697066735822${'ab'.repeat(34)}`)
    assert.deepEqual(featuresOf(described), vector, name)
  }
})

test('clones of different targets are the same', () => {
  const clone = (target: string) => featuresOf(`0x363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`)
  assert.deepEqual(clone('be'.repeat(20)), clone('0123456789'.repeat(4)))
  assert.ok(similarityOf(clone('be'.repeat(20)), vectorOf('Vault')) < 0.2)
})

test('the more two contracts have in common, the nearer they are', () => {
  const toVault = ['Vault', 'VaultFork', 'SVault', 'Plain', 'Nft', 'Lock']
  assert.deepEqual(
    toVault.map(name => similarity('Vault', name)),
    [1, 0.96, 0.71, 0.7, 0.45, 0.15],
  )
  const toNft = ['Nft', 'NftFork', 'NftUri', 'SNft', 'Multi', 'Plain']
  assert.deepEqual(
    toNft.map(name => similarity('Nft', name)),
    [1, 0.95, 0.8, 0.57, 0.48, 0.56],
  )
})

/** Contracts that are made of one another are one. */
const FAMILIES: Record<string, string> = { VaultFork: 'Vault', NftFork: 'Nft', NftUri: 'Nft', Uups: 'Plain' }
const familyOf = (name: string) => FAMILIES[name] ?? name

test('a contract by another optimizer or compiler is nearer than other contracts are', () => {
  const others: number[] = []
  let asked = 0
  let nearest = 0
  for (const one of compiled) {
    const ranked = compiled
      .filter(it => it !== one)
      .map(it => ({ name: it.name, by: it.by, similarity: similarityOf(one.vector, it.vector) }))
      .sort((a, b) => b.similarity - a.similarity)
    const same = ranked.filter(it => familyOf(it.name) === familyOf(one.name))
    others.push(...ranked.filter(it => !same.includes(it)).map(it => it.similarity))
    if (same.length === 0) continue
    asked++
    if (ranked[0] === same[0]) nearest++
  }
  others.sort((a, b) => a - b)
  assert.ok(nearest / asked > 0.95, `${nearest} of ${asked} are nearest to their like`)
  assert.ok(others[others.length >> 1]! < 0.15, 'half of all others have next to nothing in common')
})

test('code of which nothing runs has no features, and nothing in common with any', () => {
  for (const code of ['0x', `0xef0100${'be'.repeat(20)}`]) {
    const vector = featuresOf(code)
    assert.equal(vector.length, DIMENSIONS)
    assert.ok(
      vector.every(number => number === 0),
      code,
    )
    assert.equal(similarityOf(vector, vectorOf('Plain')), 0)
    assert.equal(similarityOf(vector, vector), 0)
  }
})
