import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createLog } from '../../../src/lib/log.ts'
import { createRestarts } from '../../../src/lib/restarts.ts'
import { repeatEvery } from '../../../src/lib/scheduling/interval.ts'
import { surviveFaults } from '../../../src/lib/shutdown.ts'

const logTo = (lines: string[]) =>
  createLog({ write: line => void lines.push(line.slice('2026-01-01T00:00:00.000Z '.length)), json: false })
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

test('work that fails is told once, and done again until it succeeds', async t => {
  const lines: string[] = []
  let times = 0
  const work = () => {
    times++
    if (times < 5) throw new TypeError('broken')
    if (times < 8) return Promise.reject(new TypeError('broken otherwise'))
    return undefined
  }
  t.after(repeatEvery(2, work, { log: logTo(lines), doing: 'look at it' }))
  while (times < 10) await pause(2)
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /^error Failed to look at it, will retry error="TypeError: broken/)
  assert.match(lines[1]!, /^info +Succeeded to look at it again$/)
})

test('work that takes longer than its time is not begun twice', async t => {
  let under = 0
  let most = 0
  let times = 0
  const work = async () => {
    times++
    most = Math.max(most, ++under)
    await pause(10)
    under--
  }
  t.after(repeatEvery(1, work, { log: logTo([]), doing: 'wait' }))
  while (times < 3) await pause(5)
  assert.equal(most, 1)
})

test('what ends is started again, ever later, also where starting fails', async t => {
  const lines: string[] = []
  const starts: number[] = []
  const restarts = createRestarts({
    start() {
      starts.push(performance.now())
      if (starts.length === 2) throw new Error('no thread can be made')
      if (starts.length < 4) restarts.ended(new Error('again'))
    },
    log: logTo(lines),
    what: 'A thread',
    baseMs: 10,
  })
  t.after(restarts.stop)
  assert.equal(restarts.status(), undefined)
  const begun = performance.now()
  restarts.ended(new Error('first'))
  // Of two threads that end together, the second says nothing new.
  restarts.ended(new Error('second'))
  assert.deepEqual([restarts.status()!.count, restarts.status()!.error], [1, 'first'])
  while (starts.length < 4) await pause(5)
  const waits = starts.map((at, i) => at - (starts[i - 1] ?? begun))
  for (const [i, least] of [10, 20, 40, 80].entries()) assert.ok(waits[i]! >= least - 2, `${waits}`)
  assert.equal(restarts.status()!.count, 4)
  assert.equal(restarts.status()!.nextAt, null)
  assert.match(lines[0]!, /^error A thread failed and restarts seconds=0\.01 error="Error: first/)
})

test('what nothing has caught is logged, and the process goes on', () => {
  const lines: string[] = []
  const on = new EventEmitter()
  const end = surviveFaults(logTo(lines), on as never)
  on.emit('uncaughtException', new TypeError('nobody caught this'))
  on.emit('unhandledRejection', 'nor this')
  on.emit('uncaughtException', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  for (let i = 0; i < 100; i++) on.emit('uncaughtException', new Error('over and over'))
  assert.equal(lines.length, 20)
  assert.match(
    lines[0]!,
    /^error Survived a fault in Chainsieve, please report it error="TypeError: nobody caught this/,
  )
  end()
  assert.equal(on.eventNames().length, 0)
})
