import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beforeDeadline } from '../../src/cluster/connection/faults.ts'

test('where the cluster does not answer in time, the error says so', async () => {
  const silent = () => new Promise<never>(() => {})
  await assert.rejects(beforeDeadline(silent, { deadline: performance.now() + 20 }), {
    code: 'search_timeout_exception',
    message:
      'the cluster did not answer by the deadline of the search: see its state in /status, narrow the search, or raise query-deadline',
  })
})

test('what fails before the deadline keeps its reason', async () => {
  const failing = () => Promise.reject(new Error('why'))
  await assert.rejects(beforeDeadline(failing, { deadline: Number.POSITIVE_INFINITY }), { message: 'why' })
})
