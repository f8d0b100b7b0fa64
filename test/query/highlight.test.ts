import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { lookup } from '../../src/mapping/index.ts'
import { compileHighlight } from '../../src/query/hits/highlight.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { analyzeText, textTokens } from '../../src/query/text/analysis.ts'

const TEXT =
  'The quick brown fox. It jumps over the lazy dog and runs far away from the quick <b>hound</b> that follows it across the wide and open field near the river quick.'

const marked = (highlight: unknown, query: unknown = { match: { name: 'quick' } }, name = TEXT) => {
  const request = parseSearch(JSON.stringify({ query, highlight }), ['token'], 0)
  const [{ marks = [] } = {}] = request.parts
  return compileHighlight('token', marks, request.shown!.highlight)({ name, symbol: 'FOX' })
}
const inName = (options: unknown, query?: unknown) => marked({ fields: { name: options } }, query)?.name

// What Elasticsearch 7.17 answers to the same.
describe('marks are those of Elasticsearch', () => {
  const whole = { number_of_fragments: 0 }
  const CASES: [string, unknown, unknown, string[] | undefined][] = [
    [
      'in sentences',
      {},
      undefined,
      [
        'The <em>quick</em> brown fox.',
        'It jumps over the lazy dog and runs far away from the <em>quick</em> <b>hound</b> that follows it across the wide',
        'and open field near the river <em>quick</em>.',
      ],
    ],
    ['in the whole', whole, undefined, [TEXT.replaceAll('quick', '<em>quick</em>')]],
    [
      'in the first fragment',
      { fragment_size: 30, number_of_fragments: 1, order: 'score' },
      undefined,
      ['The <em>quick</em> brown fox.'],
    ],
    [
      'with other tags',
      { ...whole, pre_tags: ['<a>', '<b>'], post_tags: ['</a>', '</b>'] },
      { match: { name: 'quick brown fox' } },
      [TEXT.replaceAll(/quick|brown|fox/g, '<a>$&</a>')],
    ],
    [
      'of near words',
      whole,
      { match: { name: { query: 'quik', fuzziness: 1 } } },
      [TEXT.replaceAll('quick', '<em>quick</em>')],
    ],
    [
      'of what must hold and what may',
      whole,
      {
        bool: {
          must_not: [{ match: { name: 'fox' } }],
          filter: [{ match: { name: 'lazy' } }],
          should: [{ match: { name: 'dog' } }, { match: { name: 'cat' } }],
        },
      },
      [TEXT.replace('lazy dog', '<em>lazy</em> <em>dog</em>')],
    ],
    [
      'of another query',
      { ...whole, highlight_query: { match: { name: 'lazy' } } },
      { match_all: {} },
      [TEXT.replace('lazy', '<em>lazy</em>')],
    ],
    ['nowhere, but for the beginning', { no_match_size: 20 }, { match: { symbol: 'fox' } }, ['The quick brown fox.']],
    ['nowhere', {}, { exists: { field: 'name' } }, undefined],
  ]
  for (const [name, options, query, due] of CASES)
    it(name, () => assert.deepEqual(inName(options, query ?? undefined), due))

  it('with the options of all fields', () => {
    const html = marked({
      fields: { '*': {} },
      require_field_match: false,
      encoder: 'html',
      number_of_fragments: 0,
      tags_schema: 'styled',
    })
    const escaped = TEXT.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('/', '&#x2F;')
    assert.deepEqual(html, { name: [escaped.replaceAll('quick', '<em class="hlt1">quick</em>')] })
  })
})

it('without its tags, a field shown whole is what it was, and no mark is left out', () => {
  const words = fc.array(
    fc.constantFrom('quick', 'Quick', 'fox', 'a.b', '文', 'x'.repeat(300), '.', ' ', '\n', '__', "it's", '😀'),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(words, fc.constantFrom(0, 1, 10, 40), (list, size) => {
      const text = list.join(' ')
      const options = { pre_tags: ['\u0001'], post_tags: ['\u0002'] }
      const count = (fragments: string[] = []) => fragments.join('').split('\u0001').length - 1
      const [shown] = marked({ fields: { name: { ...options, number_of_fragments: 0 } } }, undefined, text)?.name ?? []
      const due = analyzeText(text).filter(word => word === 'quick').length
      assert.equal(count(shown === undefined ? [] : [shown]), due)
      if (shown !== undefined) assert.equal(shown.replaceAll('\u0001', '').replaceAll('\u0002', ''), text)
      const parts = marked(
        { fields: { name: { ...options, number_of_fragments: 1000, fragment_size: size } } },
        undefined,
        text,
      )?.name
      assert.equal(count(parts), due)
    }),
  )
})

it('words stand where they are said to stand', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom('', 'ab'.repeat(200)), (text, more) => {
      const tokens = textTokens(text + more)
      assert.deepEqual(
        tokens.map(({ word }) => word),
        analyzeText(text + more),
      )
      for (const { word, start, end } of tokens)
        assert.deepEqual(analyzeText((text + more).slice(start, end)).join(''), word)
    }),
  )
  assert.equal(lookup('token', 'name')!.compare, 'token')
})
