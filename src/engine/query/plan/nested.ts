import { fullType } from '../../../decode/signature.ts'
import type { AbiParam } from '../../../decode/types.ts'
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

/**
 * Conditions that hold within one argument. Name, position and type of an argument follow from its role, which is a field id of the
 * index: (signature, position). What is left of the conditions for a role speaks of values alone.
 */
export interface Nested {
  node: Node
  of: 'log' | 'call'
  /** The condition on the value of an argument of this role. */
  forRole(signature: number, position: number): Node
  /** Positions that the slot of a field id stands for: where there are several, its postings do not tell which. */
  positions(signature: number, slot: number): number[]
  /** Keys of the values one of which every match has, where there are such: then only roles are looked at that have one of them. */
  required: ValueKeys[] | undefined
  /** Names one of which every argument that matches has; undefined where any may. */
  names: string[] | undefined
  keysOf(hex: string): ValueKeys
}

/** Under which value an argument's hex is indexed: as an address by its dictionary id, as anything else by its hash. */
export interface ValueKeys {
  hex: string
  address: number | undefined
  hash: { value: number; fingerprint: number }
}

/** More than the EVM's stack lets an event have. */
const MAX_ARGUMENTS = 1024

/** `of` tells whether arguments of logs or of calls are meant. */
export const planNested = (node: Node, reader: StoreReader, of: 'log' | 'call'): Nested => {
  const roles = new Map<number, Node>()
  const known = new Map<string, ValueKeys>()
  /** Each segment and role asks for them. */
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
        left = input ? specialise(node, input, position) : NONE_NODE
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

/** The term and fingerprint under which documents have this value in this role. */
export const argumentTerm = (
  keys: ValueKeys,
  type: string,
  id: number,
): { term: number; fingerprint: number } | undefined => {
  if (type !== 'address') return { term: termOf(keys.hash.value, id), fingerprint: keys.hash.fingerprint }
  return keys.address === undefined ? undefined : { term: termOf(keys.address, id), fingerprint: 0 }
}

/** The ranges of terms that hold a value in whatever role. */
export const termRanges = (keys: ValueKeys): { first: number; last: number; fingerprint: number }[] => {
  const [first, last] = argumentTerms(keys.hash.value)
  const ranges = [{ first, last, fingerprint: keys.hash.fingerprint }]
  if (keys.address !== undefined) {
    const [first, last] = argumentTerms(keys.address)
    ranges.push({ first, last, fingerprint: 0 })
  }
  return ranges
}

/** Where the numbers of a role lie, by the field that a condition names. */
export const numbersKey = (leaf: FieldCondition, signature: number, slot: number): number =>
  leaf.field.field === 'args.value.num' ? integersField(signature, slot) : scaledField(signature, slot)

/** Types whose values an index always holds: short, and shown as one word. */
const isStatic = (input: AbiParam): boolean =>
  /^(address|bool|u?int\d*|bytes\d+|function)$/.test(input.type) || input.indexed === true
const isIntegerType = (input: AbiParam): boolean => /^(u?int\d*|bool)$/.test(input.type)
const isScalable = (input: AbiParam): boolean => /^u?int\d*$/.test(input.type)

const specialise = (node: Node, input: AbiParam, position: number): Node => {
  switch (node.op) {
    case 'in':
    case 'range':
    case 'exists':
    case 'pattern':
      return specialiseLeaf(node, input, position)
    default:
      return mapChildren(node, inner => specialise(inner, input, position))
  }
}

const specialiseLeaf = (leaf: FieldCondition, input: AbiParam, position: number): Node => {
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
      return leaf.op === 'exists' && isStatic(input) ? ALL_NODE : leaf
  }
}

/** Integers that fit 64 bits are indexed as such, and others by their hex: of single ones the index tells. */
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

/** Whether the index tells all that a role's conditions ask; else the documents are asked. */
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
      return false
  }
}

/** Values of a field one of which every match must have, or undefined where none is required. */
const requiredIn = (node: Node, field: string): string[] | undefined => {
  if (node.op === 'in' && node.field.field === field) return node.values.map(String)
  if (node.op === 'and') return node.of.map(inner => requiredIn(inner, field)).find(values => values !== undefined)
  if (node.op !== 'or') return undefined
  const all = node.of.map(inner => requiredIn(inner, field))
  return all.every(values => values !== undefined) ? all.flat() : undefined
}
