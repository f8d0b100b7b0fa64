import { backoff, systemClock } from '../lib/retry.ts'
import type { Cluster } from './cluster.ts'

const TRIES = 10
const WAITS = { baseMs: 20, capMs: 500 }

/**
 * Asks again where the cluster has too much to do for the moment. Whoever asks for many things of which each has to succeed would
 * otherwise begin again with all of them.
 */
export const patient = ({ ask }: Pick<Cluster, 'ask'>): Pick<Cluster, 'ask'> => ({
  async ask(request) {
    for (let tries = 1; ; tries++) {
      const answer = await ask(request)
      if (answer.status !== 429 || tries === TRIES) return answer
      await systemClock.sleep(backoff(tries, WAITS), request.signal)
    }
  },
})
