import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { after, type Server, serve, succeed, tempFolder, until, untilIs } from './program.ts'

/** The real program on a real node that really reorganises, and a receiver that really listens. */
const skip = anvilPath === undefined && 'there is no anvil for this platform'
const NETWORK = 'ethereum/anvil/local'
const RULES = '/alerting/rules/'

interface Rule {
  id: number
  startBlock: number
  triggerCount: number
  config: { targetMap: unknown[]; alerts: unknown[] }
}
interface Alert {
  id: string
  state: string
  block: number
  entity: { _id: string }
}

const setUp = async (t: TestContext) => {
  const data = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const [, wallet, other] = (await anvil.call<string[]>('eth_accounts')) as [string, string, string]
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const server = await serve(t, data, [
    ...['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--allow-target', '127.0.0.1/32'],
  ])

  const head = async () => Number(await anvil.call<string>('eth_blockNumber'))
  /** Waits until the node's newest block is stored, with all that rules found in it. */
  const stored = async () => {
    const { hash } = await anvil.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
    await untilIs(() => server.total(NETWORK, 'block', { ids: { values: [hash] } }), 1, 'blocks of the head')
  }
  const mine = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) await anvil.call('evm_mine')
    await stored()
  }
  /** Mines a block with this one transaction; returns its hash. */
  const send = async (ether: number, from = wallet): Promise<string> => {
    const value = `0x${(BigInt(ether) * 10n ** 18n).toString(16)}`
    const fee = { gas: '0x5208', gasPrice: '0x12a05f200' }
    const hash = await anvil.call<string>('eth_sendTransaction', { from, to: other, value, ...fee })
    await until(
      () => anvil.call('eth_getTransactionReceipt', hash),
      receipt => receipt !== null,
    )
    await stored()
    return hash
  }
  /** Blocks of the top are replaced by empty ones. */
  const reorganise = async (depth: number) => {
    await anvil.call('anvil_reorg', depth, [])
    await stored()
  }
  await stored()
  return { data, wallet, other, receiver, server, head, mine, send, reorganise, ...clientOf(server) }
}

const clientOf = (server: Server, token = server.token) => {
  const call = async <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      etag: response.headers.get('etag'),
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    }
  }
  const change = async (id: number, body: unknown): Promise<Rule> => {
    const { status, body: rule } = await call<Rule>('PUT', `${RULES}${id}/`, body)
    assert.equal(status, 200, JSON.stringify(rule))
    return rule
  }
  /** The oldest first. */
  const alerts = async (id: number): Promise<Alert[]> =>
    (await call<{ alerts: Alert[] }>('GET', `${RULES}${id}/alerts/`)).body.alerts.reverse()
  const states = async (id: number) => (await alerts(id)).map(({ entity, state }) => [entity._id, state])
  return { call, change, alerts, states }
}

const ruleOn = (wallet: string, url: string, more: object = {}) => ({
  name: 'Wallet',
  maxConfirmationCount: 2,
  technology: 'ethereum',
  blockchain: 'anvil',
  network: 'local',
  config: {
    targetType: 'Transaction',
    targetMap: [{ name: 'from', operator: 'Equals (ignore case)', value: wallet }],
    alerts: [
      {
        type: 'Webhook (POST)',
        parameters: { url },
        payload: [
          { fieldType: 'Field', fieldName: 'hash' },
          { fieldType: 'Sub Field', fieldName: 'value', subPayloads: [{ fieldType: 'Field', fieldName: 'coin' }] },
        ],
      },
    ],
  },
  ...more,
})

const told = ({ calls }: Receiver) =>
  calls.map(({ body }) => {
    const { type, payload } = JSON.parse(body) as { type: string; payload: { hash: string } }
    return [type, payload.hash]
  })

const arrived = (receiver: Receiver, count: number) =>
  until(
    () => receiver.calls.length,
    length => length >= count,
    'calls of the receiver',
  )

test('an alert is confirmed, fires, and is retracted when its block is lost; one that is lost before never fires', {
  skip,
}, async t => {
  const { data, wallet, receiver, server, head, mine, send, reorganise, call, alerts, states } = await setUp(t)
  await send(9)
  const before = await head()
  const { status, body: rule } = await call<Rule>('POST', RULES, ruleOn(wallet, `${receiver.url}/hook`))
  assert.equal(status, 201, JSON.stringify(rule))
  // What the wallet did before is looked for only where the rule asks for it.
  assert.equal(rule.startBlock, before + 1)

  const first = await send(1)
  assert.deepEqual(await states(rule.id), [[first, 'pending']])
  await mine(1)
  assert.deepEqual(await states(rule.id), [[first, 'pending']])
  await mine(1)
  assert.deepEqual(await states(rule.id), [[first, 'confirmed']])
  await arrived(receiver, 1)

  // Its block and the two upon it.
  await reorganise(3)
  assert.deepEqual(await states(rule.id), [[first, 'retracted']])
  await arrived(receiver, 2)

  const second = await send(2)
  assert.deepEqual((await states(rule.id))[1], [second, 'pending'])
  await reorganise(1)
  await mine(3)
  const third = await send(3)
  await mine(2)
  await arrived(receiver, 3)
  assert.deepEqual(await states(rule.id), [
    [first, 'retracted'],
    [second, 'withdrawn'],
    [third, 'confirmed'],
  ])
  assert.deepEqual(told(receiver), [
    ['alert.confirmed', first],
    ['alert.retracted', first],
    ['alert.confirmed', third],
  ])

  const [lost, , kept] = await alerts(rule.id)
  const secret = (await succeed(t, ['rules', 'secret', '--account', 'test'], { data })).trim()
  const expected = [
    { ...lost!, type: 'alert.confirmed', coin: 1 },
    { ...lost!, type: 'alert.retracted', coin: 1 },
    { ...kept!, type: 'alert.confirmed', coin: 3 },
  ]
  for (const [i, { id, type, entity, coin }] of expected.entries()) {
    const { path, headers, body } = receiver.calls[i]!
    const { timestamp, ...message } = JSON.parse(body) as { timestamp: string }
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(message, {
      id,
      type,
      rule: { id: rule.id, name: 'Wallet', version: null },
      network: NETWORK,
      targetType: 'Transaction',
      confirmations: 2,
      entity: { _id: entity._id, _type: 'tx' },
      payload: { hash: entity._id, value: { coin } },
    })
    assert.deepEqual([path, headers['webhook-id'], headers['webhook-type']], ['/hook', id, type])
    new Webhook(secret).verify(body, headers as Record<string, string>)
  }
  assert.equal((await call<Rule>('GET', `${RULES}${rule.id}/`)).body.triggerCount, 2)
  assert.equal(await server.total(NETWORK, 'tx', { ids: { values: [first, second, third] } }), 1)
})

test('the same transaction in another block is another alert', { skip }, async t => {
  const { wallet, receiver, mine, send, reorganise, call, alerts, states } = await setUp(t)
  const { body: rule } = await call<Rule>('POST', RULES, ruleOn(wallet, receiver.url, { maxConfirmationCount: 0 }))
  const hash = await send(1)
  await reorganise(1)
  // With the nonce and the fee that it had, it is the same transaction.
  assert.equal(await send(1), hash)
  await mine(1)
  await arrived(receiver, 3)
  const [lost, kept] = await alerts(rule.id)
  assert.deepEqual(await states(rule.id), [
    [hash, 'retracted'],
    [hash, 'confirmed'],
  ])
  assert.notEqual(lost!.id, kept!.id)
  assert.deepEqual(
    receiver.calls.map(({ headers }) => [headers['webhook-type'], headers['webhook-id']]).sort(),
    [
      ['alert.confirmed', lost!.id],
      ['alert.retracted', lost!.id],
      ['alert.confirmed', kept!.id],
    ].sort(),
  )
})

test('a rule that is paused loses nothing that was pending, and what is changed of it holds from the next block on', {
  skip,
}, async t => {
  const { wallet, other, receiver, mine, send, call, change, states } = await setUp(t)
  const { body: rule } = await call<Rule>('POST', RULES, ruleOn(wallet, `${receiver.url}/one`))
  const { id } = rule
  const first = await send(1)
  await change(id, { enabled: false })
  const unseen = await send(1)
  await mine(3)
  assert.deepEqual(await states(id), [[first, 'pending']])
  await change(id, { enabled: true })
  // No block has to come for it.
  await arrived(receiver, 1)

  await change(id, { maxConfirmationCount: 0 })
  const second = await send(2)
  await change(id, {
    config: {
      ...rule.config,
      targetMap: [...rule.config.targetMap, { name: 'value.coin', operator: 'Greater or Equal', value: '4.0' }],
    },
  })
  await send(3)
  const third = await send(4)
  await arrived(receiver, 3)
  const { config } = ruleOn(other, `${receiver.url}/two`)
  await change(id, { config })
  await send(4)
  const fourth = await send(1, other)
  await arrived(receiver, 4)
  assert.equal((await call('DELETE', `${RULES}${id}/`)).status, 204)
  await send(1, other)

  assert.deepEqual(
    receiver.calls.map(({ path }, i) => [path, ...told(receiver)[i]!]),
    [
      ['/one', 'alert.confirmed', first],
      ['/one', 'alert.confirmed', second],
      ['/one', 'alert.confirmed', third],
      ['/two', 'alert.confirmed', fourth],
    ],
  )
  assert.ok(!told(receiver).some(([, hash]) => hash === unseen))
})

test('a rule looks back as far as it asks to', { skip }, async t => {
  const { wallet, other, receiver, head, send, mine, call } = await setUp(t)
  const sent: string[] = []
  const start = (await head()) + 2
  for (const ether of [1, 2, 3]) sent.push(await send(ether))
  await send(4, other)
  await mine(1)
  const { status } = await call('POST', RULES, ruleOn(wallet, receiver.url, { startBlock: start }))
  assert.equal(status, 201)
  sent.push(await send(5))
  await mine(2)
  await arrived(receiver, 3)
  assert.deepEqual(
    told(receiver).sort(),
    sent
      .slice(1)
      .map(hash => ['alert.confirmed', hash])
      .sort(),
  )
})
