import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHAINS } from '../../src/config/chains.ts'
import { coinOf } from '../../src/console/parts/format.ts'

test('the coin of a network is that of its chain, and unknown where the name does not say which', () => {
  for (const { network, symbol } of CHAINS.values()) assert.equal(coinOf(network), symbol, network)
  assert.equal(coinOf('ethereum/demo/local'), 'ETH')
  assert.equal(coinOf('ethereum/made-up/mainnet'), undefined)
})
