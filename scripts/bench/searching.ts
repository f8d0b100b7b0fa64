import { createSearcher } from '../../src/engine/query/searcher.ts'
import { openReader } from '../../src/engine/reader.ts'
import { answerGet, answerSearch } from '../../src/search/answer.ts'
import { type Times, timesOf } from '../lib/table.ts'
import { connect, requestBytes } from './connection.ts'
import type { Query, Request } from './queries.ts'
import type { Answer, Ask } from './sample.ts'

/** Asks a store, in this process or through a server, and takes the time. */
export interface Way {
  run(request: Request): string | Promise<string>
  close(): Promise<void>
}

export const inProcess = (store: string, network: string): Way => {
  const reader = openReader(store)
  const searcher = createSearcher(reader)
  const index = network.replaceAll('/', '-')
  return {
    run({ entities, body, id }) {
      const options = { deadline: performance.now() + DEADLINE_MS }
      const { body: answer } =
        id !== undefined
          ? answerGet(searcher, index, 'block', id)
          : answerSearch(searcher, index, entities, body, options)
      return Buffer.from(answer as Uint8Array).toString()
    },
    async close() {
      reader.close()
    },
  }
}

export const askIn =
  (way: Way): Ask =>
  (entities, body) =>
    JSON.parse(way.run({ label: '', entities, ...(body && { body: JSON.stringify(body) }) }) as string) as Answer

/** One connection that is kept alive; the time ends when the whole answer has arrived. */
export const overHttp = (url: string, network: string, token: string): Way => {
  const connection = connect(url)
  return {
    async run(request) {
      const { status, body } = await connection.ask(searchBytes(url, network, token, request))
      const text = body.toString()
      if (status !== 200) throw new Error(`${request.entities} answered ${status}: ${text.slice(0, 500)}`)
      return text
    },
    async close() {
      connection.close()
    },
  }
}

export const searchBytes = (url: string, network: string, token: string, { entities, body, id }: Request): Buffer =>
  requestBytes(url, {
    method: id === undefined ? 'POST' : 'GET',
    path: `/${network}/es/${entities}/${id ?? 'search'}/`,
    headers: { authorization: `Bearer ${token}` },
    ...(id === undefined && { body: body ?? '' }),
  })

export interface Measured extends Times {
  query: string
  group: Query['group']
  way: 'in process' | 'HTTP'
  /** Processor time of one run in the mean, in ms: steady where other processes are in the way. Undefined over HTTP. */
  cpu: number | undefined
  hits: { median: number; most: number }
  /** The value that took longest, in the median of its runs. */
  slowest: { value: string; p50: number; hits: number }
}

export interface Effort {
  runs: number
  /** No more runs are begun after this time, as long as there were a few. */
  budgetMs: number
  warmMs: number
}

export const measureQuery = async (
  query: Query,
  way: Way,
  name: Measured['way'],
  { runs, budgetMs, warmMs }: Effort,
): Promise<Measured> => {
  const { requests } = query
  const totals: number[] = []
  for (const request of requests) totals.push(totalOf(await way.run(request), query, request))
  const warm = performance.now() + warmMs
  for (let i = 0; performance.now() < warm; i++) await way.run(requests[i % requests.length]!)

  const times: number[] = []
  const byRequest = requests.map((): number[] => [])
  const before = process.threadCpuUsage()
  const end = performance.now() + budgetMs
  for (let i = 0; i < runs && (performance.now() < end || i < LEAST_RUNS); i++) {
    const at = i % requests.length
    const start = performance.now()
    const answer = way.run(requests[at]!)
    if (typeof answer !== 'string') await answer
    const time = performance.now() - start
    times.push(time)
    byRequest[at]!.push(time)
  }
  const { user, system } = process.threadCpuUsage(before)
  const cpu = name === 'HTTP' ? undefined : (user + system) / 1000 / times.length
  const medians = byRequest.map(list => (list.length > 0 ? timesOf(list).p50 : 0))
  const worst = medians.indexOf(Math.max(...medians))
  const hits = { median: timesOf(totals).p50, most: Math.max(...totals) }
  const slowest = { value: requests[worst]!.label, p50: medians[worst]!, hits: totals[worst]! }
  return { query: query.name, group: query.group, way: name, ...timesOf(times), cpu, hits, slowest }
}

/** A query that finds nothing would be fast for the wrong reason. */
const totalOf = (text: string, query: Query, request: Request): number => {
  const answer = JSON.parse(text) as Answer | { found: boolean }
  const total = 'found' in answer ? Number(answer.found) : answer.hits.total
  if (!(total > 0)) throw new Error(`"${query.name}" for ${request.label} found nothing: ${text.slice(0, 500)}`)
  return total
}

const LEAST_RUNS = 20
const DEADLINE_MS = 60_000
