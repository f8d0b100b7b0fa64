import { checksumAddress } from '../../../lib/keccak.ts'
import type { Bounds, Node, QueryValue } from '../../../query/ast.ts'
import { isWithin, tooLong } from '../../../query/simplify.ts'
import { matcherOf, patternStart } from '../../../query/text/pattern.ts'
import type { StoreReader } from '../../reader.ts'

/** A condition on one field. */
export type FieldCondition = Extract<Node, { op: 'in' | 'range' | 'exists' | 'pattern' }>

export const isLeaf = (node: Node): node is FieldCondition =>
  node.op === 'in' || node.op === 'range' || node.op === 'exists' || node.op === 'pattern'

/** Whether a value that is there fulfils a condition. */
export const testOf = (leaf: FieldCondition): ((value: QueryValue) => boolean) => {
  const { field } = leaf
  if (leaf.op === 'in') {
    const values = new Set(leaf.values)
    return value => values.has(value)
  }
  // Texts longer than an index holds count as missing.
  if (leaf.op === 'exists') return value => !tooLong(field, value)
  if (leaf.op === 'pattern') {
    const matches = matcherOf(leaf.pattern)
    return value => !tooLong(field, value) && matches(String(value))
  }
  return value => !tooLong(field, value) && isWithin(value, leaf.bounds)
}

/** The common start of all texts that fulfil a condition. */
export const commonStart = (leaf: Extract<FieldCondition, { op: 'range' | 'pattern' }>): string =>
  leaf.op === 'pattern' ? patternStart(leaf.pattern) : sharedStart(leaf.bounds)

/** The common start of all texts between two bounds. */
const sharedStart = ({ gt, gte, lt, lte }: Bounds): string => {
  const [low, high] = [String(gte ?? gt ?? ''), String(lte ?? lt ?? '')]
  let length = 0
  while (length < low.length && low[length] === high[length]) length++
  return low.slice(0, length)
}

/** Dictionary ids of the addresses that a condition names: `raw` only where the letter case is the checksummed one. */
export const addressIds = (leaf: Extract<FieldCondition, { op: 'in' }>, reader: StoreReader): number[] =>
  leaf.values.flatMap(value => {
    reader.check()
    const text = String(value)
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return []
    const digits = text.slice(2).toLowerCase()
    const written = leaf.field.encoding === 'raw' ? checksumAddress(`0x${digits}`) : `0x${digits}`
    return text === written ? (reader.addressId(digits) ?? []) : []
  })
