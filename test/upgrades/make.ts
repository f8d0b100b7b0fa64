import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startNode } from '../support/node.ts'
import { startReceiver } from '../support/receiver.ts'
import { demoBlocks } from '../support/store.ts'
import { alertsOf, answersOf, CLOSED, NETWORK, versionsIn, writeFixture } from './fixture.ts'

/**
 * Makes a fixture by the program of a checkout, which has to be installed: `node test/upgrades/make.ts FOLDER`. To be run before the layout of
 * a file changes.
 */
process.env.TESTED_PROGRAM = join(process.argv[2]!, 'src/main.ts')
const { connect, start, succeed, tempFolder, until, writePack } = await import('../e2e/program.ts')

/** Two of these blocks create contracts. */
const [FROM, FIRST, LAST] = [362, 366, 374]
const done: (() => unknown)[] = []
const t = { after: (fn: () => unknown) => void done.push(fn) }

const ruleOn = (name: string, url: string, config: object) => ({
  ...{ name, maxConfirmationCount: 4, technology: 'ethereum', blockchain: 'test', network: 'net' },
  config: { ...config, alerts: [{ type: 'Webhook (POST)', parameters: { url } }] },
})

try {
  const data = tempFolder(t)
  const blocks = demoBlocks()
  const node = await startNode(t, blocks.slice(FROM, FIRST + 1))
  const receiver = await startReceiver(t)
  const token = (await succeed(t, ['token', 'create', '--account', 'ops'], { data })).trim()
  await succeed(t, ['abi', 'add', fileURLToPath(new URL('../../data/demo-abi.json', import.meta.url))], { data })
  // The node has no traces, the pack has.
  const pack = writePack(join(tempFolder(t), 'blocks.ndjson'), blocks.slice(FROM, FIRST + 1))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const program = start(
    t,
    [
      'serve',
      '--port',
      '0',
      '--network',
      NETWORK,
      '--rpc',
      node.url,
      '--from',
      String(FROM),
      '--poll-interval',
      '50ms',
      '--allow-target',
      '127.0.0.1/32',
    ],
    { data },
  )
  const server = await connect(program, token)
  const stored = (block: number) =>
    until(
      () => server.total(NETWORK, 'block', { range: { 'number.num': { gte: block } } }),
      total => total > 0,
    )
  await stored(FIRST)
  for (const [name, url, config] of [
    [
      'Told',
      `${receiver.url}/hook`,
      { targetType: 'Transaction', targetMap: [{ name: 'value.coin', operator: 'Greater or Equal', value: '0' }] },
    ],
    ['Waiting', CLOSED, { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }] }],
  ] as const) {
    const { status, body } = await server.ask('/alerting/rules/', ruleOn(name, url, config))
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  node.extend(blocks.slice(FIRST, LAST + 1))
  await stored(LAST)
  // All of the first rule is told; the receiver of the second was tried.
  type Alerts = { alerts: { state: string; deliveries: { state: string; attempts: unknown[] }[] }[] }
  const alerts = async (rule: number, hold: (alerts: Alerts['alerts']) => boolean) =>
    until(
      async () =>
        ((await server.ask<Alerts>(alertsOf(rule))).body.alerts ?? []).filter(({ state }) => state !== 'pending'),
      alerts => alerts.length > 0 && hold(alerts),
    )
  await alerts(1, all => all.every(({ deliveries }) => deliveries[0]?.state === 'delivered'))
  await alerts(2, all => all.some(({ deliveries }) => deliveries[0]?.attempts.length === 1))
  const answers = await answersOf(server)
  program.signal('SIGTERM')
  await program.ended
  const files = new Map(
    readdirSync(data, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !/^lock|-shm$|reserve$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path): [string, Buffer] => [relative(data, path), readFileSync(path)])
      .filter(([, { length }]) => length > 0),
  )
  const versions = versionsIn(data)
  writeFixture(versions[0]!, { versions, token, answers, files })
} finally {
  for (const fn of done.reverse()) await fn()
}
