import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { RuleMatch } from '../../src/alerts/alert.ts'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import { chatBody } from '../../src/delivery/channels/chat.ts'
import { createChannels } from '../../src/delivery/channels/index.ts'
import { renderMail } from '../../src/delivery/channels/mail.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { fillUrl } from '../../src/delivery/payload.ts'
import { asJson } from '../../src/documents/show.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { attributesOf } from '../../src/rules/attributes.ts'
import { findIneffective } from '../../src/rules/ineffective.ts'
import { createMatcher } from '../../src/rules/matcher.ts'
import { RULE_OPERATORS, type RuleInput, type StoredRule, TARGET_KINDS } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { searchOf } from '../../src/rules/search.ts'
import { networkOf } from '../../src/rules/store.ts'
import { findUnsatisfiable } from '../../src/rules/unsatisfiable.ts'
import { dataFolder } from '../support/delivery.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { callsOf, candidatesOf, createShows, createTestStore, decimalsOf, METHODS } from '../support/store.ts'

// Rules of hostile strings over hostile chain data, from the text of a rule to what is sent: nothing throws, what is found live is what a
// simulation finds, and nothing that is sent breaks out of where it stands.

/** `CASES=5000 npm test -- alerts/hostile` looks further. */
const CASES = Number(process.env.CASES ?? 150)
const SEED = Number(process.env.SEED ?? 1)

const blocks = oddBlocks(8)
const store = createTestStore(blocks, { events: oddEvents })
const searcher = createSearcher(store.reader)
const outbox = openOutbox(store.path)
after(() => {
  outbox.close()
  store.close()
})
const decodeLog = createLogDecoder({
  find: (topic, indexed) => candidatesOf(topic, indexed, oddEvents),
  compile: createEventDecoder,
})

const LONG = 'a{b}<&@`\n'.repeat(120_000)
const HOSTILE = [
  ...['', ' ', '\0', '\u0007\u001b[31m', '\ud800', 'a\udc00b', '\u202eabc', '\u2028', '\ufffd', '🚀'.repeat(300)],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'args.__proto__',
    'args',
    '.',
    '..',
    'a..b',
    '{}',
    '{hash}',
  ],
  ...['{transactionHash}', '{args.text}', '$$$', '%00', '%zz', '@everyone', '<!channel>', '`', '```', '</td><script>'],
  ...[
    "'; DROP TABLE alert; --",
    '0x',
    '0X1F',
    '-0',
    '1e999',
    '-1e-999',
    '9'.repeat(401),
    'NaN',
    'true',
    '\r\nBcc: x@y.z',
  ],
]
const hostile = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constant(LONG) },
)

const TARGETS = ['Block', 'Transaction', 'Log', 'Event', 'Call', 'Token'] as const

/** Conditions of which many hold: values are at least nothing. */
const condition = (target: (typeof TARGETS)[number]) => {
  const kind = TARGET_KINDS[target]
  const known = kind === undefined ? ['a'] : attributesOf(kind)
  const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: hostile })
  const argument = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('text', 'a0', 'tick', 'pair', 'legs', 'big', '0', '1', 'data') },
    { weight: 1, arbitrary: hostile },
  )
  const compared = (names: fc.Arbitrary<string>) =>
    fc
      .tuple(
        names,
        fc.constantFrom(...RULE_OPERATORS.filter(it => it !== 'Inspect')),
        fc.array(hostile, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
      )
      .map(([name, operator, values, easy]) =>
        easy
          ? { name, operator: 'Greater or Equal', value: '' }
          : { name, operator, value: operator.startsWith('Equals any') ? values : values[0] },
      )
  const inspected = compared(argument).map(inner => ({
    name: 'args',
    operator: 'Inspect',
    operatorParameters: [inner],
  }))
  return target === 'Event' ? fc.oneof(compared(name), inspected) : compared(name)
}

const payload = fc.array(
  fc.oneof(
    fc
      .oneof(hostile, fc.constantFrom('args', 'hash', 'extraData', 'topics'))
      .map(fieldName => ({ fieldType: 'Field', fieldName })),
    fc
      .tuple(fc.constantFrom('args', 'accessList', 'withdrawals', 'number', 'hash'), hostile)
      .map(([fieldName, inner]) => ({
        fieldType: 'Sub Field',
        fieldName,
        subPayloads: [{ fieldType: 'Field', fieldName: inner }],
      })),
  ),
  { maxLength: 4 },
)

const action = fc
  .tuple(fc.constantFrom('Webhook (GET)', 'Webhook (POST)', 'Chat', 'Email'), hostile, hostile, fc.option(payload))
  .map(([type, text, other, payload]) => ({
    type,
    parameters:
      type === 'Email'
        ? { recipients: ['a@example.org'] }
        : type === 'Chat'
          ? { url: 'https://example.org/hook', text, channel: other, username: text }
          : {
              url: `https://example.org/a{args.text}/{hash}?x={args.name}&${encodeURIComponent(other.slice(0, 50).toWellFormed())}={extraData}`,
            },
    ...(payload && { payload }),
  }))

const rule = fc.constantFrom(...TARGETS).chain(targetType =>
  fc.record({
    name: hostile,
    description: hostile,
    maxConfirmationCount: fc.constantFrom(0, 1, 100_000),
    technology: fc.constant('ethereum'),
    blockchain: fc.constant('ethereum'),
    network: fc.constant('mainnet'),
    note: fc.dictionary(hostile, hostile, { maxKeys: 2 }),
    config: fc.record({
      targetType: fc.constant(targetType),
      targetMap: fc.array(condition(targetType), { minLength: 1, maxLength: 3 }),
      alerts: fc.array(action, { minLength: 1, maxLength: 3 }),
    }),
  }),
)

const storedAs = (id: number, input: RuleInput): StoredRule => ({
  id,
  account: 1,
  revision: 1,
  matching: 1,
  enabled: true,
  network: networkOf(input),
  startBlock: 0,
  // As it comes back from where it is kept.
  input: JSON.parse(JSON.stringify(input)) as RuleInput,
  createdAt: 0,
  updatedAt: 0,
})

/** What the rule finds while blocks come in. */
const hitsOf = (rule: StoredRule): RuleMatch[] => {
  const matcher = createMatcher()
  matcher.set(rule)
  const shows = createShows()
  return blocks.flatMap(raw => {
    const decoded = {
      logs: logsOf(raw),
      methods: raw.block.transactions.map(({ to, input }) => (to ? (METHODS[input.slice(0, 10)] ?? null) : null)),
      calls: callsOf(raw),
      ...shows(raw),
      decimals: (address: string) => decimalsOf(1, `0x${address}`),
    }
    const documents = createBlockDocuments({ raw, ...decoded }, asJson)
    return matcher.match({ raw, ...decoded, documents }).found.map(({ kind, document }) => ({
      rule: rule.id,
      revision: 1,
      targetType: rule.input.config.targetType,
      confirmations: rule.input.maxConfirmationCount,
      notifyPending: true,
      block: Number(raw.block.number),
      blockHash: raw.block.hash,
      entity: { _id: document._id, _type: kind },
      source: JSON.stringify(document._source),
      receivedAt: 0,
    }))
  })
}
const decodedLogs = new Map<RawBlock, ReturnType<typeof decodeLog>[]>()
const logsOf = (raw: RawBlock) => {
  const found = decodedLogs.get(raw) ?? raw.receipts.flatMap(({ logs }) => logs.map(decodeLog))
  decodedLogs.set(raw, found)
  return found
}

const simulated = ({ input: { config } }: StoredRule): string[] => {
  const request = searchOf(config, { from: 0, to: 1_000_000, order: 'asc', size: -1 })
  if (!request) return []
  return [...searcher.pages(request, { deadline: Number.POSITIVE_INFINITY }).pages]
    .flat()
    .map(({ document }) => document._id)
}

/** On one line, without what is obeyed rather than read. */
const isPlain = (text: string) => text.isWellFormed() && !/[\p{Cc}\u202a-\u202e\u2028\u2029]/u.test(text)

test('from the text of a rule to what is sent, hostile strings do nothing but stand there', async t => {
  const folder = await dataFolder(t)
  const deliveries = openDeliveries(folder)
  const alertStore = createAlertStore(store.db)
  const channels = createChannels({ allowed: [], smtp: undefined, mailFrom: undefined })
  t.after(async () => {
    await channels.close()
    deliveries.close()
  })
  let [taken, found, id] = [0, 0, 0]
  let last = 0
  fc.assert(
    fc.property(rule, body => {
      // As if it were stored: of random values hardly any could match.
      const before = JSON.parse(JSON.stringify(body)) as RuleInput
      const { rule: input, faults } = checkRule(JSON.parse(JSON.stringify(body)), { before })
      for (const { path, message } of faults) assert.ok(path.length < 2_000 && message.length < 4_000, message)
      if (!input) return
      taken++
      const one = storedAs(++id, input)
      const { config } = one.input
      findIneffective(input)
      findUnsatisfiable(config, () => [])
      const hits = hitsOf(one)
      assert.deepEqual(
        hits.map(({ entity }) => entity._id),
        simulated(one),
      )
      found += hits.length
      store.writer.also(() => alertStore.stored({ hits: hits.slice(0, 20) }))
      const entries = outbox.after(last, 1_000)
      last = entries.at(-1)?.n ?? last
      const origin = { network: one.network, identity: outbox.identity }
      deliveries.expand(origin, entries, () => one, { channels, digestMs: 0, now: 1 })
      assert.equal(deliveries.cursor(origin), last)
      const alerts = outbox.alerts(one.id, { size: 1_000 })
      assert.equal(alerts.length, Math.min(20, hits.length))
      const listed = deliveries.deliveriesOf(
        one.id,
        alerts.map(({ alert }) => alert.id),
      )
      assert.ok(listed.length >= alerts.length)
      JSON.stringify([listed, deliveries.list({ rule: one.id, limit: 10 })])
      const due = deliveries.lanes().flatMap(lane => deliveries.due(lane, 'first', 1, 1_000))
      for (const job of deliveries.claim(
        due.map(it => [it]),
        1,
      )) {
        if (!job) continue
        check(job.action, job.messages)
        deliveries.settle(
          [{ ids: job.ids, at: 1, latencyMs: 1, outcome: { type: 'delivered', status: 200, head: '' } }],
          { now: 1, schedule: [0] },
        )
      }
    }),
    { numRuns: CASES, seed: SEED },
  )
  assert.ok(taken > CASES / 5 && found > CASES, `${taken} rules found ${found}`)
})

const check = (action: StoredRule['input']['config']['alerts'][number], messages: readonly AlertMessage[]) => {
  const [message] = messages as [AlertMessage]
  if (action.type === 'Chat') {
    const { text, channel = '', username = '' } = chatBody(action, message)
    assert.ok(text.length <= 4_000 && text.split('\n').every(isPlain), JSON.stringify(text))
    assert.ok(isPlain(channel) && isPlain(username))
  } else if (action.type === 'Email') {
    const { subject, text, html } = renderMail(action, messages)
    assert.ok(isPlain(subject) && text.split('\n').every(isPlain) && html.split('\n').every(isPlain))
    assert.ok(!html.includes('<script'))
  } else if (action.type === 'Webhook (GET)' || action.type === 'Webhook (POST)') {
    const url = fillUrl(action.parameters.url, message.source)
    assert.ok(typeof url === 'string' || (url.host === 'example.org' && url.href.length < 16_000), String(url))
  }
}
