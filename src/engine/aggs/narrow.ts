import type { Node } from '../../query/ast.ts'
import { and, isWithin } from '../../query/simplify.ts'
import { BLOCK_NUMBERS } from '../query/sort-keys.ts'
import type { ReadHeader, Segment } from '../reader.ts'

/**
 * What a query asks of the documents of a segment that lies as a whole within a range of time or of blocks: a window that moves
 * on asks the same of most segments.
 */
export const narrowed = (node: Node, segment: Segment, { times }: ReadHeader): Node => {
  const ofOne = (one: Node): Node => {
    if (one.op === 'and') return and(one.of.map(ofOne))
    if (one.op !== 'range') return one
    const [first, last] =
      one.field.field === 'timestamp'
        ? [Math.min(...times) * 1000, Math.max(...times) * 1000]
        : BLOCK_NUMBERS.has(one.field.path)
          ? [BigInt(segment.first), BigInt(segment.last)]
          : [undefined, undefined]
    if (first === undefined) return one
    // A range without a gap holds for all where it holds for both ends.
    return isWithin(first, one.bounds) && isWithin(last!, one.bounds) ? { op: 'all' } : one
  }
  return ofOne(node)
}

/** The same text for the same condition. */
export const textOf = (node: Node): string =>
  JSON.stringify(node, (name, value: unknown) => {
    if (name === 'field') return (value as { path: string }).path
    return typeof value === 'bigint' ? `${value}n` : value
  })
