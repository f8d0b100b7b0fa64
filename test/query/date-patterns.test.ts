import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { createDateReader } from '../../src/query/dates/reader.ts'
import { UTC, zoneOf } from '../../src/query/dates/time-zone.ts'
import { dateWriterOf } from '../../src/query/dates/write-format.ts'
import { createQueryBudget } from '../../src/query/scope.ts'

const place = { path: 'format', value: '' }

const write = (format: string, zone: string, instant: string) =>
  dateWriterOf(place, format, zone === '' ? UTC : zoneOf(place, zone, createQueryBudget()))(Number(instant))

const read = (format: string, zone: string, text: string, up: boolean) => {
  const options = { now: () => 0, budget: createQueryBudget(), format: { place, text: format } }
  const reader = createDateReader(zone === '' ? options : { ...options, zone: { place, text: zone } })
  return String(reader.read({ path: 'date', value: text }, text, up))
}

const answer = (to: string, format: string, zone: string, given: string): string => {
  try {
    return to === 'write' ? write(format, zone, given) : read(format, zone, given, to === 'read up')
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    return error.message.includes('invalid date format') ? 'no pattern' : 'no date'
  }
}

/**
 * Lines of what to do, pattern, zone, what is given, and the answer of Elasticsearch 7.17.29 with the
 * locale data that its own start selects (`java.locale.providers=SPI,COMPAT`).
 */
test('every letter of date patterns is written and read as in Elasticsearch', () => {
  const rows = readFileSync(new URL('date-patterns.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  assert.equal(rows.length > 400, true)
  for (const row of rows) {
    const [to, format, zone, given, expected] = row.split('\t') as [string, string, string, string, string]
    assert.equal(answer(to, format, zone, given), expected, row)
  }
})

test('names of a time zone are refused before anything is counted', () => {
  assert.throws(
    () => dateWriterOf(place, 'HH:mm z', zoneOf(place, 'Europe/Berlin', createQueryBudget())),
    /names of the time zone Europe\/Berlin are not known\. Write VV for its id or XXX for its offset/,
  )
})
