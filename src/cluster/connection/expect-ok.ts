import { retry, stop } from '../../lib/errors.ts'
import { backoff, systemClock } from '../../lib/retry.ts'
import type { Cluster, ClusterAnswer, ClusterRequest } from './cluster.ts'

/**
 * The text of an answer of success. Any other throws: a `retry` where the cluster may do it later, a `stop` where its operator must do
 * something first. `doing` completes "the cluster cannot …".
 */
export const expectOk = async (
  cluster: Pick<Cluster, 'ask'>,
  request: ClusterRequest,
  doing: string,
): Promise<string> => expectOkText(await cluster.ask(request), request, doing)

/** The same of an answer that is there. */
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

/**
 * Asks again where the cluster has too much to do for the moment. Whoever asks for many things of which each has to succeed would
 * otherwise begin again with all of them.
 */
export const retryBusy = ({ ask }: Pick<Cluster, 'ask'>): Pick<Cluster, 'ask'> => ({
  async ask(request) {
    for (let tries = 1; ; tries++) {
      const answer = await ask(request)
      if (answer.status !== 429 || tries === TRIES) return answer
      await systemClock.sleep(backoff(tries, BUSY_WAITS), request.signal)
    }
  },
})

/** The reason in an answer that tells an error; of one that is not the cluster's, such as a proxy's, its first line. */
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
