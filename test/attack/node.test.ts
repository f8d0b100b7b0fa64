import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../scripts/attack/node.ts'
import { packs } from '../../scripts/attack/packs.ts'
import { findingsOf } from './short.ts'

test('a node that lies beside an honest one changes nothing', async () => {
  assert.equal(await findingsOf(node, { count: 150 }), '')
})

test('broken lines of packs are refused', async () => {
  assert.equal(await findingsOf(packs, { count: 300 }), '')
})
