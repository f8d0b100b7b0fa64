import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS, LIMITS, type Limit, overLimit, parseAmount, showAmount } from '../../src/limits/index.ts'

test('every limit has a default of its unit, and says what to do in a sentence', () => {
  for (const [name, { unit, fallback, code, remedy }] of Object.entries<Limit>(LIMITS)) {
    const most = parseAmount(unit, fallback)
    assert.ok(most, name)
    assert.equal(parseAmount(unit, showAmount(unit, most)), most, name)
    assert.match(code, /^[a-z_]+$/, name)
    assert.match(remedy, /^[A-Z].*\.$/, name)
  }
})

test('amounts are read with their unit', () => {
  const read = [
    parseAmount('count', '2000'),
    parseAmount('count', '2_000'),
    parseAmount('bytes', '1.5 MB'),
    parseAmount('bytes', '1KiB'),
    parseAmount('duration', '2m'),
    parseAmount('count', '0'),
    parseAmount('count', '1.5'),
    parseAmount('count', '-1'),
    parseAmount('count', '5MB'),
    parseAmount('bytes', '16'),
    parseAmount('bytes', '1constructor'),
    parseAmount('count', ''),
    parseAmount('count', '99999999999999999'),
  ]
  assert.deepEqual(read, [2_000, 2_000, 1_500_000, 1_024, 120_000, ...Array(8).fill(undefined)])
})

test('an amount is shown in the largest unit that it fills', () => {
  const shown = [
    showAmount('count', 1_000),
    showAmount('bytes', 16_000_000),
    showAmount('bytes', 1_500),
    showAmount('duration', 90_000),
    showAmount('duration', 3_600_000),
  ]
  assert.deepEqual(shown, ['1000', '16MB', '1500B', '90s', '1h'])
})

test('what has more than its limit is told the limit, what to do, and its name', () => {
  const limits = { ...DEFAULT_LIMITS, clauses: 3, body: 2_000 }
  assert.equal(
    overLimit('clauses', limits, 'query.bool').message,
    'query.bool has more than 3 clauses. Write values of one field as [terms], or ask in several searches. The operator can raise this with --limit clauses=N.',
  )
  assert.equal(
    overLimit('body', limits).message,
    'A request has more than 2kB of body. Ask for less in one request. The operator can raise this with --limit body=N.',
  )
})
