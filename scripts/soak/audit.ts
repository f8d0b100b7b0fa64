import type { Taken } from './receiver.ts'

export interface AuditOptions {
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
