import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFailingReceivers } from '../../src/delivery/failing-receivers.ts'
import { createLog } from '../../src/lib/log.ts'

const receiver = {
  account: 1,
  rule: 2,
  channel: 'Chat',
  receiver: 'https://chat.example/~1',
  target: 'https://chat.example/[secret]',
} as const
const failed = (why: string) => ({ type: 'retry' as const, why, status: 500, head: '' })

test('a receiver that fails is told once, another reason once a minute, and when it takes something again', () => {
  const lines: string[] = []
  const failing = createFailingReceivers(createLog({ write: line => void lines.push(line.slice(25)), json: false }))
  const at = (seconds: number) => seconds * 1_000
  for (let second = 0; second < 60; second++) failing.note(receiver, failed(`HTTP ${500 + (second % 2)}`), at(second))
  failing.note(receiver, { type: 'aborted' }, at(60))
  assert.equal(lines.length, 1)
  failing.note(receiver, failed('HTTP 503'), at(61))
  failing.note(receiver, failed('HTTP 503'), at(200))
  const known = failing.list(() => true)
  assert.deepEqual(known, [{ ...receiver, error: 'HTTP 503', status: 500, since: 0, at: 200_000 }])
  failing.note(receiver, { type: 'delivered', status: 200, head: '' }, at(210))
  failing.note(receiver, { type: 'delivered', status: 200, head: '' }, at(211))
  assert.deepEqual(
    failing.list(() => true),
    [],
  )
  assert.deepEqual(
    lines.map(line => line.replace(/ channel.*?(error|seconds)/, ' $1')),
    [
      'warn  A receiver does not accept deliveries error="HTTP 500"',
      'warn  A receiver does not accept deliveries error="HTTP 503"',
      'info  A receiver accepts deliveries again seconds=210',
    ],
  )
})

test('those of rules that are gone are forgotten, and the oldest come first', () => {
  const failing = createFailingReceivers(createLog({ write: () => {}, json: false }))
  failing.note(receiver, failed('a'), 2_000)
  failing.note({ ...receiver, rule: 3, receiver: 'https://chat.example/~2' }, failed('b'), 1_000)
  assert.deepEqual(
    failing.list(() => true).map(({ rule }) => rule),
    [3, 2],
  )
  assert.deepEqual(
    [2, 3].map(n => failing.since({ ...receiver, receiver: `https://chat.example/~${n - 1}` })),
    [2_000, 1_000],
  )
  assert.deepEqual(
    failing.list(rule => rule === 2).map(({ rule }) => rule),
    [2],
  )
})
