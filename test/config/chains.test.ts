import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as viem from 'viem/chains'
import { createDefaultParameters, KNOWN_CHAINS } from '../../src/config/chains.ts'

/** Definitions of viem by chain id. */
const KNOWN = new Map(Object.values<viem.Chain>(viem).map(chain => [chain.id, chain]))

/** What viem's names of chains have in place of ours. */
const NAMED = new Map([
  ['optimism', 'op mainnet'],
  ['base-sepolia', 'base sepolia'],
])

/** Milliseconds of ours that differ from viem's, and why. */
const OWN_PACE = new Map([
  // It makes blocks when there are transactions; viem has the mean of an earlier time.
  ['avalanche', 1_500],
])

test('what is known of chains is what viem knows of them', () => {
  for (const [name, { id, symbol, blockMs }] of KNOWN_CHAINS) {
    const known = KNOWN.get(id)
    assert.ok(known, name)
    const { nativeCurrency, blockTime } = known
    assert.ok(known.name.toLowerCase().includes(NAMED.get(name) ?? name), `${name} is ${known.name}`)
    assert.equal(symbol.toUpperCase(), nativeCurrency.symbol.toUpperCase(), name)
    assert.equal(nativeCurrency.decimals, 18, name)
    if (blockTime !== undefined) assert.equal(blockMs, OWN_PACE.get(name) ?? blockTime, name)
  }
})

test('the depths are of a minute at least', () => {
  for (const [name, { finality, blockMs, network }] of KNOWN_CHAINS) {
    assert.match(network, /^ethereum\/[a-z-]+\/[a-z]+$/)
    assert.ok((finality * blockMs) / 1_000 >= 60, `${name}: ${(finality * blockMs) / 1_000} s`)
  }
})

test('requests have by default what is certain of the currency, unless it is set', () => {
  const networks = [
    { network: 'ethereum/ethereum/other', currency: 'POL', flatArgs: false },
    { network: 'ethereum/demo/local', currency: 'eth', flatArgs: true },
  ]
  const defaults = createDefaultParameters(networks)
  const eth = ['eth', 'true']
  const CASES: [networks: string, parameters: unknown][] = [
    ['ethereum/ethereum/mainnet', [eth]],
    ['ethereum/ethereum/hoodi', [eth]],
    ['ethereum/base/sepolia', [eth]],
    ['ethereum/gnosis/mainnet', []],
    ['ethereum/unknown/mainnet', []],
    ['ethereum/ethereum/other', []],
    ['ethereum/demo/local', [['args', 'flat'], eth]],
    ['ethereum/demo/local,ethereum/ethereum/mainnet', [eth]],
    ['ethereum/ethereum/mainnet,ethereum/gnosis/mainnet', []],
  ]
  for (const [names, parameters] of CASES) assert.deepEqual(defaults(names), parameters, names)
})
