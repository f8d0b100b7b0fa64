import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differenceOf } from '../../scripts/soak/documents.ts'
import { auditAlerts, type Taken } from '../../scripts/soak/receiver.ts'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import { createChannels } from '../../src/delivery/channels/index.ts'
import { readSource } from '../../src/rules/notify/values.ts'
import { startReceiver } from '../support/receiver.ts'

const due = new Map([
  ['block', new Set(['a', 'b'])],
  ['deep', new Set(['a'])],
])

const early = new Set(['block'])

/** `rule id document type time sent`; confirmed where no type is given, and answered at once where no second time is. */
const audit = (lines: string[], kills: number[] = []) =>
  auditAlerts({
    ...{ due, early, kills, limitMs: 3_000 },
    taken: lines.map(line => {
      const [rule, id, document, type = 'confirmed', at = '0', sentAt = at] = line.split(' ') as [
        string,
        string,
        string,
      ]
      return { rule, id, document, type: `alert.${type}`, at: Number(at), sentAt: Number(sentAt) }
    }),
  })

const RIGHT = { findings: [], repeated: 0, late: 0 }
const WHOLE = ['block 1 a', 'block 2 b', 'deep 3 a']

test('each alert once is right, with a retraction of what was lost', () => {
  assert.deepEqual(audit(WHOLE), RIGHT)
  assert.deepEqual(audit([...WHOLE, 'block 4 x', 'block 4 x retracted']), RIGHT)
})

test('a lost alert is found, and one that nothing retracted', () => {
  assert.deepEqual(audit(WHOLE.slice(1)).findings, ['block: the alert of a is lost'])
  assert.deepEqual(audit([...WHOLE, 'block 1 a retracted']).findings, ['block: the alert of a is lost'])
  assert.deepEqual(audit([...WHOLE, 'block 4 x']).findings, [
    'block: x is not of the chain, and its alert was not retracted',
  ])
  assert.deepEqual(audit([...WHOLE, 'deep 4 x', 'deep 4 x retracted']).findings, [
    'deep: x is not of the chain, and fired in spite of its confirmations',
  ])
})

test('an alert that comes twice is found, unless a kill explains it', () => {
  const twice = [...WHOLE, 'block 1 a confirmed 9000']
  assert.deepEqual(audit(twice).findings, [
    'block: a came twice, 9000 ms apart, without a kill between, and was answered in time',
  ])
  assert.deepEqual(audit(twice, [5000]), { ...RIGHT, repeated: 1 })
  assert.deepEqual(audit(twice, [9500]).findings.length, 1)
  assert.deepEqual(audit([...WHOLE, 'block 9 a']).findings, ['block: a has 2 alerts'])
})

test('an alert that comes again is right where the one before was answered after its sender had given up, and only then', () => {
  const again = (at: number) => [...WHOLE.slice(1), `block 1 a confirmed ${at} 1000`, 'block 1 a confirmed 9000']
  assert.deepEqual(audit(again(4_000)), { ...RIGHT, late: 1 })
  assert.equal(audit(again(3_999)).findings.length, 1)
  // The one that came last tells nothing of why it came.
  assert.equal(audit([...WHOLE, 'block 1 a confirmed 9000 1000']).findings.length, 1)
})

test('a receiver that answers after the limit gets the alert again, under the same id', async t => {
  const limitMs = 100
  const taken: Taken[] = []
  const receiver = await startReceiver(t, ({ headers }) => {
    const after = taken.length === 0 ? 1_100 : 0
    const [at, sentAt] = [Date.now() + after, Number(headers['webhook-timestamp']) * 1000]
    taken.push({ at, sentAt, rule: 'block', id: String(headers['webhook-id']), type: 'alert.confirmed', document: 'a' })
    return { status: 200, after }
  })
  const channels = createChannels({
    allowed: ['127.0.0.0/8'],
    smtp: undefined,
    mailFrom: undefined,
    timeoutMs: limitMs,
  })
  t.after(() => channels.close())
  const action = { type: 'Webhook (POST)' as const, parameters: { url: receiver.url } }
  const message: AlertMessage = {
    ...{ id: 'one', type: 'alert.confirmed', rule: { id: 1, name: 'block', version: null }, network: 'a/b/c' },
    ...{ targetType: 'Block', confirmations: 0, entity: { _id: 'a', _type: 'block', blockNumber: 1 } },
    ...{ source: readSource('{}'), timestamp: 0 },
  }
  const attempt = () =>
    channels
      .of(action)
      .send(action, [message], { account: 1, secrets: [], signal: new AbortController().signal, now: Date.now() })
  assert.equal((await attempt()).type, 'retry')
  assert.equal((await attempt()).type, 'delivered')
  assert.deepEqual(
    taken.map(({ id }) => id),
    ['one', 'one'],
  )
  const only = { due: new Map([['block', new Set(['a'])]]), early, kills: [], limitMs: 1_000 }
  assert.deepEqual(auditAlerts({ ...only, taken }), { ...RIGHT, late: 1 })
})

test('documents that are missing, foreign or doubled are found', () => {
  assert.equal(differenceOf(['a', 'b'], ['a', 'b']), undefined)
  assert.equal(differenceOf(['a', 'b'], ['a']), '1 of 2 are missing, such as b')
  assert.equal(differenceOf(['a'], ['a', 'b']), '1 are not the node’s, such as b')
  assert.equal(differenceOf(['a'], ['a', 'a']), '1 are there twice')
})
