import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { ruleOn, webhookTo } from '../support/rules.ts'
import { after, chainsieve, serve, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const WITH = ['--allow-target', '127.0.0.1/32', '--delivery-retries', '1h']

test('rules and deliveries are seen and set going from the command line, with a server and without', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  receiver.behave = ({ path }) => ({ status: path === '/good' ? 200 : 410 })
  // Blocks 0 to 5 and 8 to 9, a transaction in each.
  const chain = makeChain({ blocks: 10, txs: 1, logs: 0 })
  const pack = writePack(join(folder, 'pack.ndjson'), [...chain.slice(0, 6), ...chain.slice(8)])
  await succeed(t, ['import', '--network', NETWORK, pack], { data })

  const alerts = ['/good', '/gone'].map(path => webhookTo(receiver.url + path))
  const on = ['Transaction', 'blockNumber.num', 'Greater', '1'] as const
  const rule = ruleOn(NETWORK, on, alerts, { name: 'Every transaction', startBlock: 0 })
  const file = join(folder, 'rule.json')
  writeFileSync(file, JSON.stringify(rule))
  const cs = (...args: string[]) => succeed(t, ['rules', ...args], { data })

  // A rule can be tried before there is a server, wherever it would send to.
  const hash = (number: number) => chain[number]!.receipts[0]!.transactionHash
  const lineOf = (number: number) => `${number}      ${hash(number)}  `
  const tried = await cs('simulate', file, '--size', '2')
  const lines = tried.split('\n')
  assert.deepEqual(lines.slice(0, 3), [
    `Every transaction would have fired 6 times in what is stored of blocks 0-9 of ${NETWORK}.`,
    'Not stored, and not looked at: 6-7 (2 blocks)',
    `BLOCK  ID${' '.repeat(64)}  WHAT`,
  ])
  assert.deepEqual(
    lines.slice(3).map(line => line.slice(0, lineOf(9).length)),
    [lineOf(9), lineOf(8), ''],
  )
  assert.match(lines[3]!, / from 0x[\da-fA-F]{40} .*, value [\d.e-]+$/)
  const simulated = JSON.parse(await cs('simulate', file, '--from', '3', '--to', 'latest-4', '--size', '1', '--json'))
  const { hits, ...counts } = simulated as { hits: { _id: string }[] }
  const told = (messages: number) => ({
    alerts: messages,
    messages: [0, 1].map(action => ({ action, type: 'Webhook (POST)', messages })),
  })
  assert.deepEqual(
    [counts, hits.map(({ _id }) => _id)],
    [{ total: 3, fromBlock: 3, toBlock: 5, complete: true, holes: [], warnings: [], ...told(3) }, [hash(5)]],
  )
  // Beyond what is stored nothing is said to have been looked at.
  for (const [args, missing] of [
    [['--from', '20'], { from: 20, to: 20 }],
    [['--from', '20', '--to', '30'], { from: 20, to: 30 }],
  ] as const) {
    const beyond = JSON.parse(await cs('simulate', file, ...args, '--json'))
    assert.deepEqual(beyond, {
      ...{ total: 0, fromBlock: missing.from, toBlock: missing.to, complete: false, holes: [missing], hits: [] },
      ...{ warnings: [], ...told(0) },
    })
  }
  assert.equal(await cs('list'), 'There are no rules.\n')
  assert.equal(receiver.calls.length, 0)

  const server = await serve(t, data, WITH)
  assert.equal((await server.ask('/alerting/rules/', rule)).status, 201)
  const listed = async () =>
    (JSON.parse(await cs('deliveries', '--json')) as { id: number; state: string; target: string }[]).toReversed()
  const statesOf = async (path: string) =>
    (await listed()).filter(({ target }) => target.endsWith(path)).map(({ state }) => state)
  const all = (state: string) => Array<string>(6).fill(state).join()
  await until(
    () => statesOf('/good'),
    states => states.join() === all('delivered'),
  )
  await until(
    () => statesOf('/gone'),
    states => states.join() === all('dead'),
  )
  // The other receiver takes what it gets, and this one does not. The command reads the server's status file, written each second.
  const [, row, why] = (
    await until(
      () => cs('list'),
      out => out.includes('  failing  '),
    )
  ).split('\n')
  assert.equal(row, '1   test     Every transaction  ethereum/made-up/mainnet  Transaction  failing  0              6')
  assert.match(
    why!,
    /^Rule 1 is failing: Webhook \(POST\) to \S+\/gone has accepted nothing since \S+Z: it answered 410: /,
  )
  assert.equal(await cs('simulate', '1', '--size', '2'), tried)

  // The running server takes up what another process queues.
  const calls = (path: string) => receiver.calls.filter(call => call.path === path)
  const [first] = (await listed()).filter(({ target }) => target.endsWith('/good'))
  assert.equal(await cs('redeliver', String(first!.id)), '1 delivery will be sent again, by the running server.\n')
  await untilIs(() => calls('/good').length, 7)
  assert.equal(calls('/good')[6]!.headers['webhook-id'], calls('/good').map(it => it.headers['webhook-id'])[0])

  // It signs with both secrets while they overlap.
  const old = (await cs('secret', '--account', 'test')).trim()
  const next = (await cs('secret', '--account', 'test', '--rotate', '--overlap', '1h')).trim()
  assert.notEqual(old, next)
  await cs('redeliver', String(first!.id))
  await untilIs(() => calls('/good').length, 8)
  const { body, headers } = calls('/good')[7]!
  for (const secret of [old, next]) new Webhook(secret).verify(body, headers as Record<string, string>)

  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)

  // Without a server it is kept until there is one.
  assert.equal(await cs('list').then(out => out.split('\n').length), 4)
  receiver.behave = () => ({ status: 200 })
  const gone = calls('/gone').length
  assert.equal(
    await cs('redeliver', '--dead', '--rule', '1'),
    '6 deliveries will be sent again, when chainsieve serve runs the next time.\n',
  )
  assert.deepEqual(await statesOf('/gone'), Array(6).fill('queued'))
  assert.deepEqual([calls('/good').length, calls('/gone').length], [8, gone])
  await serve(t, data, WITH)
  await until(
    () => statesOf('/gone'),
    states => states.join() === all('delivered'),
  )
  assert.deepEqual([calls('/good').length, calls('/gone').length], [8, gone + 6])

  const none = await chainsieve(t, ['rules', 'redeliver', '999'], { data })
  assert.deepEqual([none.code, none.err], [1, ''])
})
