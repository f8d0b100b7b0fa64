import type { Document } from '../documents/document.ts'
import type { Kind } from '../mapping/index.ts'
import type { Compare } from '../query/ast.ts'
import { TARGET_KINDS } from './attributes.ts'
import { type BlockEntities, documentOf, type Entity, emitterOf, entitiesOf } from './entities.ts'
import { lower } from './lower.ts'
import { frequencyOf } from './match-frequency.ts'
import {
  type Attribute,
  addMember,
  type Condition,
  createAttribute,
  createOrdered,
  dropMember,
  facesOf,
  type Group,
  hasKeys,
  holds,
  isScaled,
  keysOf,
  keysOfCondition,
  type Member,
  passing,
} from './match-group.ts'
import { keyOfText } from './match-keys.ts'
import type { StoredRule } from './rule.ts'

export type { BlockEntities } from './entities.ts'

/** Many rules, of which a block finds those that match: indexed by what they ask for, so that their number hardly matters. */
export interface Matcher {
  /** Adds a rule, or puts it in the place of the one of its id. Kept is what can match: not what is paused or has no first block yet. */
  set(rule: StoredRule): void
  remove(id: number): void
  /** Rules that are looked for. */
  readonly size: number
  /** Whether any rule looks at this block: one that none looks at costs nothing. */
  wants(block: number): boolean
  /** Whether any rule looks at entities of this kind. */
  looksAt(kind: Kind): boolean
  match(block: BlockEntities): Matches
}

export interface Matches {
  /** In the order of the block's entities, then of the rules' ids. */
  found: Found[]
  /**
   * Addresses (40 digits) of tokens whose decimals decide on further matches and are not known yet: the block is to be matched again
   * when they are.
   */
  undecided: string[]
}

export interface Found {
  rule: StoredRule
  kind: Kind
  document: Document
}

export const createMatcher = (): Matcher => {
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
    set(rule) {
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
    get size() {
      return members.size
    },
    wants: block => block >= starts.first,
    looksAt: kind => kinds.has(kind),
    match(block) {
      const found: Found[] = []
      const undecided = new Set<string>()
      const number = Number(block.raw.block.number)
      if (number >= starts.first)
        for (const entity of entitiesOf(block, kinds)) kinds.get(entity.kind)!.match(entity, number, found, undecided)
      return { found, undecided: [...undecided] }
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

interface KindMatcher {
  readonly size: number
  add(rule: StoredRule, nodes: readonly Compare[]): Member
  remove(member: Member, nodes: readonly Compare[]): void
  match(entity: Entity, block: number, found: Found[], undecided: Set<string>): void
}

/** The rules of one kind of entity. */
const createKindMatcher = (): KindMatcher => {
  const attributes = new Map<string, Attribute>()
  const conditions = new Map<string, Condition>()
  const groups = new Map<string, Group>()
  /** Names of groups that rules of several bounds could be in, with the number of these rules. */
  const choices = new Map<string, number>()
  /** Groups that no key finds. */
  const loose = new Set<Group>()
  const probed = createProbed()
  let size = 0

  const useAttribute = (node: Compare): Attribute => {
    const name = nameOfAttribute(node)
    let attribute = attributes.get(name)
    if (attribute === undefined) {
      attribute = createAttribute(name, node)
      attributes.set(name, attribute)
    }
    attribute.uses++
    return attribute
  }

  const releaseAttribute = (attribute: Attribute) => {
    if (--attribute.uses === 0) attributes.delete(attribute.name)
  }

  const useCondition = (name: string, node: Compare): Condition => {
    let condition = conditions.get(name)
    if (condition === undefined) {
      condition = { name, attribute: useAttribute(node), node, uses: 0, keys: undefined, test: undefined }
      conditions.set(name, condition)
    }
    condition.uses++
    return condition
  }

  const releaseCondition = (condition: Condition) => {
    if (--condition.uses > 0) return
    conditions.delete(condition.name)
    releaseAttribute(condition.attribute)
  }

  /** The bound that most rules differ in from others which are equal in the rest. */
  const chooseBound = (shape: Shape): Compare | undefined => {
    const { bounds } = shape
    if (bounds.length < 2) return bounds[0]
    const count = (bound: Compare) => choices.get(nameOfGroup(shape, bound)) ?? 0
    return bounds.reduce((best, bound) => (count(bound) > count(best) ? bound : best))
  }

  const countChoices = (shape: Shape, change: 1 | -1) => {
    if (shape.bounds.length < 2) return
    for (const bound of shape.bounds) {
      const name = nameOfGroup(shape, bound)
      const count = (choices.get(name) ?? 0) + change
      if (count > 0) choices.set(name, count)
      else choices.delete(name)
    }
  }

  const createGroup = (name: string, { nodes }: Shape, bound: Compare | undefined): Group => {
    const rest: Condition[] = []
    for (const [nodeName, node] of nodes) if (node !== bound) rest.push(useCondition(nodeName, node))
    const group: Group = {
      name,
      conditions: rest.sort(cheapestFirst),
      bound: bound && {
        attribute: useAttribute(bound),
        how: bound.how,
        numeric: bound.operands[0]!.number !== undefined,
      },
      key: undefined,
      live: 0,
      members: createOrdered(),
      texts: undefined,
      tried: 0,
    }
    group.key = chooseKey(group)
    if (group.key === undefined) loose.add(group)
    else {
      const { attribute } = group.key
      if (attribute.table.size === 0) probed.add(attribute)
      for (const key of keysOfCondition(group.key)) attribute.table.add(key, group)
    }
    groups.set(name, group)
    return group
  }

  const dropGroup = (group: Group) => {
    groups.delete(group.name)
    if (group.key === undefined) loose.delete(group)
    else {
      const { attribute } = group.key
      for (const key of keysOfCondition(group.key)) attribute.table.remove(key, group)
      if (attribute.table.size === 0) probed.remove(attribute)
    }
    for (const condition of group.conditions) releaseCondition(condition)
    if (group.bound) releaseAttribute(group.bound.attribute)
  }

  const attempt = (group: Group, entity: Entity, found: (member: Member) => void, open: () => void, block: number) => {
    if (group.tried === entity.stamp) return
    group.tried = entity.stamp
    let waits = false
    for (const condition of group.conditions) {
      if (holds(condition, entity)) continue
      if (!isOpen(condition.attribute, entity)) return
      waits = true
    }
    const { bound } = group
    const boundWaits = bound !== undefined && isOpen(bound.attribute, entity)
    if (boundWaits) {
      for (const { live, rule } of group.members.items) if (live && rule.startBlock! <= block) return open()
      return
    }
    passing(group, entity, member => {
      if (!member.live || member.rule.startBlock! > block || member.found === entity.stamp) return
      member.found = entity.stamp
      if (waits) open()
      else found(member)
    })
  }

  return {
    get size() {
      return size
    },
    add(rule, nodes) {
      const shape = shapeOf(nodes)
      countChoices(shape, 1)
      const bound = chooseBound(shape)
      const name = nameOfGroup(shape, bound)
      const group = groups.get(name) ?? createGroup(name, shape, bound)
      const member: Member = { rule, group, operand: bound?.operands[0], live: true, found: 0 }
      addMember(group, member)
      size++
      return member
    },
    remove(member, nodes) {
      const { group } = member
      countChoices(shapeOf(nodes), -1)
      dropMember(group, member)
      if (group.live === 0) dropGroup(group)
      size--
    },
    match(entity, block, found, undecided) {
      const hits: Member[] = []
      const hit = (member: Member) => void hits.push(member)
      const open = () => void undecided.add(emitterOf(entity.log!))
      const tried = (group: Group) => attempt(group, entity, hit, open, block)
      const probe = (attribute: Attribute) => {
        const keys = keysOf(attribute, entity)
        if (typeof keys === 'string') attribute.table.forEach(keys, tried)
        else if (keys !== undefined) for (const key of keys) attribute.table.forEach(key, tried)
      }
      probed.forEach(entity, probe)
      loose.forEach(tried)
      if (hits.length === 0) return
      const document = documentOf(entity)
      if (document === undefined) return
      hits.sort((a, b) => a.rule.id - b.rule.id)
      for (const { rule } of hits) found.push({ rule, kind: entity.kind, document })
    },
  }
}

/** The rarest equality, by what its operands are and how many groups are found by them already. */
const chooseKey = ({ conditions }: Group): Condition | undefined => {
  let chosen: Condition | undefined
  let least = Number.POSITIVE_INFINITY
  for (const condition of conditions) {
    if (!hasKeys(condition)) continue
    let cost = 0
    for (const { text } of condition.node.operands)
      cost += frequencyOf(condition.node, text) * (1 + condition.attribute.table.count(keyOfText(text)))
    if (cost < least) [chosen, least] = [condition, cost]
  }
  return chosen
}

/** Whether it is only for want of the decimals, which are not known yet, that nothing stands there. */
const isOpen = (attribute: Attribute, entity: Entity): boolean =>
  attribute.scaled &&
  entity.kind === 'event' &&
  entity.block.undecided?.(emitterOf(entity.log!)) === true &&
  facesOf(attribute, entity).length === 0 &&
  attribute.source.needsDecimals(entity)

/** A rule's conditions by their names, and those of them that a group may leave open. */
interface Shape {
  nodes: ReadonlyMap<string, Compare>
  bounds: readonly Compare[]
}

const shapeOf = (nodes: readonly Compare[]): Shape => {
  const named = new Map(nodes.map(node => [nameOf(node), node]))
  return { nodes: named, bounds: [...named.values()].filter(isBound) }
}

/** An amount in whole tokens has no key: there an equality is a bound, too. */
const isBound = (node: Compare): boolean =>
  node.operands.length === 1 && (node.how !== 'equal' || (isScaled(node) && node.operands[0]!.number !== undefined))

const nameOfAttribute = ({ steps, scaled }: Pick<Compare, 'steps' | 'scaled'>): string =>
  `${JSON.stringify(steps)}${scaled ? 's' : ''}`

const nameOf = (node: Compare): string =>
  `${nameOfAttribute(node)}${SIGNS[node.how]}${node.ignoreCase ? 'i' : ''}${JSON.stringify(node.operands.map(({ text }) => text))}`

const SIGNS = {
  equal: '=',
  greater: '>',
  greaterOrEqual: '>=',
  less: '<',
  lessOrEqual: '<=',
} as const satisfies Record<Compare['how'], string>

/** Equal for rules that differ in nothing but the operand of the bound. */
const nameOfGroup = ({ nodes }: Shape, bound: Compare | undefined): string => {
  const names: string[] = []
  for (const [name, node] of nodes) if (node !== bound) names.push(name)
  if (bound !== undefined)
    names.push(
      `${nameOfAttribute(bound)}${SIGNS[bound.how]}${bound.operands[0]!.number === undefined ? 'text' : 'number'}`,
    )
  return names.sort().join('\n')
}

/** What is read from the wire and asked by keys goes before what has to be read exactly; amounts in whole tokens come last. */
const cheapestFirst = (a: Condition, b: Condition): number => rankOf(a) - rankOf(b)
const rankOf = (condition: Condition): number => (isScaled(condition.node) ? 2 : hasKeys(condition) ? 0 : 1)

/** The attributes that have keys. Of arguments only those are asked for that an event has. */
const createProbed = () => {
  const plain = new Set<Attribute>()
  const named = new Map<string, Set<Attribute>>()
  const placed = new Map<number, Set<Attribute>>()

  const placesOf = ({ steps: [list, name] }: Attribute): [Map<unknown, Set<Attribute>>, unknown][] => {
    if (list !== 'args' || name === undefined) return []
    return /^\d{1,15}$/.test(name)
      ? [
          [named, name],
          [placed, Number(name)],
        ]
      : [[named, name]]
  }

  return {
    add(attribute: Attribute) {
      const places = placesOf(attribute)
      if (places.length === 0) plain.add(attribute)
      for (const [map, place] of places) {
        const there = map.get(place)
        if (there) there.add(attribute)
        else map.set(place, new Set([attribute]))
      }
    },
    remove(attribute: Attribute) {
      plain.delete(attribute)
      for (const [map, place] of placesOf(attribute)) {
        const there = map.get(place)!
        there.delete(attribute)
        if (there.size === 0) map.delete(place)
      }
    },
    forEach({ decoded }: Entity, probe: (attribute: Attribute) => void) {
      for (const attribute of plain) probe(attribute)
      const args = decoded?.args
      if (!args) return
      for (let i = 0; i < args.length; i++) {
        const there = named.get(args[i]!.name)
        if (there) for (const attribute of there) probe(attribute)
        const others = placed.size === 0 ? undefined : placed.get(i)
        if (others) for (const attribute of others) probe(attribute)
      }
    },
  }
}
