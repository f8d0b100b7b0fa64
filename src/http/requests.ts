import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../lib/log.ts'
import type { Metrics } from '../lib/metrics.ts'
import { factsOf } from './facts.ts'

/** Counts requests by the status of their answers, and logs them where `log` is given. */
export const watchRequests = (metrics: Metrics, log: Log | undefined) => {
  const requests = metrics.counter('chainsieve_http_requests_total', 'HTTP requests by status.')
  const counters = new Map<number, (by?: number) => void>()
  const count = (status: number) => {
    let add = counters.get(status)
    if (!add) {
      add = requests.of({ code: String(status) })
      counters.set(status, add)
    }
    add()
  }
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const began = log ? performance.now() : 0
    // A socket that is closed has none.
    const address = log && (factsOf(incoming).address ?? incoming.socket.remoteAddress)
    outgoing.once('close', () => {
      // 499: the client went away before it had the whole answer.
      const status = outgoing.writableFinished ? outgoing.statusCode : 499
      count(status)
      log?.info('Answered a request', {
        ...described(incoming),
        address,
        status,
        ms: rounded(performance.now() - began),
      })
    })
  }
}

/** Without the query of the URL, where tokens may stand. */
const described = (incoming: IncomingMessage) => {
  const { id, account } = factsOf(incoming)
  const { method, url = '' } = incoming
  return { request: id, method, path: url.split('?', 1)[0], account }
}

const rounded = (ms: number) => Math.round(ms * 10) / 10
