import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import type { AlertingService } from '../../src/http/alerting/service.ts'
import type { AlertSeries, DestinationsAnswer, WholeDelivery } from '../../src/http/shapes/rules.ts'
import { refuse } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../../src/limits/index.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { ruleConfig as config, ruleBody as rule } from '../support/rules.ts'
import { BOT_TOKEN } from '../support/services.ts'
import { ALICE, appOf, callerOf, errorOf } from './support.ts'

type Json = Record<string, unknown>

const root = mkdtempSync(join(tmpdir(), 'chainsieve-alerting-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const RULES = '/alerting/rules/'
/** As it is shown, where nothing else is said. */
const shown = (change: Json = {}): Json => ({
  id: 1,
  ...rule(),
  enabled: true,
  startBlock: 1_001,
  createdAt: '2024-05-17T12:00:00.000Z',
  updatedAt: '2024-05-17T12:00:00.000Z',
  triggerCount: 10,
  idle: null,
  failing: [],
  warnings: [],
  ...change,
})

const ENTITY = { _id: '0x', _type: 'event' }
const NOTHING_FOUND = { total: 0, complete: true, holes: [], fromBlock: 0, toBlock: 9, hits: [] }

/** A server of two accounts, alice (`cs_alice`) and bob; `calls` are those of its service that do something. */
const serve = (limits: Partial<Limits> = {}) => {
  const folder = join(root, String(++folders))
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  const time = { now: Date.parse('2024-05-17T12:00:00Z') }
  const rules = openRules(folder, { now: () => time.now })
  const calls: unknown[] = []
  const noted = <T>(asked: unknown, answer: T): T => {
    calls.push(asked)
    return answer
  }
  const service: AlertingService = {
    idle: ({ network }) => (network === 'ethereum/ethereum/mainnet' ? undefined : `${network} is not configured.`),
    warnings: ({ input: { config } }) =>
      config.alerts.some(({ type }) => type === 'Email') ? ['Email is undeliverable.'] : [],
    startBlockOf: async network => (network === 'ethereum/ethereum/mainnet' ? 1_001 : null),
    failing: () => [],
    abis: () => [],
    refusedHost: host => (host === '10.0.0.1' ? 'a private address' : undefined),
    triggerCounts: async rules => new Map(rules.map(id => [id, id * 10])),
    simulate: async (input, range) =>
      noted({ simulate: input.name, ...range }, { ...NOTHING_FOUND, total: 1, hits: [{ _id: '0x' }] }),
    test: async ({ id }, document) => noted({ test: id, document }, { entity: ENTITY, deliveries: [] }),
    preview: async ({ name }, document) =>
      noted({ preview: name, document }, { entity: ENTITY, messages: [{ action: 0, type: 'Chat', refused: 'no' }] }),
    alerts: async ({ id }, page) => noted({ alerts: id, ...page }, { alerts: [], next: null }),
    cancel: async ({ id }, why, since) => {
      assert.ok(Date.now() - since < 60_000)
      return noted({ cancel: id, why }, 3)
    },
    redeliver: async ({ id }, which) => noted({ redeliver: id, ...which }, { redelivered: 2 }),
    deliveries: async filter => noted({ deliveries: filter }, { deliveries: [], next: null }),
    delivery: async (account, id) =>
      account === 1 && id === 5 ? ({ id, attempts: [] } as unknown as WholeDelivery) : undefined,
    destinations: async account => ({ complete: true, destinations: [{ account }] }) as unknown as DestinationsAnswer,
    redeliverAll: async (account, which) => noted({ redeliverAll: account, ...which }, { redelivered: 3 }),
    series: async (rules, parts) =>
      noted({ series: rules.map(({ id }) => id), ...parts }, { rules: [] } as unknown as AlertSeries),
  }
  const app = appOf({
    accounts: {
      verify: token => ({ cs_alice: { ...ALICE, id: 1 }, cs_bob: { ...ALICE, id: 2, name: 'bob' } })[token],
    },
    alerting: { rules, service },
    limits: { ...DEFAULT_LIMITS, body: 100_000, ...limits },
  })
  return { call: callerOf(app, 'cs_alice'), rules, service, calls, time }
}
type Call = ReturnType<typeof serve>['call']

const invalid = (...faults: { path: string; message: string }[]) =>
  errorOf(
    400,
    'validation_exception',
    faults.length === 1 ? faults[0]!.message : `${faults[0]!.message} (and ${faults.length - 1} more, see faults)`,
    { faults },
  )
const absent = (id: string) =>
  errorOf(404, 'resource_not_found_exception', `This account has no rule ${id}: its rules are at /alerting/rules/.`)
const bodyOf = async (reply: ReturnType<Call>, status = 200) => {
  const { status: actual, body } = await reply
  assert.equal(actual, status, JSON.stringify(body))
  return body
}

test('a rule is made, read, changed and deleted', async () => {
  const { call, calls, time } = serve()
  assert.deepEqual(await bodyOf(call('GET', RULES)), [])
  const made = await call('POST', RULES, rule({ team: 'ops', version: 3, id: 99, triggerCount: 5 }))
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('location'), '/alerting/rules/1/')
  assert.equal(made.headers.get('etag'), '"1"')
  assert.deepEqual(made.body, shown({ team: 'ops', version: 3 }))
  assert.deepEqual(await bodyOf(call('GET', made.headers.get('location')!)), made.body)
  assert.deepEqual(await bodyOf(call('GET', '/alerting/rules')), [made.body])

  time.now += 60_000
  const changed = await call('PUT', `${RULES}1`, { name: 'Larger', enabled: false })
  assert.equal(changed.headers.get('etag'), '"2"')
  const expected = shown({
    team: 'ops',
    version: 3,
    name: 'Larger',
    enabled: false,
    updatedAt: '2024-05-17T12:01:00.000Z',
  })
  assert.deepEqual(changed.body, { ...expected, cancelledDeliveries: 3 })
  assert.deepEqual(calls, [{ cancel: 1, why: 'paused' }])
  assert.deepEqual(await bodyOf(call('GET', `${RULES}1/`)), expected)

  const gone = await call('DELETE', `${RULES}1/`)
  assert.deepEqual([gone.status, gone.headers.get('cancelled-deliveries')], [204, '3'])
  assert.deepEqual(await bodyOf(call('GET', `${RULES}1/`), 404), absent('1'))
  assert.deepEqual(await bodyOf(call('DELETE', `${RULES}1/`), 404), absent('1'))
})

test('a rule that was read can be put back as it is, and config is replaced whole', async () => {
  const { call, rules } = serve()
  await call('POST', RULES, rule({ config: config({ targetMap: [{ name: 'str', operator: 'Equals', value: 'a' }] }) }))
  const before = await bodyOf(call('GET', `${RULES}1`))
  assert.deepEqual(await bodyOf(call('PUT', `${RULES}1`, before)), before)
  assert.deepEqual((await bodyOf(call('PUT', `${RULES}1`, { config: config() }))).config, config())
  assert.deepEqual(rules.find(1)?.input, rule({ enabled: true }))
  assert.equal(rules.find(1)?.matching, 2)
})

test('a number with separators is refused wherever a rule comes from, and stays where it is stored', async () => {
  const { call, rules } = serve()
  const large = (value: string): Json => ({
    config: config({
      targetMap: [
        { name: 'event', operator: 'Equals', value: 'Transfer' },
        {
          name: 'args',
          operator: 'Inspect',
          operatorParameters: [{ name: 'value', operator: 'Greater', value }],
        },
      ],
    }),
  })
  const faults = [
    {
      path: 'config.targetMap[1].operatorParameters[0].value',
      message: 'value must be a number, not "100,000". Write "100000".',
    },
  ]
  await bodyOf(call('POST', RULES, rule(large('100000'))), 201)
  const bad = rule(large('100,000'))
  for (const [method, path] of [
    ['POST', RULES],
    ['POST', `${RULES}simulate/`],
    ['POST', `${RULES}test/`],
    ['PUT', `${RULES}1/`],
  ] as const) {
    const { error } = (await bodyOf(call(method, path, bad), 400)) as { error: Json }
    assert.deepEqual(error.faults, faults, `${method} ${path}`)
  }
  // As an earlier version stored it.
  const stored = rules.create(1, bad as unknown as RuleInput, 0)
  assert.equal((await bodyOf(call('PUT', `${RULES}${stored.id}/`, { name: 'Renamed' }))).name, 'Renamed')
  assert.equal((await bodyOf(call('GET', `${RULES}${stored.id}/`))).name, 'Renamed')
})

test('where a rule begins: where it says, else above the head, else not yet known', async () => {
  const { call, rules } = serve()
  const starts = async (change: Json) => (await bodyOf(call('POST', RULES, rule(change)), 201)).startBlock
  assert.equal(await starts({}), 1_001)
  assert.equal(await starts({ startBlock: null }), 1_001)
  assert.equal(await starts({ startBlock: 0 }), 0)
  assert.equal(await starts({ blockchain: 'gnosis' }), null)
  const put = async (change: Json) => (await bodyOf(call('PUT', `${RULES}3`, change))).startBlock
  assert.equal(await put({ name: 'x' }), 0)
  assert.equal(await put({ startBlock: null }), 0)
  assert.equal(await put({ startBlock: 7 }), 7)
  // Blocks of another network are no start.
  assert.equal(await put({ blockchain: 'gnosis' }), null)
  assert.equal(await put({ blockchain: 'ethereum', startBlock: 5 }), 5)
  assert.equal(rules.find(3)?.network, 'ethereum/ethereum/mainnet')
})

test('what keeps a rule from doing its work is told', async () => {
  const { call } = serve()
  const email = { type: 'Email', parameters: { recipients: ['a@example.org'] } }
  const { idle, warnings } = await bodyOf(
    call('POST', RULES, rule({ network: 'sepolia', config: config({ alerts: [email] }) })),
    201,
  )
  assert.equal(idle, 'ethereum/ethereum/sepolia is not configured.')
  assert.deepEqual(warnings, ['Email is undeliverable.'])
})

test("another account's rule is none", async () => {
  const { call, calls } = serve()
  await call('POST', RULES, rule())
  const bob = { authorization: 'Bearer cs_bob' }
  assert.deepEqual(await bodyOf(call('GET', RULES, undefined, bob)), [])
  for (const [method, path, body] of [
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['POST', 'simulate/', {}],
    ['POST', 'test/'],
    ['GET', 'alerts/'],
    ['POST', 'redeliver/', { dead: true }],
  ] as const)
    assert.deepEqual(await bodyOf(call(method, `${RULES}1/${path}`, body, bob), 404), absent('1'))
  for (const id of ['2', '0', '-1', '1.0', '01', '1e0', 'x', '%31x', '99999999999999999999'])
    assert.deepEqual(await bodyOf(call('GET', `${RULES}${id}/`), 404), absent(decodeURIComponent(id)))
  assert.deepEqual(calls, [])
  assert.equal((await call('GET', RULES, undefined, { authorization: '' })).status, 401)
})

test('every fault of a rule is told with its place, and nothing is stored', async () => {
  const { call, rules } = serve()
  const faulty = rule({
    maxConfirmationCount: -1,
    config: config({
      targetMap: [{ name: 'evnet', operator: 'Equals', value: ['a'] }],
      alerts: [{ type: 'Webhook (GET)', parameters: { url: 'http://10.0.0.1/' } }],
    }),
  })
  const faults = [
    {
      path: 'maxConfirmationCount',
      message: 'maxConfirmationCount must be an integer from 0 to 100000, not -1.',
    },
    {
      path: 'config.targetMap[0].value',
      message: 'value must be a string with "Equals", not a list of 1. "Equals any" takes a list.',
    },
    {
      path: 'config.targetMap[0].name',
      message: 'An event has no attribute "evnet" to compare. Did you mean "event"?',
    },
    {
      path: 'config.alerts[0].parameters.url',
      message:
        'url leads to 10.0.0.1, which is a private address: use a public address, or have the operator of this server allow it: --allow-target 10.0.0.1/32',
    },
  ]
  assert.deepEqual(await bodyOf(call('POST', RULES, faulty), 400), invalid(...faults))
  assert.deepEqual(rules.all(), [])
  await call('POST', RULES, rule())
  assert.deepEqual(await bodyOf(call('PUT', `${RULES}1`, { config: faulty.config }), 400), invalid(...faults.slice(1)))
  assert.deepEqual(
    await bodyOf(call('PUT', `${RULES}1`, { network: null }), 400),
    invalid({
      path: 'network',
      message: 'network must be one part of a network\'s name, such as "ethereum", not null.',
    }),
  )
  assert.deepEqual(
    await bodyOf(call('PUT', `${RULES}1`, '{"version": 9007199254740993}'), 400),
    invalid({
      path: 'version',
      message: 'version must be an integer, not 9007199254740992. Integers above 2^53 - 1 lose digits in JSON.',
    }),
  )
  assert.equal(rules.find(1)?.revision, 1)
})

test('a body that is no JSON object is refused', async () => {
  const { call } = serve()
  await call('POST', RULES, rule())
  const parsing = (reason: string) => errorOf(400, 'parsing_exception', reason)
  for (const [method, path] of [
    ['POST', RULES],
    ['PUT', `${RULES}1`],
    ['POST', `${RULES}simulate/`],
  ] as const) {
    const missing =
      method === 'POST' || method === 'PUT' ? parsing('The body must be a JSON object, and is missing.') : null
    assert.deepEqual(await bodyOf(call(method, path), 400), missing)
    for (const body of ['[]', '"x"', '5', 'null'])
      assert.deepEqual(await bodyOf(call(method, path, body), 400), parsing('The body must be a JSON object.'), body)
    for (const body of ['{', '{"name": NaN}', "{'name': 1}", '{"a":1}x', '\u0000'])
      assert.match((await bodyOf(call(method, path, body), 400)).error.reason, /^The body is not JSON: /, body)
  }
  const deep = `{"config":${'['.repeat(40_000)}${']'.repeat(40_000)}}`
  assert.deepEqual(
    await bodyOf(call('POST', RULES, deep), 400),
    invalid({ path: 'config', message: 'config is nested more than 50 levels deep: make it flatter.' }),
  )
  assert.equal((await call('POST', RULES, `{"name":"${'x'.repeat(100_000)}"}`)).status, 413)
  assert.deepEqual(
    await bodyOf(call('PUT', `${RULES}1`, '{"__proto__": {"enabled": false}}'), 400),
    invalid({ path: '__proto__', message: '"__proto__" cannot be kept: give the property another name.' }),
  )
})

test('a rule that the client has is not sent again', async () => {
  const { call } = serve()
  await call('POST', RULES, rule())
  for (const tag of ['"1"', 'W/"1"', '"0", "1"', '*']) {
    const reply = await call('GET', `${RULES}1`, undefined, { 'if-none-match': tag })
    assert.deepEqual([reply.status, reply.headers.get('etag'), reply.body], [304, '"1"', undefined], tag)
  }
  for (const tag of ['"2"', '1', ''])
    assert.equal((await call('GET', `${RULES}1`, undefined, { 'if-none-match': tag })).status, 200)
})

test('a change to a revision that is no more is refused', async () => {
  const { call, rules } = serve()
  await call('POST', RULES, rule())
  const put = (tag: string) => call('PUT', `${RULES}1`, { name: tag }, { 'if-match': tag })
  assert.equal((await put('"1"')).headers.get('etag'), '"2"')
  const stale = (tag: string) =>
    errorOf(
      412,
      'precondition_failed_exception',
      `Rule 1 is at revision ${tag} now, which If-Match does not name: read it again, and apply your change to that.`,
    )
  assert.deepEqual(await bodyOf(put('"1"'), 412), stale('"2"'))
  assert.deepEqual(await bodyOf(put('2'), 412), stale('"2"'))
  assert.deepEqual(await bodyOf(call('DELETE', `${RULES}1`, undefined, { 'if-match': '"1"' }), 412), stale('"2"'))
  assert.equal((await put('"1", W/"2"')).status, 200)
  assert.equal((await put('*')).status, 200)
  assert.equal(rules.find(1)?.input.name, '*')
  assert.equal((await call('DELETE', `${RULES}1`, undefined, { 'if-match': '"4"' })).status, 204)
  assert.equal((await put('"4"')).status, 404)
})

test('two changes at the same moment are both made, or one is told', async () => {
  for (const tag of [undefined, '"1"']) {
    const { call, rules, service } = serve()
    await call('POST', RULES, rule())
    // The first change waits for a network's head; meanwhile the second is made.
    service.startBlockOf = async () => {
      service.startBlockOf = async () => 5
      await call('PUT', `${RULES}1`, { description: 'second' })
      return 5
    }
    const { status } = await call('PUT', `${RULES}1`, { network: 'sepolia' }, tag ? { 'if-match': tag } : {})
    const { network, description } = rules.find(1)!.input
    assert.deepEqual(
      { status, network, description },
      tag
        ? { status: 412, network: 'mainnet', description: 'second' }
        : { status: 200, network: 'sepolia', description: 'second' },
    )
  }
})

test('deliveries of an account are listed, shown and sent again across rules', async () => {
  const { call, calls } = serve()
  const D = '/alerting/deliveries'
  assert.deepEqual(await bodyOf(call('GET', `${D}/?state=retried&rule=3&since=2024-05-17&size=2&before=9`)), {
    deliveries: [],
    next: null,
  })
  const none = { channel: undefined, target: undefined, alert: undefined, until: undefined }
  assert.deepEqual(calls.pop(), {
    deliveries: {
      ...{ account: 1, ...none, rule: 3, state: 'retried', since: Date.parse('2024-05-17'), before: 9, limit: 2 },
    },
  })
  assert.deepEqual(await bodyOf(call('GET', `${D}/5`)), { id: 5, attempts: [] })
  for (const id of ['6', 'x', '05']) assert.equal((await call('GET', `${D}/${id}`)).status, 404)
  assert.deepEqual(await bodyOf(call('GET', '/alerting/destinations')), {
    complete: true,
    destinations: [{ account: 1 }],
  })
  for (const [query, reason] of [
    ['state=gone', /\[state\] must be "queued", "waiting"/],
    ['rule=x', /\[rule\] must be an integer of at least 1/],
    ['size=1001', /\[size\] must be an integer from 1 to 1000/],
    ['since=yesterday', /\[since\] must be a time in ISO 8601/],
    ['sinc=2024-05-17', /\[sinc\] is not known.*since/],
  ] as const)
    assert.match((await bodyOf(call('GET', `${D}?${query}`), 400)).error.reason, reason)

  assert.deepEqual(await bodyOf(call('POST', `${D}/redeliver`, { dead: true, target: 'https://a.example/…' })), {
    redelivered: 3,
  })
  const last = calls.pop() as Json
  assert.deepEqual([last.redeliverAll, last.dead, last.target], [1, true, 'https://a.example/…'])
  for (const [body, reason] of [
    [{}, /The body must name what to send again/],
    [{ dead: false }, /The body must name what to send again/],
    [{ delivery: 'x' }, /delivery must be an integer of at least 1/],
    [{ from: '2024-05-18', to: '2024-05-17' }, /to must not be earlier than from/],
    [{ deed: true }, /deed is not known here/],
  ] as const)
    assert.match((await bodyOf(call('POST', `${D}/redeliver`, body), 400)).error.reason, reason)
  assert.deepEqual(calls, [])
})

test('alerts of rules are counted by time, of all rules or of some', async () => {
  const { call, calls } = serve()
  for (let n = 0; n < 3; n++) await call('POST', RULES, rule())
  calls.length = 0
  const S = '/alerting/series'
  await bodyOf(call('GET', `${S}?from=2024-05-17T00:00:00Z&to=2024-05-17T01:59:59Z&buckets=2&rules=1,3`))
  const start = Date.parse('2024-05-17T00:00:00Z')
  assert.deepEqual(calls.pop(), { series: [1, 3], intervalMs: 3_600_000, starts: [start, start + 3_600_000] })
  // Each once, however often it is named.
  await call('GET', `${S}?rules=${Array.from({ length: 5_000 }, () => '1,3')}`)
  assert.deepEqual((calls.pop() as { series: number[] }).series, [1, 3])
  await bodyOf(call('GET', S))
  const { series, starts } = calls.pop() as { series: number[]; starts: number[] }
  assert.deepEqual([series, starts.length >= 48], [[1, 2, 3], true])
  for (const [query, status, reason] of [
    ['rules=9', 404, /This account has no rule 9/],
    ['rules=', 400, /\[rules\] must be an integer/],
    ['from=2024-05-18&to=2024-05-17', 400, /\[to\] must not be earlier/],
    ['buckets=501', 400, /\[buckets\] must be an integer from 1 to 500/],
  ] as const)
    assert.match((await bodyOf(call('GET', `${S}?${query}`), status)).error.reason, reason)
})

test('a rule is simulated before it is stored, and after', async () => {
  const { call, calls } = serve()
  const simulation = { total: 1, complete: true, holes: [], fromBlock: 0, toBlock: 9, hits: [{ _id: '0x' }] }
  const none = { fromBlock: undefined, toBlock: undefined, lastBlocks: undefined, size: undefined, buckets: undefined }
  assert.deepEqual(
    await bodyOf(call('POST', `${RULES}simulate/`, rule({ name: 'new', fromBlock: 0, toBlock: 9, size: 0 }))),
    simulation,
  )
  assert.deepEqual(await bodyOf(call('GET', RULES)), [])
  await call('POST', RULES, rule())
  assert.deepEqual(await bodyOf(call('POST', `${RULES}1/simulate/`)), simulation)
  assert.deepEqual(await bodyOf(call('POST', `${RULES}1/simulate/`, { fromBlock: 5 })), simulation)
  assert.deepEqual(calls, [
    { simulate: 'new', ...none, fromBlock: 0, toBlock: 9, size: 0 },
    { simulate: 'Large transfers', ...none },
    { simulate: 'Large transfers', ...none, fromBlock: 5 },
  ])
  const number = { path: 'fromBlock', message: 'fromBlock must be an integer of at least 0, not -1.' }
  assert.deepEqual(
    await bodyOf(call('POST', `${RULES}simulate/`, rule({ name: 1, fromBlock: -1 })), 400),
    invalid({ path: 'name', message: 'name must be a string, not 1. Put it in quotes: "1".' }, number),
  )
  assert.deepEqual(
    await bodyOf(call('POST', `${RULES}1/simulate/`, { fromBlock: 5, toBlock: 4, size: 1_001, form: 1 }), 400),
    invalid(
      {
        path: 'form',
        message: 'form is not known here: the body has "fromBlock", "toBlock", "lastBlocks", "size" and "buckets".',
      },
      { path: 'toBlock', message: 'toBlock is 4, and must not be below fromBlock, which is 5.' },
      { path: 'size', message: 'size must be an integer from 0 to 1000, not 1001.' },
    ),
  )
  assert.deepEqual(
    await bodyOf(call('GET', `${RULES}simulate/`), 405),
    errorOf(405, 'method_not_allowed_exception', '/alerting/rules/simulate takes POST, not GET.'),
  )
  assert.equal(calls.length, 3)
})

test('a test is fired for a document, or for the newest', async () => {
  const { call, calls } = serve()
  await call('POST', RULES, rule())
  const result = { entity: ENTITY, deliveries: [] }
  assert.deepEqual(await bodyOf(call('POST', `${RULES}1/test/`)), result)
  assert.deepEqual(await bodyOf(call('POST', `${RULES}1/test/`, { _id: '0xa_e_1' })), result)
  assert.deepEqual(calls, [
    { test: 1, document: undefined },
    { test: 1, document: '0xa_e_1' },
  ])
  assert.deepEqual(
    await bodyOf(call('POST', `${RULES}1/test/`, { id: '0xa', _id: 7 }), 400),
    invalid(
      { path: 'id', message: 'id is not known here: the body has "_id". Did you mean "_id"?' },
      { path: '_id', message: '_id must be the id of a stored document, not 7. Put it in quotes: "7".' },
    ),
  )
  assert.deepEqual(
    await bodyOf(call('POST', `${RULES}1/test/`, []), 400),
    errorOf(400, 'parsing_exception', 'The body must be a JSON object, or be left out.'),
  )
})

test('no answer has the key of a receiver, and what is read can be written back', async () => {
  const { call, rules } = serve()
  const telegram = { type: 'Telegram', parameters: { token: BOT_TOKEN, chat: '@ops' } }
  const written = rule({ config: { ...config(), alerts: [telegram] } })
  const made = await call('POST', RULES, written)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const read = (await bodyOf(call('GET', `${RULES}1/`))) as RuleInput
  const all = [made.body, read, await bodyOf(call('GET', RULES)), await bodyOf(call('GET', `${RULES}?size=1`))]
  const token = '[secret 0b5dd075]'
  assert.deepEqual(read.config.alerts, [{ ...telegram, parameters: { token, chat: '@ops' } }])
  all.push(await bodyOf(call('PUT', `${RULES}1/`, { ...read, name: 'Other' })))
  all.push(await bodyOf(call('PUT', `${RULES}1/?replace=true`, read)))
  assert.deepEqual(rules.get(1, 1)!.input.config.alerts, [telegram])
  await bodyOf(call('POST', `${RULES}test/`, read))
  await bodyOf(call('POST', `${RULES}simulate/`, read))
  all.push(await bodyOf(call('POST', RULES, read), 400))
  assert.ok(!JSON.stringify(all).includes(BOT_TOKEN))
})

test('what a rule would send is shown before it is stored', async () => {
  const { call, calls } = serve()
  const result = { entity: ENTITY, messages: [{ action: 0, type: 'Chat', refused: 'no' }] }
  assert.deepEqual(await bodyOf(call('POST', `${RULES}test/`, rule())), result)
  assert.deepEqual(await bodyOf(call('POST', `${RULES}test/`, { ...rule(), _id: '0xa_e_1' })), result)
  const { name } = rule()
  assert.deepEqual(calls, [
    { preview: name, document: undefined },
    { preview: name, document: '0xa_e_1' },
  ])
  const { error } = (await bodyOf(call('POST', `${RULES}test/`, { ...rule({ name: 7 }), _id: 8 }), 400)) as {
    error: { faults: { path: string }[] }
  }
  assert.deepEqual(
    error.faults.map(({ path }) => path),
    ['name', '_id'],
  )
  assert.equal(calls.length, 2)
})

test('the alerts of a rule are listed page by page', async () => {
  const { call, calls } = serve()
  await call('POST', RULES, rule())
  const alerts = (query: string, status = 200) => bodyOf(call('GET', `${RULES}1/alerts/${query}`), status)
  assert.deepEqual(await alerts(''), { alerts: [], next: null })
  await alerts('?size=1000&before=a%2Fb&state=retracted&pretty')
  assert.deepEqual(calls, [
    { alerts: 1, size: 20, before: undefined, state: undefined },
    { alerts: 1, size: 1_000, before: 'a/b', state: 'retracted' },
  ])
  const refused = (reason: string) => errorOf(400, 'illegal_argument_exception', reason)
  for (const size of ['0', '1001', '-1', 'x', '1e1', ''])
    assert.deepEqual(
      await alerts(`?size=${size}`, 400),
      refused(`The URL parameter [size] must be an integer from 1 to 1000, not ${JSON.stringify(size)}.`),
    )
  assert.deepEqual(
    await alerts('?state=confirm', 400),
    refused(
      'The URL parameter [state] must be "pending", "confirmed", "withdrawn", "retracted" or "resolved", not "confirm". Did you mean "confirmed"?',
    ),
  )
  assert.deepEqual(
    await alerts('?befor=1', 400),
    refused('The URL parameter [befor] is not known: there are "size", "before" and "state". Did you mean "before"?'),
  )
})

test('what was given up is sent again, by alert or by time', async () => {
  const { call, calls } = serve()
  await call('POST', RULES, rule())
  const again = (body: unknown, status = 200) => bodyOf(call('POST', `${RULES}1/redeliver/`, body), status)
  const none = { alert: undefined, from: undefined, to: undefined, dead: undefined }
  assert.deepEqual(await again({ alert: 'a1' }), { redelivered: 2 })
  await again({ from: '2024-05-17T12:00:00+02:00', to: '2024-05-17T12:00', dead: true })
  await again({ from: '2024-05-17', dead: false })
  assert.deepEqual(calls, [
    { redeliver: 1, ...none, alert: 'a1' },
    { redeliver: 1, ...none, from: Date.UTC(2024, 4, 17, 10), to: Date.UTC(2024, 4, 17, 12), dead: true },
    { redeliver: 1, ...none, from: Date.UTC(2024, 4, 17), dead: false },
  ])
  const say = {
    path: '',
    message:
      'The body must name what to send again: an "alert", times "from" or "to", or "dead": true for all dead deliveries.',
  }
  for (const body of [undefined, {}, { dead: false }]) assert.deepEqual(await again(body, 400), invalid(say))
  for (const from of [
    'yesterday',
    '2024-02-31',
    '2024-13-01',
    '2024-05-17T25:00',
    '2024-05-17T12:00:00 UTC',
    1715940000,
    null,
  ])
    assert.deepEqual(
      await again({ from }, 400),
      invalid({
        path: 'from',
        message: `from must be a time in ISO 8601 such as "2024-05-17T12:00:00Z", not ${JSON.stringify(from)}.`,
      }),
      String(from),
    )
  assert.deepEqual(
    await again({ from: '2024-05-17', to: '2024-05-16', dead: 1 }, 400),
    invalid(
      { path: 'dead', message: 'dead must be true or false, not 1.' },
      { path: 'to', message: 'to must not be earlier than from.' },
    ),
  )
  assert.equal(calls.length, 3)
})

test('a wrong method or path below the rules is told; without rules there is nothing', async () => {
  const { call } = serve()
  assert.deepEqual(
    await bodyOf(call('PATCH', `${RULES}1`, {}), 405),
    errorOf(405, 'method_not_allowed_exception', '/alerting/rules/1 takes GET and PUT and DELETE, not PATCH.'),
  )
  const nothing = (path: string) =>
    errorOf(
      404,
      'resource_not_found_exception',
      `There is nothing at ${path}: rules are at /alerting/rules/, watch lists at /alerting/lists/, and silences at /alerting/silences/.`,
    )
  assert.deepEqual(await bodyOf(call('GET', '/alerting/rulez/'), 404), nothing('/alerting/rulez'))
  const reply = await appOf().request(RULES, { headers: { authorization: 'Bearer cs_good' } })
  assert.deepEqual(await reply.json(), nothing('/alerting/rules'))
})

test('a body that no rule could be is refused while it is read', async () => {
  const limits = { ...DEFAULT_LIMITS, body: 16e6 }
  const { call, rules } = serve(limits)
  const refused = errorOf(413, 'content_too_large_exception', overLimit('rule', limits).message)
  for (const size of [300_000, 14_600_000]) {
    const body = rule({ x: 'x'.repeat(size) })
    for (const [method, path] of [
      ['POST', ''],
      ['PUT', '1'],
      ['POST', 'simulate'],
    ] as const)
      assert.deepEqual(await bodyOf(call(method, RULES + path, body), 413), refused)
  }
  assert.deepEqual(rules.all(), [])
  // What an answer adds, and indentation, is no part of a rule.
  const large = await bodyOf(call('POST', RULES, rule({ x: 'x'.repeat(limits.rule - 1_000) })), 201)
  await bodyOf(call('PUT', `${RULES}1`, `${JSON.stringify({ ...large, warnings: ['x'.repeat(10_000)] }, null, 8)}`))
})

test('an account has so many rules, and so many bytes of them, and another one its own', async () => {
  const bytes = JSON.stringify(rule({ x: 'x'.repeat(1_000) })).length
  const limits = { ...DEFAULT_LIMITS, rules: 3, ruleBytes: 2 * bytes + 10 }
  const { call } = serve(limits)
  const bob = { authorization: 'Bearer cs_bob' }
  const large = rule({ x: 'x'.repeat(1_000) })
  await bodyOf(call('POST', RULES, large), 201)
  await bodyOf(call('POST', RULES, large), 201)
  const tooLarge = errorOf(400, 'validation_exception', overLimit('ruleBytes', limits).message)
  assert.deepEqual(await bodyOf(call('POST', RULES, rule()), 400), tooLarge)
  assert.deepEqual(await bodyOf(call('PUT', `${RULES}1`, { x: 'x'.repeat(1_100) }), 400), tooLarge)
  await bodyOf(call('POST', RULES, large, bob), 201)
  for (const id of [1, 2]) await bodyOf(call('PUT', RULES + id, { x: '' }))
  await bodyOf(call('POST', RULES, rule()), 201)
  assert.deepEqual(
    await bodyOf(call('POST', RULES, rule()), 400),
    errorOf(400, 'validation_exception', overLimit('rules', limits).message),
  )
  await bodyOf(call('DELETE', `${RULES}1`), 204)
  await bodyOf(call('POST', RULES, rule()), 201)
})

test('a long list is given in pieces, between which others are served', async t => {
  const { call, rules, service } = serve()
  const count = 3_000
  rules.together(() => {
    for (let i = 0; i < count; i++) rules.create(1, rule({ name: `Rule ${i}` }) as RuleInput, 1)
  })
  // Each takes so much time, which goes by with nothing else.
  let now = 0
  let most = 0
  let turnAt = 0
  service.warnings = () => {
    now += 0.5
    most = Math.max(most, now - turnAt)
    return []
  }
  t.mock.method(performance, 'now', () => now)
  let isDone = false
  const turn = () => {
    turnAt = now
    if (!isDone) setImmediate(turn)
  }
  turn()
  const lists = await Promise.all(Array.from({ length: 5 }, () => call('GET', RULES)))
  isDone = true
  for (const { status, body } of lists) assert.deepEqual([status, body.length], [200, count])
  assert.deepEqual(lists[0]!.body[7].name, 'Rule 7')
  assert.equal(most, 4)
})

test('a rule that another version stored and that is too large now says so, and is written anew', async () => {
  const { call, rules, calls } = serve({ rule: 2_000 })
  rules.create(1, rule({ x: 'x'.repeat(200_000) }) as RuleInput, 1)
  await bodyOf(call('POST', RULES, rule()), 201)
  const [first, second] = await bodyOf(call('GET', RULES))
  assert.deepEqual([first.id, first.name, first.enabled, second], [1, '', false, shown({ id: 2, triggerCount: 20 })])
  const [warning] = first.warnings
  assert.match(warning, /^A rule has more than 128kB of JSON\. .* The rule is not matched: rewrite it, or delete it\.$/)
  for (const path of ['simulate', 'test'])
    assert.deepEqual(
      await bodyOf(call('POST', `${RULES}1/${path}`), 400),
      errorOf(400, 'validation_exception', warning),
    )
  assert.deepEqual(calls, [])
  assert.equal((await call('PUT', `${RULES}1`, { enabled: true })).status, 400)
  assert.deepEqual(await bodyOf(call('PUT', `${RULES}1`, rule())), shown({ startBlock: 1 }))
})

test('an account has so many simulations and tests at once, and another one its own', async () => {
  const { call, service } = serve({ simulations: 2 })
  await bodyOf(call('POST', RULES, rule()), 201)
  const waiting: (() => void)[] = []
  service.simulate = () => new Promise(resolve => waiting.push(() => resolve(NOTHING_FOUND)))
  service.test = () => new Promise((_, reject) => waiting.push(() => reject(refuse('parsing_exception', 'no'))))
  const first = [call('POST', `${RULES}simulate`, rule()), call('POST', `${RULES}1/test`)]
  while (waiting.length < 2) await new Promise(resolve => setImmediate(resolve))
  for (const path of ['simulate', '1/simulate', '1/test']) {
    const refused = await call('POST', RULES + path, path === 'simulate' ? rule() : undefined)
    const { message } = overLimit('simulations', { ...DEFAULT_LIMITS, simulations: 2 })
    assert.deepEqual(refused.body, errorOf(429, 'es_rejected_execution_exception', message))
    assert.equal(refused.headers.get('retry-after'), '1')
  }
  const bobs = call('POST', `${RULES}simulate`, rule(), { authorization: 'Bearer cs_bob' })
  while (waiting.length < 3) await new Promise(resolve => setImmediate(resolve))
  for (const go of waiting) go()
  assert.deepEqual(
    (await Promise.all([...first, bobs])).map(({ status }) => status),
    [200, 400, 200],
  )
  const again = call('POST', `${RULES}1/simulate`)
  while (waiting.length < 4) await new Promise(resolve => setImmediate(resolve))
  waiting[3]!()
  await bodyOf(again)
})

test('rules are listed in pages where a page is asked for', async () => {
  const { call } = serve()
  for (let i = 1; i <= 5; i++) await call('POST', RULES, rule({ name: `Rule ${i}` }))
  const other = await call('POST', RULES, rule({ name: 'of bob' }), { authorization: 'Bearer cs_bob' })
  assert.equal(other.status, 201)
  const page = async (query: string) => {
    const { rules, next } = (await bodyOf(call('GET', `${RULES}?${query}`))) as { rules: Json[]; next: string | null }
    return [...rules.map(({ name }) => name), next]
  }
  assert.deepEqual(await page('size=2'), ['Rule 1', 'Rule 2', '2'])
  assert.deepEqual(await page('size=2&after=2'), ['Rule 3', 'Rule 4', '4'])
  assert.deepEqual(await page('size=2&after=4'), ['Rule 5', null])
  assert.deepEqual(await page('after=5'), [null])
  assert.equal((await bodyOf(call('GET', RULES))).length, 5)
  for (const query of ['size=0', 'size=1001', 'after=x', 'sise=1'])
    assert.equal((await call('GET', `${RULES}?${query}`)).status, 400, query)
})

test('many rules are created by one request, or none of them', async () => {
  const { call, rules } = serve({ rules: 5, rulesAtOnce: 4 })
  const create = (...lines: unknown[]) =>
    call(
      'POST',
      `${RULES}bulk/`,
      lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    )
  const named = (name: string, more: Json = {}) => rule({ name, ...more })
  const elsewhere = { network: 'sepolia' }
  const made = await create(named('a'), '', named('b', { startBlock: 7, enabled: false }), named('c', elsewhere), '')
  assert.equal(made.status, 201)
  assert.deepEqual(made.body, { rules: ['a', 'b', 'c'].map((name, i) => ({ id: i + 1, name })) })
  assert.deepEqual(
    rules.list(1).map(({ startBlock, enabled }) => [startBlock, enabled]),
    [1_001, 7, null].map((start, i) => [start, i !== 1]),
  )
  assert.deepEqual(rules.changes('ethereum/ethereum/mainnet', 0).changed.length, 2)

  const faulty = await create(named('d'), named('e', { maxConfirmationCount: -1 }), { name: 1 })
  assert.equal(faulty.status, 400)
  assert.deepEqual(
    (faulty.body.error.faults as Json[]).slice(0, 2).map(({ path }) => path),
    ['[1].maxConfirmationCount', '[2].name'],
  )
  const reasonOf = async (...lines: unknown[]) => {
    const { status, body } = await create(...lines)
    return [status, body.error.reason.split('. ')[0]]
  }
  assert.deepEqual(await reasonOf(), [400, 'The body has no rule: send one as JSON in each line.'])
  assert.match(String(await reasonOf(named('d'), '{"name"')), /^400,\[1\] is not JSON: /)
  assert.match(String(await reasonOf(JSON.stringify([named('d')]))), /^400,.* must be an object/)
  assert.deepEqual(await reasonOf(...'defgh'.split('').map(name => named(name))), [
    400,
    'A request has more than 4 rules to create',
  ])
  assert.deepEqual(await reasonOf(...'def'.split('').map(name => named(name))), [
    400,
    'An account has more than 5 rules',
  ])
  assert.deepEqual(
    rules.list(1).map(({ input }) => input.name),
    ['a', 'b', 'c'],
  )
})
