import type { Document } from '../documents/document.ts'
import type { Kind } from '../mapping/index.ts'
import { type BlockEntities, documentOf, entitiesOf } from './entities.ts'
import { lower } from './lower.ts'
import type { Member } from './match-group.ts'
import { createKindMatcher, type KindMatcher, type Matching } from './match-kind.ts'
import { type StoredRule, TARGET_KINDS } from './rule.ts'

export type { BlockEntities } from './entities.ts'

export interface Matches {
  /** In the order of the block's entities, then of the rules' ids. */
  found: Found[]
  /**
   * Addresses (40 digits) of tokens whose decimals decide on further matches and are not known yet: the block is to be matched again
   * when they are.
   */
  undecided: string[]
  /** Rules that could not be asked, by a fault of the program: others are not touched by it. */
  failed: Failed[]
  /** Accounts whose rules found more than they may have of one block; what is in `found` is the first of it. */
  cut: number[]
}

export interface Failed {
  rule: StoredRule
  error: unknown
}

export interface Found {
  rule: StoredRule
  kind: Kind
  /** Built when it is first asked for: not every match is wanted. */
  readonly document: Document
}

export interface MatcherOptions {
  /** Matches that an account may have in one block. */
  most?: number
}

export type Matcher = ReturnType<typeof createMatcher>

/** Many rules, of which a block finds those that match: indexed by what they ask for, so that their number hardly matters. */
export const createMatcher = ({ most = Number.POSITIVE_INFINITY }: MatcherOptions = {}) => {
  const members = new Map<number, Member>()
  const kinds = new Map<Kind, KindMatcher>()
  const starts = createStarts()

  const remove = (id: number) => {
    const member = members.get(id)
    if (member === undefined) return
    members.delete(id)
    starts.remove(member.rule.startBlock!)
    const { config } = member.rule.input
    const kind = TARGET_KINDS[config.targetType]
    const matcher = kinds.get(kind)!
    matcher.remove(member, lower(config))
    if (matcher.size === 0) kinds.delete(kind)
  }

  return {
    /** Adds a rule, or puts it in the place of the one of its id. Kept is what can match: not what is paused or has no first block yet. */
    set(rule: StoredRule) {
      remove(rule.id)
      if (!rule.enabled || rule.startBlock === null) return
      const kind = TARGET_KINDS[rule.input.config.targetType]
      const nodes = lower(rule.input.config)
      let matcher = kinds.get(kind)
      if (matcher === undefined) {
        matcher = createKindMatcher()
        kinds.set(kind, matcher)
      }
      members.set(rule.id, matcher.add(rule, nodes))
      starts.add(rule.startBlock)
    },
    remove,
    /** Rules that are looked for. */
    get size(): number {
      return members.size
    },
    /** Whether any rule looks at this block: one that none looks at costs nothing. */
    wants: (block: number): boolean => block >= starts.first,
    /** Whether any rule looks at entities of this kind. */
    looksAt: (kind: Kind): boolean => kinds.has(kind),
    match(block: BlockEntities): Matches {
      const found: Found[] = []
      const undecided = new Set<string>()
      const failed = new Map<number, Failed>()
      const full = new Set<number>()
      const counts = new Map<number, number>()
      const number = Number(block.raw.block.number)
      const matching: Matching = {
        block: number,
        found(rule, entity) {
          const count = (counts.get(rule.account) ?? 0) + 1
          if (count > most) return void full.add(rule.account)
          counts.set(rule.account, count)
          found.push({
            rule,
            kind: entity.kind,
            get document() {
              return documentOf(entity)!
            },
          })
        },
        undecided: token => void undecided.add(token),
        failed: (rule, error) => void failed.set(rule.id, { rule, error }),
        broken: new Set(),
        full,
        spent: new Set(),
      }
      if (number >= starts.first)
        for (const entity of entitiesOf(block, kinds)) kinds.get(entity.kind)!.match(entity, matching)
      return { found, undecided: [...undecided], failed: [...failed.values()], cut: [...full] }
    },
  }
}

/** First blocks of the rules; mostly there are few different ones. */
const createStarts = () => {
  const counts = new Map<number, number>()
  let first = Number.POSITIVE_INFINITY
  return {
    get first() {
      return first
    },
    add(start: number) {
      counts.set(start, (counts.get(start) ?? 0) + 1)
      if (start < first) first = start
    },
    remove(start: number) {
      const count = counts.get(start)! - 1
      if (count > 0) return void counts.set(start, count)
      counts.delete(start)
      if (start !== first) return
      first = Number.POSITIVE_INFINITY
      for (const other of counts.keys()) if (other < first) first = other
    },
  }
}
