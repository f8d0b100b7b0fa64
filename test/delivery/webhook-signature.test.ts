import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sign, signatureFault } from '../../src/delivery/webhook-signature.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const NOW = 1_700_000_000_000

const headersOf = (body: string, { secrets = [SECRET], seconds = NOW / 1_000 } = {}) => ({
  'webhook-id': 'alert_1',
  'webhook-timestamp': String(seconds),
  'webhook-signature': sign(secrets, 'alert_1', seconds, body),
})
const check = (headers: Record<string, string | undefined>, body = '{}') =>
  signatureFault(headers, body, { secret: SECRET, now: NOW })

it('a good signature is one, also while a secret is being replaced, and of a request without a body', () => {
  assert.equal(check(headersOf('{}')), undefined)
  assert.equal(check(headersOf('{}', { secrets: [OTHER, SECRET] })), undefined)
  assert.equal(check(headersOf(''), ''), undefined)
})

it('agrees with the library of Standard Webhooks', () => {
  const seconds = Math.floor(Date.now() / 1_000)
  const webhook = new Webhook(SECRET)
  for (const [body, headers] of [
    ['{"a":1}', headersOf('{"a":1}', { seconds })],
    ['{"a":2}', headersOf('{"a":1}', { seconds })],
    ['{"a":1}', headersOf('{"a":1}', { seconds, secrets: [OTHER] })],
    ['{"a":1}', headersOf('{"a":1}', { seconds: seconds - 1_000 })],
  ] as const) {
    const fault = signatureFault(headers, body, { secret: SECRET, now: Date.now() })
    const verify = () => webhook.verify(body, headers)
    if (fault === undefined) verify()
    else assert.throws(verify)
  }
})

it('says why another is not', () => {
  const good = headersOf('{}')
  assert.equal(check({}), 'it has no webhook-id and no webhook-timestamp and no webhook-signature header')
  assert.equal(check({ ...good, 'webhook-id': undefined }), 'it has no webhook-id header')
  assert.equal(check({ ...good, 'webhook-timestamp': 'x' }), 'its webhook-timestamp "x" is not in seconds')
  assert.equal(
    check(headersOf('{}', { seconds: NOW / 1_000 - 301 })),
    'its webhook-timestamp is 301 s old, and 300 s are allowed',
  )
  assert.equal(
    check(headersOf('{}', { seconds: NOW / 1_000 + 400 })),
    'its webhook-timestamp is 400 s ahead, and 300 s are allowed',
  )
  assert.equal(
    check({ ...good, 'webhook-signature': 'v2,abc' }),
    'its webhook-signature has no signature of version v1',
  )
  const differs = 'its webhook-signature is not that of this body and this secret'
  assert.equal(check(good, '{ }'), differs)
  assert.equal(check(headersOf('{}', { secrets: [OTHER] })), differs)
})
