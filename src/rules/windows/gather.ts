import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import { createEntries, type WindowEntry } from '../../windows/entries.ts'
import { type Entity, entityDocument } from '../entities.ts'
import type { StoredRule } from '../rule.ts'
import { createMatchReader, type MatchReader } from './read.ts'

export interface LastMatch {
  kind: Kind
  document: Document
}

/** Matches of a rule with `when` in one block. */
export interface GatheredRule {
  rule: StoredRule
  entries: WindowEntry[]
  /** Of each entry. */
  lasts: LastMatch[]
}

const matchReaders = new WeakMap<StoredRule, MatchReader>()
const matchReaderOf = (rule: StoredRule): MatchReader => {
  const known = matchReaders.get(rule) ?? createMatchReader(rule.input.config)
  matchReaders.set(rule, known)
  return known
}

/** Gathers what rules with `when` find in one block. */
export const createGathering = () => {
  const rules = new Map<StoredRule, { entries: ReturnType<typeof createEntries>; lasts: Map<string, Entity> }>()
  return {
    /** False if it needs decimals that are not known yet. */
    add(rule: StoredRule, entity: Entity): boolean {
      const reader = matchReaderOf(rule)
      if (reader.waits(entity)) return false
      let found = rules.get(rule)
      if (found === undefined) {
        found = { entries: createEntries(reader.measures), lasts: new Map() }
        rules.set(rule, found)
      }
      const key = reader.key(entity)
      found.entries.add(
        key,
        () => entityDocument(entity)!._id,
        measure => reader.values(entity, measure),
      )
      found.lasts.set(key, entity)
      return true
    },
    finish: (): GatheredRule[] =>
      [...rules].map(([rule, { entries, lasts }]) => ({
        rule,
        entries: entries.finish(),
        lasts: [...lasts.values()].map(entity => ({ kind: entity.kind, document: entityDocument(entity)! })),
      })),
  }
}
