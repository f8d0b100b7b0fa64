import { messageOf, refuse, stop } from '../lib/errors.ts'
import { backoff, parseRetryAfter, systemClock } from '../lib/retry.ts'
import type { AskPage } from './run.ts'

const EXPORT_TIMEOUT_MS = 120_000
/** A restarted server is back by then. */
const MAX_ATTEMPTS = 8

/** Asks a running server; what may pass is tried again. */
export const createServerAsk = ({
  server,
  token,
  network,
}: {
  server: string
  token: string
  network: string
}): AskPage => {
  const base = `${server.replace(/\/+$/, '')}/${network}/es/`
  return async (entities, body, signal, parameters) => {
    const query = parameters ? `?${new URLSearchParams(Object.fromEntries(parameters))}` : ''
    for (let failures = 1; ; failures++) {
      const answer = await once(`${base}${entities}/search${query}`, { body, token, signal })
      if ('bytes' in answer) return answer.bytes
      if (failures >= MAX_ATTEMPTS) throw stop('server_fails', `${new URL(server).origin} ${answer.why}`)
      await systemClock.sleep(answer.afterMs ?? backoff(failures, { baseMs: 500 }), signal)
    }
  }
}

type Tried = { bytes: Buffer } | { why: string; afterMs?: number | undefined }

const once = async (
  url: string,
  { body, token, signal }: { body: string; token: string; signal: AbortSignal },
): Promise<Tried> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const answer = await fetch(url, {
      ...{ method: 'POST', headers, body, redirect: 'error' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(EXPORT_TIMEOUT_MS)]),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (answer.ok) return { bytes }
    const why = `answers ${answer.status}: ${errorReason(bytes.toString())}`
    if (answer.status < 500 && answer.status !== 429) throw refuse('server_refuses', `${new URL(url).origin} ${why}`)
    return { why, afterMs: parseRetryAfter(answer.headers.get('retry-after') ?? undefined, Date.now()) }
  } catch (error) {
    signal.throwIfAborted()
    if ((error as { next?: string }).next === 'refuse') throw error
    const { cause } = error as { cause?: unknown }
    return { why: `does not answer: ${messageOf(cause ?? error)}` }
  }
}

const errorReason = (text: string): string => {
  try {
    return (JSON.parse(text) as { error?: { reason?: string } }).error?.reason ?? text.slice(0, 500)
  } catch {
    return text.slice(0, 500)
  }
}
