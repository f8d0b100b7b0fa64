import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSigningSecret, signatureFault } from '../delivery/webhook-signature.ts'
import { refuse } from '../lib/errors.ts'
import { collectAtMost } from '../lib/files.ts'
import { aborted, type Run } from '../lib/shutdown.ts'

interface ReceiveOptions {
  port: number
  /** The signing secret; without it signatures are not checked. */
  secret: string | undefined
  /** HTTP status of every answer. */
  status: number
  delayMs: number
  report(news: ReceiveNews): void
}

export type ReceiveNews = { type: 'listening'; url: string } | ({ type: 'received' } & Received)

interface Received {
  /** ISO 8601. */
  at: string
  method: string
  path: string
  /** The headers that describe the message. */
  headers: [name: string, value: string][]
  body: string
  signature: 'good' | 'bad' | 'unchecked'
  /** Why the signature is bad. */
  fault: string | undefined
}

/** Longer bodies are cut. */
const MAX_BODY = 16_000_000
const HOST = '127.0.0.1'

/** A receiver of webhooks on this machine: reports each request, and answers as configured. */
export const receiveWebhooks = async (options: ReceiveOptions, { shutdown }: Pick<Run, 'shutdown'>): Promise<void> => {
  const { port, secret, status, delayMs, report } = options
  if (secret !== undefined && !isSigningSecret(secret))
    throw refuse('bad_secret', 'The secret is not one: chainsieve rules secret --account NAME prints it (whsec_…).')

  const take = async (request: IncomingMessage): Promise<Received> => {
    const body = await collectAtMost(request, MAX_BODY)
    const { method = '', url = '', headers } = request
    const at = Date.now()
    const text = body?.toString()
    const fault =
      text === undefined
        ? `its body is longer than ${MAX_BODY} bytes`
        : secret === undefined
          ? undefined
          : signatureFault(headers, text, { secret, now: at })
    const signature = secret === undefined ? 'unchecked' : fault === undefined ? 'good' : 'bad'
    const shown = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      name.startsWith('webhook-') || name === 'content-type' ? [[name, String(value)]] : [],
    )
    return { at: new Date(at).toISOString(), method, path: url, headers: shown, body: text ?? '', signature, fault }
  }

  const server = createServer(async (request, response) => {
    try {
      const received = await take(request)
      report({ type: 'received', ...received })
      await sleep(delayMs, undefined, { signal: shutdown.signal })
      response.writeHead(status).end()
    } catch {
      // The sender went away, or the program stops.
      response.destroy()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, resolve)
  })
  shutdown.add('receiver', () => {
    server.closeAllConnections()
    return new Promise<void>(resolve => server.close(() => resolve()))
  })
  report({ type: 'listening', url: `http://${HOST}:${(server.address() as AddressInfo).port}` })
  await aborted(shutdown.signal)
}
