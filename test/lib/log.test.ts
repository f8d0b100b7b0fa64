import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse, retry } from '../../src/lib/errors.ts'
import { createLog, type LogOptions } from '../../src/lib/log.ts'
import { secret, secretUrl } from '../../src/lib/secret.ts'

const logInto = (lines: string[], options: Partial<LogOptions> = {}) =>
  createLog({
    json: false,
    now: () => new Date('2026-03-01T12:00:00.500Z'),
    ...options,
    write: line => void lines.push(line),
  })

test('a text line holds time, level, message and fields', () => {
  const lines: string[] = []
  const log = logInto(lines).with({ network: 'ethereum/ethereum/mainnet' })
  log.info('Stored blocks', { blocks: 12, from: 17_000_000n, note: 'two words', absent: undefined, list: [1, 2] })
  log.warn('Lost the node')
  log.debug('Not shown')
  assert.deepEqual(lines, [
    '2026-03-01T12:00:00.500Z info  Stored blocks network=ethereum/ethereum/mainnet blocks=12 from=17000000 note="two words" list=[1,2]',
    '2026-03-01T12:00:00.500Z warn  Lost the node network=ethereum/ethereum/mainnet',
  ])
})

test('a JSON line holds the same', () => {
  const lines: string[] = []
  logInto(lines, { json: true, level: 'debug' }).debug('Stored blocks', { blocks: 12, from: 17_000_000n })
  assert.deepEqual(
    lines.map(line => JSON.parse(line)),
    [{ time: '2026-03-01T12:00:00.500Z', level: 'debug', message: 'Stored blocks', blocks: 12, from: '17000000' }],
  )
})

test('text from outside cannot forge a line or a field', () => {
  const lines: string[] = []
  logInto(lines).info('Decoded token', { name: 'x\n2026-03-01T12:00:00.500Z error Forged admin=true' })
  assert.deepEqual(lines, [
    '2026-03-01T12:00:00.500Z info  Decoded token name="x\\n2026-03-01T12:00:00.500Z error Forged admin=true"',
  ])
})

test('an expected error shows its message and causes, a bug its stack', () => {
  const lines: string[] = []
  const log = logInto(lines, { json: true })
  const cause = retry('node_unreachable', 'http://node:8545 refused the connection')
  log.error('Failed', { error: refuse('pack_broken', 'line 3 is cut off', cause) })
  log.error('Failed', { error: new TypeError('x is undefined') })
  const [known, bug] = lines.map(line => JSON.parse(line).error)
  assert.equal(known, 'line 3 is cut off (http://node:8545 refused the connection)')
  assert.match(bug, /^TypeError: x is undefined\n {4}at .*log\.test\.ts/)
})

test('secrets do not reach the log, wherever they stand', () => {
  const token = `cs_${'A'.repeat(43)}`
  for (const json of [false, true]) {
    const lines: string[] = []
    const log = logInto(lines, { json })
    log.info('Called', {
      url: secretUrl('https://eth.example.org/v2/SESAME'),
      plain: secretUrl('http://127.0.0.1:8545'),
      nested: { key: secret('SESAME'), password: 'SESAME', deep: [{ apiKey: 'SESAME' }] },
      authorization: 'Bearer SESAME',
      reason: `fetch of https://user:SESAME@example.org/?api_key=SESAME&x=1 with ${token} failed`,
    })
    log.error(`Refused ${token}`, { error: new Error(`token ${token}`) })
    const text = lines.join('\n')
    assert.doesNotMatch(text, /SESAME|AAAA/)
    assert.match(text, /https:\/\/eth\.example\.org\/\[secret\]/)
    assert.match(text, /http:\/\/127\.0\.0\.1:8545/)
  }
})

test('a value that cannot be written as JSON does not stop the program', () => {
  const lines: string[] = []
  const loop: Record<string, unknown> = {}
  loop.self = loop
  logInto(lines, { json: true }).info('Looped', { loop })
  assert.deepEqual(
    lines.map(line => JSON.parse(line).loop),
    ['<ref *1> { self: [Circular *1] }'],
  )
})
