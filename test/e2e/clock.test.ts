import assert from 'node:assert/strict'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dataFolder } from '../support/delivery.ts'
import { startMailServer } from '../support/mail.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, serve, start, succeed, tempFolder, until, untilIs } from './program.ts'

const DAYS = 400
const AHEAD = encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${DAYS} * 86400000`)

test('a start by a clock that is far ahead removes neither blocks nor entries of the audit trail', async t => {
  const data = await dataFolder(t)
  const first = start(t, ['serve', '--port', '0'], { data })
  await first.says(/Serves/)
  const network = 'ethereum/demo/local'
  const held = async () => JSON.parse(await succeed(t, ['status', '--json'], { data })).networks[0].ranges
  await until(held, ranges => ranges.length > 0)
  first.signal('SIGTERM')
  await first.ended
  const serves = async () => JSON.parse(await succeed(t, ['audit', '--action', 'serve', '--json'], { data })).length
  const before = [await held(), await serves()]
  const args = ['serve', '--port', '0', '--network', network, '--keep-for', '30d', '--keep-audit', '30d']
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${AHEAD}` }
  const second = start(t, args, { data, env, fromSource: true })
  await second.says(/Serves/)
  const isAsked = () => readdirSync(data, { recursive: true }).some(name => `${name}`.includes('-prune-settings'))
  while (isAsked()) await sleep(50)
  second.signal('SIGTERM')
  const { err } = await second.ended
  assert.doesNotMatch(err, /Removed/)
  assert.deepEqual([await held(), await serves()], [before[0], before[1] + 1], join(data))
})

/** A clock in all threads of the program that is off by as many milliseconds as the file says; time goes by as ever. */
const OFF_BY_FILE = `
const { readFileSync } = require('node:fs')
const Real = Date
let off = 0
let readAt = -Infinity
const offset = () => {
  if (performance.now() - readAt < 50) return off
  readAt = performance.now()
  return (off = Number(readFileSync(process.env.CLOCK_OFFSET, 'utf8')))
}
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length > 0) super(...given)
    else super(Real.now() + offset())
  }
  static now() {
    return Real.now() + offset()
  }
}
`

const NETWORK = 'ethereum/made-up/mainnet'

test('a clock that is set back or ahead holds up neither blocks nor retries nor emails, and is told of once', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const [shim, offset] = [join(folder, 'shim.cjs'), join(folder, 'offset')]
  writeFileSync(shim, OFF_BY_FILE)
  const set = (ms: number) => {
    writeFileSync(`${offset}-new`, String(ms))
    renameSync(`${offset}-new`, offset)
  }
  set(0)
  const ends = { after: (fn: () => unknown) => after(t, fn) }
  const chain = makeChain({ blocks: 3 })
  const node = await startNode(ends as Parameters<typeof startNode>[0], chain)
  node.extend(chain)
  const mine = () => {
    chain.push(...makeChain({ blocks: 1, parent: chain.at(-1)! }))
    node.extend(chain)
  }
  // Each alert is refused once.
  const tried = new Set<unknown>()
  const delivered = new Set<unknown>()
  const receiver = await startReceiver(ends, ({ headers }) => {
    const id = headers['webhook-id']
    if (tried.has(id)) delivered.add(id)
    tried.add(id)
    return { status: delivered.has(id) ? 200 : 503 }
  })
  const mail = await startMailServer(ends)
  const args = ['--network', NETWORK, '--rpc', node.url, '--allow-target', '127.0.0.0/8', '--delivery-retries', '2s']
  const server = await serve(t, data, [...args, '--mail-digest', '3s', '--smtp', mail.url], {
    env: { NODE_OPTIONS: `--require=${shim}`, CLOCK_OFFSET: offset },
    fromSource: true,
  })
  const isStored = () =>
    until(
      () => server.total(NETWORK, 'block'),
      total => total === chain.length,
      server.err,
    )
  await isStored()
  const receivers = [webhookTo(receiver.url), { type: 'Email', parameters: { recipients: ['ops@example.org'] } }]
  const rule = ruleOn(NETWORK, ['Block', 'number', 'Greater', '1'], receivers, { startBlock: chain.length })
  const { status } = await server.ask('/alerting/rules/', rule)
  assert.equal(status, 201)
  const told = () => server.err().match(/The clock was set .*/g) ?? []

  let off = 0
  let alerts = 0
  for (const [seconds, line] of [
    [-60, /back seconds=60/],
    [-3_600, /back seconds=3600/],
    [-86_400, /back seconds=86400/],
    [3_600, /ahead, .* seconds=3600/],
  ] as const) {
    const before = told().length
    const mails = mail.mails.length
    mine()
    // Its retry and its email are planned by the clock as it was.
    await untilIs(() => tried.size, alerts + 1, server.err)
    off += seconds * 1_000
    set(off)
    mine()
    alerts += 2
    await isStored()
    await untilIs(() => delivered.size, alerts, server.err)
    await until(
      () => mail.mails.length,
      length => length > mails,
      server.err,
    )
    await until(told, lines => lines.length > before, server.err)
    await until(
      () => server.status(),
      ({ networks }) => networks[0]!.lag === 0 && networks[0]!.lastBlock?.number === chain.length - 1,
      server.err,
    )
    assert.equal(told().length, before + 1, server.err())
    assert.match(told().at(-1)!, line)
  }

  await node.stop()
  set(off - 3_600_000)
  await until(
    () => server.status(),
    ({ networks }) => networks[0]!.state === 'waiting',
    server.err,
  )
})
