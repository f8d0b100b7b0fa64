import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswers } from '../../../src/engine/aggs/cache.ts'

test('an answer is kept until the store changes, if it is not too long and its question lasts', () => {
  let version = 1
  let made = 0
  const answers = createAnswers({ version: () => version })
  const ask = (question: string | undefined, length = 1) =>
    answers.of(question, () => {
      made++
      return String(made).padEnd(length)
    })
  assert.deepEqual([ask('a'), ask('a'), ask('b'), ask('a')], ['1', '1', '2', '1'])
  version = 2
  assert.deepEqual([ask('a'), ask('a')], ['3', '3'])
  assert.notEqual(ask(undefined), ask(undefined))
  assert.notEqual(ask('long', 2 ** 20), ask('long', 2 ** 20))
  // More than there is room for: it begins anew.
  for (let i = 0; i < 40; i++) ask(`${i}`, 200_000)
  assert.notEqual(ask('a'), '3')
})
