import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, ClusterRequest } from '../../src/cluster/connection/cluster.ts'
import { splitSource } from '../../src/cluster/indices/names.ts'
import { addTo, tallies } from '../../src/cluster/ship/tally.ts'
import { retry } from '../../src/lib/errors.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { createDocumentCluster } from './document-cluster.ts'

/** As much of a cluster as shipping asks for, by the simplest means: what the cluster's manual says of versions, refreshes and deletions. */
export interface MemoryCluster extends Cluster {
  documents(): Map<string, string>
  indices(): string[]
  /** Removes an index with all that is in it. */
  lose(index: string): void
  /** An index that was lost is there as it was, as after a snapshot is restored. */
  bring(index: string): void
  /** What an index holds now, for `restore`. */
  snapshot(index: string): Snapshot
  /** An index as a snapshot has it, as a new one. */
  restore(index: string, snapshot: Snapshot): void
  /** A document is gone, though nobody was told. */
  loseDocument(key: string): void
}

export interface Snapshot {
  told: Told
  entries: [string, Entry][]
}

interface Told {
  settings: Record<string, unknown>
  mappings: object
  aliases: object
}

interface Entry {
  version: number
  source: string | undefined
}

interface Ranged {
  range: Record<string, Record<string, number>>
}
type Clause = Ranged | { bool: { filter?: Clause[]; must_not?: Clause[] } } | { term: { 'chainsieve.kind': number } }
interface Tallied {
  query: { bool: { filter: Ranged[]; must_not: Clause[] } }
}
interface Counted {
  query: { bool: { must_not: Clause[] } }
}

type Shown = { batch: number; block: number; kind: number }
const matches = (clause: Clause, shown: Shown): boolean => {
  if ('term' in clause) return clause.term['chainsieve.kind'] === shown.kind
  if ('bool' in clause) {
    const { filter = [], must_not = [] } = clause.bool
    return filter.every(one => matches(one, shown)) && !must_not.some(one => matches(one, shown))
  }
  const { batch, block } = shown
  return Object.entries(clause.range).every(([field, { gt = -1, gte = 0, lte = Number.POSITIVE_INFINITY }]) => {
    const value = field.endsWith('batch') ? batch : block
    return value > gt && value >= gte && value <= lte
  })
}
const metaOf = (source: string): Shown => (JSON.parse(source) as { chainsieve: Shown }).chainsieve

export const memoryCluster = (): MemoryCluster => {
  const entries = new Map<string, Entry>()
  const told = createDocumentCluster()
  let shown = new Map<string, string>()
  const indices = new Map<string, Told>()
  const lost = new Map<string, Snapshot>()
  let made = 0
  const ok = (body: object) => ({ status: 200, text: JSON.stringify(body) })

  const bulk = (text: string) => {
    const lines = text.trimEnd().split('\n')
    const items = []
    for (let i = 0; i < lines.length; i += 2) {
      const { index } = JSON.parse(lines[i]!) as { index: { _index: string; _id: string; version: number } }
      const key = `${index._index} ${index._id}`
      const isNewer = (entries.get(key)?.version ?? 0) <= index.version
      if (isNewer) entries.set(key, { version: index.version, source: lines[i + 1]! })
      items.push({ index: isNewer ? { status: 200 } : CONFLICT })
    }
    return ok({ items })
  }
  const nameAll = ({ actions }: Named) => {
    for (const { add } of actions) {
      const index = indices.get(add.index)
      if (!index) return { status: 404, text: '{}' }
      index.aliases = { ...index.aliases, [add.alias]: {} }
    }
    return ok({})
  }
  const remove = (path: string, { query }: { query: { bool: { filter: Clause[] } } }) => {
    const [, target] = path.split('/')
    for (const [key, source] of shown) {
      if (indices.has(target!) && !key.startsWith(`${target} `)) continue
      const entry = entries.get(key)!
      // Written again since the refresh: a conflict.
      if (entry.source !== source || !query.bool.filter.every(one => matches(one, metaOf(source)))) continue
      entries.set(key, { version: entry.version + 1, source: undefined })
      shown.delete(key)
    }
    return ok({ failures: [] })
  }
  const tally = ({ query: { bool } }: Tallied) => {
    const { gte, lte } = bool.filter[0]!.range['chainsieve.block']!
    const isHidden = (shown: Shown) => bool.must_not.some(clause => matches(clause, shown))
    const found = tallies()
    for (const source of shown.values()) {
      const meta = splitSource(source).meta
      if (meta.block >= gte! && meta.block <= lte! && !isHidden(meta)) addTo(found, KINDS[meta.kind]!, meta.position)
    }
    return {
      buckets: [...found].map(([kind, { count, sum }]) => ({
        key: KINDS.indexOf(kind),
        doc_count: count,
        sum: { value: sum },
      })),
    }
  }
  const counts = (path: string, { query: { bool } }: Counted) => {
    const [, index] = path.split('/')
    const found = new Map<string, { key: { block: number; hash: string | null }; doc_count: number }>()
    for (const [key, source] of shown) {
      const { chainsieve: meta, hash, blockHash } = JSON.parse(source) as { chainsieve: Shown } & Record<string, string>
      if (!key.startsWith(`${index} `) || bool.must_not.some(clause => matches(clause, meta))) continue
      const of = { block: meta.block, hash: (KINDS[meta.kind] === 'block' ? hash : blockHash) ?? null }
      const bucket = found.get(`${of.block} ${of.hash}`) ?? { key: of, doc_count: 0 }
      found.set(`${of.block} ${of.hash}`, { ...bucket, doc_count: bucket.doc_count + 1 })
    }
    return [...found.values()].sort((a, b) => a.key.block - b.key.block || (a.key.hash! < b.key.hash! ? -1 : 1))
  }
  const take = (index: string, { told, entries: all }: Snapshot) => {
    indices.set(index, told)
    for (const [key, entry] of all) {
      entries.set(key, entry)
      if (entry.source !== undefined) shown.set(key, entry.source)
    }
  }
  const entriesOf = (index: string) => [...entries].filter(([key]) => key.startsWith(`${index} `))
  const drop = (index: string) => {
    indices.delete(index)
    for (const [key] of entriesOf(index)) for (const all of [entries, shown]) all.delete(key)
  }
  return {
    async ask(request) {
      const { method, path, query = {}, lines, body } = request
      if (path.endsWith('-state') || path.includes('/_doc/')) return told.ask(request)
      if (path === '/') return ok({ version: { distribution: 'opensearch', number: '3.3.0' } })
      if (method === 'GET') return ok(Object.fromEntries(query.flat_settings ? indices : [...indices].map(asNested)))
      if (path === '/_aliases') return nameAll(body as Named)
      const [, named, alias] = ONE_ALIAS.exec(path) ?? []
      if (alias !== undefined) return nameAll({ actions: [{ add: { index: named!, alias } }] })
      if (method === 'PUT') {
        const [, index, part] = path.split('/')
        const there = indices.get(index!)
        if (part === '_mapping')
          indices.set(index!, { ...there!, mappings: { ...there!.mappings, ...(body as object) } })
        else if (!path.startsWith('/_') && !there) indices.set(index!, asTold(body as Created, ++made))
        return ok({})
      }
      if (path === '/_bulk') return bulk(lines!.toString())
      if (path.endsWith('/_refresh')) {
        shown = new Map([...entries].flatMap(([key, { source }]) => (source === undefined ? [] : [[key, source]])))
        return ok({ _shards: { failed: 0 } })
      }
      if (path.endsWith('/_search') && 'kinds' in (body as { aggs: object }).aggs)
        return ok({ _shards: { failed: 0 }, aggregations: { kinds: tally(body as Tallied) } })
      if (path.endsWith('/_search') && 'blocks' in (body as { aggs: object }).aggs)
        return ok({ _shards: { failed: 0 }, aggregations: { blocks: { buckets: counts(path, body as Counted) } } })
      if (path.endsWith('/_search'))
        return ok({
          aggregations: {
            greatest: { value: [...shown.values()].reduce((max, source) => Math.max(max, metaOf(source).batch), 0) },
          },
        })
      if (path.endsWith('/_delete_by_query')) return remove(path, body as Parameters<typeof remove>[1])
      throw new Error(`nothing here answers ${path}`)
    },
    documents: () => shown,
    indices: () => [...indices.keys()],
    lose(index) {
      lost.set(index, this.snapshot(index))
      drop(index)
    },
    bring: index => take(index, lost.get(index)!),
    snapshot: index => ({ told: indices.get(index)!, entries: entriesOf(index) }),
    restore(index, { told, entries }) {
      drop(index)
      const settings = { ...told.settings, 'index.uuid': `made ${++made}` }
      take(index, { told: { ...told, settings }, entries })
    },
    loseDocument(key) {
      entries.delete(key)
      shown.delete(key)
    },
    close: async () => {},
  }
}

interface Created {
  settings: object
  mappings: object
}

const ONE_ALIAS = /^\/([^/]+)\/_alias\/(.+)$/

interface Named {
  actions: { add: { index: string; alias: string } }[]
}

/** Settings are told flat. */
const asTold = ({ settings, ...rest }: Created, serial: number): Told => {
  const told: [string, unknown][] = [['index.uuid', `made ${serial}`]]
  const tell = (value: unknown, path: string) => {
    if (typeof value !== 'object' || Array.isArray(value))
      told.push([path.startsWith('index.') ? path : `index.${path}`, value])
    else for (const [name, inner] of Object.entries(value!)) tell(inner, path === '' ? name : `${path}.${name}`)
  }
  tell(settings, '')
  return { ...rest, aliases: {}, settings: Object.fromEntries(told) }
}

/** As far as anyone asks for it. */
const asNested = ([name, told]: [string, Told]): [string, object] => [
  name,
  { ...told, settings: { index: { uuid: told.settings['index.uuid'] } } },
]

const CONFLICT = { status: 409, error: { type: 'version_conflict_engine_exception' } }

/**
 * The same cluster on a bad day: it is busy, does not answer, answers what it has done with an error, and does what was asked of it long after it was given
 * up. `close` ends the requests of one client alone.
 */
export const troubled = (cluster: Cluster, random: (bound: number) => number): Cluster => ({
  async ask(request: ClusterRequest) {
    // Of each request there are few others.
    const what = request.method === 'POST' ? random(12) : 12
    if (what === 0) return { status: 429, text: '{}' }
    if (what === 1) throw retry('cluster_unreachable', 'the cluster does not answer: reset')
    if (what === 2) {
      await cluster.ask({ ...request, signal: undefined })
      throw retry('cluster_unreachable', 'the cluster does not answer: timeout')
    }
    if (what === 3 && request.path === '/_bulk') {
      const copy = { ...request, lines: Buffer.from(request.lines!), signal: undefined }
      void sleep(random(60)).then(() => cluster.ask(copy))
      throw retry('cluster_unreachable', 'the cluster does not answer: timeout')
    }
    if (what === 4) await sleep(random(10))
    const answer = await cluster.ask(request)
    request.signal?.throwIfAborted()
    if (what === 5 && request.path === '/_bulk') return rejectSome(answer.text, random)
    return answer
  },
  close: async () => {},
})

/** Documents that are there may be told to be rejected, too: then they are sent again. */
const rejectSome = (text: string, random: (bound: number) => number) => {
  const { items } = JSON.parse(text) as { items: { index: { status: number } }[] }
  for (const { index } of items) if (random(3) === 0) index.status = 429
  return { status: 200, text: JSON.stringify({ items }) }
}

/** A cluster behind a port, which answers 503 as long as it `fails`. */
export const serveCluster = async (t: TestContext, cluster: Cluster, fails: () => boolean): Promise<string> => {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { pathname, searchParams } = new URL(request.url!, 'http://any')
    const isBulk = pathname === '/_bulk'
    const asked = {
      method: request.method as ClusterRequest['method'],
      path: pathname,
      ...(searchParams.has('flat_settings') && { query: { flat_settings: true } }),
      ...(isBulk && { lines: body }),
      ...(!isBulk && body.length > 0 && { body: JSON.parse(body.toString()) as object }),
    }
    const { status, text } = fails() ? { status: 503, text: '{}' } : await cluster.ask(asked)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
