import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { messageOf, stop } from '../lib/errors.ts'
import type { Env } from './context.ts'
import { errorResponse } from './errors.ts'

export interface HttpServer {
  /** Where it can be reached from this machine, without a slash at the end. */
  url: string
  port: number
  /** Takes no more requests, lets those under way finish for `graceMs`, then breaks them off. */
  close(graceMs?: number): Promise<void>
}

export const listen = async (app: Hono<Env>, { host, port }: { host: string; port: number }): Promise<HttpServer> => {
  const listener = getRequestListener((request, env) => app.fetch(request, env as Env['Bindings']), {
    hostname: host,
    errorHandler: error =>
      errorResponse(400, 'illegal_argument_exception', `The request cannot be read: ${messageOf(error)}`),
  })
  const server = createServer(
    {
      // Longer than load balancers keep their connections, so that it is never we who close one that is about to be used.
      keepAliveTimeout: 75_000,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  // Whether a client may send on is said when its body is about to be read.
  server.on('checkContinue', (incoming, outgoing) => void listener(incoming, outgoing))
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(explain(error, host, port)))
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://${hostOf(host)}:${bound}`,
    port: bound,
    close: (graceMs = 5_000) =>
      new Promise(resolve => {
        const breakOff = setTimeout(() => server.closeAllConnections(), graceMs)
        // Connections that are kept alive become idle one by one.
        const hangUp = setInterval(() => server.closeIdleConnections(), 10)
        server.close(() => {
          clearTimeout(breakOff)
          clearInterval(hangUp)
          resolve()
        })
      }),
  }
}

const hostOf = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

const explain = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  const at = `${hostOf(host)}:${port}`
  const why: Record<string, string> = {
    EADDRINUSE: `${at} is taken by another process: stop that one, or choose another port with --port.`,
    EACCES: `${at} may not be listened on without the right to: choose a port above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose another with --host.`,
    ENOTFOUND: `${host} is no address of this machine: choose another with --host.`,
  }
  const reason = why[error.code ?? '']
  return reason === undefined ? error : stop('cannot_listen', reason, error)
}
