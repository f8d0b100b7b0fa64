import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import { chatBody } from '../../src/delivery/channels/chat.ts'
import { createLinks, NO_LINKS } from '../../src/delivery/links.ts'
import type { Action, PayloadItem } from '../../src/rules/rule.ts'
import { makeContext, makeMessage, openChannels } from '../support/delivery.ts'
import { startReceiver } from '../support/receiver.ts'

type Chat = Extract<Action, { type: 'Chat' }>

const MESSAGE = makeMessage({
  rule: { id: 7, name: 'Large <USDC> transfer', version: null },
  source: {
    event: 'Transfer',
    args: [{ name: 'value', pos: 0, value: { hex: '0x5f5e100', num: 100_000_000, scaled: 100, type: 'uint256' } }],
  },
})
const ID = MESSAGE.id
const SLACK = 'https://hooks.slack.com/services/T0/B0/x'
const CHAT = 'https://chat.x.test/hooks/x'
const bodyOf = (action: Chat, message = MESSAGE, links = NO_LINKS) => chatBody(action, message, links)
const chat = (parameters: Partial<Chat['parameters']> = {}, payload?: PayloadItem[]): Chat => ({
  type: 'Chat',
  parameters: { url: CHAT, text: ':whale: A whale', channel: '#alerts', username: 'sieve', ...parameters },
  ...(payload && { payload }),
})
const field = (fieldName: string): PayloadItem => ({ fieldType: 'Field', fieldName })

test('the text of the rule, what it was, and the fields', () => {
  assert.deepEqual(bodyOf(chat(), MESSAGE), {
    text: `:whale: A whale
Rule \`Large &lt;USDC&gt; transfer\`: Event in block 12 of \`ethereum/ethereum/mainnet\`
\`0xab_e_1\`, alert \`${ID}\`
• \`event\` \`Transfer\`
• \`args.value\` \`100 (100000000)\``,
    channel: '#alerts',
    username: 'sieve',
  })
  assert.deepEqual(bodyOf(chat({ text: '', channel: '', username: '' }, [field('event')]), MESSAGE), {
    text: `Rule \`Large &lt;USDC&gt; transfer\`: Event in block 12 of \`ethereum/ethereum/mainnet\`
\`0xab_e_1\`, alert \`${ID}\`
• \`event\` \`Transfer\``,
  })
})

test('a retraction, a pending alert and a test say so', () => {
  const second = (type: AlertMessage['type']) => bodyOf(chat({}, []), { ...MESSAGE, type }).text.split('\n')[1]
  assert.equal(second('alert.retracted'), '*Note: this alert no longer holds, because its block was reorganised away*')
  assert.equal(second('alert.pending'), '*Note: it does not have 3 confirmations yet*')
  assert.equal(second('alert.repeated'), '*Note: this alert is still open*')
  assert.equal(second('alert.test'), '*Note: this message tests the rule*')
})

test('what the chain says is shown, not obeyed', () => {
  const source = {
    name: '@everyone <!channel> ```*x*``` [a](https://evil.org) :bomb:\n• `fake` line\u202e',
    '`k`@here': 1,
  }
  const lines = bodyOf(chat(), { ...MESSAGE, source }).text.split('\n')
  assert.deepEqual(lines.slice(3), [
    "• `name` `@\u200beveryone &lt;!channel&gt; '''*x*''' [a](https://evil.org) :bomb: • 'fake' line`",
    "• `'k'@\u200bhere` `1`",
  ])
})

test('a text stays within what the chat takes; what is left out is told', () => {
  const source = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field${i}`, '&'.repeat(600)]))
  const slack = bodyOf(chat(), { ...MESSAGE, source }).text
  assert.ok(slack.length <= 4_000 && slack.length > 1_000)
  assert.match(slack, /\n… and 99 more fields$/)
  const text = '😀'.repeat(5_000)
  for (const [url, most] of [
    [SLACK, 4_000],
    ['https://discord.com/api/webhooks/1/x/slack', 2_000],
    ['https://ptb.discord.com/api/webhooks/1/x/slack', 2_000],
    ['https://notdiscord.com/', 4_000],
  ] as const) {
    const cut = bodyOf(chat({ url, text }), { ...MESSAGE, type: 'alert.retracted' }).text
    assert.ok(cut.length <= most && cut.length > most - 100, `${url}: ${cut.length}`)
    assert.ok(cut.isWellFormed())
    assert.match(cut, /no longer holds/)
  }
})

test('whatever values, names and texts there are: bounded, well-formed, nobody called, no markup outside the code spans', () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 700 }),
    fc
      .array(fc.constantFrom('@', '&', '<', '>', '`', '\n', '\ud83d', '😀', '*', 'a'), { maxLength: 1_000 })
      .map(it => it.join('')),
  )
  fc.assert(
    fc.property(
      fc.dictionary(any, any, { maxKeys: 20 }),
      any,
      any,
      fc.constantFrom(CHAT, 'https://discord.com/slack'),
      (source, text, name, url) => {
        const rule = { ...MESSAGE.rule, name }
        const all = bodyOf(chat({ url, text }), { ...MESSAGE, rule, source }).text
        assert.ok(all.length <= (url === CHAT ? 4_000 : 2_000) && all.isWellFormed())
        const ours = bodyOf(chat({ url, text: '' }), { ...MESSAGE, rule, source }).text
        assert.match(ours, /^([^&<>]|&(amp|lt|gt);)*$/)
        assert.doesNotMatch(ours, /@(?!\u200b)/)
        for (const line of ours.split('\n')) assert.match(line, /^([^`*_~@<>&]|`[^`]+`)*$/)
      },
    ),
    { seed: 17, numRuns: 500 },
  )
})

test('a chat is posted to without headers of ours, and its refusal is told', async t => {
  const { url, calls } = await startReceiver(t, ({ path, headers }) => {
    const ours = Object.keys(headers).some(it => it.startsWith('webhook-') || it === 'authorization' || it === 'cookie')
    return path === '/ok' && !ours ? { status: 200, body: 'ok' } : { status: 404, body: 'no_service' }
  })
  const channels = openChannels(t)
  const send = (path: string) => {
    const action = chat({ url: url + path })
    return channels.of(action).send(action, [MESSAGE], makeContext())
  }
  assert.deepEqual(await send('/ok'), { type: 'delivered', status: 200, head: 'ok' })
  assert.deepEqual(await send('/gone'), { type: 'retry', why: 'it answered 404', status: 404, head: 'no_service' })
  assert.deepEqual(JSON.parse(calls[0]!.body), bodyOf(chat(), MESSAGE))
})

test('Slack gets blocks within its limits, in which text from the chain is no markup, beside the same text', () => {
  const links = createLinks({
    publicUrl: 'https://sieve.x.test',
    explorers: { 'ethereum/ethereum/mainnet': 'https://scan.x.test' },
  })
  const hash = `0x${'ab'.repeat(32)}`
  const source = { ...MESSAGE.source, transactionHash: hash, name: '<!channel> `x` @here' }
  const action = { ...chat({ url: SLACK }), message: 'To {name}' }
  const body = bodyOf(action, { ...MESSAGE, source }, links) as { text: string; blocks: object[] }
  assert.deepEqual(body.blocks, [
    { type: 'header', text: { type: 'plain_text', text: 'Alert: Large <USDC> transfer', emoji: false } },
    { type: 'section', text: { type: 'mrkdwn', text: ':whale: A whale' } },
    { type: 'section', text: { type: 'plain_text', text: 'To <!channel> `x` @here', emoji: false } },
    {
      type: 'section',
      text: {
        type: 'mrkdwn',
        text: `• \`Network\` \`ethereum/ethereum/mainnet\`
• \`Event\` \`in block 12\`
• \`Document\` \`0xab_e_1\`
• \`Alert\` \`${ID}\`
• \`event\` \`Transfer\`
• \`args.value\` \`100 (100000000)\`
• \`transactionHash\` \`${hash}\`
• \`name\` \`&lt;!channel&gt; 'x' @\u200bhere\`
<https://sieve.x.test/console/ethereum/ethereum/mainnet/tx/${hash}|Chainsieve> · <https://scan.x.test/tx/${hash}|Explorer>`,
      },
    },
  ])
  assert.match(body.text, /^:whale: A whale\nTo &lt;!channel&gt; 'x' @\u200bhere\nRule `Large/)
  const long = {
    ...MESSAGE,
    source: Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`f${i}`, '&'.repeat(500)])),
  }
  const { blocks } = bodyOf(
    { ...chat({ url: SLACK, text: '😀'.repeat(4_000) }), message: 'é'.repeat(9_000) },
    long,
  ) as {
    blocks: { type: string; text: { text: string } }[]
  }
  for (const { type, text } of blocks) {
    assert.ok(text.text.length <= (type === 'header' ? 150 : 3_000))
    assert.ok(text.text.isWellFormed())
  }
  assert.match(blocks.at(-1)!.text.text, /… and \d+ more fields/)
})
