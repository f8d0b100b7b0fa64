import type { CompareNode } from '../query/ast.ts'
import { compileSameElement } from '../query/compare.ts'
import { keyOfText } from '../query/value-keys.ts'
import { type Entity, emitterOf } from './entities.ts'
import type { ConditionNode } from './lower.ts'
import {
  addRule,
  attributeKeys,
  createAttribute,
  createOrdered,
  dropRule,
  type GroupMember,
  hasKeys,
  isScaled,
  judgeCondition,
  keysOfCondition,
  listHasSome,
  type MatchedAttribute,
  type RuleGroup,
  type SharedComparison,
  type SharedCondition,
  sortByBound,
  visitPassing,
  waitsForDecimals,
} from './match-group.ts'
import { frequencyOf } from './match-keys.ts'
import { conditionName, type GroupChoice, nameOfAttribute, type RuleShape, ruleShape } from './match-shape.ts'
import { createProbedAttributes } from './match-table.ts'
import type { StoredRule } from './rule.ts'

/** Takes the matches of one block. */
export interface BlockMatching {
  readonly block: number
  found(rule: StoredRule, entity: Entity): void
  /** A match depends on the unknown decimals of that token. */
  undecided(token: string): void
  failed(rule: StoredRule, error: unknown): void
  /** Rules that have failed in this block. */
  readonly broken: Set<RuleGroup | MatchedAttribute>
  /** Accounts with all matches that they may have. */
  readonly full: ReadonlySet<number>
  /** Groups of such accounts alone. */
  readonly spent: Set<RuleGroup>
}

export type KindMatcher = ReturnType<typeof createKindMatcher>

export const createKindMatcher = () => {
  const conditions = createConditions()
  const groups = new Map<string, RuleGroup>()
  const choices = createGroupChoices()
  /** Groups without a key. */
  const loose = new Set<RuleGroup>()
  const probed = createProbedAttributes()
  let size = 0

  const createGroup = ({ nodes }: RuleShape, { name, bound }: GroupChoice): RuleGroup => {
    const rest: SharedCondition[] = []
    for (const [nodeName, node] of nodes) if (node !== bound) rest.push(conditions.use(nodeName, node))
    const group: RuleGroup = {
      name,
      conditions: rest.sort(cheapestFirst),
      bound: bound && {
        attribute: conditions.useAttribute(bound),
        how: bound.how,
        numeric: bound.operands[0]!.number !== undefined,
      },
      keys: [],
      live: 0,
      members: createOrdered(),
      texts: undefined,
      tried: 0,
    }
    group.keys = chooseKeys(group.conditions)?.of ?? []
    if (group.keys.length === 0) loose.add(group)
    for (const condition of group.keys) {
      const { attribute, node } = condition
      if (!isProbed(attribute)) probed.add(attribute)
      for (const key of keysOfCondition(condition)) attribute.table.add(key, group)
      if (node.list) attribute.lists.set(node.list, (attribute.lists.get(node.list) ?? new Set()).add(group))
    }
    groups.set(name, group)
    return group
  }

  const dropGroup = (group: RuleGroup) => {
    groups.delete(group.name)
    if (group.keys.length === 0) loose.delete(group)
    for (const condition of group.keys) {
      const { attribute, node } = condition
      for (const key of keysOfCondition(condition)) attribute.table.remove(key, group)
      const withList = node.list && attribute.lists.get(node.list)
      if (withList?.delete(group) && withList.size === 0) attribute.lists.delete(node.list!)
      if (!isProbed(attribute)) probed.remove(attribute)
    }
    for (const condition of group.conditions) conditions.release(condition)
    if (group.bound) conditions.releaseAttribute(group.bound.attribute)
  }

  const attempt = (
    group: RuleGroup,
    entity: Entity,
    found: (member: GroupMember) => void,
    open: () => void,
    matching: BlockMatching,
  ) => {
    const { block, full } = matching
    if (group.tried === entity.stamp || isSpent(group, matching)) return
    group.tried = entity.stamp
    let waits = false
    const { conditions } = group
    for (let i = 0; i < conditions.length; i++) {
      const condition = conditions[i]!
      const verdict = judgeCondition(condition, entity)
      if (verdict !== false) {
        waits ||= verdict === undefined
        continue
      }
      // A failed condition is likely to fail again: wide rules test it first from now on.
      if (i >= WIDE_RULE) {
        conditions.copyWithin(1, 0, i)
        conditions[0] = condition
      }
      return
    }
    const { bound } = group
    const boundWaits = bound !== undefined && waitsForDecimals(bound.attribute, entity)
    if (boundWaits) {
      for (const { live, rule } of group.members.items) if (live && rule.startBlock! <= block) return open()
      return
    }
    visitPassing(group, entity, member => {
      if (!member.live || member.rule.startBlock! > block || member.found === entity.stamp) return
      if (full.size > 0 && isAccountFull(member.rule, full)) return
      member.found = entity.stamp
      if (waits) open()
      else found(member)
    })
  }

  return {
    get size(): number {
      return size
    },
    add(rule: StoredRule, nodes: readonly ConditionNode[]): GroupMember {
      const shape = ruleShape(nodes)
      choices.count(shape, 1)
      const choice = choices.best(shape)
      const group = groups.get(choice.name) ?? createGroup(shape, choice)
      const member: GroupMember = { rule, group, operand: choice.bound?.operands[0], live: true, found: 0 }
      addRule(group, member)
      size++
      return member
    },
    remove(member: GroupMember, nodes: readonly ConditionNode[]) {
      const { group } = member
      choices.count(ruleShape(nodes), -1)
      dropRule(group, member)
      if (group.live === 0) dropGroup(group)
      size--
    },
    sort: () => groups.forEach(group => void sortByBound(group)),
    match(entity: Entity, matching: BlockMatching) {
      const { broken } = matching
      const hits: GroupMember[] = []
      const hit = (member: GroupMember) => void hits.push(member)
      const open = () => matching.undecided(emitterOf(entity.log!))
      const tried = (group: RuleGroup) => {
        if (broken.size > 0 && broken.has(group)) return
        try {
          attempt(group, entity, hit, open, matching)
        } catch (error) {
          failGroup(group, error, matching)
        }
      }
      const probe = (attribute: MatchedAttribute) => {
        if (broken.size > 0 && broken.has(attribute)) return
        try {
          const keys = attributeKeys(attribute, entity)
          if (typeof keys === 'string') attribute.table.forEach(keys, tried)
          else if (keys !== undefined) for (const key of keys) attribute.table.forEach(key, tried)
          if (attribute.lists.size > 0)
            for (const [list, groups] of attribute.lists) if (listHasSome(list, keys)) groups.forEach(tried)
        } catch (error) {
          broken.add(attribute)
          for (const group of groups.values())
            if (group.keys.some(key => key.attribute === attribute)) failGroup(group, error, matching)
        }
      }
      probed.forEach(entity, probe)
      loose.forEach(tried)
      if (hits.length === 0) return
      hits.sort((a, b) => a.rule.id - b.rule.id)
      for (const { rule } of hits) matching.found(rule, entity)
    },
  }
}

/** Shares conditions and attributes among rules. */
const createConditions = () => {
  const attributes = new Map<string, MatchedAttribute>()
  const conditions = new Map<string, SharedCondition>()

  const useAttribute = (node: CompareNode): MatchedAttribute => {
    const name = nameOfAttribute(node)
    let attribute = attributes.get(name)
    if (attribute === undefined) {
      attribute = createAttribute(name, node)
      attributes.set(name, attribute)
    }
    attribute.uses++
    return attribute
  }

  const releaseAttribute = (attribute: MatchedAttribute) => {
    if (--attribute.uses === 0) attributes.delete(attribute.name)
  }

  const create = (name: string, node: ConditionNode): SharedCondition => {
    if (node.op === 'compare') {
      const attribute = useAttribute(node)
      return { op: 'compare', name, attribute, node, uses: 0, keys: undefined, test: undefined }
    }
    if (node.op === 'element') return { op: 'element', name, holds: compileSameElement(node), uses: 0 }
    const of = (node.op === 'not' ? [node.of] : node.of).map(inner => use(conditionName(inner), inner))
    return { op: node.op, name, of, uses: 0 }
  }

  const use = (name: string, node: ConditionNode): SharedCondition => {
    const condition = conditions.get(name) ?? create(name, node)
    conditions.set(name, condition)
    condition.uses++
    return condition
  }

  const release = (condition: SharedCondition) => {
    if (--condition.uses > 0) return
    conditions.delete(condition.name)
    if (condition.op === 'compare') releaseAttribute(condition.attribute)
    else if (condition.op !== 'element') condition.of.forEach(release)
  }

  return {
    useAttribute,
    releaseAttribute,
    use,
    release,
  }
}

/** Chooses among the groups that a rule could be in, by their bounds. */
const createGroupChoices = () => {
  const counts = new Map<string, number>()
  const countOf = ({ name }: GroupChoice) => counts.get(name) ?? 0
  return {
    /** The group that most rules could be in. */
    best: ({ choices: [first, ...others] }: RuleShape): GroupChoice =>
      others.reduce((best, it) => (countOf(it) > countOf(best) ? it : best), first!),
    count({ choices }: RuleShape, change: 1 | -1) {
      if (choices.length < 2) return
      for (const choice of choices) {
        const count = countOf(choice) + change
        if (count > 0) counts.set(choice.name, count)
        else counts.delete(choice.name)
      }
    },
  }
}

/** Rules of a group ask the same: what fails for one fails for all. */
const failGroup = (group: RuleGroup, error: unknown, { block, broken, failed }: BlockMatching) => {
  broken.add(group)
  for (const { live, rule } of group.members.items) if (live && rule.startBlock! <= block) failed(rule, error)
}

/** Windows take all matches of a block. */
const isAccountFull = ({ account, input }: StoredRule, full: ReadonlySet<number>): boolean =>
  full.has(account) && !input.config.when

/** Whether only full accounts have rules in the group. */
const isSpent = (group: RuleGroup, { full, spent }: BlockMatching): boolean => {
  if (full.size === 0) return false
  if (spent.has(group)) return true
  if (!group.members.items.every(({ live, rule }) => !live || isAccountFull(rule, full))) return false
  spent.add(group)
  return true
}

/** Conditions up to which a rule keeps the order of their cost. */
const WIDE_RULE = 8

/** Comparisons with keys, one of which always holds, and about how often one does. */
interface GroupKeys {
  of: readonly SharedComparison[]
  cost: number
}

/** The rarest equalities, by their operands and the groups that have them as keys already. */
const chooseKeys = (conditions: readonly SharedCondition[]): GroupKeys | undefined => {
  let chosen: GroupKeys | undefined
  for (const condition of conditions) {
    const keys = keysThatFind(condition)
    if (keys !== undefined && keys.cost < (chosen?.cost ?? Number.POSITIVE_INFINITY)) chosen = keys
  }
  return chosen
}

const keysThatFind = (condition: SharedCondition): GroupKeys | undefined => {
  switch (condition.op) {
    case 'not':
    case 'element':
      return undefined
    case 'and':
      return chooseKeys(condition.of)
    case 'or': {
      const each = condition.of.map(keysThatFind)
      if (!each.every(keys => keys !== undefined)) return undefined
      return { of: [...new Set(each.flatMap(({ of }) => of))], cost: each.reduce((sum, { cost }) => sum + cost, 0) }
    }
    case 'compare': {
      if (!hasKeys(condition)) return undefined
      const { node, attribute } = condition
      if (node.list) {
        const cost = Math.min(LIST_FREQUENCY, node.list.size * frequencyOf(node, AN_ADDRESS))
        return { of: [condition], cost: cost * (1 + (attribute.lists.get(node.list)?.size ?? 0)) }
      }
      let cost = 0
      for (const { text } of node.operands)
        cost += frequencyOf(node, text) * (1 + attribute.table.count(keyOfText(text)))
      return { of: [condition], cost }
    }
  }
}

const isProbed = ({ table, lists }: MatchedAttribute): boolean => table.size > 0 || lists.size > 0

/** A value of watch lists, and a share of entities that have one, at most. */
const AN_ADDRESS = '0x'.padEnd(42, 'f')
const LIST_FREQUENCY = 0.05

/** Conditions with keys first, amounts in whole tokens last. */
const cheapestFirst = (a: SharedCondition, b: SharedCondition): number => costRank(a) - costRank(b)
const costRank = (condition: SharedCondition): number => {
  // It reads a document.
  if (condition.op === 'element') return 3
  if (condition.op !== 'compare') return Math.max(1, ...condition.of.map(costRank))
  return isScaled(condition.node) ? 2 : hasKeys(condition) ? 0 : 1
}
