import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { parseExactJson } from '../../src/query/json.ts'
import { bodyNode } from '../../src/query/json-node.ts'
import { fillTemplate, readTemplate } from '../../src/query/template/request.ts'
import { findElasticsearch } from '../support/elasticsearch.ts'
import { processorTime } from '../support/processor.ts'

const render = (template: string, params: unknown) => fillTemplate(template, parseExactJson(JSON.stringify(params)))

/** What Elasticsearch 7.17 makes of templates. */
const CASES: [template: string, params: unknown, text: string][] = [
  ['{"a":"{{x}}"}', { x: 'q"\\\n\u0001/<&>é' }, '{"a":"q\\"\\\\\\n\\u0001/<&>é"}'],
  ['{"size":{{s}}{{^s}}10{{/s}}}', {}, '{"size":10}'],
  ['{"size":{{s}}{{^s}}10{{/s}}}', { s: 5 }, '{"size":5}'],
  ['{{#toJson}}x{{/toJson}}', { x: { a: [1, 2.5, true, null, 'z"'] } }, '{"a":[1,2.5,true,null,"z\\""]}'],
  ['{{#toJson}}.{{/toJson}}', { x: 1 }, '{"x":1}'],
  ['{{#toJson}}nope{{/toJson}}', { x: 1 }, ''],
  ['{{#join}}x{{/join}}', { x: ['a', 'b"', 3] }, 'a,b",3'],
  ["{{#join delimiter='||'}}x{{/join delimiter='||'}}", { x: ['a', 'b'] }, 'a||b'],
  ['{{#url}}{{x}}/{{y}}~!{{/url}}', { x: 'a b', y: 'c/d' }, 'a+b%2Fc%2Fd%7E%21'],
  ['{{#x}}{{n}}-{{z}},{{/x}}', { x: [{ n: 1 }, { n: 2 }], z: 9 }, '1-9,2-9,'],
  ['{{x.y.z}} {{x.1}} {{x.a.0}} {{x.a.size}}', { x: { y: { z: 1 }, a: ['f', 'g'], 1: 2 } }, '1 2 f 2'],
  ['{{{x}}} {{&x}} {{ x }}', { x: 'a"b' }, 'a"b a"b a\\"b'],
  ['{{x}}', { x: { a: 1, b: [1, 's'] } }, '{a=1, b=[1, s]}'],
  ['{{x}}', { x: [1, 's', { a: null }] }, '{0=1, 1=s, 2={a=null}}'],
  ['{{x}} {{y}} {{z}}', { x: 1e21, y: 0.00001, z: true }, '1.0E21 1.0E-5 true'],
  ['{{x}}{{! comment }}', { x: null }, ''],
  ['{{=<% %>=}}<% x %>{{x}}', { x: 1 }, '1{{x}}'],
  ['{{#x}}{{#y}}{{z}}{{/y}}{{/x}}', { x: { y: { z: 4 } }, z: 5 }, '4'],
  ...[false, '', [], null].map((x): [string, unknown, string] => ['{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x }, 'no']),
  ...[0, {}, 'false', 1].map((x): [string, unknown, string] => ['{{#x}}yes{{/x}}{{^x}}no{{/x}}', { x }, 'yes']),
]

const FAULTY: [template: string, reason: RegExp][] = [
  ['{{#x}}yes{{/y}}', /Mismatched start\/end tags: x != y/],
  ['{{#x}}yes', /Failed to close 'x' tag/],
  ['yes{{/x}}', /Mismatched start\/end tags/],
  ['{{x', /Improperly closed variable/],
  ['{{> p}}', /Template p not found/],
  ['{{#toJson}}{{x}}{{/toJson}}', /must contain one and only one identifier/],
  ['{{=a=}}', /Delimiters are two/],
]

describe('templates', () => {
  for (const [template, params, text] of CASES)
    it(`${template} with ${JSON.stringify(params)}`, () => assert.equal(render(template, params), text))

  for (const [template, reason] of FAULTY)
    it(`refuses ${template}`, () =>
      assert.throws(() => render(template, {}), { code: 'script_exception', message: reason }))

  it('keep every digit of an integer', () =>
    assert.equal(
      fillTemplate('{{x}} {{#toJson}}x{{/toJson}}', parseExactJson('{"x":123456789012345678901}')),
      '123456789012345678901 123456789012345678901',
    ))

  it('make and read no more than their limit, however loops lie in one another', () => {
    const x = Array.from({ length: 1000 }, (_, i) => i)
    const started = processorTime()
    assert.throws(() => render(`${'{{#x}}'.repeat(6)}a${'{{/x}}'.repeat(6)}`, { x }), /A template has more than/)
    assert.throws(() => render(`${'{{#x}}'.repeat(6)}${'{{/x}}'.repeat(6)}`, { x }), /A template has more than/)
    assert.ok(processorTime() - started < 2000)
  })

  it('look up no names of JavaScript', () =>
    assert.equal(render('{{constructor}}{{__proto__}}{{x.length}}{{x.constructor}}', { x: ['a'] }), ''))

  const read = (body: string) => readTemplate(bodyNode(parseExactJson(body)), DEFAULT_LIMITS)

  it('come as text or as an object, with what is to be told', () => {
    const source = { query: { term: { event: '{{x}}' } }, size: '{{s}}' }
    assert.deepEqual(read(JSON.stringify({ source, params: { x: 'a', s: 1 }, explain: true })), {
      body: '{"query":{"term":{"event":"a"}},"size":"1"}',
      explain: true,
    })
    assert.deepEqual(read('{"source":"{}"}'), { body: '{}', explain: false })
    for (const [body, reason] of [
      ['{"id":"a"}', /unable to find script \[a\]: templates are not stored here/],
      ['{}', /template is missing/],
      ['{"source":""}', /template is missing/],
      ['{"source":"{}","nope":1}', /unknown key \[nope\]/],
      ['{"source":"{}","params":[]}', /params: expected an object/],
      ['{"source":"{}","profile":true}', /profile/],
      ['{"source":1}', /source: expected a template/],
    ] as const)
      assert.throws(() => read(body), reason, body)
  })

  it('are filled as Elasticsearch 7.17 fills them', async t => {
    const elasticsearch = await findElasticsearch()
    if (!elasticsearch) return t.skip('no Elasticsearch 7.17 answers')
    const value = fc.letrec(tie => ({
      any: fc.oneof(
        { maxDepth: 2 },
        ...[fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 6 }), fc.constantFrom(1.5, -0.25)],
        ...[fc.array(tie('any'), { maxLength: 3 }), fc.dictionary(fc.constantFrom('x', 'y', 'z'), tie('any'))],
      ),
    })).any
    const name = fc.constantFrom('x', 'y', 'z', 'x.y', 'y.0', 'z.size', '.')
    const piece = fc.letrec(tie => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', ' ', 'é'),
        name.map(it => `{{${it}}}`),
        name.filter(it => it !== '.').map(it => `{{#toJson}}${it}{{/toJson}}`),
        fc
          .tuple(
            fc.constantFrom('#', '^'),
            name.filter(it => it !== '.'),
            fc.array(tie('any'), { maxLength: 3 }),
          )
          .map(([sign, it, inner]) => `{{${sign}${it}}}${inner.join('')}{{/${it}}}`),
      ),
    })).any
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('x', 'y', 'z'), value),
        async (pieces, params) => {
          // The whole is a text of JSON, whatever stands in it.
          const source = `[${pieces.map(one => `{{#toJson}}.{{/toJson}},"${one}",`).join('')}0]`.replaceAll(
            '{{#toJson}}.',
            '{{#toJson}}x.',
          )
          const theirs: { status: number; body: unknown } = await elasticsearch
            .ask('POST', '/_render/template', { source, params })
            .catch(() => ({ status: 0, body: undefined }))
          if (theirs.status !== 200) return
          compared++
          const due = (theirs.body as { template_output: unknown }).template_output
          assert.deepEqual(JSON.parse(render(source, params)), due, source)
        },
      ),
      { numRuns: 150, seed: 3 },
    )
    assert.ok(compared > 20, `${compared}`)
  })
})
