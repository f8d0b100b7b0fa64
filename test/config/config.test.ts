import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import * as v from 'valibot'
import { depthOfChain } from '../../src/config/chains.ts'
import { type ConfigSources, loadConfig } from '../../src/config/index.ts'
import { NETWORK_SETTINGS, placesOf, SETTINGS, type Setting, settingRows } from '../../src/config/settings.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-config-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
const fileOf = (text: string): string => {
  const path = join(folder, `${++files}.toml`)
  writeFileSync(path, text)
  return path
}

const load = (sources: ConfigSources = {}) => loadConfig({ env: {}, cwd: folder, ...sources })
/** The configuration as plain values, URLs as they really are. */
const plain = (sources: ConfigSources = {}) => {
  const config = load(sources)
  const networks = config.networks.map(({ rpc, ws, ...rest }) => ({
    ...rest,
    rpc: rpc.map(url => url.reveal()),
    ws: ws?.reveal(),
  }))
  return { ...config, networks }
}
const fails = (sources: ConfigSources, message: string) =>
  assert.throws(() => load(sources), { name: 'ChainsieveError', next: 'refuse', message })

const DEFAULTS = {
  data: join(folder, 'chainsieve-data'),
  host: '127.0.0.1',
  port: 8640,
  esListen: [],
  defaultNetwork: undefined,
  json: false,
  logRequests: false,
  metrics: 'local',
  role: 'all',
  queryDeadline: 10_000,
  limits: DEFAULT_LIMITS,
  allowTarget: [],
  publicUrl: undefined,
  smtp: undefined,
  mailFrom: undefined,
  mailDigest: 120_000,
  deliveryTimeout: 20_000,
  deliveryRetries: [],
  keepDeliveries: 30 * 24 * 3_600_000,
  keepAlerts: undefined,
  server: undefined,
  token: undefined,
  tlsCert: undefined,
  tlsKey: undefined,
  trustProxy: [],
  proxyHeader: 'x-forwarded-for',
  noConsole: false,
  corsOrigin: [],
  keepAudit: 31_536_000_000,
  file: undefined,
  network: undefined,
}
const NETWORK_DEFAULTS = {
  rpc: [],
  explorer: undefined,
  ws: undefined,
  from: undefined,
  to: undefined,
  order: 'newest',
  finality: 64,
  staleAfter: undefined,
  pollInterval: undefined,
  chainId: undefined,
  skipBloom: false,
  verifyLogs: false,
  traces: 'off',
  currency: undefined,
  flatArgs: false,
  requestTimeout: 20_000,
  rpcBatch: 20,
  rpcConcurrency: 16,
  rpcRate: undefined,
  rpcDaily: undefined,
  rpcMonth: undefined,
  rpcCosts: [],
  keepBlocks: undefined,
  keepFor: undefined,
  storeBatch: 200,
  contract: [],
  event: [],
  transactions: false,
  scoping: undefined,
  cluster: undefined,
}

test('without any source the defaults hold', () => {
  const { readers, indexers, ...config } = plain()
  assert.deepEqual(config, { ...DEFAULTS, networks: [] })
  assert.ok(readers >= 2 && readers <= 8)
  assert.ok(indexers >= 1 && indexers <= 16)
})

test('every setting comes in by flag, by environment and by file, and in that order of precedence', () => {
  const path = fileOf('port = 1\nreaders = 1\nhost = "file"\n')
  const env = { CHAINSIEVE_READERS: '2', CHAINSIEVE_INDEXERS: '3', CHAINSIEVE_HOST: 'env', CHAINSIEVE_CONFIG: path }
  assert.deepEqual(plain({ env, flags: { host: 'flag' } }), {
    ...DEFAULTS,
    port: 1,
    readers: 2,
    indexers: 3,
    host: 'flag',
    networks: [],
    file: path,
  })
})

test('a network comes in by flags', () => {
  const flags = {
    network: 'ethereum/ethereum/mainnet',
    rpc: ['https://one.example.org/v2/KEY', 'http://127.0.0.1:8545'],
    ws: 'wss://one.example.org/KEY',
    from: 'latest-100',
    to: '17_000_000',
    order: 'oldest',
    storeBatch: '50',
  }
  const config = plain({ flags })
  assert.deepEqual(config.networks, [
    {
      ...NETWORK_DEFAULTS,
      ...flags,
      from: { latest: 100 },
      to: { block: 17_000_000 },
      storeBatch: 50,
    },
  ])
  assert.equal(config.network, 'ethereum/ethereum/mainnet')
})

test('reorganisations may be followed down to the finalized block, by depth where no node tells one', () => {
  const [network] = plain({ flags: { network: 'polygon', finality: 'finalized' } }).networks
  assert.equal(network!.finality, 'finalized')
  assert.deepEqual(depthOfChain(network!.network, 'finalized'), { finality: 512, toFinalized: true })
  assert.deepEqual(depthOfChain('a/b/c', 'finalized'), { finality: 64, toFinalized: true })
  assert.deepEqual(depthOfChain('ethereum/polygon/mainnet', 9), { finality: 9 })
})

test('the short name of a chain sets what is known of it, and what is set goes before', () => {
  const settings = (sources: ConfigSources) =>
    plain(sources).networks.map(({ network, chainId, finality, skipBloom }) => ({
      network,
      chainId,
      finality,
      skipBloom,
    }))
  const polygon = { network: 'ethereum/polygon/mainnet', chainId: 137, finality: 512, skipBloom: true }
  assert.deepEqual(settings({ flags: { network: 'polygon' } }), [polygon])
  assert.deepEqual(settings({ env: { CHAINSIEVE_NETWORK: 'polygon' } }), [polygon])
  assert.deepEqual(settings({ flags: { network: 'polygon', finality: '9', skipBloom: false } }), [
    { ...polygon, finality: 9, skipBloom: false },
  ])
  const path = fileOf('[[networks]]\nnetwork = "polygon"\nskip-bloom = false\n')
  assert.deepEqual(settings({ flags: { config: path, network: 'ethereum/polygon/mainnet', chainId: '80002' } }), [
    { ...polygon, chainId: 80_002, skipBloom: false },
  ])
  assert.deepEqual(settings({ flags: { network: 'ethereum/polygon/mainnet' } }), [
    { network: 'ethereum/polygon/mainnet', chainId: undefined, finality: 64, skipBloom: false },
  ])
  assert.throws(() => settings({ flags: { network: 'polygone' } }), {
    code: 'bad_setting',
    message: /the short name of a chain, such as base, not "polygone"/,
  })
  assert.throws(() => settings({ flags: { network: 'constructor' } }), { code: 'bad_setting' })
})

test('networks come in by file, and flags change the one they name or add one', () => {
  const path = fileOf(`
    data = "store"
    [[networks]]
    network = "ethereum/ethereum/mainnet"
    rpc = ["http://a", "http://b"]
    from = 100
    poll-interval = "500ms"
    [[networks]]
    network = "ethereum/gnosis/mainnet"
    rpc = "http://c"
  `)
  const config = path
  const mainnet = {
    ...NETWORK_DEFAULTS,
    network: 'ethereum/ethereum/mainnet',
    rpc: ['http://a', 'http://b'],
    from: { block: 100 },
    pollInterval: 500,
  }
  const gnosis = { ...NETWORK_DEFAULTS, network: 'ethereum/gnosis/mainnet', rpc: ['http://c'] }
  assert.deepEqual(plain({ flags: { config } }).networks, [mainnet, gnosis])
  assert.deepEqual(plain({ flags: { config, network: 'ethereum/gnosis/mainnet', rpc: ['http://d'] } }).networks, [
    mainnet,
    { ...gnosis, rpc: ['http://d'] },
  ])
  const added = plain({ flags: { config, network: 'ethereum/goerli/testnet' } })
  assert.deepEqual(added.networks, [mainnet, gnosis, { ...NETWORK_DEFAULTS, network: 'ethereum/goerli/testnet' }])
  assert.equal(added.network, 'ethereum/goerli/testnet')
  assert.equal(plain({ flags: { config } }).network, undefined)
})

test('flags without a name mean the only network of the file', () => {
  const config = fileOf('[[networks]]\nnetwork = "ethereum/ethereum/mainnet"\n')
  const { network, networks } = plain({ flags: { config }, env: { CHAINSIEVE_RPC: 'http://a, http://b' } })
  assert.equal(network, 'ethereum/ethereum/mainnet')
  assert.deepEqual(networks, [{ ...NETWORK_DEFAULTS, network, rpc: ['http://a', 'http://b'] }])
})

test('a config file in the data folder is found, and its paths are its own', () => {
  const data = join(folder, 'found')
  mkdirSync(data)
  writeFileSync(join(data, 'chainsieve.toml'), 'port = 1')
  const found = plain({ flags: { data: 'found' } })
  assert.deepEqual([found.port, found.data, found.file], [1, data, join(data, 'chainsieve.toml')])

  const path = fileOf('data = "elsewhere"')
  assert.equal(load({ flags: { config: path }, cwd: '/' }).data, join(folder, 'elsewhere'))
  assert.equal(load({ flags: { config: path, data: 'here' }, cwd: '/' }).data, '/here')

  writeFileSync(join(data, 'chainsieve.toml'), 'data = "elsewhere"')
  fails(
    { flags: { data: 'found' } },
    `${join(data, 'chainsieve.toml')}: data: the config file in the data folder cannot name another one.`,
  )
})

test('what is not known is refused with its place and the nearest name', () => {
  fails(
    { env: { CHAINSIEVE_PROT: '1' } },
    'Environment variable CHAINSIEVE_PROT is not a setting. Did you mean "CHAINSIEVE_PORT"?',
  )
  const path = (text: string) => ({ flags: { config: fileOf(text) } })
  const at = () => join(folder, `${files}.toml`)
  const inFile = (text: string, message: string) => {
    const sources = path(text)
    fails(sources, `${at()}${message}`)
  }
  inFile('prot = 1', ': prot is not a setting. Did you mean "port"?')
  inFile('network = []', ': network is not a setting. It is a setting of a network: put it under [[networks]].')
  inFile('[[network]]\nrpc = 1', ': network is not a setting. It is a setting of a network: put it under [[networks]].')
  inFile('[[networks]]\nrcp = 1', ': networks[0]: rcp is not a setting. Did you mean "rpc"?')
  inFile(
    '[[networks]]\n[[networks]]\nport = 1',
    ': networks[1]: port is not a setting. It is not a setting of a network: put it above the first [[networks]].',
  )
  inFile('config = "x"', ': config is not a setting.')
  inFile('networks = 3', ': networks must be a list of tables, each of which begins with [[networks]].')
  inFile('port = 1\nhost = "x', ', line 2, column 8: unfinished string.')
})

test('a file that is not there is refused', () => {
  assert.throws(() => load({ flags: { config: 'absent.toml' } }), {
    code: 'config_file_unreadable',
    message: new RegExp(`^The config file ${join(folder, 'absent.toml')} cannot be read: ENOENT`),
  })
})

test('what is not valid is refused with its place', () => {
  const network = 'ethereum/ethereum/mainnet'
  const cases: [ConfigSources['flags'], string][] = [
    [{ port: '65536' }, '--port takes a port from 0 (any free one) to 65535, not "65536".'],
    [{ port: '-1' }, '--port takes a port from 0 (any free one) to 65535, not "-1".'],
    [{ port: '80.5' }, '--port takes a port from 0 (any free one) to 65535, not "80.5".'],
    [
      { network, rpc: ['http://localhost:8545'], verifyLogs: true },
      '--verify-logs compares the logs of two endpoints: it requires --rpc twice.',
    ],
    [{ host: '' }, '--host takes a host name or address, not "".'],
    [{ json: 'maybe' }, '--json takes true or false, not "maybe".'],
    [
      { queryDeadline: '10' },
      '--query-deadline takes a time with its unit (ms, s, m, h, d, w), such as 10s, not "10".',
    ],
    [
      { queryDeadline: '10y' },
      '--query-deadline takes a time with its unit (ms, s, m, h, d, w), such as 10s, not "10y".',
    ],
    [
      { limit: ['body=16 parsecs'] },
      '--limit takes the name of a limit and its value, such as clauses=2000, not "body=16 parsecs" (body takes a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB).',
    ],
    [
      { limit: ['boddy=1'] },
      '--limit takes the name of a limit and its value, such as clauses=2000, not "boddy=1" (there is no limit "boddy". Did you mean "body"?).',
    ],
    [
      { limit: ['constructor=1'] },
      '--limit takes the name of a limit and its value, such as clauses=2000, not "constructor=1" (there is no limit "constructor".).',
    ],
    [{ readers: '0' }, '--readers takes auto or an integer from 1 to 64, not "0".'],
    [
      { allowTarget: ['10.0.0.0/8', '10.0.0.0/33'] },
      '--allow-target takes an address range such as 10.0.0.0/8 or fd00::/8, not "10.0.0.0/33".',
    ],
    [
      { network: 'mainnet' },
      '--network takes technology/blockchain/network in lower case, such as ethereum/ethereum/mainnet, or the short name of a chain, such as base, not "mainnet".',
    ],
    [
      { network: '../../x' },
      '--network takes technology/blockchain/network in lower case, such as ethereum/ethereum/mainnet, or the short name of a chain, such as base, not "../../x".',
    ],
    // A URL may hold a key: it is not repeated.
    [
      { network, rpc: ['node.example.org/KEY'] },
      '--rpc takes an http, https, ws or wss URL, or the path of an IPC socket, such as /path/geth.ipc.',
    ],
    [{ network, ws: 'https://a' }, '--ws takes a URL that starts with ws:// or wss://.'],
    [
      { network, from: 'latest+1' },
      '--from takes a block number, latest, or latest-K for K blocks before the head, not "latest+1".',
    ],
    [
      { network, from: '99999999999999999999' },
      '--from takes a block number, latest, or latest-K for K blocks before the head, not "99999999999999999999".',
    ],
    [{ network, from: '10', to: '9' }, '--to: the last block, 9, is before the first, 10.'],
    [{ network, order: 'random' }, '--order takes newest or oldest, not "random".'],
    [{ rpc: ['http://a'] }, '--rpc needs a network: add --network T/B/N.'],
  ]
  for (const [flags, message] of cases) fails({ flags: flags! }, message)
  fails({ env: { CHAINSIEVE_PORT: 'x' } }, 'CHAINSIEVE_PORT takes a port from 0 (any free one) to 65535, not "x".')
  const config = fileOf('[[networks]]\nnetwork = "a/b/c"\nfinality = 0')
  fails(
    { flags: { config } },
    `${config}: networks[0]: finality takes an integer from 1 to 100000, or finalized, not 0.`,
  )
  const nameless = fileOf('[[networks]]\nrpc = "http://a"')
  fails({ flags: { config: nameless } }, 'networks[0] in the config file needs a name: network = "T/B/N".')
  const twice = fileOf('[[networks]]\nnetwork = "a/b/c"\n[[networks]]\nnetwork = "a/b/c"')
  fails({ flags: { config: twice } }, `${twice}: networks[1]: network: a/b/c is configured twice.`)
})

test('values are read from text and from typed values alike', () => {
  const config = fileOf(
    'port = "81"\njson = true\nquery-deadline = "1.5 s"\nlimit = ["body=1MiB"]\nallow-target = "::1"',
  )
  const { port, json, queryDeadline, limits, allowTarget } = load({ flags: { config } })
  assert.deepEqual([port, json, queryDeadline, limits.body, allowTarget], [81, true, 1_500, 1_048_576, ['::1/128']])
  const env = { CHAINSIEVE_JSON: 'yes', CHAINSIEVE_ALLOW_TARGET: '10.0.0.0/8, 192.168.0.1', CHAINSIEVE_HOST: '' }
  const fromEnv = load({ env })
  assert.deepEqual(
    [fromEnv.json, fromEnv.allowTarget, fromEnv.host],
    [true, ['10.0.0.0/8', '192.168.0.1/32'], '127.0.0.1'],
  )
})

test('variables that Kubernetes sets for a service called chainsieve are not taken for settings', () => {
  const env = {
    CHAINSIEVE_PORT: 'tcp://10.0.0.1:8640',
    CHAINSIEVE_PORT_8640_TCP: 'tcp://10.0.0.1:8640',
    CHAINSIEVE_PORT_8640_TCP_ADDR: '10.0.0.1',
    CHAINSIEVE_SERVICE_HOST: '10.0.0.1',
    CHAINSIEVE_SERVICE_PORT_HTTP: '8640',
  }
  assert.equal(load({ env }).port, 8640)
})

test('a configuration can be printed without showing a key', () => {
  const flags = { network: 'a/b/c', rpc: ['https://node.example.org/SESAME'], ws: 'wss://node.example.org/SESAME' }
  assert.doesNotMatch(JSON.stringify(load({ flags })), /SESAME/)
})

test('the table of settings is sound: names are unique, defaults are valid, every line says what it means', () => {
  const all: Record<string, Setting> = { ...SETTINGS, ...NETWORK_SETTINGS }
  assert.equal(Object.keys(all).length, Object.keys(SETTINGS).length + Object.keys(NETWORK_SETTINGS).length)
  for (const [name, { kind, fallback, meaning }] of Object.entries(all)) {
    if (fallback !== undefined) assert.equal(v.is(kind.schema, fallback), true, name)
    assert.match(meaning, /^[A-Z].*\.$/, name)
  }
  assert.deepEqual(placesOf('queryDeadline'), {
    flag: '--query-deadline',
    env: 'CHAINSIEVE_QUERY_DEADLINE',
    file: 'query-deadline',
  })
  assert.deepEqual(
    settingRows().map(({ flag, env, file }) => `${flag} ${env} ${file}`),
    [
      '--data CHAINSIEVE_DATA data',
      '--config CHAINSIEVE_CONFIG ',
      '--host CHAINSIEVE_HOST host',
      '--port CHAINSIEVE_PORT port',
      '--es-listen CHAINSIEVE_ES_LISTEN es-listen',
      '--default-network CHAINSIEVE_DEFAULT_NETWORK default-network',
      '--json CHAINSIEVE_JSON json',
      '--log-requests CHAINSIEVE_LOG_REQUESTS log-requests',
      '--metrics CHAINSIEVE_METRICS metrics',
      '--tls-cert CHAINSIEVE_TLS_CERT tls-cert',
      '--tls-key CHAINSIEVE_TLS_KEY tls-key',
      '--trust-proxy CHAINSIEVE_TRUST_PROXY trust-proxy',
      '--proxy-header CHAINSIEVE_PROXY_HEADER proxy-header',
      '--no-console CHAINSIEVE_NO_CONSOLE no-console',
      '--cors-origin CHAINSIEVE_CORS_ORIGIN cors-origin',
      '--keep-audit CHAINSIEVE_KEEP_AUDIT keep-audit',
      '--role CHAINSIEVE_ROLE role',
      '--query-deadline CHAINSIEVE_QUERY_DEADLINE query-deadline',
      '--readers CHAINSIEVE_READERS readers',
      '--indexers CHAINSIEVE_INDEXERS indexers',
      '--limit CHAINSIEVE_LIMIT limit',
      '--allow-target CHAINSIEVE_ALLOW_TARGET allow-target',
      '--public-url CHAINSIEVE_PUBLIC_URL public-url',
      '--smtp CHAINSIEVE_SMTP smtp',
      '--mail-from CHAINSIEVE_MAIL_FROM mail-from',
      '--mail-digest CHAINSIEVE_MAIL_DIGEST mail-digest',
      '--delivery-timeout CHAINSIEVE_DELIVERY_TIMEOUT delivery-timeout',
      '--delivery-retries CHAINSIEVE_DELIVERY_RETRIES delivery-retries',
      '--keep-deliveries CHAINSIEVE_KEEP_DELIVERIES keep-deliveries',
      '--keep-alerts CHAINSIEVE_KEEP_ALERTS keep-alerts',
      '--server CHAINSIEVE_SERVER server',
      '--token CHAINSIEVE_TOKEN token',
      '--network CHAINSIEVE_NETWORK networks[].network',
      '--chain-id CHAINSIEVE_CHAIN_ID networks[].chain-id',
      '--rpc CHAINSIEVE_RPC networks[].rpc',
      '--explorer CHAINSIEVE_EXPLORER networks[].explorer',
      '--ws CHAINSIEVE_WS networks[].ws',
      '--from CHAINSIEVE_FROM networks[].from',
      '--to CHAINSIEVE_TO networks[].to',
      '--order CHAINSIEVE_ORDER networks[].order',
      '--finality CHAINSIEVE_FINALITY networks[].finality',
      '--stale-after CHAINSIEVE_STALE_AFTER networks[].stale-after',
      '--poll-interval CHAINSIEVE_POLL_INTERVAL networks[].poll-interval',
      '--skip-bloom CHAINSIEVE_SKIP_BLOOM networks[].skip-bloom',
      '--verify-logs CHAINSIEVE_VERIFY_LOGS networks[].verify-logs',
      '--traces CHAINSIEVE_TRACES networks[].traces',
      '--currency CHAINSIEVE_CURRENCY networks[].currency',
      '--flat-args CHAINSIEVE_FLAT_ARGS networks[].flat-args',
      '--request-timeout CHAINSIEVE_REQUEST_TIMEOUT networks[].request-timeout',
      '--rpc-batch CHAINSIEVE_RPC_BATCH networks[].rpc-batch',
      '--rpc-concurrency CHAINSIEVE_RPC_CONCURRENCY networks[].rpc-concurrency',
      '--rpc-rate CHAINSIEVE_RPC_RATE networks[].rpc-rate',
      '--rpc-daily CHAINSIEVE_RPC_DAILY networks[].rpc-daily',
      '--rpc-month CHAINSIEVE_RPC_MONTH networks[].rpc-month',
      '--rpc-costs CHAINSIEVE_RPC_COSTS networks[].rpc-costs',
      '--keep-blocks CHAINSIEVE_KEEP_BLOCKS networks[].keep-blocks',
      '--keep-for CHAINSIEVE_KEEP_FOR networks[].keep-for',
      '--contract CHAINSIEVE_CONTRACT networks[].contract',
      '--event CHAINSIEVE_EVENT networks[].event',
      '--transactions CHAINSIEVE_TRANSACTIONS networks[].transactions',
      '--scopes CHAINSIEVE_SCOPES networks[].scopes',
      '--store-batch CHAINSIEVE_STORE_BATCH networks[].store-batch',
      '--store CHAINSIEVE_STORE networks[].store',
      '--opensearch-url CHAINSIEVE_OPENSEARCH_URL networks[].opensearch-url',
      '--opensearch-user CHAINSIEVE_OPENSEARCH_USER networks[].opensearch-user',
      '--opensearch-password CHAINSIEVE_OPENSEARCH_PASSWORD networks[].opensearch-password',
      '--opensearch-ca CHAINSIEVE_OPENSEARCH_CA networks[].opensearch-ca',
      '--opensearch-prefix CHAINSIEVE_OPENSEARCH_PREFIX networks[].opensearch-prefix',
      '--opensearch-shards CHAINSIEVE_OPENSEARCH_SHARDS networks[].opensearch-shards',
      '--opensearch-replicas CHAINSIEVE_OPENSEARCH_REPLICAS networks[].opensearch-replicas',
      '--opensearch-blocks CHAINSIEVE_OPENSEARCH_BLOCKS networks[].opensearch-blocks',
      '--journal-max CHAINSIEVE_JOURNAL_MAX networks[].journal-max',
    ],
  )
})

test('a node may be named by a WebSocket, or by the path of its IPC socket', () => {
  const shown = (rpc: string) =>
    load({ flags: { network: 'a/b/c', rpc: [rpc] } }).networks[0]!.rpc.map(it => [it.reveal(), String(it)])
  for (const url of ['ws://host:8546', 'wss://host/v3/KEY'])
    assert.deepEqual(shown(url), [[url, url.replace('v3/KEY', '[secret]')]])
  for (const path of ['/a b/geth.ipc', 'ipc:/a b/geth.ipc', 'ipc:///a b/geth.ipc', '/a b/x/../geth.ipc'])
    assert.deepEqual(shown(path), [['ipc:///a%20b/geth.ipc', 'ipc:///a%20b/geth.ipc']])
  const here = pathToFileURL(resolve('data/geth.ipc')).href.replace('file:', 'ipc:')
  for (const path of ['data/geth.ipc', './data/geth.ipc', 'ipc:data/geth.ipc'])
    assert.deepEqual(shown(path), [[here, here]])
  for (const bad of ['geth', 'ftp://a', 'ipc:', 'data/geth', ''])
    assert.throws(() => shown(bad), /takes an http, https, ws or wss URL, or the path of an IPC socket/, bad)
})

test('an endpoint may have limits of its own, as a table in the file', () => {
  const rpc = `rpc = ["http://a", {url = "https://b/KEY", rate = "500credits/s", daily = "3M", costs = ["infura", "eth_getLogs=300"]}, {url = "http://c", month = 1_000, costs = "calls"}]`
  const sources = {
    flags: { config: fileOf(`[[networks]]\nnetwork = "a/b/c"\nrpc-rate = "25/s"\nrpc-month = "1.5B"\n${rpc}`) },
  }
  const [network] = load(sources).networks
  assert.deepEqual(
    network!.rpc.map(node => [node.reveal(), node.allowance]),
    [
      ['http://a', undefined],
      ['https://b/KEY', { rate: { most: 500, of: 'credits' }, daily: 3_000_000, costs: ['infura', 'eth_getLogs=300'] }],
      ['http://c', { month: 1_000, costs: ['calls'] }],
    ],
  )
  assert.equal(JSON.stringify(network!.rpc[1]).includes('KEY'), false)
  assert.deepEqual([network!.rpcRate, network!.rpcMonth], [{ most: 25, of: 'calls' }, 1_500_000_000])
  const bad = (entry: string, why: string) =>
    assert.throws(
      () => load({ flags: { config: fileOf(`[[networks]]\nnetwork = "a/b/c"\nrpc = [${entry}]`) } }),
      (error: Error) => {
        assert.match(
          error.message,
          /: networks\[0\]: rpc takes an http, https, ws or wss URL, or the path of an IPC socket/,
        )
        assert.ok(error.message.endsWith(`geth.ipc${why}.`), error.message)
        assert.ok(!error.message.includes('KEY'))
        return true
      },
    )
  bad('"ftp://KEY"', '')
  bad('{url = "ftp://KEY"}', '')
  bad('{rate = "25/s"}', '')
  bad('{url = "http://KEY", dayly = 3}', ' (dayly is not known here. Did you mean "daily"?)')
  bad('{url = "http://KEY", daily = 0}', ' (its daily takes a number, such as 3M or 250k)')
  bad(
    '{url = "http://KEY", rate = "25"}',
    ' (its rate takes a number of calls or credits a second, such as 25/s or 500credits/s)',
  )
  for (const flags of [{ rpcRate: '0/s' }, { rpcDaily: '3 M' }, { rpcCosts: ['alchemi'] }, { rpcCosts: ['eth_call='] }])
    assert.throws(() => load({ flags: { network: 'a/b/c', ...flags } }), { code: 'bad_setting' })
})

test('a network at the root of an address: its port and name, with brackets around IPv6', () => {
  const one = (text: string) => load({ flags: { esListen: [text] } }).esListen
  assert.deepEqual(one('127.0.0.1:9200=ethereum/ethereum/mainnet'), [
    { host: '127.0.0.1', port: 9200, network: 'ethereum/ethereum/mainnet' },
  ])
  assert.deepEqual(one('[::1]:0=base'), [{ host: '::1', port: 0, network: 'ethereum/base/mainnet' }])
  const refusal = (text: string) =>
    `--es-listen takes an address, a port and a network, such as 127.0.0.1:9200=ethereum/ethereum/mainnet, not ${JSON.stringify(text)}.`
  for (const text of ['9200=base', 'a:9200', 'a:70000=base', 'a:1=Base', '::1:9200=base', 'a:1=', 'a/b:1=base'])
    fails({ flags: { esListen: [text] } }, refusal(text))
})

test('the table of settings has every flag in full, so that a search for it leads there', () => {
  const table = readFileSync(new URL('../../src/config/settings.ts', import.meta.url), 'utf8')
  for (const name of Object.keys({ ...SETTINGS, ...NETWORK_SETTINGS }).filter(name => /[A-Z]/.test(name)))
    assert.ok(
      table.includes(`// ${placesOf(name).flag}\n`),
      `put // ${placesOf(name).flag} behind the entry of ${name}`,
    )
})
