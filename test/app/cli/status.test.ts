import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerStatus } from '../../../src/ingest/status/status.ts'
import { chainsieve, said } from './support.ts'

const STATUS: ServerStatus = {
  version: '1.2.3',
  reasons: [],
  networks: [
    {
      network: 'a/b/c',
      state: 'filling',
      ranges: [
        { from: 1, to: 1 },
        { from: 17_000_000, to: 17_001_000 },
        { from: 17_001_002, to: 17_001_002 },
      ],
      head: 17_001_012,
      lag: 10,
      lastBlock: { number: 17_001_002, time: '2026-03-01T00:00:00.000Z', receivedAt: '2026-03-01T00:00:03.000Z' },
      headAge: 15,
      blockTime: 12,
      blocksPerSecond: 1_234.5,
      eventsPerSecond: 2.25,
      secondsLeft: 8_000,
      error: null,
      endpoints: [
        {
          url: 'https://x/[secret]',
          requests: 1_000,
          errors: 1,
          lastError: 'timed out',
          lastErrorAt: '2026-03-01T00:00:00Z',
        },
        { url: 'https://y', requests: 0, errors: 0, lastError: null, lastErrorAt: null },
        {
          ...{ url: 'https://z', requests: 9, errors: 0, lastError: null, lastErrorAt: null },
          ...{ responseMs: { median: 8_003, p95: 8_090 }, slow: true },
        },
      ],
      alerts: { Event: { pending: 2, confirmed: 1, withdrawn: 1, retracted: 0, resolved: 0 } },
      redecoding: { abi: 'Token', blocksLeft: 12_345 },
    },
    {
      ...{
        network: 'd/e/f',
        state: 'stopped',
        ranges: [],
        head: null,
        lag: null,
        lastBlock: null,
        headAge: null,
        blockTime: null,
        secondsLeft: null,
        endpoints: [],
        alerts: {},
      },
      ...{ blocksPerSecond: null, eventsPerSecond: null, error: 'the chain was reorganised deeper than 64 blocks' },
    },
  ],
}

test('status tells that a node is on another branch', async () => {
  const [, stopped] = STATUS.networks
  const node = { url: 'https://x', requests: 2, errors: 0, lastError: null, lastErrorAt: null }
  const otherBranch = { number: 212, hash: '0x12', since: '2026-03-01T00:00:00Z' }
  const status = async (): Promise<ServerStatus> => ({
    version: '1.2.3',
    networks: [{ ...stopped!, endpoints: [{ ...node, head: 214, otherBranch }] }],
  })
  const { out } = await chainsieve(['status'], { status })
  assert.match(out, /x: 2 requests, is on another branch since 2026-03-01T00:00:00Z \(block 212 is 0x12\), 0 errors$/m)
})

test('status tells what is left of budgets, and until when a back-fill waits for them', async () => {
  const [, stopped] = STATUS.networks
  const node = { requests: 2, errors: 0, lastError: null, lastErrorAt: null }
  const period = { used: 2_999_000, left: 1_000, endsAt: '2026-03-02T00:00:00Z' }
  const status = async (): Promise<ServerStatus> => ({
    version: '1.2.3',
    networks: [
      {
        ...{ ...stopped!, error: null, state: 'waiting' },
        waiting: {
          ...{ kind: 'fill', for: 'credits of https://x/[secret]: what is left is kept for the head' },
          ...{ since: '2026-03-01T00:00:00Z', until: '2026-03-02T00:00:00Z' },
        },
        endpoints: [
          {
            ...{ ...node, url: 'https://x/[secret]' },
            budget: { costs: 'infura', rate: '500 credits/s', spent: 9, day: { limit: 3_000_000, ...period } },
          },
          {
            ...{ ...node, url: 'https://y' },
            budget: { costs: 'calls', spent: 9, month: { limit: 4_000_000, ...period, left: 0 } },
          },
        ],
      },
    ],
  })
  const { out } = await chainsieve(['status'], { status })
  assert.deepEqual(
    out.split('\n').filter(line => /budget|waits/.test(line)),
    [
      '  budget  https://x/[secret]: 1,000 of 3,000,000 credits left today, at most 500 credits/s, at the prices of infura',
      '  budget  https://y: 0 of 4,000,000 calls left this month',
      '  waits   since 2026-03-01T00:00:00Z until 2026-03-02T00:00:00Z for credits of https://x/[secret]: what is left is kept for the head',
    ],
  )
})

test('status tells what is waited for, what was started again, and which receivers fail', async () => {
  const restarts = {
    count: 2,
    error: 'no such table: tx',
    endedAt: '2026-03-01T00:00:00Z',
    nextAt: '2026-03-01T00:01:00Z',
  }
  const [, stopped] = STATUS.networks
  const status = async (): Promise<ServerStatus> => ({
    version: '1.2.3',
    reasons: [
      { type: 'nodes_failing', network: 'd/e/f', since: '2026-03-01T00:00:00Z', reason: 'none of its nodes answers' },
      { type: 'readers_lost', reason: 'no thread for longer queries can be started' },
    ],
    networks: [
      {
        ...stopped!,
        state: 'waiting',
        waiting: { kind: 'node', for: 'a node that answers', since: '2026-03-01T00:00:00Z' },
      },
      { ...stopped!, network: 'g/h/i', state: 'restarting', error: restarts.error, restarts },
    ],
    deliveries: {
      state: 'delivering',
      error: null,
      restarts: { ...restarts, nextAt: null },
      failing: [
        {
          ...{
            account: 1,
            rule: 7,
            channel: 'Chat',
            receiver: 'https://chat.example/~1',
            target: 'https://chat.example/…',
            error: 'HTTP 500\n',
            status: 500,
          },
          ...{ since: '2026-03-01T00:00:00Z', at: '2026-03-01T00:00:09Z' },
        },
      ],
    },
  })
  const { out } = await chainsieve(['status'], { status })
  const told = out.split('\n').filter(line => !/^ {2}(blocks|holes)/.test(line))
  assert.deepEqual(told, [
    'The server is not ready, and a receiver of alerts has accepted nothing since 2026-03-01T00:00:00Z',
    '  d/e/f   nodes_failing since 2026-03-01T00:00:00Z: none of its nodes answers',
    '          readers_lost: no thread for longer queries can be started',
    '',
    'd/e/f',
    '  state   waiting',
    '  waits   since 2026-03-01T00:00:00Z for a node that answers',
    '',
    'g/h/i',
    '  state   restarting',
    '  error   no such table: tx',
    '  failed  2 times, last at 2026-03-01T00:00:00Z, is started again at 2026-03-01T00:01:00Z',
    '',
    'deliveries',
    '  failed  2 times, last at 2026-03-01T00:00:00Z',
    '  failing since 2026-03-01T00:00:00Z: https://chat.example/… of rule 7: HTTP 500',
    '',
  ])
})

test('status tells of failing receivers on its first line', async () => {
  const receiver = { account: 1, rule: 7, channel: 'Chat', receiver: '', target: 'https://chat.example/…', error: 'no' }
  const since = '2026-03-01T00:00:00Z'
  const one = { ...receiver, status: null, since, at: since }
  const firstLine = async (failing: (typeof one)[]) => {
    const deliveries = { state: 'delivering' as const, error: null, failing }
    const status = async (): Promise<ServerStatus> => ({ version: '1', reasons: [], networks: [], deliveries })
    const [shown, json] = [await chainsieve(['status'], { status }), await chainsieve(['status', '--json'], { status })]
    assert.deepEqual(JSON.parse(json.out).deliveries.failing, failing)
    return shown.out.split('\n')[0]
  }
  assert.equal(await firstLine([]), 'The server is ready.')
  assert.equal(
    await firstLine([one]),
    `The server is ready, but a receiver of alerts has accepted nothing since ${since}.`,
  )
  assert.equal(
    await firstLine([one, { ...one, rule: 8 }]),
    `The server is ready, but 2 receivers of alerts fail, the first since ${since}.`,
  )
})

test('status tells of each network', async () => {
  const status = async () => STATUS
  assert.deepEqual(
    await chainsieve(['status'], { status }),
    said(`The server is ready.

a/b/c
  state   filling
  blocks  1 (1 block), 17000000-17001000 (1,001 blocks), 17001002 (1 block)
  holes   2-16999999 (16,999,998 blocks), 17001001 (1 block)
  last    17001002 of 2026-03-01T00:00:00Z, 15 s ago
  head    17001012, 10 blocks behind
  speed   1,235 blocks/s, 2.3 events/s, 2 h 13 min left
  node    https://x/[secret]: 1,000 requests, answers now, 1 error, the last at 2026-03-01T00:00:00Z: timed out
  node    https://y: 0 requests, 0 errors
  node    https://z: 9 requests, slow: answers in 8,003 ms (median; p95 8,090 ms), 0 errors
  anew    decoded by Token, 12,345 blocks left

d/e/f
  state   stopped
  blocks  none
  holes   none
  error   the chain was reorganised deeper than 64 blocks
`),
  )
  assert.deepEqual(JSON.parse((await chainsieve(['status', '--json'], { status })).out), STATUS)
  const none = await chainsieve(['status'], { status: async () => ({ version: '1.2.3', networks: [] }) })
  assert.equal(none.out, 'No server runs on this folder. It stores:\n\nNo network is configured or stored.\n')
  const silent = await chainsieve(['status'], { status: async () => ({ version: '1', networks: [], silent: true }) })
  assert.match(silent.out, /^A server runs on this folder, but has not published its status yet. It stores:\n/)
  const ranges = Array.from({ length: 1_000 }, (_, i) => ({ from: i * 2, to: i * 2 }))
  const sparse = await chainsieve(['status'], {
    status: async () => ({ ...STATUS, networks: [{ ...STATUS.networks[1]!, ranges }] }),
  })
  assert.match(sparse.out, /blocks {2}980 older ones, 1960 \(1 block\), 1962 .* 1998 \(1 block\)\n/)
})
