import type { Request } from '../queries.ts'
import { searchBytes } from '../searching.ts'
import type { Server } from '../serving.ts'

export const SIDES = ['ours', 'theirs'] as const
export type SideName = (typeof SIDES)[number]
export type Both<T> = Record<SideName, T>

export interface Side {
  url: string
  bytes(request: Request): Buffer
  /** Of the server, since it started; undefined where the system does not tell. */
  cpuSeconds(): Promise<number | undefined>
}

export const sidesOf = (server: Server, theirs: Side): Both<Side> => ({
  ours: {
    url: server.url,
    bytes: request => searchBytes(server.url, server.network, server.token, request),
    cpuSeconds: async () => server.usage()?.cpuSeconds,
  },
  theirs,
})

export const mapSides = <T>(make: (side: SideName) => T): Both<T> => ({ ours: make('ours'), theirs: make('theirs') })

/** Does something by each side in turn, and lets the other begin in every second round. */
export const inTurns = async (rounds: number, run: (side: SideName, round: number) => Promise<void>) => {
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) await run(side, round)
}

export const resultsInTurns = async <T>(rounds: number, work: Both<() => Promise<T>>): Promise<Both<T[]>> => {
  const results: Both<T[]> = { ours: [], theirs: [] }
  await inTurns(rounds, async side => void results[side].push(await work[side]()))
  return results
}
