import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { after, type Server, serve, tempFolder, until, untilIs } from './program.ts'

/** The real program with traces of a real node, and with a node that has none. */
const NETWORK = 'ethereum/anvil/local'
const skip = anvilPath === undefined && 'there is no anvil for this platform'

/** Initialisation code of a contract that hands all value on to an address. */
const forwarder = (to: string): string => `0x602180600b6000396000f36000600060006000${`3473${to.slice(2)}`}5af100`

const ruleOf = (to: string, url: string, network = 'local') => ({
  name: 'received from a contract',
  maxConfirmationCount: 0,
  ...{ technology: 'ethereum', blockchain: 'anvil', network },
  config: {
    targetType: 'Trace',
    targetMap: [
      { name: 'action.to', operator: 'Equals', value: checksumAddress(to) },
      { name: 'callType', operator: 'Equals', value: 'call' },
      { name: 'action.value.coin', operator: 'Greater or Equal', value: '1.5' },
    ],
    alerts: [
      {
        type: 'Webhook (POST)',
        parameters: { url },
        payload: [
          { fieldType: 'Sub Field', fieldName: 'action', subPayloads: [{ fieldType: 'Field', fieldName: 'from' }] },
          { fieldType: 'Field', fieldName: 'traceAddress' },
        ],
      },
    ],
  },
})

const hits = async (server: Server, query: unknown) =>
  (await server.search(NETWORK, 'trace', { query, sort: '_doc' })).hits.hits

test('steps inside of transactions are found, and fire rules', { skip }, async t => {
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const receiver = await startReceiver({ after: fn => after(t, fn) })
  const [wallet, other] = (await anvil.call<string[]>('eth_accounts')) as [string, string]
  const server = await serve(t, tempFolder(t), [
    ...['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--traces', 'all'],
    ...['--allow-target', '127.0.0.1/32'],
  ])
  await until(
    () => server.total(NETWORK, 'block'),
    total => total > 0,
  )
  const { status, body: rule } = await server.ask<{ idle: string | null }>(
    '/alerting/rules/',
    ruleOf(other, receiver.url),
  )
  assert.deepEqual([status, rule.idle], [201, null])

  const send = (transaction: object) =>
    anvil.send({ from: wallet, gas: '0x186a0', gasPrice: '0x12a05f200', ...transaction })
  const { contractAddress } = await send({ data: forwarder(other) })
  await send({ to: contractAddress, value: '0xde0b6b3a7640000' })
  const { transactionHash } = await send({ to: contractAddress, value: '0x1bc16d674ec80000' })

  const [call] = await until(
    () => receiver.calls,
    calls => calls.length > 0,
  )
  const { entity, targetType, payload } = JSON.parse(call!.body) as Record<string, unknown>
  assert.deepEqual(
    [targetType, entity, payload],
    [
      'Trace',
      { _id: `${transactionHash}_t_0`, _type: 'trace' },
      { action: { from: checksumAddress(contractAddress) }, traceAddress: [0] },
    ],
  )
  assert.equal(receiver.calls.length, 1, 'one ether is less than was asked for')

  const ids = (found: { _id: string }[]) => found.map(({ _id }) => _id)
  assert.deepEqual(ids(await hits(server, { term: { transactionHash } })), [
    `${transactionHash}_t`,
    `${transactionHash}_t_0`,
  ])
  assert.equal((await hits(server, { term: { 'action.to': other } })).length, 2)
  const [created] = await hits(server, { term: { type: 'create' } })
  assert.equal((created!._source.result as { address: string }).address, checksumAddress(contractAddress))
  const document = await server.ask<{ found: boolean }>(`/${NETWORK}/es/trace/${transactionHash}_t_0/`)
  assert.deepEqual([document.status, document.body.found], [200, true])
})

test('a node without traces is said once, and rules that need them are idle with that reason', async t => {
  const node = await startNode({ after: async fn => void after(t, fn) }, makeChain({ blocks: 5 }))
  for (const method of ['trace_block', 'debug_traceBlockByNumber'])
    node.missing.set(method, new NodeError(-32601, `the method ${method} does not exist/is not available`))
  const server = await serve(t, tempFolder(t), [
    ...['--network', NETWORK, '--rpc', node.url, '--poll-interval', '20ms', '--traces', 'all'],
  ])
  await untilIs(() => server.total(NETWORK, 'block'), 5)
  assert.equal(await server.total(NETWORK, 'trace'), 0)
  const { body } = await server.ask<{ id: number }>(
    '/alerting/rules/',
    ruleOf(`0x${'11'.repeat(20)}`, 'https://example.com/'),
  )
  const { idle } = await until(
    async () => (await server.ask<{ idle: string | null }>(`/alerting/rules/${body.id}/`)).body,
    ({ idle }) => idle !== null,
  )
  assert.match(idle!, /^its network is indexed without traces: /)
  assert.equal(
    server
      .err()
      .split('\n')
      .filter(line => /trace/.test(line)).length,
    1,
    server.err(),
  )
})
