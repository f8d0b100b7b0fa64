import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { checkBlock, checkLink, refOf } from '../../src/chain/check/check-block.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { answerInMemory, checkAnswer, loadDocuments, loadScenarios, nameOf } from '../support/scenarios.ts'

const documents = loadDocuments()
const NOW = Date.UTC(2026, 0, 1)

for (const { file, about, cases } of loadScenarios()) {
  describe(`${file}: ${about}`, () => {
    for (const scenario of cases) {
      test(scenario.name, () => {
        checkAnswer(scenario, answerInMemory(scenario, documents, NOW))
      })
    }
  })
}

test('no two scenarios of a file have one name', () => {
  for (const { file, cases } of loadScenarios()) {
    const names = cases.map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)], file)
  }
})

test('the blocks that the documents are made of are consistent', () => {
  const path = new URL('blocks.ndjson', import.meta.url)
  const blocks = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as RawBlock)
  for (const [i, raw] of blocks.entries()) {
    checkBlock(raw)
    const parent = blocks[i - 1]?.block
    if (parent !== undefined && Number(parent.number) === Number(raw.block.number) - 1) {
      checkLink(refOf(parent), raw.block)
    }
  }
  assert.deepEqual(
    documents.block.map(({ _id }) => _id),
    blocks.map(({ block }) => block.hash),
  )
})

test('every document has a name of its own', () => {
  const names = KINDS.flatMap(kind => documents[kind].map(document => nameOf(kind, document)))
  assert.equal(new Set(names).size, names.length)
})
