import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatUnits } from 'viem'
import { createLinks, NO_LINKS } from '../../src/delivery/links.ts'
import { fillMessage } from '../../src/delivery/message-text.ts'
import { readSource } from '../../src/rules/notify/values.ts'
import { makeMessage } from '../support/delivery.ts'

const TO = '0x1454168e82efA260f49a6F86612cc6414Ba633e9'
const HASH = `0x${'ab'.repeat(32)}`
const NETWORK = 'ethereum/ethereum/mainnet'
const LINKS = createLinks({ publicUrl: 'https://sieve.x.test/a', explorers: { [NETWORK]: 'https://scan.x.test' } })

const amount = (integer: bigint, decimals: number) => ({
  hex: `0x${integer.toString(16)}`,
  num: null,
  scaled: Number(formatUnits(integer, decimals)),
  type: 'uint256',
})
const SOURCE = {
  event: 'Transfer',
  transactionHash: HASH,
  args: [
    { name: 'to', pos: 0, value: { hex: TO, num: null, scaled: null, type: 'address' } },
    { name: 'value', pos: 1, value: amount(1_250_000_500_000n, 6) },
    { name: 'id', pos: 2, value: { hex: '0x3039', num: 12_345, scaled: null, type: 'uint256' } },
  ],
}
const fill = (template: string, source: Record<string, unknown> = SOURCE, links = LINKS) =>
  fillMessage(template, makeMessage({ source }), 'Alert', links)

test('values, amounts in units, short addresses and links', () => {
  assert.equal(
    fill('{$state} of {$rule}: {args.value|units} (of {args.value}) to {args.to|short}'),
    'Alert of Whales: 1,250,000.5 (of 1250000500000) to 0x1454…33e9',
  )
  assert.equal(fill('{args.id|units} {args.id|units:3} {args#id}'), '12,345 12.345 12345')
  assert.equal(fill('{args.to|explorer}'), `https://scan.x.test/address/${TO}`)
  assert.equal(fill('{transactionHash|explorer}'), `https://scan.x.test/tx/${HASH}`)
  assert.equal(fill('{$explorer}'), `https://scan.x.test/tx/${HASH}`)
  assert.equal(fill('{$console}'), `https://sieve.x.test/a/console/${NETWORK}/tx/${HASH}`)
  assert.equal(fill('{$block} {$network} {$alert}'), `12 ${NETWORK} ${'a1'.repeat(32)}`)
  assert.equal(
    fill('[{$explorer}] {args.to|explorer} [{nothing}] {not a token}', SOURCE, NO_LINKS),
    `[] ${TO} [] {not a token}`,
  )
})

test('a value is text: neither a token, a line, nor a link', () => {
  const source = { name: '{$alert}\n{event|short} https://evil.org $& $1' }
  assert.equal(fill('{name}', source), '{$alert} {event|short} https:\u200b//evil.org $& $1')
})

test('an amount is exact, with as many decimals as its token has', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
      fc.integer({ min: 0, max: 40 }),
      (integer, decimals) => {
        const source = readSource(JSON.stringify({ value: amount(integer, decimals) }))
        assert.equal(fill('{value|units}', source).replaceAll(',', ''), formatUnits(integer, decimals))
        assert.equal(fill(`{value|units:${decimals}}`, source).replaceAll(',', ''), formatUnits(integer, decimals))
      },
    ),
    { seed: 6, numRuns: 500 },
  )
})

test('a page of each kind of document', () => {
  const page = (_type: 'block' | 'token' | 'tx' | 'log', source: Record<string, unknown>) =>
    LINKS.explorer({ network: NETWORK, entity: { _id: HASH, _type, blockNumber: 9 }, source })
  assert.equal(page('block', {}), 'https://scan.x.test/block/9')
  assert.equal(page('token', { address: TO }), `https://scan.x.test/address/${TO}`)
  assert.equal(page('tx', {}), `https://scan.x.test/tx/${HASH}`)
  assert.equal(page('log', { transactionHash: '../evil' }), undefined)
  assert.equal(
    LINKS.explorer({ network: 'other/chain/x', entity: { _id: HASH, _type: 'tx', blockNumber: 9 }, source: {} }),
    undefined,
  )
})
