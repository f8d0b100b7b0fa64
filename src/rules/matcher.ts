import type { Document } from '../documents/document.ts'
import type { Kind } from '../mapping/index.ts'
import type { ValueList } from '../query/value-list.ts'
import { type BlockEntities, type Entity, emitterOf, entitiesOf, entityDocument } from './entities.ts'
import { lowerConditions } from './lower.ts'
import type { GroupMember } from './match-group.ts'
import { type BlockMatching, createKindMatcher, type KindMatcher } from './match-kind.ts'
import { kindOfTarget, type StoredRule } from './rule.ts'
import { createGathering, type GatheredRule } from './windows/gather.ts'
import { createStepGathering, type GatheredSteps } from './windows/gather-steps.ts'
import { isSequence, matchedRules, stepOfRule } from './windows/steps.ts'

export type { BlockEntities } from './entities.ts'

export interface BlockMatches {
  found: MatchedRule[]
  /**
   * Addresses (40 digits) of tokens whose unknown decimals decide on further matches: when they are
   * known, the block is to be matched again.
   */
  undecided: string[]
  /** Rules that failed by a fault of the program, which others survive. */
  failed: FailedRule[]
  /** Accounts with more matches than they may have: `found` has the first of them. */
  cut: number[]
  /** Matches of rules with `when`, however many; `found` has the others. */
  gathered?: GatheredRule[]
  /** Of rules with steps. */
  steps?: GatheredSteps[]
}

export interface FailedRule {
  rule: StoredRule
  error: unknown
}

export interface MatchedRule {
  rule: StoredRule
  kind: Kind
  /** Built on demand: not every match needs it. */
  readonly document: Document
}

/** A class, as V8 keeps what a getter of an object literal refers to, here the block, until a full garbage collection. */
class EntityMatch implements MatchedRule {
  readonly rule: StoredRule
  readonly kind: Kind
  readonly #entity: Entity

  constructor(rule: StoredRule, entity: Entity) {
    this.rule = rule
    this.kind = entity.kind
    this.#entity = entity
  }

  get document(): Document {
    return entityDocument(this.#entity)!
  }
}

export interface MatcherOptions {
  /** Matches that an account may have in one block. */
  most?: number
  /** Finds a watch list, the same one as long as a rule uses it. */
  lists?: (account: number, name: string) => ValueList
  /** Path of the network whose blocks are matched, where steps name theirs. */
  network?: string
}

export type Matcher = ReturnType<typeof createMatcher>

/**
 * Finds the rules that a block matches (percolation). They are indexed by their conditions, so
 * their number hardly matters.
 */
export const createMatcher = ({ most = Number.POSITIVE_INFINITY, lists, network }: MatcherOptions = {}) => {
  const members = new Map<number, GroupMember[]>()
  const kinds = new Map<Kind, KindMatcher>()
  const starts = createStarts()
  const conditionsOf = ({ account, input }: StoredRule) =>
    lowerConditions(input.config, lists && (name => lists(account, name)))

  const remove = (id: number) => {
    const known = members.get(id)
    if (known === undefined) return
    members.delete(id)
    starts.remove(known[0]!.rule.startBlock!)
    for (const member of known) {
      const kind = kindOfTarget(member.rule.input.config.targetType)
      const matcher = kinds.get(kind)!
      matcher.remove(member, conditionsOf(member.rule))
      if (matcher.size === 0) kinds.delete(kind)
    }
  }

  return {
    /** Adds or replaces a rule. Paused rules, and those without a first block, are left out. */
    set(rule: StoredRule) {
      remove(rule.id)
      if (!rule.enabled || rule.startBlock === null) return
      const all = matchedRules(rule, network).map(it => ({ it, nodes: conditionsOf(it) }))
      const added = all.map(({ it, nodes }) => {
        const kind = kindOfTarget(it.input.config.targetType)
        const matcher = kinds.get(kind) ?? createKindMatcher()
        kinds.set(kind, matcher)
        return matcher.add(it, nodes)
      })
      members.set(rule.id, added)
      starts.add(rule.startBlock)
    },
    remove,
    /** After many rules were set: sorts them, which the next block would have to wait for. */
    sort() {
      for (const kind of kinds.values()) kind.sort()
    },
    has: (id: number): boolean => members.has(id),
    get size(): number {
      return members.size
    },
    /** Whether any rule looks at this block. */
    wants: (block: number): boolean => block >= starts.first,
    looksAt: (kind: Kind): boolean => kinds.has(kind),
    match(block: BlockEntities): BlockMatches {
      const found: MatchedRule[] = []
      const undecided = new Set<string>()
      const failed = new Map<number, FailedRule>()
      const full = new Set<number>()
      const counts = new Map<number, number>()
      let gathering: ReturnType<typeof createGathering> | undefined
      let stepping: ReturnType<typeof createStepGathering> | undefined
      const number = Number(block.raw.block.number)
      const matching: BlockMatching = {
        block: number,
        found(rule, entity) {
          const { when } = rule.input.config
          if (when) {
            const step = isSequence(when) ? stepOfRule(rule) : undefined
            try {
              if (step) stepping ??= createStepGathering()
              else gathering ??= createGathering()
              const isKnown = step ? stepping!.add(step.rule, step.part, entity) : gathering!.add(rule, entity)
              if (!isKnown) undecided.add(emitterOf(entity.log!))
            } catch (error) {
              failed.set(rule.id, { rule, error })
            }
            return
          }
          const count = (counts.get(rule.account) ?? 0) + 1
          if (count > most) return void full.add(rule.account)
          counts.set(rule.account, count)
          found.push(new EntityMatch(rule, entity))
        },
        undecided: token => void undecided.add(token),
        failed: (rule, error) => void failed.set(rule.id, { rule, error }),
        broken: new Set(),
        full,
        spent: new Set(),
      }
      if (number >= starts.first)
        for (const entity of entitiesOf(block, kinds)) kinds.get(entity.kind)!.match(entity, matching)
      return {
        ...{ found, undecided: [...undecided], failed: [...failed.values()], cut: [...full] },
        ...(gathering && undecided.size === 0 && { gathered: gathering.finish() }),
        ...(stepping && undecided.size === 0 && { steps: stepping.finish() }),
      }
    },
  }
}

/** First blocks of the rules, mostly few different ones. */
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
