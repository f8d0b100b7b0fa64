import { type Compare, compareValues } from '../query/ast.ts'
import { compileTest, type Face } from '../query/compare.ts'
import { compareExact } from '../query/exact.ts'
import { type Entity, type Keys, type Source, sourceOf } from './entities.ts'
import { keyOfText } from './match-keys.ts'
import { createTable, type Table } from './match-table.ts'
import type { StoredRule } from './rule.ts'

/** Attribute of one kind that conditions ask for. What it reads of the entity at hand is read once. */
export interface Attribute {
  readonly name: string
  readonly steps: readonly string[]
  /** Whether what it reads depends on the decimals of the emitting token. */
  readonly scaled: boolean
  readonly source: Source
  /** Groups by the keys of their chosen condition on it. */
  readonly table: Table<Group>
  /** Conditions and bounds that ask for it. */
  uses: number
  /** Stamps of the entities that these are of. */
  facesOf: number
  faces: readonly Face[]
  keysOf: number
  keys: Keys
}

export const createAttribute = (name: string, node: Compare): Attribute => ({
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

/** Amounts in whole tokens; of an argument they can be named like a part of it, too. */
export const isScaled = ({ steps, scaled }: Pick<Compare, 'steps' | 'scaled'>): boolean =>
  scaled || (steps[0] === 'args' && steps.length > 2 && steps.at(-1) === 'scaled')

export const facesOf = (attribute: Attribute, entity: Entity): readonly Face[] => {
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

/** One condition, however many rules have it. */
export interface Condition {
  /** Tells it from all others. */
  readonly name: string
  readonly attribute: Attribute
  readonly node: Compare
  /** Groups that have it. */
  uses: number
  /** Where it is an equality: what it can be equal to. Made when it is first asked for, as the test is. */
  keys: string | ReadonlySet<string> | undefined
  test: ((face: Face) => boolean) | undefined
}

/** Of an equality alone; scaled amounts have no keys, since without the decimals nothing would be found that waits for them. */
export const hasKeys = ({ node }: Condition): boolean => node.how === 'equal' && !isScaled(node)

export const keysOfCondition = ({ node }: Condition): string[] => [
  ...new Set(node.operands.map(({ text }) => keyOfText(text))),
]

/** Whether it holds. Keys say "no" first: only what they let pass has to be read exactly. */
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

/** A rule among those that differ from it in one bound at most. */
export interface Member {
  readonly rule: StoredRule
  readonly group: Group
  /** What its bound is compared with; undefined where the group has none. */
  readonly operand: Compare['operands'][number] | undefined
  /** False once the rule was taken away; it goes when many have. */
  live: boolean
  /** Stamp of the last entity that it was found for. */
  found: number
}

/** Rules that are equal in everything but one bound. */
export interface Group {
  readonly name: string
  /** All have to hold. The cheapest stand first, until those of many that fail take their places. */
  readonly conditions: Condition[]
  readonly bound: Bound | undefined
  /** Whose keys find the group; undefined where no condition has any: it is tried for every entity then. */
  key: Condition | undefined
  live: number
  /** Without bound all that there are, else those whose operands are numbers, by number. */
  readonly members: Ordered
  /** Members by the text of their operands, for values that are not numbers; built when one comes. */
  texts: Ordered | undefined
  /** Stamp of the last entity that it was tried for. */
  tried: number
}

/** A comparison with one operand that is another in each rule. */
export interface Bound {
  readonly attribute: Attribute
  readonly how: Compare['how']
  /** Whether the operands are numbers. */
  readonly numeric: boolean
}

/** A list that is in order up to `sorted`; what came later is put into its places before the next look. */
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
    // Each removal pays for one place, so that many in a row cost no more than one after the other.
    if (list === undefined || list.items.length < 2 * group.live + 8) continue
    let sorted = 0
    for (let i = 0; i < list.sorted; i++) if (list.items[i]!.live) sorted++
    list.items = list.items.filter(it => it.live)
    list.sorted = sorted
  }
}

/** A few that came later are put in one by one; many are sorted with the rest. */
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

/** Hands over the members whose bound holds, in no order; one may come several times. */
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

/** `order` is that of a member's operand to the value: negative where it is less. */
const within = (
  items: readonly Member[],
  how: Compare['how'],
  order: (member: Member) => number,
  found: (member: Member) => void,
): void => {
  /** The first whose operand is not less than the value, or not even equal. */
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
