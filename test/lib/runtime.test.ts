import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { assetFile, nativeBinding, readAsset, readTextAsset, version } from '../../src/lib/runtime.ts'

const data = (name: string) => new URL(`../../data/${name}`, import.meta.url)

test('reads what ships in data/ as bytes, as text and as a file', () => {
  assert.deepEqual(readAsset('demo.ndjson.gz'), readFileSync(data('demo.ndjson.gz')))
  assert.equal(readTextAsset('tokens.txt'), readFileSync(data('tokens.txt'), 'utf8'))
  assert.equal(statSync(assetFile('demo.ndjson.gz')).ino, statSync(data('demo.ndjson.gz')).ino)
})

test('names a data file that is missing', () => {
  const expected = {
    code: 'asset_missing',
    message: 'data/nothing.txt, which is part of the program, is missing: install Chainsieve again',
  }
  assert.throws(() => readAsset('nothing.txt'), expected)
  assert.throws(() => assetFile('nothing.txt'), expected)
})

test('knows its version, and leaves the native code to better-sqlite3 outside the executable', () => {
  assert.equal(version, JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version)
  assert.equal(nativeBinding(), undefined)
})
