import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../../src/lib/log.ts'
import { createScreen, formatSeconds, progressBar, progressLines } from '../../src/lib/progress.ts'

/** What a terminal would show after all that was written. */
const createTerminal = (columns = 200) => {
  const lines = ['']
  const write = (text: string) => {
    for (const part of text.replaceAll('\r\x1b[2K', '\r').split(/(\n|\r)/)) {
      if (part === '\n') lines.push('')
      else if (part === '\r') lines[lines.length - 1] = ''
      else lines[lines.length - 1] += part
    }
  }
  return { columns, write, lines }
}

const step = (blocks: number, total = 1_000) => ({ blocks, logs: blocks * 3, events: blocks * 2, done: blocks, total })

test('the bar is drawn in place, and its last state stays', () => {
  const terminal = createTerminal()
  let time = 0
  const screen = createScreen(terminal)
  const progress = progressBar(screen, { label: 'a/b/c', now: () => time })
  const shown: (string | undefined)[] = []
  for (const blocks of [0, 100, 101, 250]) {
    time += blocks === 101 ? 10 : 1_000
    progress.update(step(blocks))
    shown.push(terminal.lines.at(-1))
  }
  assert.equal(terminal.lines.length, 1)
  assert.deepEqual(shown, [
    'a/b/c  ░░░░░░░░░░░░░░░░░░░░ 0 %  0 blocks (0/s)  0 events (0/s)',
    'a/b/c  ██░░░░░░░░░░░░░░░░░░ 10 %  100 blocks (50/s)  200 events (100/s)  18 s left',
    // Ten milliseconds later nothing is drawn again.
    'a/b/c  ██░░░░░░░░░░░░░░░░░░ 10 %  100 blocks (50/s)  200 events (100/s)  18 s left',
    'a/b/c  █████░░░░░░░░░░░░░░░ 25 %  250 blocks (83/s)  500 events (166/s)  10 s left',
  ])
  time += 990
  progress.update(step(1_000))
  progress.finish()
  assert.deepEqual(terminal.lines, [
    'a/b/c  ████████████████████ 100 %  1,000 blocks (250/s)  2,000 events (500/s)',
    '',
  ])
})

test('rates are those of the last ten seconds', () => {
  const terminal = createTerminal()
  let time = 0
  const progress = progressBar(createScreen(terminal), { label: 'x', now: () => time })
  for (let second = 1; second <= 60; second++) {
    time = second * 1_000
    progress.update(step(second <= 40 ? second * 10 : 400 + (second - 40) * 100, 4_400))
  }
  assert.match(terminal.lines.at(-1)!, /2,400 blocks \(100\/s\) .* 20 s left$/)
})

test('a task of unknown length has no bar and no time left', () => {
  const terminal = createTerminal()
  let time = 0
  const progress = progressBar(createScreen(terminal), { label: 'x', now: () => time })
  time = 1_000
  progress.update(step(10, 0))
  assert.deepEqual(terminal.lines, ['x  10 blocks (10/s)  20 events (20/s)'])
})

test('blocks that are still to be sent to a cluster are told until there are none', () => {
  const terminal = createTerminal()
  let time = 0
  const screen = createScreen(terminal)
  const progress = progressBar(screen, { label: 'x', now: () => time })
  const fields: object[] = []
  const log = createLog({ write: line => void fields.push(JSON.parse(line)), json: true })
  const lines = progressLines(log, { label: 'x', now: () => time })
  for (const toShip of [900, 0]) {
    time += 5_000
    for (const one of [progress, lines]) one.update({ ...step(1_000), toShip })
  }
  assert.deepEqual(
    fields.map(one => (one as { blocksToShip?: number }).blocksToShip),
    [900, undefined],
  )
  progress.update({ ...step(1_000), toShip: 900 })
  time += 1_000
  progress.update({ ...step(1_000), toShip: 900 })
  assert.match(terminal.lines.at(-1)!, /100 % .* 900 blocks to ship$/)
})

test('log lines are written above the bar, and a narrow terminal cuts it', () => {
  const terminal = createTerminal(12)
  const screen = createScreen(terminal)
  screen.line('before')
  screen.status('0123456789abcdef')
  screen.line('between')
  screen.status('second')
  screen.status('')
  screen.line('after')
  assert.deepEqual(terminal.lines, ['before', 'between', 'after', ''])
  screen.status('0123456789abcdef')
  assert.equal(terminal.lines.at(-1), '0123456789a')
})

test('lines come every five seconds and once at the end', () => {
  const lines: unknown[] = []
  let time = 0
  const log = createLog({ write: line => void lines.push(JSON.parse(line)), json: true, now: () => new Date(time) })
  const progress = progressLines(log, { label: 'a/b/c', now: () => time })
  for (; time < 11_000; time += 500) progress.update(step(time / 100))
  progress.finish()
  const common = { level: 'info', network: 'a/b/c' }
  assert.deepEqual(lines, [
    {
      ...{ time: '1970-01-01T00:00:05.000Z', ...common, message: 'Made progress', percent: 5, secondsLeft: 95 },
      ...{ blocks: 50, logs: 150, events: 100, blocksPerSecond: 10, eventsPerSecond: 20 },
    },
    {
      ...{ time: '1970-01-01T00:00:10.000Z', ...common, message: 'Made progress', percent: 10, secondsLeft: 90 },
      ...{ blocks: 100, logs: 300, events: 200, blocksPerSecond: 10, eventsPerSecond: 20 },
    },
    {
      ...{ time: '1970-01-01T00:00:11.000Z', ...common, message: 'Ended', percent: 10.5 },
      ...{ blocks: 105, logs: 315, events: 210, blocksPerSecond: 10, eventsPerSecond: 19 },
    },
  ])
})

test('a time is told in its two largest units', () => {
  assert.deepEqual([0, 59, 60, 61, 3_600, 3_661, 86_400, 100_000, 10_000_000].map(formatSeconds), [
    '0 s',
    '59 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '1 h 1 min',
    '1 d',
    '1 d 3 h',
    '115 d 17 h',
  ])
})

test('a run over files logs how far it is, and nothing at its end, which the command tells', () => {
  const lines: Record<string, unknown>[] = []
  let now = 0
  const log = createLog({ write: line => void lines.push(JSON.parse(line)), json: true })
  const progress = progressLines(log, { label: 'backup', now: () => now })
  now = 6_000
  progress.update({ blocks: 0, logs: 0, events: 0, done: 30, total: 100 })
  progress.finish()
  assert.deepEqual(
    lines.map(({ time: _, ...line }) => line),
    [{ level: 'info', message: 'Made progress', doing: 'backup', percent: 30, secondsLeft: 14 }],
  )
})
