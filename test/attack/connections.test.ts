import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connections, FLOODS } from '../../scripts/attack/connections.ts'
import { findingsOf } from './short.ts'

test('the program bears silent connections with few open files', async () => {
  const attempt = FLOODS.findIndex(({ name }) => name === 'silent connections with few open files')
  assert.equal(await findingsOf(connections, { attempt }), '')
})
