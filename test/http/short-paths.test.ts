import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createShortPaths } from '../../src/http/short-paths.ts'
import { appOf, callerOf, echo, TOKEN } from './support.ts'

const MAINNET = 'ethereum/ethereum/mainnet'
const GNOSIS = 'ethereum/gnosis/mainnet'
const SEPOLIA = 'ethereum/ethereum/sepolia'
const EWC = 'ewf/energyweb/ewc'

const pathsOf = (networks: string[], defaultNetwork?: string) =>
  createShortPaths({ networks: () => networks, defaultNetwork })

describe('a path without the whole name of a network', () => {
  const ALL = [MAINNET, SEPOLIA, GNOSIS, EWC]
  const CASES: [path: string, completed: string, networks?: string[], defaultNetwork?: string][] = [
    ['/es/block/search', `/${MAINNET}/es/block/search`, [MAINNET]],
    ['/es', `/${MAINNET}/es`, [MAINNET]],
    ['/es/block/search', `/${GNOSIS}/es/block/search`, ALL, GNOSIS],
    ['/gasprice', `/${MAINNET}/gasprice`, [MAINNET]],
    ['/ethereum/latest-minimum-gasprice', `/${MAINNET}/latest-minimum-gasprice`, ALL],
    ['/abi/0x01', `/${MAINNET}/abi/0x01`, [MAINNET]],
    ['/ethereum/mainnet/es/tx/_search', `/${MAINNET}/es/tx/_search`, ALL],
    ['/ethereum/sepolia/es/tx/_search', `/${SEPOLIA}/es/tx/_search`, ALL],
    ['/poa/xdai/es/', `/${GNOSIS}/es/`, ALL],
    ['/ethereum/poa/xdai/es/tx', `/${GNOSIS}/es/tx`, ALL],
    ['/ethereum/poa/xdai/es/tx', '/ethereum/poa/xdai/es/tx', ['ethereum/poa/xdai', GNOSIS]],
    ['/poa/xdai/es/tx', '/ethereum/poa/xdai/es/tx', ['ethereum/poa/xdai', GNOSIS]],
    ['/gnosis/es/tx', `/${GNOSIS}/es/tx`, ALL],
    ['/ewc/gasprice', `/${EWC}/gasprice`, ALL],
    ['/ewf/energyweb/gasprice', `/${EWC}/gasprice`, ALL],
    // Ambiguous, unknown or complete.
    ['/es/block/search', '/es/block/search', ALL],
    ['/mainnet/es/block/search', '/mainnet/es/block/search', ALL],
    ['/ewf/ewc/es/tx', '/ewf/ewc/es/tx', ALL],
    ['/es/tx', '/es/tx', []],
    [`/${MAINNET}/es/tx/_search`, `/${MAINNET}/es/tx/_search`, ALL, GNOSIS],
    ['/a/b/es/es/tx', '/a/b/es/es/tx', ['a/b/es', 'ethereum/a/b']],
    ['/alerting/rules/es', '/alerting/rules/es', ALL],
    ['/status', '/status', [MAINNET]],
  ]
  for (const [path, completed, networks = ALL, defaultNetwork] of CASES)
    test(`${path} of ${networks.length}${defaultNetwork === undefined ? '' : ' with a default'}`, () =>
      assert.equal(pathsOf(networks, defaultNetwork).complete(path), completed))

  test('is explained with the remedy', () => {
    const { explain } = pathsOf([MAINNET, SEPOLIA])
    assert.equal(
      explain('/es/tx/_search'),
      `the path names no network, and there are "${MAINNET}" and "${SEPOLIA}". Write /${MAINNET}/es/tx/_search, or start the server with --default-network.`,
    )
    assert.equal(
      pathsOf([MAINNET, GNOSIS]).explain('/mainnet/gasprice'),
      `[mainnet] may mean "${MAINNET}" or "${GNOSIS}". Write /${MAINNET}/gasprice.`,
    )
    assert.equal(
      explain('/poa/xdai/es/tx'),
      `no network is called [poa/xdai]: there are "${MAINNET}" and "${SEPOLIA}". Write /${MAINNET}/es/tx.`,
    )
    assert.equal(pathsOf([]).explain('/es/tx'), 'the server has no network yet.')
    assert.equal(explain('/status/else'), undefined)
  })
})

describe('over HTTP', () => {
  test('the default network is searched, with the same authentication', async () => {
    const app = appOf({ defaultNetwork: GNOSIS })
    const call = callerOf(app, TOKEN)
    assert.equal((await call('POST', '/es/block/search', '{}')).body.network, GNOSIS)
    assert.equal((await call('POST', '/ethereum/mainnet/es/tx/_search/', '{}')).body.network, MAINNET)
    assert.equal((await call('GET', '/es/tx/0x01')).body.network, GNOSIS)
    assert.equal((await callerOf(app, 'cs_bad')('POST', '/es/block/search', '{}')).status, 401)
  })

  test('a path that may mean several networks is 404 and names them', async () => {
    const { status, body } = await callerOf(appOf(), TOKEN)('POST', '/es/block/search', '{}')
    assert.equal(status, 404)
    assert.match(body.error.reason, /names no network.*Write \/ethereum\/ethereum\/mainnet\/es\/block\/search/)
  })

  test('a default network that is not served is named', async () => {
    const app = appOf({ defaultNetwork: 'ethereum/base/mainnet' })
    const { status, body } = await callerOf(app, TOKEN)('POST', '/es/block/search', '{}')
    assert.equal(status, 404)
    assert.match(body.error.reason, /there is no network ethereum\/base\/mainnet/)
    assert.deepEqual(echo.networks(), [MAINNET, GNOSIS])
  })
})
