import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receivers } from '../../scripts/attack/receivers.ts'
import { findingsOf } from './short.ts'

test('hostile receivers of one account hold up no alert of another', async () => {
  assert.equal(await findingsOf(receivers, { count: 4 }), '')
})
