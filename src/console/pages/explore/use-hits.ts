import { search } from '../../api/index.ts'
import { toJson } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import { useMore } from '../../api/use-more.ts'
import { type Asked, firstBody, nextBody, PAGE } from './body.ts'

/** The hits of a query, of which more are asked for as they come into sight. */
export const useHits = (network: string | undefined, kinds: readonly string[], asked: Asked | undefined) => {
  const body = asked && firstBody(asked)
  const key = network !== undefined && body !== undefined ? `${network} ${kinds.join()} ${body}` : undefined
  const first = useAsk(key, signal => search(network!, kinds, body, signal))
  const askAfter: Parameters<typeof useMore>[2] =
    network !== undefined && asked
      ? (after, signal) => search(network, kinds, nextBody(asked, toJson(after)), signal)
      : undefined
  return useMore(first, PAGE, askAfter)
}
