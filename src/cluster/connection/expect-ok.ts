import { retry, stop } from '../../lib/errors.ts'
import { backoff, systemClock } from '../../lib/retry.ts'
import type { Cluster, ClusterAnswer, ClusterRequest } from './cluster.ts'

/**
 * Text of a successful answer; else throws `retry`, or `stop` if the operator must act. `doing`
 * completes "the cluster cannot …".
 */
export const expectOk = async (
  cluster: Pick<Cluster, 'ask'>,
  request: ClusterRequest,
  doing: string,
): Promise<string> => expectOkText(await cluster.ask(request), request, doing)

/** The same for a received answer. */
export const expectOkText = (
  { status, text }: ClusterAnswer,
  { method, path }: Pick<ClusterRequest, 'method' | 'path'>,
  doing: string,
): string => {
  if (status < 300) return text
  const message = `the cluster cannot ${doing} (${method} ${path} answers ${status}): ${reasonIn(text)}`
  if (status === 401) throw stop('cluster_forbids', `${message}: check opensearch-user and opensearch-password`)
  if (status === 403) throw stop('cluster_forbids', `${message}: ${RIGHTS}`)
  if (status >= 500 || status === 429 || status === 408) throw retry('cluster_busy', message)
  throw stop('cluster_refuses', message)
}

const RIGHTS = 'give opensearch-user the rights that docs/opensearch.md lists'

const TRIES = 10
const BUSY_WAITS = { baseMs: 20, capMs: 500 }

/** Retries on 429. Without it, a caller with many requests would repeat all of them. */
export const retryBusy = ({ ask }: Pick<Cluster, 'ask'>): Pick<Cluster, 'ask'> => ({
  async ask(request) {
    for (let tries = 1; ; tries++) {
      const answer = await ask(request)
      if (answer.status !== 429 || tries === TRIES) return answer
      await systemClock.sleep(backoff(tries, BUSY_WAITS), request.signal)
    }
  },
})

/** Reason of an error answer; for other text, such as a proxy's, its first line. */
export const reasonIn = (text: string): string => {
  try {
    const { error } = JSON.parse(text) as { error?: string | { type?: string; reason?: string } }
    if (typeof error === 'string') return error
    if (error) return `${error.type}: ${error.reason}`
  } catch {
    // Not JSON.
  }
  return text.trim().split('\n', 1)[0]!.slice(0, 200) || 'no reason'
}
