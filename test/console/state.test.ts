import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Locator } from 'playwright-core'
import { SCOPES, type TokenScope } from '../../src/accounts/index.ts'
import {
  checkLayout,
  choose,
  counted,
  DEMO,
  follow,
  press,
  see,
  signIn,
  skip,
  turnTo,
  useConsole,
  violations,
} from './support.ts'

const HOSTILE = `<img src=x onerror="document.title='x'">\u202e\u0000${'A'.repeat(32_768)}`
const AT = '2026-01-02T03:04:05.000Z'

describe('the state of the service', { skip }, () => {
  const bench = useConsole()
  const enter = (
    t: TestContext,
    path: string,
    scopes: readonly TokenScope[] = SCOPES,
    options?: BrowserContextOptions,
  ) => bench.enter(t, `/console${path}`, options, scopes)
  /** The page of a server that is in such a state. */
  const told = async (t: TestContext, status: object) => {
    const page = await bench.open(t, '/console/status')
    await page.route('**/status', route => route.fulfill({ json: status }))
    await page.route('**/status/rates', route => route.fulfill({ json: RATES }))
    await signIn(page, bench.server.token)
    return page
  }

  test('networks: what is held, and where the server is', async t => {
    const page = await enter(t, '/status', ['search'])
    const network = page.getByRole('region', { name: DEMO })
    await see(network, 'Blocks 0–420 are stored: 421.', 'no node brings new blocks')
    await see(page, 'The server is ready.')
    await network.getByRole('link', { name: DEMO }).click()
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('network'), DEMO)
  })

  test('networks: gaps, rates, nodes with their errors, decoding again, and what keeps the server from being ready', async t => {
    const page = await told(t, BUSY_STATUS)
    const network = page.getByRole('region', { name: 'ethereum/ethereum/mainnet', exact: true })
    await see(network, 'Missing: 21–29, 31.')
    await counted(network.locator('.range-bar .gap'), 1)
    await network.getByRole('img', { name: 'Blocks per second: now 12, at most 20' }).waitFor()
    await network.getByRole('img', { name: 'Blocks behind the head: now 5' }).locator('canvas').waitFor()
    await see(network, '2 h 1 min', '7,000 blocks are left')
    const nodes = network.getByRole('region', { name: 'Nodes of ethereum/ethereum/mainnet' })
    await see(nodes, 'failing since', 'answers slowly', 'on another branch since', '8,003 ms')
    assert.match((await nodes.textContent())!, /<img src=x.*\[U\+202E\]\[U\+0000\]/)
    await see(page, 'no node answers')
    assert.equal(await page.getByRole('region', { name: 'Budgets of' }).count(), 0)
    assert.equal(await page.title(), 'Status · Chainsieve')
    await checkLayout(page)
  })

  test('networks: what budgets have left, what scopes cover, and what is still looked for', async t => {
    const page = await told(t, { ...BUSY_STATUS, networks: [SCOPED], reasons: [] })
    const budgets = page.getByRole('region', { name: `Budgets of ${SCOPED.network}` })
    await see(budgets, '2,999,000 of 3,000,000')
    assert.deepEqual(await cellsOf(budgets), [
      [
        ...['https://one.example', '2,999,000 of 3,000,000until 2026-11-23 00:00:00'],
        ...['0 of 100until 2026-12-01 00:00:00', '500 credits/s', 'infura', '1,000'],
      ],
      ['https://two.example', 'not limited', 'not limited', '25 calls/s', 'one credit a call', '7'],
    ])
    assert.equal(await budgets.locator('.warn').textContent(), '0 of 100')
    const scopes = page.getByRole('region', { name: `Scopes of ${SCOPED.network}` })
    assert.deepEqual(await cellsOf(scopes), [
      [
        '0x1111…11110x2222…22220x3333…3333and 97 more',
        'all logs',
        'Blocks 100–999 were searched: 850. Missing: 200–249.',
      ],
      ['any contract', '0xdddd…dddd', 'Blocks 7 were searched: 1. No block is missing between them.'],
    ])
    await see(page, 'in blocks 200–249: 20 of 50 are left.')
    await page.getByText('until 2026-11-23 00:00:00').first().waitFor()
    assert.equal(await page.getByText('No block is held').count(), 0)
    await checkLayout(page)
  })

  test('networks: where documents lie, where they move to, and why they stand still', async t => {
    const page = await told(t, { ...BUSY_STATUS, networks: PLACES, reasons: [] })
    const facts = async (network: string) => {
      const region = page.getByRole('region', { name: network, exact: true })
      await region.waitFor()
      const terms = await region.locator('dt').allTextContents()
      const values = await region.locator('dd').allTextContents()
      const all = terms.map((term, i) => `${term}: ${values[i]}`)
      return all.filter(text => /^(Documents|Cluster|Moving|Not in)/.test(text))
    }
    assert.deepEqual(await facts('a/in/file'), ['Documents: In the file'])
    assert.deepEqual(await facts('a/in/cluster'), [
      'Documents: In the cluster: chainsieve-a-in-cluster-*',
      'Cluster: yellow, OpenSearch 3.3.2',
      'Not in the cluster yet: 1,200 blocks',
    ])
    assert.deepEqual(await facts('a/goes/there'), ['Documents: In the file', 'Moving: 40 % to the cluster'])
    assert.deepEqual(await facts('a/comes/back'), ['Documents: In the cluster', 'Moving: 75 % back into the file'])
    await see(page, 'Documents do not go to the cluster since', 'Documents do not come back into the file since')
    assert.match((await page.textContent('main'))!, /<img src=x/)
    await checkLayout(page)
  })

  test('the status is asked again and again, also after the server was away', async t => {
    const page = await enter(t, '/status')
    await see(page, 'The server is ready.')
    let asked = 0
    await page.route('**/status', route => {
      asked++
      return route.fulfill({ json: { ...BUSY_STATUS, networks: [], reasons: [] } })
    })
    await see(page, 'There is no network yet')
    await page.waitForTimeout(3_000)
    assert.ok(asked >= 2, `asked ${asked} times`)
    await page.unroute('**/status')
    bench.server.signal('SIGKILL')
    await bench.server.ended
    await see(page, 'The console will go on when the server is back')
    await bench.restart()
    await see(page, 'Blocks 0–420 are stored: 421.')
  })

  test('disk: tables by size', async t => {
    const page = await enter(t, '/status?view=storage')
    const table = page.getByRole('region', { name: 'Tables' })
    await table.getByRole('cell', { name: 'tx', exact: true }).waitFor()
    const shares = (await table.getByRole('row').allTextContents()).flatMap(text => /([\d.]+) %/.exec(text)?.[1] ?? [])
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => Number(b) - Number(a)),
    )
    assert.ok(shares.length > 10)
    assert.equal(Math.round(shares.reduce((sum, share) => sum + Number(share) * 10, 0)), 1_000)
  })

  test('what a token may not see is said, with the command that creates one that may', async t => {
    const page = await enter(t, '/status?view=storage', ['search'])
    await see(page, 'Your token lacks the scope admin')
    await see(page, 'chainsieve token create --account test --scope search --scope admin')
    assert.deepEqual(await violations(page), [])
    await turnTo(page, 'Deliveries')
    await see(page, 'Your token lacks the scope rules')
    await follow(page, 'ABIs')
    await see(page, 'Your token lacks the scope admin')
  })

  test('account: scopes and limits', async t => {
    const page = await enter(t, '/account', ['search', 'rules'])
    await see(page, 'see and change the alert rules')
    assert.deepEqual(
      (await page.locator('.scopes li').allTextContents()).map(text => text.replace(/:.*/, '')),
      ['yes search', 'yes rules', 'no admin'],
    )
    await page.getByLabel('Find a limit').fill('rulebytes')
    const limits = page.getByRole('region', { name: 'Limits' })
    await see(limits, '16,000,000')
    await counted(limits.getByRole('row'), 2)
  })

  test('deliveries: receivers, what waits for them, every attempt, and sending again after a second click', async t => {
    const page = await bench.open(t, '/console/status?view=deliveries')
    const bodies: unknown[] = []
    await page.route('**/alerting/destinations', route => route.fulfill({ json: DESTINATIONS }))
    await page.route('**/alerting/deliveries?*', route => {
      const { searchParams } = new URL(route.request().url())
      const isOlder = searchParams.get('before') !== null
      const state = searchParams.get('state')
      const deliveries = state === 'cancelled' ? [] : [delivery(isOlder ? 6 : 7)]
      return route.fulfill({ json: { deliveries, next: isOlder || state === 'cancelled' ? null : 'older' } })
    })
    await page.route('**/alerting/deliveries/7', route =>
      route.fulfill({ json: { ...delivery(7), attempts: [ATTEMPT] } }),
    )
    await page.route('**/alerting/deliveries/redeliver', route => {
      bodies.push(route.request().postDataJSON())
      return route.fulfill({ json: { redelivered: 3 } })
    })
    await signIn(page, bench.server.token)
    const receivers = page.getByRole('region', { name: 'Receivers' })
    await see(receivers, 'failing since')
    const list = page.getByRole('grid', { name: 'Deliveries' })
    await counted(list.getByRole('row'), 3)
    assert.deepEqual(await violations(page), [])

    await press(receivers, '3 dead: show them')
    assert.equal(new URL(page.url()).searchParams.get('state'), 'dead')
    await page.getByLabel('State').selectOption('cancelled')
    await see(page, 'No delivery is in this state')
    await page.getByLabel('State').selectOption('')

    await press(receivers, 'Send dead again')
    await page.keyboard.press('Escape')
    assert.deepEqual(bodies, [])
    await press(receivers, 'Send dead again')
    await page.getByRole('button', { name: 'Send again', exact: true }).click()
    await page.getByText('Sending 3 deliveries again.').first().waitFor()
    assert.deepEqual(bodies, [{ channel: 'Webhook (POST)', target: 'https://example.com/hook', dead: true }])

    await list.getByText('https://example.com/hook').first().click()
    const opened = page.getByRole('complementary', { name: 'The open delivery' })
    await see(opened, 'HTTP 500')
    await opened.getByText('<img src=x').first().waitFor()
    assert.equal(await page.title(), 'Status · Chainsieve')
    assert.deepEqual(await violations(page), [])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing on any page, wide and narrow (${colorScheme})`, async t => {
      const page = await enter(t, '/status', SCOPES, { colorScheme })
      const look = async (what: string) => {
        await checkLayout(page, what)
        await page.setViewportSize({ width: 1_280, height: 720 })
      }
      await see(page, 'The server is ready.')
      await look('networks')
      await turnTo(page, 'Deliveries')
      await see(page, 'Nothing waits', 'No deliveries yet')
      await look('deliveries')
      await turnTo(page, 'Disk')
      await page.getByRole('cell', { name: 'tx', exact: true }).waitFor()
      await look('disk')
      await choose(page, 'Account and settings', 'Account')
      await page.getByRole('region', { name: 'Limits' }).waitFor()
      await look('account')
    })
})

/** Texts of the cells, row by row. */
const cellsOf = async (table: Locator): Promise<string[][]> => {
  const rows = await table.locator('tbody tr').all()
  return Promise.all(rows.map(row => row.locator('td').allTextContents()))
}

const range = (from: number, to: number) => ({ from, to })
const endpoint = (url: string, more: object) => ({
  ...{ url, requests: 9, errors: 0, lastError: null, lastErrorAt: null },
  ...more,
})

const BUSY = {
  network: 'ethereum/ethereum/mainnet',
  state: 'filling',
  ranges: [range(10, 20), range(30, 30), range(32, 20_000)],
  ...{ head: 25_000, lag: 5_000, lastBlock: { number: 20_000, time: AT, receivedAt: AT }, headAge: 4 },
  ...{ blockTime: 12.04, blocksPerSecond: 12, eventsPerSecond: 1234.5, secondsLeft: 7_260, error: null },
  endpoints: [
    endpoint('https://one.example', { requests: 1_000, responseMs: { median: 8_003, p95: 9_000 }, slow: true }),
    endpoint('https://three.example', { otherBranch: { number: 20_000, hash: '0x12', since: AT } }),
    endpoint('https://two.example', { errors: 9, lastError: HOSTILE, lastErrorAt: AT, failingSince: AT }),
  ],
  redecoding: { abi: HOSTILE.slice(0, 60), blocksLeft: 7_000 },
  alerts: {},
}
const MIDNIGHT = '2026-11-23T00:00:00.000Z'
const addressOf = (digit: string) => `0x${digit.repeat(40)}`
const SCOPED = {
  ...BUSY,
  ranges: [],
  redecoding: undefined,
  waiting: { kind: 'fill', for: 'credits of https://one.example', since: AT, until: MIDNIGHT },
  endpoints: [
    {
      ...BUSY.endpoints[0],
      budget: {
        ...{ costs: 'infura', rate: '500 credits/s', spent: 1_000 },
        day: { limit: 3_000_000, used: 1_000, left: 2_999_000, endsAt: MIDNIGHT },
        month: { limit: 100, used: 120, left: 0, endsAt: '2026-12-01T00:00:00.000Z' },
      },
    },
    { ...BUSY.endpoints[0], url: 'https://two.example', budget: { costs: 'calls', rate: '25 calls/s', spent: 7 } },
    { ...BUSY.endpoints[0], url: 'https://three.example' },
  ],
  coverage: [
    {
      ...{ addresses: ['1', '2', '3', '4'].map(addressOf), addressCount: 100, topics: [], topicCount: 0 },
      ranges: [range(100, 199), range(250, 999)],
    },
    {
      ...{ addresses: [], addressCount: 0, topics: [`0x${'d'.repeat(64)}`], topicCount: 1 },
      ranges: [range(7, 7)],
    },
  ],
  filling: {
    ...{ addresses: [addressOf('5')], addressCount: 1, topics: [], topicCount: 0 },
    ...{ from: 200, to: 249, next: 230 },
  },
}
const PLAIN = { ...BUSY, redecoding: undefined, waiting: undefined, error: null, endpoints: [] }
const CLUSTER = { state: 'yellow', version: 'OpenSearch 3.3.2', nodes: 3 }
const PLACES = [
  { ...PLAIN, network: 'a/in/file' },
  {
    ...{ ...PLAIN, network: 'a/in/cluster', cluster: { ...CLUSTER, indices: 'chainsieve-a-in-cluster-*' } },
    shipping: { blocksLeft: 1_200, trouble: HOSTILE.slice(0, 500), troubleSince: AT },
  },
  {
    ...{ ...PLAIN, network: 'a/goes/there', shipping: { blocksLeft: 5, trouble: null, troubleSince: null } },
    moving: { to: 'opensearch', blocks: 100, shipped: 80, verified: 0 },
  },
  {
    ...{ ...PLAIN, network: 'a/comes/back', shipping: { blocksLeft: 0, trouble: 'no room', troubleSince: AT } },
    moving: { to: 'sqlite', blocks: 100, shipped: 80, verified: 70 },
  },
]
const BUSY_STATUS = {
  version: '1.2.3',
  networks: [BUSY],
  reasons: [{ type: 'nodes_failing', network: BUSY.network, since: AT, reason: 'no node answers' }],
}
const RATES = {
  everyMs: 10_000,
  networks: [
    {
      network: BUSY.network,
      samples: [10, 20, null, 12, 12].map((blocksPerSecond, i) => ({
        ...{
          at: new Date(Date.parse(AT) + i * 10_000).toISOString(),
          blocksPerSecond,
          eventsPerSecond: blocksPerSecond === null ? 5 : 100,
          lag: 5,
        },
      })),
    },
  ],
}

const DESTINATIONS = {
  complete: false,
  destinations: [
    {
      ...{ channel: 'Webhook (POST)', target: 'https://example.com/hook', waiting: 0, retried: 2, dead: 3, nextAt: AT },
      failing: { since: AT, at: AT, error: HOSTILE, status: 500 },
    },
    { channel: 'Email', target: HOSTILE, waiting: 1, retried: 0, dead: 0, nextAt: AT, failing: null },
  ],
}
const delivery = (id: number) => ({
  ...{ id, network: BUSY.network, alert: 'a', type: 'alert.confirmed', rule: 1, action: 0 },
  ...{ channel: 'Webhook (POST)', target: 'https://example.com/hook', state: 'dead', tries: 9, nextAt: null },
  ...{ createdAt: AT, deliveredAt: null, lastStatus: 500, lastError: HOSTILE },
})
const ATTEMPT = {
  ...{ n: 1, at: AT, latencyMs: 12, outcome: 'failed', status: 500 },
  ...{ error: HOSTILE, head: HOSTILE, nextAt: AT, combined: 1 },
}
