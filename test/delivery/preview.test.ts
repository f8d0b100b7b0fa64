import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preview } from '../../src/delivery/channels/index.ts'
import { renderMail } from '../../src/delivery/channels/mail.ts'
import { readSource } from '../../src/rules/notify/values.ts'
import type { Action } from '../../src/rules/rule.ts'
import { makeContext, makeMessage, openChannels } from '../support/delivery.ts'
import { startReceiver } from '../support/receiver.ts'

const MESSAGE = makeMessage({
  rule: { id: 0, name: 'Größe', version: null },
  source: readSource('{"event":"a b/..","blockNumber":{"num":18446744073709551615,"raw":"0xffffffffffffffff"}}'),
})

test('what is shown is what is sent, to the letter', async t => {
  const { url: origin, calls } = await startReceiver(t)
  const channels = openChannels(t)
  const payload: Action['payload'] = [{ fieldType: 'Field', fieldName: 'blockNumber' }]
  const actions = [
    { type: 'Webhook (GET)', parameters: { url: `${origin}/{event}?n={blockNumber}&key=hidden-from-others` } },
    { type: 'Webhook (POST)', parameters: { url: `${origin}/x` } },
    { type: 'Webhook (POST)', parameters: { url: `${origin}/x` }, payload },
    { type: 'Chat', parameters: { url: `${origin}/chat`, text: 'See *this*', channel: '#a', username: 'b' } },
  ] as Action[]
  for (const action of actions) {
    const outcome = await channels.of(action).send(action, [MESSAGE], makeContext())
    assert.equal(outcome.type, 'delivered')
    const { method, path, body } = calls.at(-1)!
    const shown = preview(action, MESSAGE) as { method: string; url: string; body: object | null }
    assert.deepEqual(
      { ...shown, body: shown.body === null ? '' : JSON.stringify(shown.body) },
      { method, url: origin + path, body },
    )
  }
  assert.match(JSON.stringify(preview(actions[1]!, MESSAGE)), /18446744073709551615/)

  const mail = { type: 'Email', parameters: { recipients: ['a@example.org', 'b@example.org\n'] } } as Action
  const { subject, text } = renderMail(mail, [MESSAGE])
  assert.deepEqual(preview(mail, MESSAGE), { to: ['a@example.org', 'b@example.org'], subject, text })
  assert.deepEqual(preview({ type: 'Webhook (GET)', parameters: { url: 'https://{event}/' } } as Action, MESSAGE), {
    refused: 'its URL has a token before the path: only path and query may have tokens',
  })
})
