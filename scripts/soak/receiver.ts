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
export type FlakyReceiver = Awaited<ReturnType<typeof startFlakyReceiver>>

const OUTAGE_EVERY_MS = 60_000
const OUTAGE_MS = 8_000

/** What it does with every so many-th request: one shape of failure each. */
const TROUBLES = ['status', 'reset', 'hang', 'slow'] as const
const TROUBLE_EVERY = 9
const SLOW_MS = 1_000
/** Time to notice that a sender is gone, where this process was held up itself. */
const PROMPT_MS = 20

/** Paths name the rule; `/hang/…` never gets an answer. */
export const startFlakyReceiver = async () => {
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

interface AuditOptions {
  taken: readonly Taken[]
  /** For each rule, `_id`s of the documents of the chain for which it had to fire. */
  due: ReadonlyMap<string, ReadonlySet<string>>
  /** Rules that fire before a reorganisation can be ruled out: what they tell of lost blocks has to be retracted. */
  early: ReadonlySet<string>
  /** When the server was killed: what it had sent and not yet noted comes again. */
  kills: readonly number[]
  /** How long the sender waits for an answer: what is answered later comes again. */
  limitMs: number
}

/**
 * What is wrong with the alerts that came, in words; nothing where each came once. Repetitions that a kill explains are counted, and those
 * that a late answer does: alerts are delivered at least once.
 */
export const auditAlerts = ({ taken, due, early, kills, limitMs }: AuditOptions) => {
  const findings: string[] = []
  let [repeated, late] = [0, 0]
  for (const [rule, documents] of due) {
    const own = taken.filter(it => it.rule === rule)
    const alerts = Map.groupBy(own, ({ id }) => id)
    const firing = new Map<string, string[]>()
    for (const [id, messages] of alerts) {
      const { document } = messages[0]!
      const last = messages.at(-1)!.type
      if (last === 'alert.confirmed') firing.set(document, [...(firing.get(document) ?? []), id])
      if (!documents.has(document) && last !== 'alert.retracted')
        findings.push(`${rule}: ${document} is not of the chain, and its alert was not retracted`)
      if (!documents.has(document) && !early.has(rule))
        findings.push(`${rule}: ${document} is not of the chain, and fired in spite of its confirmations`)
      for (let i = 1; i < messages.length; i++) {
        const [before, now] = [messages[i - 1]!, messages[i]!]
        if (before.type !== now.type) continue
        if (kills.some(at => at >= before.at - LATE_MS && at <= now.at)) repeated++
        else if (before.at - before.sentAt >= limitMs) late++
        else
          findings.push(
            `${rule}: ${document} came twice, ${now.at - before.at} ms apart, without a kill between, and was answered in time`,
          )
      }
    }
    for (const document of documents) {
      const ids = firing.get(document)?.length ?? 0
      if (ids === 0) findings.push(`${rule}: the alert of ${document} is lost`)
      if (ids > 1) findings.push(`${rule}: ${document} has ${ids} alerts`)
    }
  }
  return { findings, repeated, late }
}

/** What was sent before a kill may be read so long after it. */
const LATE_MS = 1_000
