import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokensIn } from '../../src/documents/tokens.ts'
import { makeChain } from '../support/pack.ts'

test('a token is known by its topics, in whatever case a node writes them', () => {
  const [raw] = makeChain({ blocks: 1, txs: 1, logs: 2 })
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const [lower, upper] = raw!.receipts[0]!.logs
  lower!.topics = [transfer, transfer, transfer]
  upper!.topics = [`0x${transfer.slice(2).toUpperCase()}`, transfer, transfer]
  assert.deepEqual(
    [...tokensIn(raw!)],
    [
      [lower!.address, 'ERC-20'],
      [upper!.address, 'ERC-20'],
    ],
  )
})
