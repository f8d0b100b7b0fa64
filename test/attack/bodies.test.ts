import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodies } from '../../scripts/attack/bodies.ts'
import { findingsOf } from './short.ts'

test('a few hundred hostile bodies come to no 5xx, no hang and no wrong 200', async () => {
  assert.equal(await findingsOf(bodies, { count: 400 }), '')
})
