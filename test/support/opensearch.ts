import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import type { TestedDocument } from '../../src/query/predicate.ts'
import { type Documents, kindsOf, loadDocuments, parseLossless } from './scenarios.ts'
import { search } from './search.ts'

/** What the benchmark asks of OpenSearch, answered by the search in memory. */
export interface FakeOpenSearch {
  url: string
  /** What was done to the indices, in order; searches are left out. */
  log: string[]
  documents: Documents
  close(): void
}

/** `keep`: documents that are told to be missing, as if a query meant something else. */
export const startFakeOpenSearch = async (
  keep: (kind: Kind, document: TestedDocument) => boolean = () => true,
): Promise<FakeOpenSearch> => {
  const documents = Object.fromEntries(Object.keys(loadDocuments()).map(kind => [kind, []])) as unknown as Documents
  const log: string[] = []
  const totals = new Map<string, number>()
  const kindsIn = (path: string): Kind[] => kindsOf(path.split('/')[1]!.replaceAll('chainsieve-bench-', ''))

  const totalOf = (path: string, body: string): number => {
    const kinds = kindsIn(path)
    const key = `${kinds} ${body}`
    let total = totals.get(key)
    if (total === undefined) {
      const asked = { ...documents }
      for (const kind of kinds) asked[kind] = documents[kind].filter(document => keep(kind, document))
      total = search(parseSearch(body, kinds, Date.now()), asked).total
      totals.set(key, total)
    }
    return total
  }
  const addAll = (path: string, body: string) => {
    const [kind] = kindsIn(path)
    const lines = body.trimEnd().split('\n')
    for (let i = 0; i < lines.length; i += 2) {
      const { index } = JSON.parse(lines[i]!) as { index: { _id: string } }
      documents[kind!].push({ _id: index._id, _source: parseLossless(lines[i + 1]!) } as TestedDocument)
    }
  }
  const answer = (method: string, path: string, body: string): object => {
    if (path === '/') return { version: { distribution: 'opensearch', number: '3.3.0' } }
    if (path === '/_nodes/stats/process')
      return { nodes: { a: { process: { cpu: { total_in_millis: process.cpuUsage().user / 1000 } } } } }
    if (path.includes('_search?scroll'))
      return { _scroll_id: 'next', hits: { hits: documents.event.map(({ _id }) => ({ _index: 'event', _id })) } }
    if (path === '/_search/scroll') return { _scroll_id: 'last', hits: { hits: [] } }
    if (path.endsWith('/_search')) return { hits: { total: { value: totalOf(path, body) }, hits: [] } }
    if (path.endsWith('/_count')) return { count: documents[kindsIn(path)[0]!].length }
    log.push(`${method} ${path.replaceAll('chainsieve-bench-', '')}`)
    if (path.endsWith('/_stats/store')) return { _all: { primaries: { store: { size_in_bytes: 1e6 } } } }
    if (method === 'DELETE') for (const kind of kindsIn(path.split('?')[0]!)) documents[kind] = []
    if (path.includes('/_bulk')) {
      addAll(path, body)
      return { errors: false }
    }
    return {}
  }
  const server = createServer(async (request, response) => {
    const { status, body } = await text(request)
      .then(body => ({ status: 200, body: answer(request.method!, request.url!, body) }))
      .catch((error: Error) => ({ status: 400, body: { error: error.message } }))
    response.writeHead(status).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...{ url: `http://127.0.0.1:${port}`, log, documents },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
