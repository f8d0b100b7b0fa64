import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { RuleInput } from '../../src/rules/rule.ts'
import { startMailServer } from '../support/mail.ts'
import {
  alertsPage,
  ask,
  asShown,
  type Block,
  blocksOf,
  commandsOf,
  cookbookPage,
  readme,
  requestOf,
} from '../support/readme.ts'
import { type Call, startReceiver } from '../support/receiver.ts'
import { after, serve, succeed, tempFolder, until, untilIs } from './program.ts'

/** The five rules of the cookbook, sent to receivers that are there: all that they find on the demo chain arrives, and as it is shown. */
const NETWORK = 'ethereum/demo/local'
const EXAMPLE = 'http://127.0.0.1:8700'
const DEMO_DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

interface Example {
  words: string[]
  /** What stands behind it up to the next example. */
  shown: Block[]
}

const examplesOf = (part: string): Example[] => {
  const examples: Example[] = []
  for (const block of blocksOf(part)) {
    const [words = []] = block.language === 'sh' ? commandsOf(block.text) : []
    if (words[0] === 'curl') examples.push({ words, shown: [] })
    else examples.at(-1)?.shown.push(block)
  }
  return examples
}

interface Rule {
  id: number
  input: RuleInput
  shown: Block[]
}

interface Hit {
  _id: string
  _source: Record<string, unknown> & { blockNumber: { num: number } }
}
interface Told {
  id: string
  type: string
  entity: { _id: string }
  payload: unknown
}

const term = (field: string, value: unknown) => ({ term: { [field]: value } })
const both = (...filter: unknown[]) => ({ bool: { filter } })

test('the cookbook', async t => {
  const lasting = { after: (fn: () => unknown) => after(t, fn) }
  const data = tempFolder(t)
  const receiver = await startReceiver(lasting)
  const { url: smtp, mails } = await startMailServer(lasting)
  const server = await serve(t, data, [
    ...['--allow-target', '127.0.0.1/32'],
    ...['--smtp', smtp, '--mail-from', 'Chainsieve <alerts@example.com>', '--mail-digest', '300ms'],
  ])
  const secret = (await succeed(t, ['rules', 'secret', '--account', 'test'], { data })).trim()

  // The rule that the chapter begins with is made as well, so that ids are those that a reader gets.
  const [introduction] = examplesOf(readme.slice(readme.indexOf('## Alert\n')))
  const cookbook = examplesOf(cookbookPage)
  const rules: Rule[] = []
  for (const { words, shown } of [introduction!, ...cookbook]) {
    const request = requestOf(words, server.token)
    if (request.method === 'GET') continue
    const { status, answer } = await ask(server.url, {
      ...request,
      body: request.body!.replaceAll(EXAMPLE, receiver.url),
    })
    assert.equal(status, 201, JSON.stringify(answer))
    rules.push({ id: (answer as { id: number }).id, input: answer as RuleInput, shown })
  }
  assert.deepEqual(
    rules.map(({ id, input }) => [id, input.name]),
    [
      [1, 'Alice spends'],
      [2, 'Large transfers'],
      [3, 'Wallet of alice'],
      [4, 'Demo Dollar fails'],
      [5, 'Owner of the Demo Dollar'],
      [6, 'New pairs'],
    ],
  )
  await t.test('the rule of the README delivers its alerts on the demo chain', async () => {
    await untilIs(
      () => receiver.calls.filter(({ path, body }) => path === '/alerts' && body.includes('Alice spends')).length,
      18,
      'alerts of the README',
    )
  })
  const [transfers, wallet, failures, owner, pairs] = rules.slice(1) as [Rule, Rule, Rule, Rule, Rule]

  const at = (path: string): Call[] => receiver.calls.filter(call => call.path.startsWith(path))
  const found = async (entity: string, query: unknown): Promise<Hit[]> =>
    (await server.search(NETWORK, entity, { query, size: -1 })).hits.hits as Hit[]
  /** Waits until the rule has fired as often as its simulation says, and a search finds. */
  const fires = async ({ id }: { id: number }, hits: readonly Hit[]) => {
    const simulation = await server.ask<{ total: number }>(`/alerting/rules/${id}/simulate/`, {})
    assert.equal(simulation.body.total, hits.length)
    await untilIs(
      async () => (await server.ask<{ triggerCount: number }>(`/alerting/rules/${id}/`)).body.triggerCount,
      hits.length,
      `times that rule ${id} fired`,
    )
  }
  const arrive = (path: string, count: number) =>
    until(
      () => at(path).length,
      arrived => arrived === count,
      `at ${path}`,
    )
  const bodies = (path: string) => at(path).map(({ body }) => JSON.parse(body) as Told)

  await t.test('large transfers are posted, with the selected fields', async () => {
    const hits = await found(
      'event',
      both(term('event.raw', 'Transfer'), term('address', DEMO_DOLLAR), {
        nested: {
          path: 'args',
          query: both(term('args.name', 'value'), { range: { 'args.value.scaled': { gte: 100_000 } } }),
        },
      }),
    )
    assert.equal(hits.length, 18)
    await fires(transfers, hits)
    await arrive('/large-transfers', hits.length)
    const told = bodies('/large-transfers')
    assert.deepEqual(
      new Map(told.map(({ entity, payload }) => [entity._id, payload])),
      new Map(
        hits.map(({ _id, _source }) => {
          const [, to, value] = _source.args as { value: { hex: string; scaled: number } }[]
          const args = { to: { hex: to!.value.hex }, value: { scaled: value!.value.scaled } }
          return [_id, { transactionHash: _source.transactionHash, args }]
        }),
      ),
    )
    const [shownHeaders, shownBody] = transfers.shown.map(({ text }) => text)
    const due = JSON.parse(shownBody!) as Told
    const call = at('/large-transfers').find(({ headers }) => headers['webhook-id'] === due.id)
    assert.ok(call, `${due.id} has not arrived`)
    assert.deepEqual(asShown(JSON.parse(call.body), due), due)
    assert.equal(asText(call, shownHeaders!), shownHeaders)
  })

  await t.test('what the server says of an alert is as shown', async () => {
    for (const { words, shown } of cookbook) {
      const request = requestOf(words, server.token)
      if (request.method !== 'GET') continue
      const due = JSON.parse(shown[0]!.text) as Alerts
      // What a receiver has answered is written a moment later.
      const answer = await until(
        async () => (await ask(server.url, request)).answer as Alerts,
        it => it.alerts[0]?.deliveries[0]?.state !== 'queued',
      )
      assert.equal(answer.alerts.length, due.alerts.length)
      assert.deepEqual(withTarget(numberedAs(asShown(answer, due) as Alerts, due), receiver.url), due)
    }
  })

  await t.test('transactions of a wallet are requests without a body', async () => {
    const hits = await found('tx', term('from', '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c'))
    assert.equal(hits.length, 363)
    await fires(wallet, hits)
    await arrive('/wallet/', hits.length)
    const calls = at('/wallet/')
    assert.deepEqual(
      calls.map(({ path }) => path).sort(),
      hits
        .map(({ _id, _source: { to, method, value, blockNumber } }) => {
          const query = { to: to ?? '', method: method ?? '', wei: BigInt((value as { raw: string }).raw) }
          return `/wallet/${_id}?to=${query.to}&method=${query.method}&wei=${query.wei}&block=${blockNumber.num}`
        })
        .sort(),
    )
    assert.ok(calls.every(({ method, body }) => method === 'GET' && body === ''))
    const [{ text }] = wallet.shown as [Block]
    const call = calls.find(({ path }) => text.startsWith(`GET ${path} `))
    assert.ok(call, 'the request that is shown has not arrived')
    assert.equal(asText(call, text), text)
  })

  await t.test('failures are told to a chat', async () => {
    const hits = await found('tx', both(term('to', DEMO_DOLLAR), term('status', false)))
    assert.equal(hits.length, 11)
    await fires(failures, hits)
    await arrive('/chat', hits.length)
    const told = at('/chat').map(({ body }) => JSON.parse(body) as { text: string; channel: string; username: string })
    const alert = /alert_[0-9a-f]{32}/
    assert.deepEqual(
      told.map(({ text, ...rest }) => ({ text: text.replace(alert, 'alert_…'), ...rest })).sort(byText),
      hits
        .map(({ _id, _source: { from, method, gasUsed, blockNumber } }) => ({
          text: [
            ':rotating_light: A transaction failed',
            `Rule \`Demo Dollar fails\`: Transaction in block ${blockNumber.num} of \`${NETWORK}\``,
            `\`${_id}\`, alert \`alert_…\``,
            `• \`from\` \`${from}\``,
            ...(method === undefined ? [] : [`• \`method\` \`${method}\``]),
            `• \`gasUsed\` \`${(gasUsed as { num: number }).num}\``,
          ].join('\n'),
          channel: '#demo-dollar',
          username: 'Chainsieve',
        }))
        .sort(byText),
    )
    assert.equal(new Set(told.map(({ text }) => alert.exec(text)![0])).size, hits.length)
    const due = JSON.parse(failures.shown[0]!.text) as { text: string }
    assert.deepEqual(
      told.find(({ text }) => text === due.text),
      due,
    )
  })

  await t.test('a change of ownership is one mail', async () => {
    const hits = await found(
      'event',
      both(
        { terms: { 'event.raw': ['OwnershipTransferStarted', 'OwnershipTransferred'] } },
        term('address', DEMO_DOLLAR),
      ),
    )
    assert.equal(hits.length, 3)
    await fires(owner, hits)
    await untilIs(() => mails.length, 1, 'mails')
    const [{ to, headers, parts }] = mails as [(typeof mails)[number]]
    assert.deepEqual(to, ['security@localhost', 'treasury@localhost'])
    assert.deepEqual(
      [headers.from, headers.to, headers.subject],
      [
        'Chainsieve <alerts@example.com>',
        'security@localhost, treasury@localhost',
        '3 alerts: Owner of the Demo Dollar',
      ],
    )
    const since = /since: .*/g
    const due = owner.shown[0]!.text
    assert.equal(parts['text/plain']!.replace(since, 'since: …').trim(), due.replace(since, 'since: …').trim())
    for (const { _id } of hits) assert.ok(parts['text/html']!.includes(_id), _id)
  })

  await t.test('new pairs are posted whole, each to a URL of its own', async () => {
    const hits = await found('event', both(term('event.raw', 'PairCreated')))
    assert.equal(hits.length, 3)
    await fires(pairs, hits)
    await arrive('/pairs/', hits.length)
    const args = ({ _source }: Hit) => _source.args as { value: { hex: string } }[]
    assert.deepEqual(
      new Map(at('/pairs/').map(({ path, body }) => [path, (JSON.parse(body) as Told).payload])),
      new Map(hits.map(hit => [`/pairs/${args(hit)[2]!.value.hex}`, hit._source])),
    )
    const due = JSON.parse(pairs.shown[0]!.text) as Told
    const shown = bodies('/pairs/').find(({ id }) => id === due.id)
    assert.deepEqual(asShown(shown, due), due)
  })

  await t.test('every webhook is signed, under an id of its own', async () => {
    const [js] = blocksOf(alertsPage).filter(({ language }) => language === 'js')
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(js!.text)}`)) as {
      isGenuine(body: string, headers: Record<string, unknown>, secret: string): boolean
    }
    const webhook = new Webhook(secret)
    const calls = [...at('/large-transfers'), ...at('/wallet/'), ...at('/pairs/')]
    for (const { method, body, headers } of calls) {
      const signed = headers as Record<string, string>
      const verified = webhook.verify(body, signed)
      if (method === 'POST') assert.deepEqual(verified, JSON.parse(body))
      assert.equal(isGenuine(body, signed, secret), true)
      assert.equal(isGenuine(`${body} `, signed, secret), false)
      assert.equal(isGenuine(body, { ...signed, 'webhook-timestamp': '1700000000' }, secret), false)
      assert.equal(signed['webhook-type'], 'alert.confirmed')
    }
    assert.equal(new Set(calls.map(({ headers }) => headers['webhook-id'])).size, 18 + 363 + 3)
  })
})

const byText = (a: { text: string }, b: { text: string }) => (a.text < b.text ? -1 : 1)

/** A request as the README shows it, with those headers that it shows, and its time and signature. */
const asText = ({ method, path, headers }: Call, shown: string): string => {
  const lines = shown.trim().split('\n').slice(1)
  const named = lines.map(line => {
    const name = line.slice(0, line.indexOf(':'))
    const value = headers[name]
    const isOther = (name === 'webhook-timestamp' || name === 'webhook-signature') && value !== undefined
    return isOther ? line : `${name}: ${value}`
  })
  return `${[`${method} ${path} HTTP/1.1`, ...named].join('\n')}\n`
}

interface Alerts {
  alerts: { deliveries: { id: number; state: string }[] }[]
  next: string
}

/** In which order the rules went through what is stored is another one each time, and with it the numbers of alerts and deliveries. */
const numberedAs = (answer: Alerts, due: Alerts): Alerts => ({
  alerts: answer.alerts.map((alert, i) => ({
    ...alert,
    deliveries: alert.deliveries.map((it, j) => ({ ...it, id: due.alerts[i]!.deliveries[j]!.id })),
  })),
  next: /^\d+$/.test(answer.next) ? due.next : answer.next,
})

/** The target of deliveries as it is in the README. */
const withTarget = (answer: unknown, url: string): unknown =>
  JSON.parse(JSON.stringify(answer).replaceAll(url, EXAMPLE))
