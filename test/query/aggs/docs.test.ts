import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SEARCH, withTables } from '../../../scripts/docs-search.ts'

test('the tables of the reference are those of the code (npm run docs writes them)', () => {
  const text = readFileSync(SEARCH, 'utf8')
  assert.equal(text, withTables(text))
  assert.notEqual(
    withTables(text.replace('| `derivative` |', '| `integral` |')),
    text.replace('| `derivative` |', '| `integral` |'),
  )
})
