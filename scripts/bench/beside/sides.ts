import { requestBytes } from '../connection.ts'
import type { Request } from '../queries.ts'
import { searchBytes } from '../searching.ts'
import type { Server } from '../serving.ts'
import { INDEX_OF, type OpenSearch } from './opensearch.ts'

/** The two that are measured beside each other. */
export const SIDES = ['ours', 'theirs'] as const
export type SideName = (typeof SIDES)[number]
export type Both<T> = Record<SideName, T>

/** One of them. */
export interface Side {
  url: string
  /** What goes over the wire. */
  bytes(request: Request): Buffer
  totalOf(answer: Answer): number
  /** Of the server, since it started; undefined where the system does not tell. */
  cpuSeconds(): Promise<number | undefined>
}

interface Answer {
  hits: { total: number | { value: number } }
}

const totalOf = ({ hits: { total } }: Answer): number => (typeof total === 'number' ? total : total.value)

export const sidesOf = (server: Server, theirs: OpenSearch): Both<Side> => ({
  ours: {
    url: server.url,
    bytes: request => searchBytes(server.url, server.network, server.token, request),
    totalOf,
    cpuSeconds: async () => server.usage()?.cpuSeconds,
  },
  theirs: {
    url: theirs.url,
    bytes({ entities, body = '' }) {
      const indices = entities.split(',').map(INDEX_OF).join(',')
      return requestBytes(theirs.url, { method: 'POST', path: `/${indices}/_search`, body })
    },
    totalOf,
    cpuSeconds: theirs.cpuSeconds,
  },
})

/** Does something by each side in turn, and lets the other begin in every second round. */
export const inTurns = async (rounds: number, run: (side: SideName, round: number) => Promise<void>) => {
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) await run(side, round)
}
