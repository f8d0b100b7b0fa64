import { type CompareNode, compareValues } from '../query/ast.ts'
import { type ComparedDocument, type ComparedValue, compileTest } from '../query/compare.ts'
import { compareExact } from '../query/exact.ts'
import { keyOfText } from '../query/value-keys.ts'
import { listHasKey, type ValueList } from '../query/value-list.ts'
import { type Entity, type EntityKeys, type EntityValues, emitterOf, entityDocument, entityValues } from './entities.ts'
import { createMatchTable } from './match-table.ts'
import type { StoredRule } from './rule.ts'

/** Attribute that conditions on one kind read; its values are cached per entity. */
export interface MatchedAttribute {
  readonly name: string
  readonly steps: readonly string[]
  /** Whether it depends on the decimals of the emitting token. */
  readonly scaled: boolean
  readonly source: EntityValues
  /** Groups by the keys of their comparisons on it. */
  readonly table: ReturnType<typeof createMatchTable<RuleGroup>>
  /** Groups by the watch lists of their comparisons on it. */
  readonly lists: Map<ValueList, Set<RuleGroup>>
  uses: number
  /** Stamp of the entity that `faces` were read from. */
  facesOf: number
  faces: readonly ComparedValue[]
  keysOf: number
  keys: EntityKeys
}

export const createAttribute = (name: string, node: CompareNode): MatchedAttribute => ({
  name,
  steps: node.steps,
  scaled: isScaled(node),
  source: entityValues(node.kind, node.steps, node.scaled),
  table: createMatchTable(),
  lists: new Map(),
  uses: 0,
  facesOf: 0,
  faces: [],
  keysOf: 0,
  keys: undefined,
})

/** Amounts in whole tokens, which paths of arguments may name, too. */
export const isScaled = ({ steps, scaled }: Pick<CompareNode, 'steps' | 'scaled'>): boolean =>
  scaled || (steps[0] === 'args' && steps.length > 2 && steps.at(-1) === 'scaled')

export const attributeFaces = (attribute: MatchedAttribute, entity: Entity): readonly ComparedValue[] => {
  if (attribute.facesOf !== entity.stamp) {
    attribute.faces = attribute.source.faces(entity)
    attribute.facesOf = entity.stamp
  }
  return attribute.faces
}

export const attributeKeys = (attribute: MatchedAttribute, entity: Entity): EntityKeys => {
  if (attribute.keysOf !== entity.stamp) {
    attribute.keys = attribute.source.keys(entity)
    attribute.keysOf = entity.stamp
  }
  return attribute.keys
}

/** One condition of any number of rules. */
export type SharedCondition = SharedComparison | SharedElement | SharedLogic

export interface SharedLogic {
  readonly op: 'and' | 'or' | 'not'
  readonly name: string
  readonly of: readonly SharedCondition[]
  uses: number
}

/** Amounts in a list have no decimals to wait for. */
export interface SharedElement {
  readonly op: 'element'
  readonly name: string
  readonly holds: (document: ComparedDocument) => boolean
  uses: number
}

export interface SharedComparison {
  readonly op: 'compare'
  readonly name: string
  readonly attribute: MatchedAttribute
  readonly node: CompareNode
  uses: number
  /** Keys of its operands. Made on demand, as is the test. */
  keys: string | ReadonlySet<string> | undefined
  test: ((face: ComparedValue) => boolean) | undefined
}

/** Scaled amounts have no keys: they may wait for decimals. */
export const hasKeys = ({ node }: SharedComparison): boolean => node.how === 'equal' && !isScaled(node)

export const keysOfCondition = ({ node }: SharedComparison): string[] => [
  ...new Set(node.operands.map(({ text }) => keyOfText(text))),
]

/** Whether it holds; undefined if decimals decide that, which are not known yet. */
export const judgeCondition = (condition: SharedCondition, entity: Entity): boolean | undefined => {
  if (condition.op === 'compare')
    return comparisonHolds(condition, entity) || (waitsForDecimals(condition.attribute, entity) ? undefined : false)
  if (condition.op === 'element') {
    const document = entityDocument(entity)
    return document !== undefined && condition.holds(document)
  }
  const decisive = condition.op !== 'and'
  let isOpen = false
  for (const inner of condition.of) {
    const verdict = judgeCondition(inner, entity)
    if (verdict === decisive) return condition.op === 'or'
    isOpen ||= verdict === undefined
  }
  return isOpen ? undefined : condition.op !== 'or'
}

/** Whether only unknown decimals are missing for a value. */
export const waitsForDecimals = (attribute: MatchedAttribute, entity: Entity): boolean =>
  attribute.scaled && lacksDecimals(attribute.source, entity, () => attributeFaces(attribute, entity))

/** The same for what is read by `source`, whose values `faces` gives. */
export const lacksDecimals = (
  source: EntityValues,
  entity: Entity,
  faces: () => readonly ComparedValue[] = () => source.faces(entity),
): boolean =>
  entity.kind === 'event' &&
  entity.block.undecided?.(emitterOf(entity.log!)) === true &&
  faces().length === 0 &&
  source.needsDecimals(entity)

/** Keys are compared first; only if they are equal, values are compared exactly. */
const comparisonHolds = (condition: SharedComparison, entity: Entity): boolean => {
  const { attribute } = condition
  const { list } = condition.node
  if (list !== undefined && !listHasSome(list, attributeKeys(attribute, entity))) return false
  if (list === undefined && hasKeys(condition)) {
    if (condition.keys === undefined) {
      const keys = keysOfCondition(condition)
      condition.keys = keys.length === 1 ? keys[0]! : new Set(keys)
    }
    const wanted = condition.keys
    const found = attributeKeys(attribute, entity)
    if (
      found === undefined ||
      !(typeof found === 'string' ? allows(wanted, found) : found.some(key => allows(wanted, key)))
    )
      return false
  }
  const faces = attributeFaces(attribute, entity)
  if (faces.length === 0) return false
  condition.test ??= compileTest(condition.node)
  for (const face of faces) if (condition.test(face)) return true
  return false
}

export const listHasSome = (list: ValueList, keys: EntityKeys): boolean => {
  if (keys === undefined) return false
  return typeof keys === 'string' ? listHasKey(list, keys) : keys.some(key => listHasKey(list, key))
}

const allows = (wanted: string | ReadonlySet<string>, key: string): boolean =>
  typeof wanted === 'string' ? wanted === key : wanted.has(key)

export interface GroupMember {
  readonly rule: StoredRule
  readonly group: RuleGroup
  /** The operand of the group's bound, if it has one. */
  readonly operand: CompareNode['operands'][number] | undefined
  /** False once the rule is removed; it stays in lists until many are. */
  live: boolean
  /** Stamp of the last entity that it matched. */
  found: number
}

/** Rules that differ in nothing but one bound. */
export interface RuleGroup {
  readonly name: string
  /** Cheap ones first, except that conditions of wide rules move to the front when they fail. */
  readonly conditions: SharedCondition[]
  readonly bound: GroupBound | undefined
  /** Comparisons whose keys find the group, one of which always holds; without them it is tried for every entity. */
  keys: readonly SharedComparison[]
  live: number
  /** With a bound, only members with numeric operands, by number. */
  readonly members: OrderedMembers
  /** Members by the text of their operands, for values that are not numbers; built on demand. */
  texts: OrderedMembers | undefined
  tried: number
}

/** A comparison whose operand differs from rule to rule. */
export interface GroupBound {
  readonly attribute: MatchedAttribute
  readonly how: CompareNode['how']
  readonly numeric: boolean
}

/** Sorted up to `sorted`; later items are sorted in before the next look-up. */
interface OrderedMembers {
  items: GroupMember[]
  sorted: number
}

export const createOrdered = (items: GroupMember[] = []): OrderedMembers => ({ items, sorted: 0 })

type MemberOrder = (a: GroupMember, b: GroupMember) => number
const byOperandNumber: MemberOrder = (a, b) => compareExact(a.operand!.number!, b.operand!.number!)
const byOperandText: MemberOrder = (a, b) => compareValues(a.operand!.text, b.operand!.text)

export const addRule = (group: RuleGroup, member: GroupMember): void => {
  group.live++
  group.members.items.push(member)
  group.texts?.items.push(member)
}

export const dropRule = (group: RuleGroup, member: GroupMember): void => {
  member.live = false
  group.live--
  for (const list of [group.members, group.texts]) {
    // Compacts after many removals: the cost per removal stays constant.
    if (list === undefined || list.items.length < 2 * group.live + 8) continue
    let sorted = 0
    for (let i = 0; i < list.sorted; i++) if (list.items[i]!.live) sorted++
    list.items = list.items.filter(it => it.live)
    list.sorted = sorted
  }
}

/** Up to this many new items are inserted one by one; more are sorted with the rest. */
const MAX_INSERTED = 16

const sortMembers = (list: OrderedMembers, order: MemberOrder): readonly GroupMember[] => {
  const { items, sorted } = list
  if (sorted === items.length) return items
  if (items.length - sorted > MAX_INSERTED || sorted === 0) items.sort(order)
  else
    for (let i = sorted; i < items.length; i++) {
      const item = items[i]!
      let [low, high] = [0, i]
      while (low < high) {
        const middle = (low + high) >>> 1
        if (order(items[middle]!, item) <= 0) low = middle + 1
        else high = middle
      }
      items.copyWithin(low + 1, low, i)
      items[low] = item
    }
  list.sorted = items.length
  return items
}

/** Sorts the members by their bounds, which the first look-up would do otherwise. */
export const sortByBound = ({ bound, members }: RuleGroup): void => {
  if (bound?.numeric) sortMembers(members, byOperandNumber)
}

/** Calls `found` for members whose bound holds, in any order, possibly more than once. */
export const visitPassing = (group: RuleGroup, entity: Entity, found: (member: GroupMember) => void): void => {
  const { bound, members } = group
  if (bound === undefined) {
    for (const member of members.items) found(member)
    return
  }
  for (const face of attributeFaces(bound.attribute, entity)) {
    const { number } = face
    if (bound.numeric && number !== undefined)
      visitWithin(
        sortMembers(members, byOperandNumber),
        bound.how,
        it => compareExact(it.operand!.number!, number),
        found,
      )
    else {
      group.texts ??= createOrdered(members.items.slice())
      visitWithin(
        sortMembers(group.texts, byOperandText),
        bound.how,
        it => compareValues(it.operand!.text, face.text),
        found,
      )
    }
  }
}

/** `order` compares a member's operand with the value. */
const visitWithin = (
  items: readonly GroupMember[],
  how: CompareNode['how'],
  order: (member: GroupMember) => number,
  found: (member: GroupMember) => void,
): void => {
  /** Index of the first operand that is not less than the value, or greater than it. */
  const first = (orEqual: boolean): number => {
    let [low, high] = [0, items.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = order(items[middle]!)
      if (at < 0 || (orEqual && at === 0)) low = middle + 1
      else high = middle
    }
    return low
  }
  const from = how === 'less' ? first(true) : how === 'greater' || how === 'greaterOrEqual' ? 0 : first(false)
  const to = how === 'greater' ? first(false) : how === 'greaterOrEqual' || how === 'equal' ? first(true) : items.length
  for (let i = from; i < to; i++) found(items[i]!)
}
