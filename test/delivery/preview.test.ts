import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Message } from '../../src/delivery/channels/channel.ts'
import { createChannels, preview } from '../../src/delivery/channels/index.ts'
import { renderMail } from '../../src/delivery/channels/mail.ts'
import { readSource } from '../../src/delivery/payload.ts'
import type { Action } from '../../src/rules/rule.ts'

const MESSAGE: Message = {
  ...{ id: 'a1'.repeat(32), type: 'alert.confirmed', rule: { id: 0, name: 'Größe', version: null } },
  ...{ network: 'ethereum/ethereum/mainnet', targetType: 'Event', confirmations: 3 },
  entity: { _id: '0xab_e_1', _type: 'event', blockNumber: 12 },
  source: readSource('{"event":"a b/..","blockNumber":{"num":18446744073709551615,"raw":"0xffffffffffffffff"}}'),
  timestamp: Date.parse('2026-01-02T03:04:05.678Z'),
}

test('what is shown is what is sent, to the letter', async t => {
  const sent: { method: string; url: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    sent.push({ method: request.method!, url: request.url!, body })
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const channels = createChannels({ allowed: ['127.0.0.0/8'], smtp: undefined, mailFrom: undefined })
  t.after(async () => {
    await channels.close()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const payload: Action['payload'] = [{ fieldType: 'Field', fieldName: 'blockNumber' }]
  const actions = [
    { type: 'Webhook (GET)', parameters: { url: `${origin}/{event}?n={blockNumber}&key=hidden-from-others` } },
    { type: 'Webhook (POST)', parameters: { url: `${origin}/x` } },
    { type: 'Webhook (POST)', parameters: { url: `${origin}/x` }, payload },
    { type: 'Chat', parameters: { url: `${origin}/chat`, text: 'See *this*', channel: '#a', username: 'b' } },
  ] as Action[]
  for (const action of actions) {
    const outcome = await channels
      .of(action)
      .send(action, [MESSAGE], { account: 1, secrets: [], signal: AbortSignal.timeout(5_000), now: Date.now() })
    assert.equal(outcome.type, 'delivered')
    const shown = preview(action, MESSAGE) as { method: string; url: string; body: object | null }
    assert.deepEqual(
      { ...shown, body: shown.body === null ? '' : JSON.stringify(shown.body) },
      { ...sent.at(-1)!, url: origin + sent.at(-1)!.url },
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
