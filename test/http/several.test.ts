import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appOf, MAINNET, TOKEN } from './support.ts'

const GNOSIS = 'ethereum/gnosis/mainnet'
const BOTH = `${MAINNET},${GNOSIS}`
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'elasticsearch-js/7.17.14' }

const call = async (method: string, path: string, body?: string) => {
  const reply = await appOf({}).request(`/${path}`, {
    method,
    headers: HEADERS,
    ...(body === undefined ? {} : { body }),
  })
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> & { error: { reason: string } } }
}

describe('several networks in the path', () => {
  const NAMED: [names: string, network: string | undefined, entities?: string][] = [
    [`${BOTH}/es/tx`, BOTH],
    [`${GNOSIS},${MAINNET}/es/tx`, BOTH],
    [`${GNOSIS},${MAINNET},${GNOSIS}/es/tx`, BOTH],
    [`${MAINNET}%2C${GNOSIS}/es/tx`, BOTH],
    [`${MAINNET},${GNOSIS.replaceAll('/', '%2F')}/es/tx`, BOTH],
    ['ethereum/*/mainnet/es/tx', BOTH],
    ['*/*/*/es/tx', BOTH],
    ['ethereum/g*/mainnet/es/tx', GNOSIS],
    [`${BOTH}/es/log,tx`, BOTH, 'log,tx'],
    // What names one network's index asks that one alone.
    [`${BOTH}/es/ethereum-gnosis-mainnet-tx`, GNOSIS],
    [`${BOTH}/es/ethereum-gnosis-mainnet-tx,ethereum-ethereum-mainnet-tx`, BOTH],
    [`${MAINNET},ethereum/base/mainnet/es/tx`, undefined],
    [`${MAINNET},ethereum/base/es/tx`, undefined],
    [`${MAINNET},/es/tx`, undefined],
    ['x*/*/*/es/tx', undefined],
    ['ethereum/ethereum,gnosis/mainnet/es/tx', BOTH],
    ['ethereum/*/mainnet,sepolia/es/tx', undefined],
  ]
  for (const [names, network, entities = 'tx'] of NAMED)
    test(names, async () => {
      const { status, body } = await call('POST', `${names}/_search`, '{}')
      if (network === undefined) assert.equal(status, 404)
      else assert.deepEqual([status, body.network, body.entities], [200, network, entities])
    })

  test('must mean the same entities', async () => {
    const { status, body } = await call(
      'POST',
      `${BOTH}/es/ethereum-gnosis-mainnet-tx,ethereum-ethereum-mainnet-log/_search`,
    )
    assert.equal(status, 400)
    assert.match(body.error.reason, /name the same entities for all networks/)
  })

  test('are counted and searched together, in their mapping and capabilities too', async () => {
    assert.equal((await call('GET', `${BOTH}/es/tx/_count`)).body.network, BOTH)
    const several = await call(
      'POST',
      `${BOTH}/es/_msearch`,
      '{"index":"tx"}\n{}\n{"index":"ethereum-gnosis-mainnet-log"}\n{}\n',
    )
    const responses = several.body.responses as { network: string; entities: string }[]
    assert.deepEqual(
      responses.map(({ network, entities }) => [network, entities]),
      [
        [BOTH, 'tx'],
        [GNOSIS, 'log'],
      ],
    )
    const names = ['ethereum-ethereum-mainnet-tx', 'ethereum-gnosis-mainnet-tx']
    assert.deepEqual(Object.keys((await call('GET', `${BOTH}/es/tx/_mapping`)).body), names)
    assert.deepEqual((await call('GET', `${BOTH}/es/tx/_field_caps?fields=hash`)).body.indices, names)
  })

  test('are refused by name where one is meant', async () => {
    for (const path of ['tx/0x1', 'tx/_doc/0x1', 'tx/_explain/0x1', '_stats', '_cat/indices', '_search/scroll'])
      for (const method of path === '_search/scroll' ? ['POST'] : ['GET']) {
        const { status, body } = await call(
          method,
          `${BOTH}/es/${path}`,
          method === 'POST' ? '{"scroll_id":"x"}' : undefined,
        )
        assert.equal(status, 400, path)
        assert.match(body.error.reason, /works on one network at a time/)
      }
    const { body } = await call('POST', `${BOTH}/es/tx/_pit?keep_alive=1m`)
    assert.match(body.error.reason, /works on one network at a time/)
  })
})
