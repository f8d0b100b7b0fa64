import assert from 'node:assert/strict'
import { test } from 'node:test'
import { analyzeText } from '../../src/query/text/analysis.ts'
import { processorTime } from '../support/processor.ts'

// What OpenSearch's _analyze says, with the standard analyzer.
test('words as the standard analysis finds them', () => {
  const cases: Record<string, string[]> = {
    Transfer: ['transfer'],
    ApprovalForAll: ['approvalforall'],
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48': ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
    snake_case_name: ['snake_case_name'],
    _leading_: ['_leading_'],
    ___: [],
    a$b: ['a', 'b'],
    'Swap or Sync': ['swap', 'or', 'sync'],
    'Wrapped Ether (WETH)': ['wrapped', 'ether', 'weth'],
    'a.b': ['a.b'],
    'a. b': ['a', 'b'],
    '1.5': ['1.5'],
    '1.a': ['1', 'a'],
    '1,000': ['1,000'],
    'a,b': ['a', 'b'],
    'a:b 1:2': ['a:b', '1', '2'],
    "don't": ["don't"],
    "'quoted'": ['quoted'],
    '0x-1': ['0x', '1'],
    '': [],
    ' - ': [],
    Straße: ['straße'],
    ΟΔΟΣ: ['οδοσ'],
    İstanbul: ['istanbul'],
    'e\u0301t': ['e\u0301t'],
    漢字: ['漢', '字'],
    ひらカタカナ: ['ひ', 'ら', 'カタカナ'],
    한국어: ['한국어'],
    '1ナ': ['1', 'ナ'],
    'to the 🌕!': ['to', 'the', '🌕'],
    〆X: ['x'],
  }
  assert.deepEqual(Object.fromEntries(Object.keys(cases).map(text => [text, analyzeText(text)])), cases)
})

test('words of more than 255 characters are cut', () => {
  assert.deepEqual(
    analyzeText('A'.repeat(600)).map(word => word.length),
    [255, 255, 90],
  )
  assert.deepEqual(
    analyzeText(`${'é'.repeat(300)} b`).map(word => word.length),
    [255, 45, 1],
  )
})

test('a long text that is no word takes no long time', () => {
  const started = processorTime()
  for (const unit of ['_', 'a.', "1.'", '_a', '. ', 'e\u0301']) assert.ok(analyzeText(unit.repeat(200_000)).length >= 0)
  assert.ok(processorTime() - started < 5_000)
})
