import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../scripts/layers.ts'

/** Where a kind may differ from others, and so may be named; what is not listed follows from the mapping. */
const NAMES_KINDS = [
  /^src\/mapping\/documents\//,
  /^src\/mapping\/index\.ts$/,
  // What a node tells.
  /^src\/chain\//,
  /^src\/documents\//,
  /^src\/engine\/documents\//,
  /^src\/engine\/show\//,
  // What ABIs decode anew, of documents of each kind in its own way.
  /^src\/engine\/(redecode\/|index\/redecode-patch\.ts$)/,
  /^src\/ingest\/jobs\/redecode\.ts$/,
  /^src\/cluster\/redecoding\//,
  // What blocks are made of again from their documents.
  /^src\/cluster\/restore\//,
  // Which documents must be found by their ids.
  /^src\/engine\/verify\.ts$/,
  /^src\/engine\/query\/(fields\/find-by-id|plan\/planner)\.ts$/,
  /^src\/rules\/(entities|rule|state\/fields)\.ts$/,
  // What a pack holds.
  /^src\/export\/(from-documents|pack)\.ts$/,
  // What a block holds that is stored in part.
  /^src\/ingest\/scoped\/partial-blocks\.ts$/,
  // These ask as clients do.
  /^src\/console\//,
  /^src\/mcp\/tools\//,
  /^src\/dev\/chain-news\.ts$/,
]

test('a kind of entity is declared once: tables, terms, columns and segments name none', () => {
  const named = [...readSources()].flatMap(([path, text]) => (/'trace'|\btrace: /.test(text) ? [path] : []))
  assert.deepEqual(
    named.filter(path => !NAMES_KINDS.some(place => place.test(path))),
    [],
  )
})
