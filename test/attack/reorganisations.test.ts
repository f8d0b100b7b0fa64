import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reorganisations } from '../../scripts/attack/reorganisations.ts'
import { findingsOf } from './short.ts'

test('whatever is read while the head is reorganised is one state of the chain, or ends with an error', async () => {
  assert.equal(await findingsOf(reorganisations, { count: 40, seconds: 15 }), '')
})
