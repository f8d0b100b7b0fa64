import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeApi } from '../../../src/http/description.ts'
import { sourceName } from '../../../src/http/openapi/documents.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { checkRule } from '../../../src/rules/schema.ts'
import { readFixture } from '../../answers/fixture.ts'
import { createChecker } from '../../support/openapi.ts'
import { ruleBody } from '../../support/rules.ts'

const check = createChecker(describeApi({ rules: true, metrics: true, management: true }))

const CONTENTS = ['branched', 'calls', 'demo', 'emptied', 'full', 'odd', 'redecoded', 'scenario', 'untraced']
/** Of as many answers as there are, some are looked at: each takes a millisecond. */
const EVERY = Number(process.env.EVERY ?? 3)

/** Text with keys twice, comments and the like is no JSON for everybody. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

for (const content of CONTENTS)
  test(`what was asked and answered of what is ${content} is as described`, () => {
    for (const [n, { ask, answer, name }] of readFixture(content).entries()) {
      if (n % EVERY !== 0 || typeof answer.status !== 'number') continue
      const value = JSON.parse(answer.text)
      if (ask.op === 'search') {
        const body = parsed(ask.body ?? '{}')
        if (body !== undefined) assert.equal(check.schema('SearchBody', body), undefined, `${name} ${ask.body}`)
        assert.equal(check.schema('SearchAnswer', value), undefined, name)
        for (const { _type, _source = {} } of value.hits.hits as { _type: Kind; _source?: object }[])
          assert.equal(check.schema(sourceName(_type), _source), undefined, name)
      }
      if (ask.op === 'get') {
        assert.equal(check.schema('Document', value), undefined, name)
        if (value._source) assert.equal(check.schema(sourceName(ask.entity), value._source), undefined, name)
      }
      if (ask.op === 'suggest') assert.equal(check.schema('Suggestions', value), undefined, name)
      if (ask.op === 'similar')
        assert.equal(check.schema(answer.status === 200 ? 'SearchAnswer' : 'Document', value), undefined, name)
    }
  })

type Json = null | string | number | boolean | Json[] | { [name: string]: Json }

/** Every rule that differs from this one in one place. */
function* changed(value: Json, put: (value: Json | undefined) => Json): Generator<Json> {
  for (const other of [null, 7, -1, '', 'Transfer', true, [], {}, ['0x00'], { name: 'x' }]) yield put(other)
  yield put(undefined)
  if (Array.isArray(value))
    for (const [i, inner] of value.entries())
      yield* changed(inner, it => put(it === undefined ? value.toSpliced(i, 1) : value.with(i, it)))
  else if (typeof value === 'object' && value !== null) {
    yield put({ ...value, unknown: 1 })
    for (const [name, inner] of Object.entries(value))
      yield* changed(inner, it => {
        const { [name]: _, ...others } = value
        return put(it === undefined ? others : { ...others, [name]: it })
      })
  }
}

test('whatever rule the server takes is as described, and what is not is refused', () => {
  const whole = {
    ...ruleBody(),
    version: 1,
    description: 'of mine',
    enabled: true,
    startBlock: 5,
    notifyPending: false,
    config: {
      targetType: 'Event',
      targetMap: [
        { name: 'event', operator: 'Equals', value: 'Transfer', operatorParameters: null },
        { name: 'address', operator: 'Equals any', value: [`0x${'11'.repeat(20)}`] },
        {
          name: 'args',
          operator: 'Inspect',
          operatorParameters: [{ name: 'value', operator: 'Greater', value: '5', useScaledValue: true }],
        },
      ],
      alerts: [
        { type: 'Webhook (POST)', parameters: { url: 'https://example.org/a' } },
        { type: 'Webhook (GET)', parameters: { url: 'https://example.org/b' } },
        { type: 'Email', parameters: { recipients: ['a@example.org'] } },
        {
          type: 'Chat',
          parameters: { url: 'https://example.org/c', text: 't', channel: 'c', username: 'u' },
          payload: [
            { fieldType: 'Sub Field', fieldName: 'args', subPayloads: [{ fieldType: 'Field', fieldName: 'value' }] },
          ],
        },
      ],
    },
  } as unknown as Json
  const counts = { taken: 0, refused: 0, both: 0 }
  for (const rule of [whole, ...changed(whole, it => it ?? null)]) {
    const { rule: taken } = checkRule(rule, { limits: DEFAULT_LIMITS })
    const fault = check.schema('Rule', rule)
    if (taken) {
      counts.taken++
      assert.equal(fault, undefined, JSON.stringify(rule))
    } else {
      counts.refused++
      if (fault !== undefined) counts.both++
    }
  }
  // The rest is for the server to find: a wrong name of a field, two alerts that are the same.
  assert.ok(counts.taken > 20 && counts.both > counts.refused * 0.8, JSON.stringify(counts))
})
