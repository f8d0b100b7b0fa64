import { setTimeout as sleep } from 'node:timers/promises'
import type { Soaked } from '../server.ts'

/** What clients of a network see of blocks that no longer change. */
export interface Clients {
  ended: Promise<void>
  counts: { answers: number; failures: number; longestFailureMs: number; slowestMs: number }
  findings: string[]
  reasons: Map<string, number>
}

interface Question {
  entities: string
  body: object
}

const CLIENTS = 16
/** Failures that follow so soon belong together. */
const TOGETHER_MS = 1_000
const SHOWN = 300

const timeless = (text: string) => text.replace(/"took":\d+/, '"took":0')

export const questionsOf = (from: number, to: number): Question[] =>
  (
    [
      ['block', 'number.num'],
      ['tx', 'blockNumber.num'],
      ['log', 'blockNumber.num'],
      ['event', 'blockNumber.num'],
    ] as const
  ).flatMap(([entities, field]) => {
    const query = { range: { [field]: { gte: from, lte: to } } }
    return [
      { entities, body: { query, size: 0 } },
      { entities, body: { query, size: 20 } },
      { entities, body: { query, size: 0, aggs: { blocks: { terms: { field, size: 50 } } } } },
    ]
  })

/** Asks the same questions again and again: each answer has to be the first one. */
export const startClients = async (
  server: Soaked,
  network: string,
  questions: readonly Question[],
  goesOn: () => boolean,
): Promise<Clients> => {
  const ask = async ({ entities, body }: Question) => {
    const answer = await server.ask(`/${network}/es/${entities}/search`, body)
    return { status: answer.status, text: timeless(await answer.text()) }
  }
  const due: string[] = []
  for (const question of questions) {
    const { status, text } = await ask(question)
    if (status !== 200) throw new Error(`the first answer has status ${status}: ${text}`)
    due.push(text)
  }
  const counts = { answers: 0, failures: 0, longestFailureMs: 0, slowestMs: 0 }
  const findings: string[] = []
  const reasons = new Map<string, number>()
  let failing: { since: number; last: number } | undefined
  const failed = (begun: number, why: string) => {
    const now = Date.now()
    counts.failures++
    reasons.set(why.slice(0, SHOWN), (reasons.get(why.slice(0, SHOWN)) ?? 0) + 1)
    if (!failing || now - failing.last > TOGETHER_MS)
      failing = { since: Math.max(begun, failing?.last ?? 0), last: now }
    failing.last = now
    counts.longestFailureMs = Math.max(counts.longestFailureMs, now - failing.since)
  }
  const client = async (number: number) => {
    for (let i = number; goesOn(); i++) {
      const which = i % questions.length
      const begun = Date.now()
      if (!server.servedSince(begun)) {
        await sleep(50)
        continue
      }
      try {
        const { status, text } = await ask(questions[which]!)
        counts.slowestMs = Math.max(counts.slowestMs, Date.now() - begun)
        if (status === 200) {
          counts.answers++
          if (text !== due[which])
            findings.push(
              `${JSON.stringify(questions[which])} is answered with ${text.slice(0, SHOWN)}, not ${due[which]!.slice(0, SHOWN)}`,
            )
        } else if (server.servedSince(begun)) failed(begun, `${status} ${text}`)
      } catch (error) {
        // A kill of the server cuts its answers off.
        if (server.servedSince(begun)) failed(begun, String(error))
      }
      await sleep(20)
    }
  }
  const ended = Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i))).then(() => {})
  return { ended, counts, findings, reasons }
}
