import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { redact, secret, secretUrl } from '../../src/lib/secret.ts'

test('a secret is printed as [secret] and revealed on request alone', () => {
  const key = secret('SESAME')
  const printed = [String(key), `${key}`, JSON.stringify({ key }), inspect(key), inspect({ key })]
  assert.deepEqual(printed, ['[secret]', '[secret]', '{"key":"[secret]"}', '[secret]', '{ key: [secret] }'])
  assert.equal(key.reveal(), 'SESAME')
})

test('of a URL the place is shown, never what may be a key', () => {
  const shown = (url: string) => String(secretUrl(url))
  assert.deepEqual(
    [
      'http://127.0.0.1:8545',
      'https://eth.example.org/',
      'https://eth.example.org/v2/KEY',
      'wss://user:KEY@eth.example.org',
      'https://eth.example.org?key=KEY',
    ].map(shown),
    [
      'http://127.0.0.1:8545',
      'https://eth.example.org',
      'https://eth.example.org/[secret]',
      'wss://eth.example.org/[secret]',
      'https://eth.example.org/[secret]',
    ],
  )
  assert.equal(secretUrl('https://eth.example.org/v2/KEY').reveal(), 'https://eth.example.org/v2/KEY')
})

test('text without secrets is left alone', () => {
  const text = 'GET /ethereum/ethereum/mainnet/es/event/search?pretty=true 200 http://127.0.0.1:8640/ cs_1 a@b.c'
  assert.equal(redact(text), text)
})
