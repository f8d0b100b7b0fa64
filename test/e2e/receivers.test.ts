import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, type Server, serve, succeed, tempFolder, until, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'

interface Rule {
  id: number
  warnings: string[]
  failing: { channel: string; target: string; since: string; status: number | null; error: string }[]
}

const ruleOf = (name: string, url: string, change: object = {}) =>
  ruleOn(NETWORK, ['Block', 'number', 'Greater', '1'], [webhookTo(url)], { name, startBlock: 0, ...change })

test('a receiver that fails is seen in every list of rules and in the status, also after a restart, until it takes alerts', async t => {
  const data = join(tempFolder(t), 'data')
  const pack = writePack(join(tempFolder(t), 'pack.ndjson'), makeChain({ blocks: 5 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const BAD = 'BAD-0123456789abcdef'
  let isUp = false
  const receiver = await startReceiver({ after: fn => after(t, fn) }, ({ path }) => ({
    status: isUp || !path.includes(BAD) ? 200 : 503,
  }))
  const flags = ['--allow-target', '127.0.0.0/8', '--delivery-retries', '1s']
  const server = await serve(t, data, flags)
  const rulesAt = async (at: Server) => (await at.ask<Rule[]>('/alerting/rules/')).body
  const listed = async (...args: string[]) => (await succeed(t, ['rules', 'list', ...args], { data })).split('\n')
  const states = (lines: string[]) =>
    lines.slice(1, 4).map(line => /\b(active|paused|failing|idle)\b/.exec(line.replace('Failing', ''))?.[1])
  const firstLine = async () => (await succeed(t, ['status'], { data })).split('\n')[0]!

  // Behind one host they are shown alike, and are told apart.
  for (const [name, path] of [
    ['Bad', `/hook/${BAD}`],
    ['Good', '/hook/GOOD-0123456789abcdef'],
    ['Paused', `/hook/${BAD}`],
  ]) {
    const { status } = await server.ask(
      '/alerting/rules/',
      ruleOf(name!, receiver.url + path, { enabled: name !== 'Paused' }),
    )
    assert.equal(status, 201)
  }
  await until(
    () => server.ask<{ deliveries: { state: string }[] }>('/alerting/deliveries/?state=dead'),
    ({ body }) => body.deliveries.length === 3,
    server.err,
  )
  const [bad, good, paused] = await until(
    () => rulesAt(server),
    ([bad]) => bad!.failing.length > 0,
  )
  const [{ since, ...failing }] = bad!.failing as [Rule['failing'][0] & { at?: string }]
  assert.deepEqual(
    [failing.channel, failing.target, failing.status, Date.parse(since) <= Date.now()],
    ['Webhook (POST)', `${receiver.url}/hook/[secret]`, 503, true],
  )
  const sentence = `Webhook (POST) to ${receiver.url}/hook/[secret] has accepted nothing since ${since}: ${failing.error}`
  assert.deepEqual(bad!.warnings, [`${sentence}.`])
  assert.deepEqual([good!.failing, good!.warnings, paused!.failing], [[], [], []])
  assert.deepEqual((await server.ask<Rule>('/alerting/rules/1/')).body.failing, bad!.failing)

  const NOT_WELL = `The server is ready, but a receiver of alerts has accepted nothing since ${since}.`
  await until(firstLine, line => line === NOT_WELL)
  const told = await listed()
  assert.deepEqual(states(told), ['failing', 'active', 'paused'])
  assert.equal(told[4], `Rule 1 is failing: ${sentence}.`)
  const at = ['--server', server.url, '--token', server.token]
  const fromServer = await listed(...at)
  assert.deepEqual([states(fromServer), fromServer[4]], [states(told), told[4]])
  assert.equal(JSON.parse((await listed('--json')).join(''))[0].state, 'failing')
  assert.equal(JSON.parse(await succeed(t, ['status', '--json'], { data })).deliveries.failing.length, 1)

  // Without a server, and of the next one: all that was to be sent is dead, so nothing is tried.
  server.signal('SIGTERM')
  await server.ended
  assert.deepEqual(await listed(), told)
  const next = await serve(t, data, flags)
  const [still] = await until(
    () => rulesAt(next),
    ([bad]) => bad!.failing.length > 0,
  )
  assert.equal(still!.failing[0]!.since, since)
  await until(firstLine, line => line === NOT_WELL)

  isUp = true
  await next.ask('/alerting/rules/1/redeliver/', { dead: true })
  await until(
    () => rulesAt(next),
    ([bad]) => bad!.failing.length === 0 && bad!.warnings.length === 0,
  )
  await until(firstLine, line => line === 'The server is ready.')
  assert.deepEqual(states(await listed()), ['active', 'active', 'paused'])

  // A test that arrives is a sign of life, too; and a receiver that no rule notifies any more fails nobody.
  isUp = false
  await next.ask('/alerting/rules/1/redeliver/', { dead: false, from: '2020-01-01T00:00:00Z' })
  await until(
    () => rulesAt(next),
    ([bad]) => bad!.failing.length > 0,
  )
  isUp = true
  await next.ask('/alerting/rules/1/test/', {})
  await until(
    () => rulesAt(next),
    ([bad]) => bad!.failing.length === 0,
  )
})
