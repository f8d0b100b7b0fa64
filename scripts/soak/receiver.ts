import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A webhook that was taken: answered with 200, while its sender still waited. */
export interface Taken {
  at: number
  /** When its sender sent it, to the second: its `webhook-timestamp`. */
  sentAt: number
  rule: string
  id: string
  type: string
  /** `_id` of the document. */
  document: string
}

/** Takes webhooks, and fails now and then as receivers do. */
export interface FlakyReceiver {
  url: string
  taken: Taken[]
  /** Requests that it failed on purpose. */
  failed(): number
  /** From now on it takes all. */
  recover(): void
  close(): void
}

const OUTAGE_EVERY_MS = 60_000
const OUTAGE_MS = 8_000

/** What it does with every so many-th request: one shape of failure each. */
const TROUBLES = ['status', 'reset', 'hang', 'slow'] as const
const TROUBLE_EVERY = 9
const SLOW_MS = 1_000
/** Time to notice that a sender is gone, where this process was held up itself. */
const PROMPT_MS = 20

/** Paths name the rule; `/hang/…` never gets an answer. */
export const startFlakyReceiver = async (): Promise<FlakyReceiver> => {
  const taken: Taken[] = []
  let [requests, failed, recovered] = [0, 0, false]
  const started = Date.now()

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url!, 'http://receiver')
      const [, rule = ''] = pathname.split('/')
      if (rule === 'hang') return
      requests++
      const outage = !recovered && (Date.now() - started) % OUTAGE_EVERY_MS > OUTAGE_EVERY_MS - OUTAGE_MS
      const turn = requests / TROUBLE_EVERY
      const trouble = recovered || !Number.isInteger(turn) ? undefined : TROUBLES[turn % TROUBLES.length]
      if (outage || (trouble !== undefined && trouble !== 'slow')) {
        failed++
        if (outage || trouble === 'status') response.writeHead(500).end()
        else if (trouble === 'reset') request.socket.destroy()
        return
      }
      const { headers } = request
      const text = Buffer.concat(chunks).toString()
      const document = text === '' ? searchParams.get('document')! : bodyOf(text).entity._id
      const [id, type] = [String(headers['webhook-id']), String(headers['webhook-type'])]
      const sentAt = Number(headers['webhook-timestamp']) * 1000
      const answer = () => {
        // The sender gave up before, and will send it again.
        if (response.destroyed) return
        taken.push({ at: Date.now(), sentAt, rule, id, type, document })
        response.end()
      }
      setTimeout(answer, trouble === 'slow' ? SLOW_MS : PROMPT_MS)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    failed: () => failed,
    recover() {
      recovered = true
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const bodyOf = (text: string) => JSON.parse(text) as { entity: { _id: string } }
