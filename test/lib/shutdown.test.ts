import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { aborted, createShutdown } from '../../src/lib/shutdown.ts'

const setUp = () => {
  const signals = new EventEmitter() as unknown as NodeJS.Process
  const exits: number[] = []
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line.replace(/^\S+ /, '')), json: false })
  const shutdown = createShutdown({ log, signals, exit: code => void exits.push(code) })
  return { signals, exits, lines, shutdown }
}

test('a signal aborts, and closing runs in reverse order, each step waited for', async () => {
  const { signals, exits, lines, shutdown } = setUp()
  const closed: string[] = []
  shutdown.add('store', () => closed.push('store'))
  shutdown.add('server', async () => {
    await new Promise(resolve => setTimeout(resolve, 5))
    closed.push('server')
  })
  signals.emit('SIGTERM')
  await aborted(shutdown.signal)
  await Promise.all([shutdown.close(), shutdown.close()])
  assert.deepEqual(closed, ['server', 'store'])
  assert.deepEqual(exits, [])
  assert.deepEqual(lines, ['info  Stopping signal=SIGTERM'])
})

test('a second signal exits at once', () => {
  const { signals, exits } = setUp()
  signals.emit('SIGINT')
  signals.emit('SIGINT')
  signals.emit('SIGTERM')
  assert.deepEqual(exits, [130, 143])
})

test('a step that fails to close does not hold up the others', async () => {
  const { lines, shutdown } = setUp()
  const closed: string[] = []
  shutdown.add('store', () => closed.push('store'))
  shutdown.add('server', () => Promise.reject(new Error('stuck')))
  await shutdown.close()
  assert.deepEqual(closed, ['store'])
  assert.match(lines.join('\n'), /^error Failed to close part=server error="Error: stuck/)
})

test('after closing, signals are no longer taken', async () => {
  const { signals, exits, shutdown } = setUp()
  await shutdown.close()
  assert.equal(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM'), 0)
  assert.equal(shutdown.signal.aborted, true)
  assert.deepEqual(exits, [])
})
