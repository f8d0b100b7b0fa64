import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import { createEntries, type ReadMatch, type WindowEntry } from '../../windows/entries.ts'
import { type Entity, entityDocument } from '../entities.ts'
import type { StoredRule } from '../rule.ts'
import { createMatchReaders, type MatchReader, type MatchShape, matchShape } from './read.ts'
import { windowSpecOf } from './steps.ts'

export interface LastMatch {
  kind: Kind
  document: Document
}

/** Matches of a rule with `when` in one block. Rules that found and read the same share both lists. */
export interface GatheredRule {
  rule: StoredRule
  entries: WindowEntry[]
  /** Of each entry. */
  lasts: LastMatch[]
}

/** Matches of rules up to one of them. */
interface MatchPath {
  read: ReadMatch<Entity> | undefined
  before: MatchPath | undefined
  /** The path that was made longer last: rules take the entities one after the other. */
  next: MatchPath | undefined
}

/** Gathers what rules with `when` find in one block. */
export const createGathering = () => {
  const rules = new Map<StoredRule, { reader: MatchReader; path: MatchPath }>()
  const beginnings = new Map<MatchReader, MatchPath>()
  const readerOf = createMatchReaders()

  const begin = (rule: StoredRule) => {
    const reader = readerOf(shapeOfRule(rule))
    const path = beginnings.get(reader) ?? { read: undefined, before: undefined, next: undefined }
    beginnings.set(reader, path)
    const found = { reader, path }
    rules.set(rule, found)
    return found
  }

  const gathered = ({ measures, of }: MatchReader, path: MatchPath): Omit<GatheredRule, 'rule'> => {
    const reads: ReadMatch<Entity>[] = []
    for (let at: MatchPath | undefined = path; at?.read; at = at.before) reads.push(at.read)
    const entries = createEntries(measures, of)
    for (const read of reads.reverse()) entries.addRead(read)
    return {
      entries: entries.finish(),
      lasts: entries.lasts().map(entity => ({ kind: entity.kind, document: entityDocument(entity)! })),
    }
  }

  return {
    /** False if it needs decimals that are not known yet. */
    add(rule: StoredRule, entity: Entity): boolean {
      const found = rules.get(rule) ?? begin(rule)
      const { reader, path } = found
      let { next } = path
      if (next?.read?.match !== entity) {
        if (reader.waits(entity)) return false
        next = { read: reader.read(entity), before: path, next: undefined }
        path.next = next
      }
      found.path = next!
      return true
    },
    finish(): GatheredRule[] {
      const known = new Map<MatchPath, Omit<GatheredRule, 'rule'>>()
      return [...rules].map(([rule, { reader, path }]) => {
        const lists = known.get(path) ?? gathered(reader, path)
        known.set(path, lists)
        return { rule, ...lists }
      })
    },
  }
}

const shapes = new WeakMap<StoredRule, MatchShape>()

const shapeOfRule = (rule: StoredRule): MatchShape => {
  const { config } = rule.input
  const known = shapes.get(rule) ?? matchShape(config.targetType, windowSpecOf(config))
  shapes.set(rule, known)
  return known
}
