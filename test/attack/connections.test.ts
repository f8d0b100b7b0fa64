import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connections, FLOODS } from '../../scripts/attack/connections.ts'
import { findingsOf } from './short.ts'

for (const name of ['silent connections with few open files', 'heads that never end']) {
  test(`the program bears ${name}`, async () => {
    assert.equal(await findingsOf(connections, { attempt: FLOODS.findIndex(flood => flood.name === name) }), '')
  })
}
