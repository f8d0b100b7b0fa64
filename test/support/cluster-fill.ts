import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { type Cluster, type ClusterOptions, connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { type Lacking, putIndex } from '../../src/cluster/indices/indices.ts'
import { aliasOf, baseOf, clusterId, indexNameOf, metaText } from '../../src/cluster/indices/names.ts'
import { indexBody } from '../../src/cluster/indices/template.ts'
import { asJson } from '../../src/documents/show.ts'
import { createDocuments } from '../../src/engine/query/documents.ts'
import { createEvaluator } from '../../src/engine/query/match/evaluate.ts'
import { blockOf } from '../../src/engine/schema.ts'
import type { Visible } from '../../src/engine/shipping/shipped-ranges.ts'
import { createHits } from '../../src/engine/show/hits.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import { mergeRanges } from '../../src/lib/ranges.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { createTestStore, type TestStore } from './store.ts'

/** A real OpenSearch to try things with, where the environment names one. */
export const OPENSEARCH_URL = process.env.OPENSEARCH_URL

export const withoutCluster: string | false =
  OPENSEARCH_URL === undefined && 'OPENSEARCH_URL does not name a running OpenSearch'

export interface FilledCluster {
  cluster: Cluster
  naming: ClusterOptions
  network: string
  visible: Visible
  store: TestStore
  close(): Promise<void>
}

export interface FillOptions {
  /** `shards`, `blocksPerIndex` and others, where another layout is tried. */
  naming?: Partial<ClusterOptions>
  prefix?: string
  batch?: number
  network?: string
}

export const scenarioStore = (): TestStore =>
  createTestStore(
    readFileSync(new URL('../scenario/blocks.ndjson', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
    { run: 3 },
  )

/** Puts all documents of a store, which by default holds the scenario's blocks, into indices of their own. */
export const fillCluster = async (
  store: TestStore = scenarioStore(),
  { naming: given = {}, prefix = 'test', batch = 1, network = 'ethereum/made-up/mainnet' }: FillOptions = {},
): Promise<FilledCluster> => {
  const naming: ClusterOptions = {
    ...DEFAULT_CLUSTER,
    ...{ urls: [OPENSEARCH_URL!], replicas: 0, prefix: `${prefix}-${randomBytes(4).toString('hex')}` },
    ...given,
  }
  const cluster = connect(naming)
  const send = async (request: Parameters<Cluster['ask']>[0]): Promise<string> => {
    const { status, text } = await cluster.ask(request)
    if (status >= 300) throw new Error(`${request.method} ${request.path}: ${text.slice(0, 2000)}`)
    return text
  }
  const made = new Set<string>()
  const make = async (kind: Kind, index: string) => {
    if (made.has(index)) return
    made.add(index)
    const body = (lacking: Lacking) => ({
      ...indexBody(kind, network, naming, { lacking }),
      aliases: { [aliasOf(naming, network, kind)]: {} },
    })
    await putIndex(cluster, `/${index}`, body, 'create an index')
  }
  const ranges = store.read(() => store.reader.segments().map(({ first, last }) => ({ from: first, to: last })))
  const at = [{ from: 0, to: 0 }, ...ranges]
  for (const kind of KINDS) {
    for (const { from, to } of at)
      for (let block = from; block <= to; block++) await make(kind, indexNameOf(naming, network, kind, block))
    const lines: string[] = []
    for (const { id, block, source } of documentsOf(store, kind, batch)) {
      const index = indexNameOf(naming, network, kind, block)
      lines.push(JSON.stringify({ index: { _index: index, _id: id, version: batch, version_type: 'external_gte' } }))
      lines.push(source)
    }
    if (lines.length === 0) continue
    const text = await send({ method: 'POST', path: '/_bulk', lines: `${lines.join('\n')}\n` })
    if (!text.includes('"errors":false')) throw new Error(text.slice(0, 2000))
  }
  await send({ method: 'POST', path: `/${baseOf(naming, network)}-*/_refresh` })
  return {
    ...{ cluster, naming, network, store },
    visible: { hidden: [], ranges: mergeRanges([...ranges]) },
    async close() {
      for (const index of made) await cluster.ask({ method: 'DELETE', path: `/${index}` })
      await cluster.close()
      store.close()
    },
  }
}

/** Notes in the store that its blocks are in the cluster, as who ships them does. */
export const shelve = ({ store, visible }: Pick<FilledCluster, 'store' | 'visible'>): void => {
  const db = new Database(store.path)
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('batches', 1)").run()
  const insert = db.prepare('INSERT INTO shelf (first, last) VALUES (?, ?)')
  for (const { from, to } of visible.ranges) insert.run(from, to)
  db.close()
}

export const documentsOf = (
  store: TestStore,
  kind: Kind,
  batch: number,
): { id: string; block: number; source: string }[] => {
  const { reader } = store
  const shown = createDocuments(reader, asJson)
  const evaluation = createEvaluator(reader, store.documents)
  const show = createHits({ reader, shown, exact: store.documents, evaluation, limits: DEFAULT_LIMITS })
  const positions = store.positions(kind)
  const documents = store.read(() => store.documents.load(kind, positions))
  const out = createByteWriter()
  return documents.map((document, i) => {
    const { _id: id, _routing: routing, _parent: parent } = document!
    const position = positions[i]!
    const block = blockOf(position)
    out.clear()
    if (!store.read(() => show.document(kind, position, '', out, { bare: true })))
      throw new Error(`${kind} ${id} is gone`)
    const text = Buffer.from(out.take()).toString()
    const meta = metaText(kind, { batch, block, position, routing, parent })
    return { id: clusterId(kind, id, position), block, source: `${text.slice(0, -1)}${meta}}` }
  })
}
