import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import { createEntries, type WindowEntries, type WindowEntry } from '../../windows/entries.ts'
import { type Entity, entityDocument } from '../entities.ts'
import type { StoredRule } from '../rule.ts'
import { createMatchReaders, type MatchReader } from './read.ts'
import { windowSpecOf } from './steps.ts'

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

/** Gathers what rules with `when` find in one block. */
export const createGathering = () => {
  const rules = new Map<StoredRule, { reader: MatchReader; entries: WindowEntries<Entity> }>()
  const readerOf = createMatchReaders()
  return {
    /** False if it needs decimals that are not known yet. */
    add(rule: StoredRule, entity: Entity): boolean {
      let found = rules.get(rule)
      if (found === undefined) {
        const { config } = rule.input
        const reader = readerOf(config.targetType, windowSpecOf(config))
        found = { reader, entries: createEntries(reader.measures, reader.of, reader.lone) }
        rules.set(rule, found)
      }
      const { reader, entries } = found
      if (reader.waits(entity)) return false
      entries.add(reader.key(entity), entity)
      return true
    },
    finish: (): GatheredRule[] =>
      [...rules].map(([rule, { entries }]) => ({
        rule,
        entries: entries.finish(),
        lasts: entries.lasts().map(entity => ({ kind: entity.kind, document: entityDocument(entity)! })),
      })),
  }
}
