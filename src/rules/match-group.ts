import { type CompareNode, compareValues } from '../query/ast.ts'
import { type ComparedValue, compileTest } from '../query/compare.ts'
import { compareExact } from '../query/exact.ts'
import { type Entity, type Keys, type Source, sourceOf } from './entities.ts'
import { keyOfText } from './match-keys.ts'
import { createTable } from './match-table.ts'
import type { StoredRule } from './rule.ts'

/** What conditions on one kind read. The current entity's values are read once. */
export interface Attribute {
  readonly name: string
  readonly steps: readonly string[]
  /** Whether it depends on the decimals of the emitting token. */
  readonly scaled: boolean
  readonly source: Source
  /** Groups by the keys of their `key` condition on it. */
  readonly table: ReturnType<typeof createTable<Group>>
  uses: number
  /** Stamp of the entity that `faces` were read from. */
  facesOf: number
  faces: readonly ComparedValue[]
  keysOf: number
  keys: Keys
}

export const createAttribute = (name: string, node: CompareNode): Attribute => ({
  name,
  steps: node.steps,
  scaled: isScaled(node),
  source: sourceOf(node.kind, node.steps, node.scaled),
  table: createTable(),
  uses: 0,
  facesOf: 0,
  faces: [],
  keysOf: 0,
  keys: undefined,
})

/** Amounts in whole tokens, which paths of arguments may name, too. */
export const isScaled = ({ steps, scaled }: Pick<CompareNode, 'steps' | 'scaled'>): boolean =>
  scaled || (steps[0] === 'args' && steps.length > 2 && steps.at(-1) === 'scaled')

export const facesOf = (attribute: Attribute, entity: Entity): readonly ComparedValue[] => {
  if (attribute.facesOf !== entity.stamp) {
    attribute.faces = attribute.source.faces(entity)
    attribute.facesOf = entity.stamp
  }
  return attribute.faces
}

export const keysOf = (attribute: Attribute, entity: Entity): Keys => {
  if (attribute.keysOf !== entity.stamp) {
    attribute.keys = attribute.source.keys(entity)
    attribute.keysOf = entity.stamp
  }
  return attribute.keys
}

/** One condition of any number of rules. */
export interface Condition {
  readonly name: string
  readonly attribute: Attribute
  readonly node: CompareNode
  uses: number
  /** Keys of its operands. Made on demand, as is the test. */
  keys: string | ReadonlySet<string> | undefined
  test: ((face: ComparedValue) => boolean) | undefined
}

/** Scaled amounts have no keys: they may wait for decimals. */
export const hasKeys = ({ node }: Condition): boolean => node.how === 'equal' && !isScaled(node)

export const keysOfCondition = ({ node }: Condition): string[] => [
  ...new Set(node.operands.map(({ text }) => keyOfText(text))),
]

/** Keys are compared first; only if they are equal, values are compared exactly. */
export const holds = (condition: Condition, entity: Entity): boolean => {
  const { attribute } = condition
  if (hasKeys(condition)) {
    if (condition.keys === undefined) {
      const keys = keysOfCondition(condition)
      condition.keys = keys.length === 1 ? keys[0]! : new Set(keys)
    }
    const wanted = condition.keys
    const found = keysOf(attribute, entity)
    if (
      found === undefined ||
      !(typeof found === 'string' ? allows(wanted, found) : found.some(key => allows(wanted, key)))
    )
      return false
  }
  const faces = facesOf(attribute, entity)
  if (faces.length === 0) return false
  condition.test ??= compileTest(condition.node)
  for (const face of faces) if (condition.test(face)) return true
  return false
}

const allows = (wanted: string | ReadonlySet<string>, key: string): boolean =>
  typeof wanted === 'string' ? wanted === key : wanted.has(key)

export interface Member {
  readonly rule: StoredRule
  readonly group: Group
  /** The operand of the group's bound, if it has one. */
  readonly operand: CompareNode['operands'][number] | undefined
  /** False once the rule is removed; it stays in lists until many are. */
  live: boolean
  /** Stamp of the last entity that it matched. */
  found: number
}

/** Rules that differ in nothing but one bound. */
export interface Group {
  readonly name: string
  /** Cheap ones first, except that conditions of wide rules move to the front when they fail. */
  readonly conditions: Condition[]
  readonly bound: Bound | undefined
  /** The condition by whose keys the group is found; a group without one is tried for every entity. */
  key: Condition | undefined
  live: number
  /** With a bound, only those whose operands are numbers, by number. */
  readonly members: Ordered
  /** Members by the text of their operands, for values that are not numbers; built on demand. */
  texts: Ordered | undefined
  tried: number
}

/** A comparison whose operand differs from rule to rule. */
export interface Bound {
  readonly attribute: Attribute
  readonly how: CompareNode['how']
  readonly numeric: boolean
}

/** Sorted up to `sorted`; later items are sorted in before the next look-up. */
interface Ordered {
  items: Member[]
  sorted: number
}

export const createOrdered = (items: Member[] = []): Ordered => ({ items, sorted: 0 })

type Order = (a: Member, b: Member) => number
const byNumber: Order = (a, b) => compareExact(a.operand!.number!, b.operand!.number!)
const byText: Order = (a, b) => compareValues(a.operand!.text, b.operand!.text)

export const addMember = (group: Group, member: Member): void => {
  group.live++
  group.members.items.push(member)
  group.texts?.items.push(member)
}

export const dropMember = (group: Group, member: Member): void => {
  member.live = false
  group.live--
  for (const list of [group.members, group.texts]) {
    // Each removal pays for one place, so that many cost no more than single ones.
    if (list === undefined || list.items.length < 2 * group.live + 8) continue
    let sorted = 0
    for (let i = 0; i < list.sorted; i++) if (list.items[i]!.live) sorted++
    list.items = list.items.filter(it => it.live)
    list.sorted = sorted
  }
}

/** So many later items are inserted; more are sorted with the rest. */
const FEW = 16

const settle = (list: Ordered, order: Order): readonly Member[] => {
  const { items, sorted } = list
  if (sorted === items.length) return items
  if (items.length - sorted > FEW || sorted === 0) items.sort(order)
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

/** Calls `found` for members whose bound holds, in no order, maybe more than once. */
export const passing = (group: Group, entity: Entity, found: (member: Member) => void): void => {
  const { bound, members } = group
  if (bound === undefined) {
    for (const member of members.items) found(member)
    return
  }
  for (const face of facesOf(bound.attribute, entity)) {
    const { number } = face
    if (bound.numeric && number !== undefined)
      within(settle(members, byNumber), bound.how, it => compareExact(it.operand!.number!, number), found)
    else {
      group.texts ??= createOrdered(members.items.slice())
      within(settle(group.texts, byText), bound.how, it => compareValues(it.operand!.text, face.text), found)
    }
  }
}

/** `order` compares a member's operand with the value. */
const within = (
  items: readonly Member[],
  how: CompareNode['how'],
  order: (member: Member) => number,
  found: (member: Member) => void,
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
