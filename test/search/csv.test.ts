import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCsvRows } from '../../src/export/lines.ts'
import { parseSearch } from '../../src/query/parse.ts'

const HOSTILE = ['=HYPERLINK("http://x.example","pay")', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1']
const HARMLESS = ['Gold', "'=1", ' =1', 'a=1', '1-2', '', '"=1"']

/** The rows of tokens, as the export writes what the search answers. */
const rowsOf = async (sources: readonly string[], raw: boolean): Promise<string[]> => {
  const request = parseSearch('{"_source":["name","decimals","firstSeen.num"]}', ['token'], 0)
  const rows = createCsvRows(request, { raw })
  await rows.add(
    sources.map(source => Buffer.from(`{"_id":"0xab","_type":"token","_source":${source}}`)),
    new AbortController().signal,
  )
  const { part } = await rows.take(0)
  return Buffer.from(part).toString().split('\r\n').slice(1, -1)
}
const named = (name: string) => JSON.stringify({ name })
const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

test('a text that a spreadsheet would run as a formula gets an apostrophe, unless it is asked for as it is', async () => {
  for (const name of HOSTILE) {
    assert.deepEqual(await rowsOf([named(name)], false), [`0xab,${quoted(`'${name}`)},,`])
    assert.deepEqual(await rowsOf([named(name)], true), [`0xab,${quoted(name)},,`])
  }
  for (const name of HARMLESS)
    for (const raw of [false, true]) assert.deepEqual(await rowsOf([named(name)], raw), [`0xab,${quoted(name)},,`])
})

test('numbers stay numbers, negative ones and those that a double does not hold, too', async () => {
  const sources = ['{"decimals":-5,"firstSeen":{"num":-9223372036854775807}}', '{"decimals":-0.5,"name":null}']
  for (const raw of [false, true])
    assert.deepEqual(await rowsOf(sources, raw), ['0xab,,-5,-9223372036854775807', '0xab,,-0.5,'])
})
