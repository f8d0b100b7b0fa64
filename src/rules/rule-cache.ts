import type { StoredRule } from './rule.ts'
import type { Rules } from './store.ts'

/** A rule for notifications, without its conditions. Its `startBlock` may be older. */
export type FindAlertRule = (id: number) => StoredRule | undefined

/** Bytes of JSON that are cached. */
const RULE_CACHE_BYTES = 8e6

/** An LRU cache of rules, which may be long: a new revision invalidates an entry. */
export const createRuleCache = (rules: Pick<Rules, 'find' | 'revisionOf'>, kept = RULE_CACHE_BYTES): FindAlertRule => {
  /** Least recently used first. */
  const known = new Map<number, { rule: StoredRule; bytes: number }>()
  let held = 0

  const forget = (id: number) => {
    held -= known.get(id)?.bytes ?? 0
    known.delete(id)
  }

  const read = (id: number) => {
    const found = rules.find(id)
    if (!found) return undefined
    const config = { ...found.input.config, targetMap: [] }
    const rule = { ...found, input: { ...found.input, config } }
    return { rule, bytes: JSON.stringify(rule).length }
  }

  return id => {
    const before = known.get(id)
    forget(id)
    const revision = rules.revisionOf(id)
    if (revision === undefined) return undefined
    const now = before?.rule.revision === revision ? before : read(id)
    if (!now) return undefined
    known.set(id, now)
    held += now.bytes
    for (const [oldest] of known) {
      if (held <= kept) break
      forget(oldest)
    }
    return now.rule
  }
}
