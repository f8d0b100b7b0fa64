import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { clusterOptions } from '../../src/config/cluster.ts'
import { type Flags, loadConfig } from '../../src/config/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-config-'))
after(() => rmSync(folder, { recursive: true }))

const NETWORK = 'a/b/c'
const URL = 'http://127.0.0.1:9200'
const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const load = (flags: Flags, env: Record<string, string> = {}) => loadConfig({ env, cwd: folder, flags })
const clusterBy = (flags: Flags, env = {}) => load({ network: NETWORK, ...flags }, env).networks[0]!.cluster

test('a network lies in its file, or in a cluster of which only the address must be named', () => {
  assert.equal(clusterBy({}), undefined)
  assert.equal(clusterBy({ store: 'sqlite' }), undefined)
  const cluster = clusterBy({ store: 'opensearch', opensearchUrl: [URL, 'http://[::1]:9201/search'] })
  assert.deepEqual(cluster, {
    urls: [URL, 'http://[::1]:9201/search'],
    username: undefined,
    password: undefined,
    ca: undefined,
    ...DEFAULT_CLUSTER,
    journalMax: 8e9,
    returning: false,
  })
  assert.equal(clusterBy({ store: 'sqlite', opensearchUrl: [URL] })!.returning, true)
})

test('a cluster is configured in the file, its password by the environment, and is told with all that connects to it', () => {
  writeFileSync(join(folder, 'ca.pem'), PEM)
  writeFileSync(
    join(folder, 'all.toml'),
    `[[networks]]
network = "${NETWORK}"
store = "opensearch"
opensearch-url = ["https://one.example:9200", "https://two.example:9200"]
opensearch-user = "chainsieve"
opensearch-ca = "ca.pem"
opensearch-prefix = "chains.of_us-1"
opensearch-shards = 3
opensearch-replicas = 0
opensearch-blocks = 250000
journal-max = "1.5TB"
`,
  )
  const config = loadConfig({
    ...{ cwd: '/', flags: { config: join(folder, 'all.toml') } },
    env: { CHAINSIEVE_OPENSEARCH_PASSWORD: 'SESAME' },
  })
  assert.doesNotMatch(JSON.stringify(config), /SESAME/)
  assert.deepEqual(clusterOptions(config.networks[0]!.cluster!), {
    urls: ['https://one.example:9200', 'https://two.example:9200'],
    username: 'chainsieve',
    password: 'SESAME',
    ca: PEM,
    prefix: 'chains.of_us-1',
    shards: 3,
    replicas: 0,
    blocksPerIndex: 250_000,
    journalMax: 1.5e12,
  })
})

test('faults of a cluster are named with their place, and secrets are not repeated', () => {
  const on = { network: NETWORK, store: 'opensearch', opensearchUrl: [URL] }
  const cases: [Flags, string][] = [
    [
      { network: NETWORK, store: 'opensearch' },
      '--store: opensearch requires a node of the cluster: add --opensearch-url URL.',
    ],
    [{ network: NETWORK, opensearchUrl: [URL] }, '--opensearch-url is a setting of a network with --store opensearch.'],
    [
      { network: NETWORK, store: 'sqlite', journalMax: '9GB' },
      '--journal-max is a setting of a network with --store opensearch.',
    ],
    [{ network: NETWORK, journalMax: '9GB' }, '--journal-max is a setting of a network with --store opensearch.'],
    [{ ...on, store: 'elasticsearch' }, '--store takes sqlite or opensearch, not "elasticsearch".'],
    [{ ...on, opensearchUser: 'me' }, '--opensearch-user requires a password: set opensearch-password.'],
    [{ ...on, opensearchPassword: 'SESAME' }, '--opensearch-password requires a user: set opensearch-user.'],
    [
      { ...on, opensearchUrl: ['https://me:SESAME@one.example'] },
      '--opensearch-url takes a URL that starts with http:// or https:// and has no user, password or query in it.',
    ],
    [{ ...on, opensearchCa: 'ca.pem' }, `--opensearch-ca requires https, and ${URL} is without it.`],
    [
      { ...on, opensearchPrefix: 'Chains' },
      '--opensearch-prefix takes up to 64 lower-case letters, digits and . _ -, not "Chains".',
    ],
    [{ ...on, opensearchShards: '0' }, '--opensearch-shards takes an integer from 1 to 1024, not "0".'],
    [
      { ...on, journalMax: '8' },
      '--journal-max takes a size with its unit (MB, GB, TB, MiB, GiB, TiB), such as 8GB, not "8".',
    ],
  ]
  for (const [flags, message] of cases)
    assert.throws(() => load(flags), { name: 'ChainsieveError', code: 'bad_setting', message })
})

test('an authority that cannot be read stops with the file', () => {
  const named = (file: string) =>
    clusterOptions(clusterBy({ store: 'opensearch', opensearchUrl: ['https://a'], opensearchCa: join(folder, file) })!)
  assert.throws(() => named('absent.pem'), { code: 'ca_unreadable', message: /ENOENT.*absent\.pem/ })
  writeFileSync(join(folder, 'key.pem'), 'no certificate')
  assert.throws(() => named('key.pem'), { code: 'ca_unreadable', message: /key\.pem has no certificate in PEM/ })
})
