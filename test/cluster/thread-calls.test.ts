import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCalls, openCalls } from '../../src/cluster/thread-search.ts'

test('what a cluster answers after its search has ended is dropped', async () => {
  const port = openCalls(() => ({ ask: () => new Promise(() => {}) }))
  const calls = createCalls(port)
  const asked = calls.of('a/b/c').ask({ method: 'GET', path: '/' })
  calls.close()
  await assert.rejects(asked, /the search has ended/)
  assert.ok(port.emit('message', { n: 1, answer: { status: 200, text: '{}' } }))
})
