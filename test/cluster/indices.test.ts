import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createBulk } from '../../src/cluster/bulk/bulk.ts'
import {
  type Cluster,
  type ClusterOptions,
  type ClusterRequest,
  DEFAULT_CLUSTER,
} from '../../src/cluster/connection/cluster.ts'
import { clusterVersionOf } from '../../src/cluster/connection/version.ts'
import { differencesOf, type FoundIndex } from '../../src/cluster/indices/differences.ts'
import { createIndices } from '../../src/cluster/indices/indices.ts'
import { aliasOf, indexNameOf, META, metaText } from '../../src/cluster/indices/names.ts'
import { indexBody, templateBody } from '../../src/cluster/indices/template.ts'
import { silent } from '../../src/lib/log.ts'
import type { Range } from '../../src/lib/ranges.ts'
import { KINDS, MAPPING } from '../../src/mapping/index.ts'
import { findElasticsearch } from '../support/elasticsearch.ts'
import { openTestCluster, withoutOpenSearch } from '../support/real-opensearch.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const OPTIONS: ClusterOptions = { ...DEFAULT_CLUSTER, urls: ['http://127.0.0.1:1'], blocksPerIndex: 100 }

test('no field of a document has the name of the meta data', () => {
  for (const kind of KINDS)
    for (const path of Object.keys(MAPPING[kind].fields)) assert.notEqual(path.split('.')[0], META, kind)
})

test('a template of a network is for its own names, and of two that begin alike the longer one counts', () => {
  const one = templateBody('tx', 'a/b/c', OPTIONS)
  const other = templateBody('log', 'a/b/c-tx', OPTIONS)
  assert.deepEqual(
    [one.index_patterns, other.index_patterns],
    [['chainsieve-a-b-c-tx-*'], ['chainsieve-a-b-c-tx-log-*']],
  )
  assert.ok(one.priority < other.priority)
  assert.deepEqual(one.template, indexBody('tx', 'a/b/c', OPTIONS, { byItself: true }))
})

describe('differences of an index', () => {
  const good = (): FoundIndex => {
    const { mappings, settings } = structuredClone(indexBody('tx', NETWORK, OPTIONS))
    return {
      ...{ aliases: { [aliasOf(OPTIONS, NETWORK, 'tx')]: {} }, mappings: mappings as FoundIndex['mappings'] },
      settings: {
        'index.number_of_replicas': `${settings.index.number_of_replicas}`,
        'index.sort.field': ['chainsieve.position'],
        'index.sort.order': ['desc'],
        'index.analysis.normalizer.lower_case.filter': ['lowercase'],
        'index.similarity.default.type': 'LegacyBM25',
      },
    }
  }
  const of = (change: (index: FoundIndex) => void, options: Partial<ClusterOptions> = {}) => {
    const index = good()
    change(index)
    return differencesOf(index, 'tx', NETWORK, { ...OPTIONS, ...options })
  }
  const NONE = { fixed: [], missing: {}, replicas: false, alias: false }

  test('there are none of one as it is created', () =>
    assert.deepEqual(
      of(() => {}),
      NONE,
    ))

  test('OpenSearch 3 needs the name of the similarity that others have by themselves', () => {
    const fixedOf = (created: string) =>
      of(({ settings }) => {
        settings['index.similarity.default.type'] = undefined
        settings['index.version.created'] = created
      }).fixed
    const [elasticsearch8, openSearch2, openSearch3] = ['8536000', '136408227', '137248027']
    assert.deepEqual([...fixedOf(elasticsearch8), ...fixedOf(openSearch2)], [])
    assert.deepEqual(fixedOf(openSearch3), ['index.similarity.default.type is not set, not "LegacyBM25"'])
  })

  test('what can be changed is told apart from what cannot', () => {
    assert.deepEqual(
      of(() => {}, { replicas: 2, shards: 5 }),
      { ...NONE, replicas: true },
    )
    assert.deepEqual(
      of(index => {
        index.aliases = {}
      }),
      { ...NONE, alias: true },
    )
    const lacks = of(index => {
      delete index.mappings.properties!.hash
      delete index.mappings.properties![META]!.properties!.parent
    })
    assert.deepEqual(lacks.fixed, [])
    const { properties } = indexBody('tx', NETWORK, OPTIONS).mappings
    const { parent } = properties[META].properties
    assert.deepEqual(lacks.missing, {
      hash: (properties as Record<string, unknown>).hash,
      [META]: { properties: { parent } },
    })
  })

  test('each that cannot be changed is named', () => {
    const { fixed } = of(index => {
      index.mappings.dynamic = 'true'
      index.mappings._meta = { version: 99, network: 'a/b/c', blocksPerIndex: 7, byItself: false }
      index.mappings.properties!.hash = { type: 'text' }
      index.settings['index.sort.field'] = ['other']
      index.settings['index.analysis.normalizer.lower_case.filter'] = undefined
    })
    assert.deepEqual(fixed, [
      '_meta.version is 99: a newer Chainsieve created it, which this one cannot replace',
      '_meta.network is "a/b/c", not "ethereum/made-up/mainnet"',
      'opensearch-blocks (_meta.blocksPerIndex) is 7, not 100',
      'dynamic is "true", not "strict"',
      'index.sort.field is "other", not "chainsieve.position"',
      'analysis.normalizer.lower_case is not set, not "lowercase"',
      'field hash: type is "text", not "keyword"',
      'field hash: ignore_above is not set, not 256',
      'field hash: normalizer is not set, not "lower_case"',
    ])
  })
})

describe('indices that are created', () => {
  const creating = async (block: number | undefined, statusOf: (path: string) => number = () => 200) => {
    const asked: string[] = []
    const bodies: object[] = []
    const cluster = {
      async ask({ method, path, body }: ClusterRequest) {
        bodies.push(body as object)
        await new Promise(setImmediate)
        asked.push(`${method} ${path}`)
        return { status: statusOf(path), text: '{}' }
      },
    }
    await createIndices(cluster, OPTIONS, NETWORK, silent).ensure(block)
    return { asked, bodies }
  }

  test('have their aliases from when they are there on: a search of one that is not fails', async () => {
    const { asked, bodies } = await creating(150)
    const names = KINDS.map(kind => indexNameOf(OPTIONS, NETWORK, kind, 150))
    assert.deepEqual(asked, [...names.map(name => `PUT /${name}`), 'POST /_aliases'])
    assert.ok(bodies.slice(0, -1).every(body => !('aliases' in body)))
    assert.ok(!('aliases' in templateBody('tx', NETWORK, OPTIONS).template))
    const add = KINDS.map((kind, i) => ({ add: { index: names[i], alias: aliasOf(OPTIONS, NETWORK, kind) } }))
    assert.deepEqual(bodies.at(-1), { actions: add })
  })

  test('are those of tokens alone where there is no block', async () => {
    const { asked } = await creating(undefined)
    assert.deepEqual(asked, [`PUT /${indexNameOf(OPTIONS, NETWORK, 'token', 0)}`, 'POST /_aliases'])
  })

  test('are created later where one is gone before it has its alias', async () => {
    const isGone = (path: string) => (path === '/_aliases' ? 404 : 200)
    await assert.rejects(creating(150, isGone), { code: 'cluster_busy', message: /aliases: one is gone again/ })
  })
})

test('versions that are too old are refused, and those that were not tried are told', () => {
  const of = (distribution: string | undefined, number?: string) =>
    clusterVersionOf(JSON.stringify({ version: { distribution, number } }))
  assert.deepEqual(of('opensearch', '3.3.2'), { name: 'OpenSearch 3.3.2', doubt: undefined, restores: false })
  assert.deepEqual(of('opensearch', '2.19.1'), { name: 'OpenSearch 2.19.1', doubt: undefined, restores: true })
  assert.deepEqual(of(undefined, '7.17.29'), { name: 'Elasticsearch 7.17.29', doubt: undefined, restores: true })
  assert.deepEqual(of(undefined, '8.19.4'), { name: 'Elasticsearch 8.19.4', doubt: undefined, restores: true })
  const doubt =
    'Chainsieve was tried with OpenSearch 2.11, OpenSearch 2.19, OpenSearch 3.3, OpenSearch 3.4, Elasticsearch 7.17, Elasticsearch 8.19'
  for (const [distribution, number] of [
    ['opensearch', '2.18.0'],
    ['opensearch', '3.33.0'],
    [undefined, '8.1.0'],
  ] as const)
    assert.equal(of(distribution, number).doubt, doubt)
  assert.deepEqual(
    ['3.2.0', '3.4.0', '3.5.0'].map(number => of('opensearch', number).restores),
    [true, false, true],
  )
  assert.throws(() => of('opensearch', '1.3.0'), { code: 'cluster_too_old', message: /runs OpenSearch 1.3.0: upgrade/ })
  assert.throws(() => of(undefined, '7.16.3'), {
    ...{ code: 'cluster_too_old', message: 'the cluster runs Elasticsearch 7.16.3: upgrade it to Elasticsearch 8' },
  })
  assert.throws(() => clusterVersionOf('<html>'), {
    code: 'cluster_too_old',
    message: /does not identify itself as OpenSearch/,
  })
})

const elasticsearch = await findElasticsearch()

for (const [name, skip, urls] of [
  ['a real OpenSearch', withoutOpenSearch, undefined],
  ['a real Elasticsearch 7.17', elasticsearch ? false : 'no Elasticsearch 7.17 runs', [elasticsearchUrl()]],
] as const)
  test(`${name} takes indices and documents, and what was lost or differs is told`, { skip }, async t => {
    const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 100, ...(urls && { urls }) })
    const indices = createIndices(cluster, options, NETWORK, silent)
    const block = indexNameOf(options, NETWORK, 'block', 0)
    const tx = indexNameOf(options, NETWORK, 'tx', 0)
    const lost = async (blocks: readonly Range[]) => (await indices.look(blocks)).lost
    await indices.prepare()
    const { lost: all } = await indices.look([{ from: 90, to: 110 }])
    assert.equal(all.length, 2 * KINDS.length - 1)
    const cut = [
      { from: 90, to: 99 },
      { from: 100, to: 110 },
    ]
    assert.deepEqual(all[0], { index: block, blocks: [cut[0]] })
    assert.deepEqual(all.find(({ index }) => index.includes('token'))!.blocks, cut)
    await Promise.all([indices.ensure(99), indices.ensure(98)])
    assert.equal(indices.ensure(50), undefined)
    assert.deepEqual(await lost([{ from: 90, to: 99 }]), [])
    await createIndices(cluster, options, NETWORK, silent).ensure(99)

    // What is changed at a start.
    const none = { fixed: [], missing: {}, replicas: false, alias: false }
    await cluster.ask({ method: 'DELETE', path: `/${block}/_alias/${aliasOf(options, NETWORK, 'block')}` })
    const other = { ...options, replicas: 1 }
    await createIndices(cluster, other, NETWORK, silent).prepare()
    const found = await indexOf(cluster, block)
    assert.equal(found.settings['index.number_of_replicas'], '1')
    assert.deepEqual(differencesOf(found, 'block', NETWORK, other), none)
    await assert.rejects(createIndices(cluster, { ...options, blocksPerIndex: 7 }, NETWORK, silent).prepare(), {
      code: 'cluster_differs',
      message: /be: opensearch-blocks \(_meta.blocksPerIndex\) is 100, not 7 \(\S+-block-000000 and 7 more\). Set what/,
    })

    // Documents: the newest version, byte for byte.
    const source = (batch: number, at: number) => {
      const meta = { batch, block: at, position: at * 2 ** 22, routing: undefined, parent: undefined }
      return `{"hash":  "0X${at}"${metaText('block', meta)}}`
    }
    const bulk = createBulk(cluster, { startBytes: 5_000, gzip: true })
    for (const batch of [2, 3, 1])
      for (let i = 0; i < 100; i++)
        await bulk.put({ index: block, id: `${i}`, version: batch, source: Buffer.from(source(batch, i)) })
    await bulk.flush()
    await cluster.ask({ method: 'POST', path: `/${block}/_refresh` })
    const { text } = await cluster.ask({ method: 'GET', path: `/${block}/_search?size=1000&version=true` })
    const { hits } = JSON.parse(text).hits as { hits: { _id: string; _version: number }[] }
    assert.equal(hits.length, 100)
    assert.ok(hits.every(({ _version }) => _version === 3))
    assert.ok(text.includes(source(3, 42)))

    // What may pass is waited for: no rights to write, a disk over its flood stage.
    const told: (string | null)[] = []
    const patient = createBulk(cluster, { baseMs: 5, capMs: 20, onTrouble: why => told.push(why) })
    for (const name of ['write', 'read_only_allow_delete']) {
      const setBlock = (is: boolean | null) =>
        cluster.ask({ method: 'PUT', path: `/${block}/_settings`, body: { [`index.blocks.${name}`]: is } })
      await setBlock(true)
      await patient.put({ index: block, id: name, version: 4, source: source(4, 1) })
      const flushed = patient.flush()
      while (told.length % 2 === 0) await new Promise(resolve => setTimeout(resolve, 5))
      await setBlock(null)
      await flushed
    }
    assert.match(told[0]!, /^it refuses documents for now \(403 cluster_block_exception: .*index write/)
    assert.match(told[2]!, /^it refuses documents for now \(429 cluster_block_exception: .*read-only-allow-delete/)
    assert.deepEqual([told[1], told[3], told.length], [null, null, 4])

    // An index that is gone, and one that the cluster creates in its place.
    await cluster.ask({ method: 'DELETE', path: `/${block}` })
    await cluster.ask({ method: 'DELETE', path: `/${tx}` })
    await bulk.put({ index: block, id: '5', version: 4, source: source(4, 5) })
    await bulk.flush()
    assert.deepEqual(differencesOf(await indexOf(cluster, block), 'block', NETWORK, options).fixed, [])
    const blocks = [{ from: 5, to: 7 }]
    assert.deepEqual(await lost(blocks), [
      { index: block, blocks },
      { index: tx, blocks },
    ])
    for (const { index } of await lost(blocks)) await indices.renew(index)
    assert.deepEqual(await lost(blocks), [{ index: tx, blocks }])
    await indices.ensure(5)
    assert.deepEqual(await lost(blocks), [])
    assert.deepEqual(differencesOf(await indexOf(cluster, block), 'block', NETWORK, other), none)

    await bulk.put({ index: block, id: 'x', version: 4, source: '{"nonsense":1}' })
    await assert.rejects(bulk.flush(), {
      code: 'cluster_refuses_document',
      message: /refuses x of .*-block-000000 \(400\): strict_dynamic_mapping_exception: .*nonsense/,
    })
  })

function elasticsearchUrl(): string {
  return process.env.ELASTICSEARCH_7 ?? 'http://127.0.0.1:9717'
}

async function indexOf(cluster: Cluster, name: string): Promise<FoundIndex> {
  const { text } = await cluster.ask({ method: 'GET', path: `/${name}`, query: { flat_settings: true } })
  return JSON.parse(text)[name] as FoundIndex
}
