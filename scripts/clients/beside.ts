import { KINDS, type Kind } from '../../src/mapping/index.ts'
import type { Properties } from '../../src/mapping/properties.ts'
import { linesOf } from '../bench/beside/opensearch.ts'
import { hitsIn } from '../bench/hits.ts'
import { openStream } from '../bench/serving.ts'
import { readFlags, runMain, SWITCH, TEXT } from '../lib/flags.ts'
import { openSearchIndex } from '../scenario-mapping.ts'
import { PUBLISHED } from './published.ts'
import { type Body, readPublished, writePublished } from './recordings.ts'
import { replayBodies, type Server } from './replay.ts'
import { startDemo } from './run.ts'

const USAGE = `Asks an OpenSearch or Elasticsearch that holds the same documents what public scripts ask, and compares the answers.

node scripts/clients/beside.ts --against URL [--url URL --token TOKEN] [--record]

--url      a server with the demo chain (default: one that is started)
--against  the server to compare with; indices called "beside-…" are made there, and removed
--record   writes its answers into test/clients/published.ndjson.br`

interface Reference {
  name: string
  search(path: string, body: object): Promise<{ status: number; response: string }>
  remove(): Promise<void>
}

const PREFIX = 'beside-'
const RELATED = `${PREFIX}related`
/** The parent of each entity that stands in the index of related documents. */
const PARENTS = { block: undefined, tx: 'block', log: 'tx' } as const

const openReference = async (url: string, server: Server): Promise<Reference> => {
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) })
    return { status: answer.status, response: await answer.text() }
  }
  const succeed = async (...asked: Parameters<typeof ask>) => {
    const { status, response } = await ask(...asked)
    if (status >= 300 || /"errors":true/.test(response.slice(0, 100)))
      throw new Error(`${asked[0]} ${asked[1]} answered ${status}: ${response.slice(0, 500)}`)
    return JSON.parse(response) as { version: { number: string; distribution?: string } }
  }
  const { version } = await succeed('GET', '/')
  const remove = () => ask('DELETE', `/${PREFIX}*`)
  const create = (index: string, { settings, mappings }: object & ReturnType<typeof mappingOf>) =>
    succeed('PUT', `/${index}`, JSON.stringify({ settings, mappings }))

  await remove()
  await create(RELATED, relatedMapping())
  for (const kind of KINDS) {
    await create(PREFIX + kind, mappingOf(kind))
    const [own, related]: [Buffer[], Buffer[]] = [[], []]
    for await (const hit of hitsIn(openStream({ ...server, network: 'ethereum/demo/local' }, kind, {}))) {
      own.push(...linesOf(hit))
      if (kind in PARENTS) related.push(...relatedLines(hit, kind))
    }
    for (const [index, lines] of [[PREFIX + kind, own] as const, [RELATED, related] as const])
      for (let from = 0; from < lines.length; from += 2_000)
        await succeed('POST', `/${index}/_bulk`, Buffer.concat(lines.slice(from, from + 2_000)).toString())
  }
  await succeed('POST', `/${PREFIX}*/_refresh`)

  return {
    name: `${version.distribution ?? 'elasticsearch'} ${version.number}`,
    async search(path, body) {
      const entities = path.split('/').filter(part => !['', 'search', '_search'].includes(part))
      const kinds = entities.length > 0 ? entities.join() : KINDS.join()
      const text = JSON.stringify(body)
      const isRelated = /"has_(child|parent)"/.test(text)
      const index = isRelated ? RELATED : kinds.replace(/\w+/g, kind => PREFIX + kind)
      const asked = isRelated ? JSON.stringify(ofKind(JSON.parse(text) as { query: object }, kinds)) : text
      const shown = '_source' in body ? `${SHOWN},hits.hits._source` : SHOWN
      const { status, response } = await ask(
        'POST',
        `/${index}/_search?track_total_hits=true&filter_path=${shown}`,
        asked,
      )
      const answer = JSON.parse(response) as { hits?: object }
      // Empty lists are left out.
      return {
        status,
        response: JSON.stringify(answer.hits ? { ...answer, hits: { hits: [], ...answer.hits } } : answer),
      }
    },
    async remove() {
      await remove()
    },
  }
}

/** What is compared. */
const SHOWN = [
  ...['error.type', 'error.reason', 'status', 'hits.total', 'hits.hits._id', 'hits.hits.sort'],
  ...['hits.hits.fields', 'hits.hits.inner_hits.*.hits.total', 'aggregations'],
].join()

/** As clients see it, with the older name of keywords; hex matches in any letter case. */
const mappingOf = (kind: Kind) => {
  const { settings, mappings } = openSearchIndex(kind)
  const text = JSON.stringify({ settings, mappings })
    .replaceAll('epoch_second||strict_date_optional_time', 'epoch_second')
    .replaceAll('strict_date_optional_time||epoch_second', 'strict_date_hour_minute_second')
    .replace(/"fields":\{"raw":(\{[^}]*\})/g, '$&,"keyword":$1')
  return JSON.parse(text) as { settings: object; mappings: { properties: Properties } }
}

/** Blocks, transactions and logs in one index, since only there Elasticsearch joins them. */
const relatedMapping = () => {
  const kinds = Object.keys(PARENTS) as Kind[]
  const { settings } = mappingOf('tx')
  const all = kinds.map(kind => mappingOf(kind).mappings.properties)
  const timestamp = { type: 'date', format: 'epoch_second||strict_date_hour_minute_second' }
  const relation = { type: 'join', relations: { block: 'tx', tx: 'log' } }
  return { settings, mappings: { dynamic: false, properties: Object.assign({}, ...all, { timestamp, relation }) } }
}

const relatedLines = (hit: Buffer, kind: Kind): Buffer[] => {
  const head = hit.toString('latin1', 0, hit.indexOf('"_source"'))
  const [id, routing, parent] = ['_id', '_routing', '_parent'].map(
    name => new RegExp(`"${name}":"([^"]+)"`).exec(head)?.[1],
  )
  const relation = parent === undefined ? kind : { name: kind, parent }
  const action = JSON.stringify({ index: { _id: id, routing: routing ?? id } })
  const [, source] = linesOf(hit)
  const start = `{"relation":${JSON.stringify(relation)},`
  return [Buffer.from(`${action}\n`), Buffer.concat([Buffer.from(start), source.subarray(1)])]
}

/** The same search among the documents of one entity, with today's name of the parent's type. */
const ofKind = (body: { query: object }, kind: string): object => {
  const query = JSON.parse(JSON.stringify(body.query).replaceAll('"has_parent":{"type"', '"has_parent":{"parent_type"'))
  return { ...body, query: { bool: { must: [query], filter: [{ term: { relation: kind } }] } } }
}

const main = async () => {
  const {
    against,
    url,
    token = '',
    record,
  } = readFlags(USAGE, { against: TEXT, url: TEXT, token: TEXT, record: SWITCH })
  if (against === undefined) return console.log(USAGE)
  const cleanups: (() => unknown)[] = []
  const server = url ? { url, token } : await startDemo({ after: fn => void cleanups.push(fn) })
  const reference = await openReference(against, server)
  cleanups.push(() => reference.remove())
  const known = new Map(readPublished().map(body => [body.name, body]))
  const bodies: Body[] = []
  try {
    for (const { name, path, body } of PUBLISHED) {
      const answer = await reference.search(path, body)
      const answers = { ...known.get(name)?.answers, [reference.name]: answer }
      bodies.push({ kind: 'dsl', name, method: 'POST', path, body, answers })
    }
    if (record) writePublished(bodies)
    const outcomes = await replayBodies(server, { bodies }, reference.name)
    for (const { call, fault } of outcomes) if (fault !== undefined) console.log(`${call}\n    ${fault}`)
    console.log(`${outcomes.length} searches, ${outcomes.filter(({ fault }) => fault !== undefined).length} differ`)
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

runMain(main)
