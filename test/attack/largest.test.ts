import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largest } from '../../scripts/attack/largest.ts'
import { findingsOf } from './short.ts'

test('no single request, as large as it may be, freezes the server or fills its memory', async () => {
  assert.equal(await findingsOf(largest, { count: 80, seconds: 30 }), '')
})
