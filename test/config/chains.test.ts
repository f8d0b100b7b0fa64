import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as viem from 'viem/chains'
import { CHAINS } from '../../src/config/chains.ts'

/** The same chain in viem, whose definitions are kept by the chains themselves. */
const IN_VIEM: Readonly<Record<string, keyof typeof viem>> = {
  ethereum: 'mainnet',
  'base-sepolia': 'baseSepolia',
  world: 'worldchain',
  bnb: 'bsc',
}

/** Seconds of ours that differ from viem's, and why. */
const OWN_PACE = new Map([
  // It makes blocks when there are transactions; viem has the mean of an earlier time.
  ['avalanche', 1_500],
])

test('what is known of chains is what viem knows of them', () => {
  for (const [name, { id, symbol, blockMs }] of CHAINS) {
    const known = viem[IN_VIEM[name] ?? (name as keyof typeof viem)] as viem.Chain
    assert.ok(known, name)
    const { nativeCurrency, blockTime } = known
    assert.deepEqual([id, symbol.toUpperCase()], [known.id, nativeCurrency.symbol.toUpperCase()], name)
    assert.equal(nativeCurrency.decimals, 18, name)
    if (blockTime !== undefined) assert.equal(blockMs, OWN_PACE.get(name) ?? blockTime, name)
  }
})

test('the depths are of a minute at least', () => {
  for (const [name, { finality, blockMs, network }] of CHAINS) {
    assert.match(network, /^ethereum\/[a-z-]+\/[a-z]+$/)
    assert.ok((finality * blockMs) / 1_000 >= 60, `${name}: ${(finality * blockMs) / 1_000} s`)
  }
})
