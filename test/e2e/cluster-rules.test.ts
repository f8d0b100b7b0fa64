import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { storeFile } from '../../src/engine/files.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { startReceiver } from '../support/receiver.ts'
import { demoBlocks } from '../support/store.ts'
import { after, type Server, serve, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
/** Blocks above are new while rules look at them. */
const STORED = 380
const blocks = demoBlocks()

const event = (name: string, ...more: object[]) => ({
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: name }, ...more],
})
const method = (name: string) => ({
  targetType: 'Method',
  targetMap: [{ name: 'method', operator: 'Equals', value: name }],
})
const logs = { targetType: 'Log', targetMap: [{ name: 'logIndex', operator: 'Less', value: '2' }] }
const failed = { targetType: 'Transaction', targetMap: [{ name: 'status', operator: 'Equals', value: 'false' }] }
const count = (operator: string, value: string) => ({ aggregate: 'Count', operator, value })

const RULES: Readonly<Record<string, object>> = {
  'without windows': event('OwnershipTransferred'),
  count: { ...failed, when: { within: { blocks: 60 }, conditions: [count('Greater or Equal', '8')] } },
  relative: {
    ...failed,
    when: { within: { blocks: 10 }, conditions: [{ ...count('Greater', '2'), relativeTo: { windows: 8 } }] },
    notify: { resolved: true },
  },
  distinct: {
    ...event('Transfer'),
    when: {
      ...{ by: ['args.from'], within: { blocks: 120 } },
      conditions: [{ aggregate: 'Distinct', name: 'args.to', operator: 'Greater or Equal', value: '5' }],
    },
    notify: { resolved: true, again: { after: { blocks: 20 } } },
  },
  sum: {
    ...event('Swap'),
    when: {
      ...{ by: ['address'], within: { seconds: 900 } },
      conditions: [
        { aggregate: 'Sum', name: 'args.amount0In', operator: 'Greater', value: '1000' },
        { aggregate: 'Average', name: 'args.amount1Out', operator: 'Greater', value: '1' },
        { aggregate: 'Maximum', name: 'args.amount0Out', operator: 'Greater or Equal', value: '0' },
      ],
      hold: { blocks: 2 },
      resolve: [count('Less', '2')],
    },
  },
  silence: {
    ...method('deposit'),
    when: { within: { blocks: 12 }, conditions: [count('Less', '1')] },
    notify: { resolved: true },
  },
  first: {
    ...method('transfer'),
    when: { within: { blocks: 12 }, conditions: [{ aggregate: 'First', name: 'from' }] },
  },
  steps: {
    ...event('Deposit'),
    when: { steps: [{ by: ['address'] }, { ...event('Withdrawal'), by: ['address'] }], within: { blocks: 90 } },
  },
  missing: {
    ...method('approve'),
    when: {
      steps: [{ by: ['from'] }, { ...event('Transfer'), by: ['args.from'], missing: true }],
      ...{ within: { blocks: 4 }, until: { ...failed, by: ['from'] } },
    },
  },
  // Of several kinds, whose order in a block transactions tell.
  kinds: {
    ...{ targetType: 'Transaction', targetMap: [{ name: 'status', operator: 'Equals', value: 'true' }] },
    when: {
      steps: [{ by: ['hash'] }, { ...logs, by: ['transactionHash'] }, { ...event('Sync'), by: ['transactionHash'] }],
      within: { blocks: 3 },
    },
  },
}

/** From which block on the rules with windows know the matches, once their windows are filled after block `STORED`. */
const FILLED_FROM = [322, 292, 262, 306, 370, 370, 292, 377, 379]

/** Alerts of the rule without windows, in all blocks. */
const OLD_AND_NEW = 10

const ruleOf = (name: string, config: object, receiver = 'https://example.org') => ({
  ...{ name, maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'made-up', network: 'mainnet' },
  config: { ...config, alerts: [{ type: 'Webhook (POST)', parameters: { url: `${receiver}/hook` } }] },
})

/** Two servers that follow one node, with the same older blocks: in a file, and in a cluster. */
test('rules with windows and steps find the same in a cluster as in a file, in back-tests and where windows are filled', {
  skip: withoutOpenSearch,
  timeout: 600_000,
}, async t => {
  const { url, stop } = await runOpenSearch()
  after(t, stop)
  const prefix = `rules-${randomBytes(6).toString('hex')}`
  after(t, () => removeIndices(url, prefix))
  const node = await startNode({ after: fn => after(t, fn) }, blocks)
  node.methods.set('eth_call', () => '0x')
  node.methods.set('eth_getCode', () => '0x')
  node.head = STORED - 1
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const folder = tempFolder(t)
  const pack = writePack(join(folder, 'pack.ndjson'), blocks.slice(0, STORED))
  const cluster = ['--opensearch-url', url, '--opensearch-prefix', prefix, '--opensearch-replicas', '0']
  const begin = async (kept: 'sqlite' | 'opensearch') => {
    const data = join(folder, kept)
    const place = ['--network', NETWORK, '--store', kept, ...(kept === 'sqlite' ? [] : cluster)]
    await succeed(t, ['import', ...place, '--store-batch', '40', pack], { data })
    const following = [
      '--rpc',
      node.url,
      '--finality',
      '8',
      '--poll-interval',
      '50ms',
      '--allow-target',
      '127.0.0.1/32',
    ]
    const server = await serve(t, data, [...place, ...following])
    return { server, path: storeFile(data, NETWORK) }
  }
  const [file, remote] = [await begin('sqlite'), await begin('opensearch')]
  const servers = [file.server, remote.server]
  const both = async <T>(ask: (server: Server, path: string) => Promise<T>) => [
    await ask(file.server, file.path),
    await ask(remote.server, remote.path),
  ]
  const rows = (path: string, sql: string) => {
    const db = new Database(path, { readonly: true })
    try {
      return db.prepare(sql).all()
    } finally {
      db.close()
    }
  }
  const emptied = 'SELECT 1 FROM segment WHERE emptied = 1'
  await until(
    () => rows(remote.path, emptied).length,
    length => length > 0,
    remote.server.err,
  )

  for (const [name, config] of Object.entries(RULES))
    for (const range of [{}, { fromBlock: 100, toBlock: 250 }, { lastBlocks: 70, size: 300, buckets: 7 }]) {
      const [found, same] = await both(({ ask }) =>
        ask<Simulated>('/alerting/rules/simulate/', { ...ruleOf(name, config), ...range }),
      )
      const { total, alerts, warnings } = found!.body
      assert.deepEqual([found!.status, warnings], [200, []], `${name}: ${JSON.stringify(found!.body)}`)
      t.diagnostic(`${name} ${JSON.stringify(range)}: ${total} matches, ${alerts} alerts`)
      assert.deepEqual(same, found, `${name} ${JSON.stringify(range)}`)
      if (Object.keys(range).length === 0) assert.ok(alerts! > 0, name)
    }

  const created = await both(async ({ ask }) => {
    const ids = []
    for (const [name, config] of Object.entries(RULES)) {
      const rule = { ...ruleOf(name, config, receiver.url), startBlock: 0 }
      const { status, body } = await ask<{ id: number }>('/alerting/rules/', rule)
      assert.equal(status, 201, JSON.stringify(body))
      ids.push(body.id)
    }
    return ids
  })
  assert.deepEqual(created[1], created[0])
  const follow = async (head: number) => {
    node.head = head
    for (const server of servers) await untilIs(() => server.total(NETWORK, 'block'), head + 1, server.err)
  }
  await follow(STORED)
  const windows = 'SELECT rule, since, upto, refused FROM rule_window ORDER BY rule'
  const filled = FILLED_FROM.map((since, i) => ({ rule: created[0]![i + 1], since, upto: STORED, refused: 0 }))
  await both((server, path) =>
    until(
      () => rows(path, windows),
      states => isDeepStrictEqual(states, filled),
      server.err,
    ),
  )
  await follow(blocks.length - 1)
  for (const [i, name] of Object.keys(RULES).entries()) {
    const alertsOf = async ({ ask }: Server) => {
      const { body } = await ask<{ alerts: Alert[] }>(`/alerting/rules/${created[0]![i]}/alerts/?size=1000`)
      const found = body.alerts.map(({ id, state, block, entity, when }) => ({ id, state, block, entity, when }))
      return found.sort((a, b) => (a.id < b.id ? -1 : 1))
    }
    // Its older alerts come meanwhile.
    if (i === 0) for (const server of servers) await untilIs(async () => (await alertsOf(server)).length, OLD_AND_NEW)
    const [found, same] = await both(alertsOf)
    t.diagnostic(`${name}: ${found!.length} alerts`)
    assert.deepEqual(same, found, name)
    assert.ok(found!.length > 0, name)
  }
})

interface Alert {
  id: string
  state: string
  block: number
  entity: object
  when?: object
}

interface Simulated {
  total: number
  alerts: number | null
  warnings: string[]
}

const removeIndices = async (url: string, prefix: string) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
  for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
  await cluster.close()
}
