import { fullType } from '../../../decode/signature.ts'
import type { AbiParam } from '../../../decode/types.ts'
import { rememberedBy } from '../../../lib/caches.ts'
import { lookup } from '../../../mapping/index.ts'
import { ALL_NODE, NONE_NODE, type Node } from '../../../query/ast.ts'
import { GREATEST_LONG, inNode, innerNodes, LEAST_LONG, mapChildren, orNode } from '../../../query/simplify.ts'
import {
  argumentSlot,
  argumentTerms,
  HASHED,
  integersField,
  OVERFLOW_SLOT,
  scaledField,
  termOf,
} from '../../index/terms.ts'
import type { StoreReader } from '../../reader.ts'
import { type FieldCondition, testOf } from '../fields/field-values.ts'
import { addressesWithStart } from './column-conditions.ts'

/**
 * Conditions on one argument. A role, (signature, position), fixes the argument's name and type,
 * so conditions per role are on values only.
 */
export interface Nested {
  node: Node
  of: 'log' | 'call'
  /** The condition on the value of an argument of this role. */
  forRole(signature: number, position: number): Node
  /** Positions that share the slot of a field id; postings do not distinguish them. */
  positions(signature: number, slot: number): number[]
  /** Every match has one of these values, so only roles with one are searched. Undefined: any. */
  required: ValueKeys[] | undefined
  /** Every matching argument has one of these names; undefined: any name. */
  names: string[] | undefined
  keysOf(hex: string): ValueKeys
}

/** Keys that index an argument's hex: dictionary id for addresses, hash for all else. */
export interface ValueKeys {
  hex: string
  address: number | undefined
  hash: { value: number; fingerprint: number }
}

/** More arguments than the EVM's stack permits for an event. */
const MAX_ARGUMENTS = 1024

/** `of`: arguments of logs or of calls. */
export const planNested = (node: Node, reader: StoreReader, of: 'log' | 'call'): Nested => {
  const roles = new Map<number, Node>()
  const known = new Map<string, ValueKeys>()
  const ofAddress = rememberedBy((leaf: FieldCondition) => conditionOnAddress(leaf, reader))
  /** Cached, since each segment and role needs them. */
  const keysOf = (hex: string): ValueKeys => {
    let keys = known.get(hex)
    if (!keys) {
      const { high, low } = reader.hash(hex)
      keys = {
        hex,
        address: /^0x[0-9a-f]{40}$/.test(hex) ? reader.addressId(hex.slice(2)) : undefined,
        hash: { value: HASHED + high, fingerprint: low },
      }
      known.set(hex, keys)
    }
    return keys
  }
  return {
    node,
    of,
    forRole(signature, position) {
      const role = signature * MAX_ARGUMENTS + position
      let left = roles.get(role)
      if (!left) {
        const one = reader.signature(signature)
        const isMeant = one.of === of && one.error === null
        const input = isMeant ? one.event?.inputs[position] : undefined
        left = input ? specialise(node, { input, position, ofAddress }) : NONE_NODE
        roles.set(role, left)
      }
      return left
    },
    positions(signature, slot) {
      const inputs = reader.signature(signature).event?.inputs ?? []
      if (slot < OVERFLOW_SLOT) return slot < inputs.length ? [slot] : []
      return inputs.flatMap((_, position) => (argumentSlot(position) === slot ? [position] : []))
    },
    required: requiredIn(node, 'args.value.hex')?.map(keysOf),
    names: requiredIn(node, 'args.name'),
    keysOf,
  }
}

/** Term and fingerprint that index this value in this role. */
export const argumentTerm = (
  keys: ValueKeys,
  type: string,
  id: number,
): { term: number; fingerprint: number } | undefined => {
  if (type !== 'address') return { term: termOf(keys.hash.value, id), fingerprint: keys.hash.fingerprint }
  return keys.address === undefined ? undefined : { term: termOf(keys.address, id), fingerprint: 0 }
}

/** Ranges of terms that index a value in any role. */
export const termRanges = (keys: ValueKeys): { first: number; last: number; fingerprint: number }[] => {
  const [first, last] = argumentTerms(keys.hash.value)
  const ranges = [{ first, last, fingerprint: keys.hash.fingerprint }]
  if (keys.address !== undefined) {
    const [first, last] = argumentTerms(keys.address)
    ranges.push({ first, last, fingerprint: 0 })
  }
  return ranges
}

/** Key of the numeric column of a role, chosen by the field in the condition. */
export const numbersKey = (leaf: FieldCondition, signature: number, slot: number): number =>
  leaf.field.field === 'args.value.num' ? integersField(signature, slot) : scaledField(signature, slot)

/** Types whose values an index always holds: short, and shown as one word. */
const isStatic = (input: AbiParam): boolean =>
  /^(address|bool|u?int\d*|bytes\d+|function)$/.test(input.type) || input.indexed === true
const isIntegerType = (input: AbiParam): boolean => /^(u?int\d*|bool)$/.test(input.type)
const isScalable = (input: AbiParam): boolean => /^u?int\d*$/.test(input.type)

interface SpecialisedRole {
  input: AbiParam
  position: number
  ofAddress(leaf: FieldCondition): Node
}

const specialise = (node: Node, role: SpecialisedRole): Node => {
  switch (node.op) {
    case 'in':
    case 'range':
    case 'exists':
    case 'pattern':
      return specialiseLeaf(node, role)
    default:
      return mapChildren(node, inner => specialise(inner, role))
  }
}

/** Few addresses that a prefix or a range finds are looked up one by one. */
const conditionOnAddress = (leaf: FieldCondition, reader: StoreReader): Node => {
  if (leaf.op !== 'range' && leaf.op !== 'pattern') return leaf
  const test = testOf(leaf)
  const near = addressesWithStart(leaf, reader)?.map(id => `0x${reader.addressDigits(id)}`)
  const found = near?.filter(test)
  return found && found.length <= MAX_NEAR_ADDRESSES ? inNode(leaf.field, found) : leaf
}

const MAX_NEAR_ADDRESSES = 1000

const specialiseLeaf = (leaf: FieldCondition, { input, position, ofAddress }: SpecialisedRole): Node => {
  const decided = (value: boolean): Node => (value ? ALL_NODE : NONE_NODE)
  switch (leaf.field.field) {
    case 'args.name':
      return decided(testOf(leaf)(input.name))
    case 'args.pos':
      return decided(testOf(leaf)(BigInt(position)))
    case 'args.value.type':
      return decided(testOf(leaf)(fullType(input)))
    case 'args.value.num':
      return isIntegerType(input) ? leaf : NONE_NODE
    case 'args.value.dec':
      return isIntegerType(input) ? digitsCondition(leaf, input.type) : NONE_NODE
    case 'args.value.scaled':
      return isScalable(input) ? leaf : NONE_NODE
    default:
      if (leaf.op === 'exists' && isStatic(input)) return ALL_NODE
      return input.type === 'address' ? ofAddress(leaf) : leaf
  }
}

/** The index covers integers by 64-bit value or by hex, so it decides equality only. */
const digitsCondition = (leaf: FieldCondition, type: string): Node => {
  if (leaf.op === 'exists') return ALL_NODE
  if (leaf.op !== 'in') return leaf
  const width = Number(/\d+$/.exec(type)?.[0] ?? 256)
  const [num, hex] = [lookup('event', 'args.value.num')!, lookup('event', 'args.value.hex')!]
  const isSigned = type.startsWith('int')
  const values = leaf.values as bigint[]
  const isLong = (value: bigint) => value >= LEAST_LONG && value <= GREATEST_LONG
  const fits = (value: bigint) => (isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value)) === value
  const digits = values.flatMap(value =>
    isLong(value) || !fits(value) ? [] : [`0x${BigInt.asUintN(width, value).toString(16)}`],
  )
  return orNode([inNode(num, values.filter(isLong)), inNode(hex, digits)])
}

/** Whether the index alone decides a role's conditions; otherwise documents are read. */
export const isExact = (node: Node): boolean => {
  switch (node.op) {
    case 'and':
    case 'or':
    case 'atLeast':
    case 'not':
      return innerNodes(node).every(isExact)
    case 'range':
      return node.field.field !== 'args.value.hex' && node.field.field !== 'args.value.dec'
    case 'all':
    case 'none':
    case 'in':
    case 'exists':
      return true
    case 'fuzzy':
    case 'pattern':
    case 'phrase':
    case 'ids':
    case 'nested':
    case 'child':
    case 'parent':
    case 'compare':
    case 'element':
      return false
  }
}

/** Values of a field, one of which every match must have; undefined where none is required. */
const requiredIn = (node: Node, field: string): string[] | undefined => {
  if (node.op === 'in' && node.field.field === field) return node.values.map(String)
  if (node.op === 'and') return node.of.map(inner => requiredIn(inner, field)).find(values => values !== undefined)
  if (node.op !== 'or') return undefined
  const all = node.of.map(inner => requiredIn(inner, field))
  return all.every(values => values !== undefined) ? all.flat() : undefined
}
