import type { EndpointStatus } from '../../chain/source.ts'
import type { Waiting } from '../messages.ts'

/** Nodes that fail for a moment are asked again, and nobody waits. */
const SOON_MS = 2_000

/** Why nothing can come from the nodes of a network; undefined where one of them answers. `forMs`: since the start. */
export const silence = (
  endpoints: readonly EndpointStatus[],
  { answered, forMs, now }: { answered: boolean; forMs: number; now: number },
): Waiting | undefined => {
  const nodes = endpoints.filter(({ heads }) => !heads)
  if (nodes.length === 0) return undefined
  const failing = nodes.filter(({ failingSince }) => failingSince !== undefined)
  if (failing.length < nodes.length) {
    if (answered || forMs < SOON_MS) return undefined
    return { kind: 'node', for: 'the first answer of a node', since: new Date(now - forMs).toISOString() }
  }
  const since = failing
    .map(it => it.failingSince!)
    .sort()
    .at(-1)!
  if (now - Date.parse(since) < SOON_MS) return undefined
  if (failing.every(({ otherChain }) => otherChain !== undefined)) {
    const why = failing.map(({ url, lastError }) => `${url} ${lastError}`).join('; ')
    return { kind: 'chain', for: `a node of its chain (${why})`, since }
  }
  const why = failing.map(({ url, lastError }) => `${url}: ${lastError}`).join('; ')
  return { kind: 'node', for: `a node that answers (${why})`, since }
}

/** Keeps since when the same thing is waited for. */
export const createSince = (now: () => number = Date.now) => {
  let last: Waiting | undefined
  return (why: Omit<Waiting, 'since'> | undefined): Waiting | undefined => {
    if (!why) last = undefined
    else if (last?.for !== why.for) last = { ...why, since: new Date(now()).toISOString() }
    return last
  }
}
