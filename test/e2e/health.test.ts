import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openAccounts } from '../../src/accounts/index.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { Reason } from '../../src/ingest/status/readiness.ts'
import { openSecrets } from '../../src/rules/webhook-secrets.ts'
import { type Family, parseExposition } from '../support/exposition.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, chainsieve, pause, type Server, serve, start, tempFolder, until, writePack } from './program.ts'

const NETWORK = 'ethereum/test/net'
const root = new URL('../../', import.meta.url)

/** Prometheus's own checker, in Debian's package prometheus. */
const promtool = [process.env.PROMTOOL, 'promtool'].find(
  path => path !== undefined && spawnSync(path, ['--version']).status === 0,
)

interface Ready {
  status: number
  reasons: Reason[]
}

const readyOf = async ({ url }: Server): Promise<Ready> => {
  const response = await fetch(`${url}/ready`)
  const { reasons } = (await response.json()) as Pick<Ready, 'reasons'>
  return { status: response.status, reasons }
}

const metricsOf = async ({ url }: Server): Promise<Map<string, Family>> =>
  parseExposition(await (await fetch(`${url}/metrics`)).text())

const sampleOf = (families: Map<string, Family>, name: string, labels: Record<string, string> = {}) =>
  families
    .get(name)
    ?.samples.find(sample => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))?.value

/** A chain that a block is added to now and then. */
const liveChain = (node: FakeNode) => {
  let last = node.blocks.get(node.head) as RawBlock
  return () => {
    const [next] = makeChain({ blocks: 1, parent: last }) as [RawBlock]
    last = next
    node.extend([next])
  }
}

const setUpNode = (t: TestContext) => startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 12 }))

/** A port that nobody listens on. */
const closedPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

const putRule = async (server: Server, url: string): Promise<number> => {
  const rule = ruleOn(NETWORK, ['Block', 'number', 'Greater', '0'], [webhookTo(url)])
  const { status, body } = await server.ask<{ id: number }>('/alerting/rules/', rule)
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

const held = (server: Server, blocks: number) =>
  until(
    () => server.total(NETWORK, 'block'),
    total => total >= blocks,
    server.err,
  )

/** Planted where a program may come to repeat them. */
const SECRETS = {
  nodeKey: 'NODEKEY-0123456789abcdef',
  nodeQuery: 'QUERYKEY-0123456789abcdef',
  nodeUser: 'NODEUSER-0123456789',
  nodePassword: 'NODEPASS-0123456789',
  hookKey: 'HOOKKEY-0123456789abcdef',
  hookQuery: 'HOOKQUERY-0123456789abcdef',
  hookUser: 'HOOKUSER-0123456789',
  hookPassword: 'HOOKPASS-0123456789',
  smtpPassword: 'SMTPPASS-0123456789',
  token: 'cs_WRONGTOKEN-0123456789',
}

test('a server tells how it is by /ready, status, metrics and log, and none of its secrets', async t => {
  const node = await setUpNode(t)
  const extend = liveChain(node)
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const data = tempFolder(t)
  const { nodeKey, nodeQuery, nodeUser, nodePassword, smtpPassword } = SECRETS
  const { port } = new URL(node.url)
  const rpc = `http://${nodeUser}:${nodePassword}@127.0.0.1:${port}/v3/${nodeKey}?apikey=${nodeQuery}`
  const server = await serve(t, data, [
    ...[
      '--network',
      NETWORK,
      '--rpc',
      rpc,
      '--rpc',
      `http://127.0.0.1:${await closedPort()}/v3/${nodeKey}`,
      '--rpc-daily',
      '1B',
    ],
    ...['--poll-interval', '50ms', '--allow-target', '127.0.0.0/8', '--log-requests', '--delivery-retries', '1s'],
    ...['--smtp', `smtp://user:${smtpPassword}@127.0.0.1:1`],
  ])
  await held(server, 12)
  const { hookKey, hookQuery, hookUser, hookPassword } = SECRETS
  const hook = (url: string) =>
    `${url.replace('//', `//${hookUser}:${hookPassword}@`)}/services/${hookKey}?key=${hookQuery}`
  const good = await putRule(server, `${receiver.url}/hook`)
  const bad = await putRule(server, hook(`http://127.0.0.1:${await closedPort()}`))
  await until(
    async () => {
      extend()
      await pause(200)
      return receiver.calls.length
    },
    calls => calls > 0,
    server.err,
  )

  await t.test('a webhook that nobody takes is told within a minute', async () => {
    const { deliveries } = await until(
      () => server.status(),
      ({ deliveries }) => deliveries!.failing.length > 0,
      server.err,
    )
    const [{ account: _, since: __, at: ___, receiver: ____, target, error, ...failing }] = deliveries!
      .failing as never as [Record<string, unknown>]
    assert.deepEqual(failing, { rule: bad, channel: 'Webhook (POST)', status: null })
    assert.match(String(error), /refused the connection/)
    assert.match(String(target), /^http:\/\/127\.0\.0\.1:\d+\//)
    const metrics = await until(
      () => metricsOf(server),
      families => sampleOf(families, 'chainsieve_receivers_failing', { channel: 'Webhook (POST)' }) === 1,
      server.err,
    )
    assert.equal(sampleOf(metrics, 'chainsieve_receivers_failing', { channel: 'Chat' }), 0)
    assert.match(server.err(), /A receiver does not accept deliveries/)
    // It is its owner's affair.
    assert.deepEqual(await readyOf(server), { status: 200, reasons: [] })
  })

  let running: Map<string, Family>
  await t.test('metrics are in the format, and tell what happened', async () => {
    await server.total(NETWORK, 'block')
    await server.ask(`/${NETWORK}/es/block/search/`, '{"size": "no"}')
    running = await until(
      () => metricsOf(server),
      families => (sampleOf(families, 'chainsieve_queries_total', { outcome: 'refused' }) ?? 0) > 0,
    )
    const of = (name: string, labels?: Record<string, string>) => sampleOf(running, name, labels)!
    const network = NETWORK
    assert.equal(of('chainsieve_ready'), 1)
    assert.equal(of('chainsieve_network_state', { network, state: 'following' }), 1)
    assert.equal(of('chainsieve_head_block', { network }), node.head)
    assert.equal(of('chainsieve_documents', { network, entity: 'block' }) > 11, true)
    assert.equal(of('chainsieve_block_time_seconds', { network }), 12)
    assert.ok(of('chainsieve_rpc_requests_total', { endpoint: `127.0.0.1:${port}`, outcome: 'ok' }) > 3)
    assert.ok(of('chainsieve_deliveries_total', { channel: 'Webhook (POST)', outcome: 'delivered' }) > 0)
    assert.ok(of('chainsieve_matcher_blocks_total', { network }) > 0)
    assert.ok(of('chainsieve_alerts_total', { target: 'Block', state: 'confirmed' }) > 0)
    assert.ok(of('chainsieve_store_write_duration_seconds', { network, what: 'batch', le: '+Inf' }) > 0)
  })

  await t.test(
    'promtool takes the metrics and the alert rules',
    { skip: !promtool && 'there is no promtool' },
    async () => {
      const input = await (await fetch(`${server.url}/metrics`)).text()
      const rules = fileURLToPath(new URL('docs/deploy/chainsieve-alerts.yml', root))
      const checked = [
        spawnSync(promtool!, ['check', 'metrics'], { input }),
        spawnSync(promtool!, ['check', 'rules', rules]),
      ]
      for (const { status, stdout, stderr } of checked) assert.equal(status, 0, `${stdout}${stderr}`)
    },
  )

  await t.test('the dashboard and the alerts ask for metrics and labels that there are', () => {
    const expressions = expressionsOf()
    assert.ok(expressions.length > 45, `${expressions.length}`)
    for (const { where, text } of expressions) checkExpression(text, where, running)
    assert.throws(() => checkExpression('sum by (chanel) (chainsieve_deliveries_total)', 'x', running), /chanel/)
    assert.throws(() => checkExpression('chainsieve_deliveries{channel="x"}', 'x', running), /chainsieve_deliveries/)
    assert.throws(() => checkExpression('chainsieve_dead_letters{channel="x"}', 'x', running), /channel/)
  })

  await t.test('docs/handbook.md lists the metrics, as they say what they mean', () => {
    const page = readFileSync(new URL('docs/handbook.md', root), 'utf8')
    const told = new Map(
      Array.from(page.matchAll(/^\| `([a-z_]+)` \| ([a-z]+) \| (.*?) \| (.*) \|$/gm), ([, name, ...rest]) => [
        name!,
        rest,
      ]),
    )
    const due = new Map(
      [...running.values()].map(({ name, type, help, samples }) => [
        name,
        [
          type,
          labelsOf(samples)
            .map(label => `\`${label}\``)
            .join(', '),
          help,
        ],
      ]),
    )
    // There is one only while the server is not ready.
    const rows = [...due].map(([name, cells]) => `| \`${name}\` | ${cells.join(' | ')} |`).join('\n')
    for (const [name, cells] of due) assert.deepEqual(told.get(name), cells, `the page should have:\n${rows}`)
    for (const name of told.keys()) assert.ok(due.has(name) || name === 'chainsieve_not_ready', name)
  })

  await t.test('a dead node is told before blocks are overdue', async () => {
    await node.stop()
    const { status, reasons } = await until(
      () => readyOf(server),
      ready => ready.status === 503,
      server.err,
    )
    assert.equal(status, 503)
    // Blocks are overdue after three block times: then there are two reasons.
    assert.deepEqual(
      reasons.map(({ type, network }) => [type, network]),
      [['nodes_failing', NETWORK]],
    )
    const { networks, reasons: same } = await server.status()
    assert.equal(networks[0]!.state, 'waiting')
    assert.equal(networks[0]!.waiting?.kind, 'node')
    assert.deepEqual(same, reasons)
    const metrics = await until(
      () => metricsOf(server),
      families => sampleOf(families, 'chainsieve_ready') === 0,
    )
    assert.equal(sampleOf(metrics, 'chainsieve_not_ready', { type: 'nodes_failing', network: NETWORK }), 1)
    assert.equal(sampleOf(metrics, 'chainsieve_rpc_endpoint_up', { endpoint: `127.0.0.1:${port}` }), 0)
    await server.says(/Is not ready.*nodes_failing/)
    await server.says(/The node gives no usable answer/)
    const { out } = await chainsieve(t, ['status'], { data })
    assert.match(
      out,
      /^The server is not ready, and a receiver of alerts has accepted nothing since \S+\n {2}ethereum\/test\/net nodes_failing since/,
    )
    await node.start()
    await until(
      () => readyOf(server),
      ready => ready.status === 200,
      server.err,
    )
    await server.says(/Is ready again/)
  })

  await t.test('no secret is told to anybody who need not know it', async () => {
    const accounts = openAccounts(data)
    const secrets = openSecrets(data)
    const [signing = ''] = secrets.current(1)
    secrets.close()
    accounts.close()
    assert.ok(signing.length > 20)
    // What is looked for below was really given.
    const { body: rule } = await server.ask(`/alerting/rules/${bad}/`)
    for (const part of [hookKey, hookQuery, hookUser, hookPassword]) assert.ok(JSON.stringify(rule).includes(part))
    assert.ok(node.headers.authorization?.endsWith(Buffer.from(`${nodeUser}:${nodePassword}`).toString('base64')))
    const told: Record<string, string> = {}
    const ask = async (path: string, headers: Record<string, string> = { authorization: `Bearer ${server.token}` }) => {
      const response = await fetch(server.url + path, { headers })
      told[`${path} ${JSON.stringify(Object.keys(headers))}`] =
        `${JSON.stringify([...response.headers])} ${await response.text()}`
    }
    await ask('/status')
    await ask('/metrics')
    await ask('/ready', {})
    for (const rule of [good, bad]) await ask(`/alerting/rules/${rule}/alerts/`)
    await ask('/status', { authorization: `Bearer ${SECRETS.token}` })
    await ask(`/status?access_token=${SECRETS.token}`, {})
    await ask(`/status?access_token=${server.token}`, {})
    await ask(`/nothing/here?access_token=${server.token}`, {})
    const { body } = await server.ask(`/alerting/rules/${bad}/test/`, {})
    told.test = JSON.stringify(body)
    const published = readFileSync(join(data, 'status.json'), 'utf8')
    const { out, err } = await chainsieve(t, ['status', '--json'], { data })
    Object.assign(told, { published, out, err })
    server.signal('SIGTERM')
    const ended = await server.ended
    Object.assign(told, { log: ended.err, stdout: ended.out })
    assert.equal(ended.code, 0)
    assert.ok(ended.err.includes('Answered a request'))
    const all = { ...SECRETS, signing, good: server.token }
    for (const [where, text] of Object.entries(told))
      for (const [name, secret] of Object.entries(all))
        for (const form of [secret, Buffer.from(secret).toString('base64')])
          assert.ok(!text.includes(form), `${name} is told in ${where}: ${around(text, form)}`)
  })
})

const around = (text: string, part: string) => {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 200), at + part.length + 50)
}

const labelsOf = (samples: Family['samples']) =>
  [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))].filter(label => label !== 'le')

/** What Prometheus is asked, by the dashboard and by the alerts. */
const expressionsOf = (): { where: string; text: string }[] => {
  const read = (name: string) => readFileSync(new URL(`docs/deploy/${name}`, root), 'utf8')
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { title: string; targets: { expr: string }[] }[]
  }
  const alerts = Array.from(read('chainsieve-alerts.yml').matchAll(/- alert: (\w+)\n\s+expr: (.*)/g), it => ({
    where: it[1]!,
    text: it[2]!,
  }))
  return [
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, text: expr }))),
    ...alerts,
  ]
}

/** Each metric is there with the labels that are chosen and grouped by. `up` and `job` are Prometheus's own. */
const checkExpression = (text: string, where: string, running: Map<string, Family>) => {
  const metrics = [...text.matchAll(/\b((?:chainsieve|process|nodejs)_[a-z_]+)(?:\{([^}]*)\})?/g)]
  if (!text.startsWith('up{')) assert.ok(metrics.length > 0, `${where} asks for no metric: ${text}`)
  const grouped = Array.from(text.matchAll(/by \(([^)]*)\)/g), it => it[1]!.split(', ')).flat()
  for (const [, name = '', selectors = ''] of metrics) {
    if (name === 'chainsieve_not_ready') continue
    const family = running.get(name) ?? running.get(name.replace(/_bucket$/, ''))
    assert.ok(family, `${where} asks for ${name}, which is not there`)
    assert.equal(name.endsWith('_bucket'), family.type === 'histogram', `${where}: ${name}`)
    const known = new Set([...labelsOf(family.samples), 'job', 'instance', ...(name.endsWith('_bucket') ? ['le'] : [])])
    const chosen = Array.from(selectors.matchAll(/([a-z_]+)(?:=~|!=|!~|=)"/g), it => it[1]!)
    for (const label of [...chosen, ...grouped])
      assert.ok(known.has(label), `${where} asks ${name} for its ${label}, which it has not`)
  }
}

test('a node that answers and has no new block is told, and so is its next block', async t => {
  const node = await setUpNode(t)
  const extend = liveChain(node)
  const args = ['--network', NETWORK, '--rpc', node.url, '--poll-interval', '50ms', '--stale-after', '2s']
  const server = await serve(t, tempFolder(t), args)
  await held(server, 12)
  const { reasons } = await until(
    () => readyOf(server),
    ({ status }) => status === 503,
    server.err,
  )
  assert.deepEqual(
    reasons.map(({ type, network }) => [type, network]),
    [['no_new_block', NETWORK]],
  )
  const [network] = (await server.status()).networks
  assert.equal(network!.state, 'waiting')
  assert.match(network!.error!, /^a new block \(the last one was 11; the chain makes one every 12 s\)$/)
  assert.deepEqual([network!.lastBlock?.number, network!.lag, network!.blockTime], [11, 0, 12])
  await server.says(/Is not ready type=no_new_block/)
  extend()
  await until(
    () => readyOf(server),
    ({ status }) => status === 200,
    server.err,
  )
  assert.equal((await server.status()).networks[0]!.lastBlock?.number, 12)
})

test('status of a folder without data fails and names the folder; a network without a node is refused, or told', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'nowhere')
  const { code, out, err } = await chainsieve(t, ['status'], { data })
  assert.deepEqual([code, out], [1, ''])
  assert.match(
    err,
    /^chainsieve: there is no data in \S+\/nowhere, and no server runs on it: name the folder with --data/,
  )
  assert.equal(existsSync(data), false)

  const refused = await chainsieve(t, ['serve', '--network', NETWORK, '--port', '0'], { data })
  assert.equal(refused.code, 1)
  assert.match(refused.err, /ethereum\/test\/net has no node, and .* stores none of its blocks: add --rpc URL/)

  const pack = writePack(join(folder, 'blocks.ndjson'), makeChain({ blocks: 3 }))
  assert.equal((await chainsieve(t, ['import', '--network', NETWORK, pack], { data })).code, 0)
  const server = await serve(t, data, ['--network', NETWORK])
  assert.match(server.err(), /A network has no node: serves its stored blocks, and no new blocks come network=\S+/)
  assert.deepEqual(await readyOf(server), { status: 200, reasons: [] })
  const [network] = (await server.status()).networks
  assert.deepEqual([network!.state, network!.lastBlock?.number], ['serving', 2])
})

test('an index or an import that fails or is stopped tells what is missing, and leaves no empty store', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const files = () => globSync('networks/*', { cwd: data })
  const bad = join(folder, 'bad.ndjson')
  writeFileSync(bad, '{}\n')
  const broken = await chainsieve(t, ['import', '--network', NETWORK, bad], { data })
  assert.equal(broken.code, 1)
  assert.match(broken.err, /^chainsieve: .*bad\.ndjson, line 1, at /m)
  assert.deepEqual(files(), [])

  const node = await setUpNode(t)
  const other = await chainsieve(t, ['index', '--network', NETWORK, '--rpc', node.url, '--from', '90'], { data })
  assert.match(other.err, /there are no blocks from 90 to 11/)
  assert.deepEqual([other.code, other.out, files()], [1, '', []])

  // Above block 7 the node does not answer.
  node.trouble = calls => (calls.some(({ params: [number] }) => Number(number) > 7) ? 'hang' : undefined)
  const args = ['index', '--network', NETWORK, '--rpc', node.url, '--from', '0', '--to', '11', '--order', 'oldest']
  const running = start(t, [...args, '--store-batch', '2', '--rpc-batch', '2'], { data })
  await until(
    async () =>
      JSON.parse((await chainsieve(t, ['status', '--json'], { data })).out || '{"networks":[]}').networks[0]?.ranges,
    ranges => ranges?.[0]?.to >= 1,
    running.err,
  )
  running.signal('SIGINT')
  const { code, out, err } = await running.ended
  assert.equal(code, 1)
  const [, last = ''] = /Added: 0-(\d+) /.exec(out)!
  assert.match(out, new RegExp(`^Missing: ${Number(last) + 1}-11 \\(\\d+ blocks\\)$`, 'm'))
  assert.match(err, /Stopped before the end; the same command continues here/)
})
