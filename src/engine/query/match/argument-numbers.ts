import type { Bounds } from '../../../query/ast.ts'
import { type PointBound, pointBound } from '../../index/points-cache.ts'
import { argumentOf, OVERFLOW_SLOT } from '../../index/terms.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { type FieldCondition, isLeaf } from '../fields/field-values.ts'
import type { SegmentView } from '../fields/ordinals.ts'
import { type Nested, numbersKey } from '../plan/nested.ts'
import { collected, EMPTY_SET, type OrdinalSet, or } from './ordinal-set.ts'

/** Numbers are sorted, so the matches of a range are consecutive. */
export const numberMatches = (
  leaf: FieldCondition,
  field: number,
  at: SegmentView,
  reader: StoreReader,
): OrdinalSet => {
  const values = reader.points.values(at.segment, field)
  if (!values) return EMPTY_SET
  const parts = rangesOfNumbers(leaf).map(({ from, to }) => {
    const [start, end] = [values.placeOf(from), values.placeOf(to)]
    if (start >= end) return EMPTY_SET
    return collected(reader.points.ordinals(at.segment, field).subarray(start, end), at.size)
  })
  return or(parts, at.size)
}

interface NumberRange {
  from: PointBound
  to: PointBound
}

/** Ranges of numbers that share none. */
const rangesOfNumbers = (leaf: FieldCondition): NumberRange[] => {
  if (leaf.op === 'exists') return [{ from: LEAST_POINT, to: GREATEST_POINT }]
  if (leaf.op === 'in')
    return [...new Set(leaf.values as (bigint | number)[])].map(value => ({
      from: pointBound(value, false),
      to: pointBound(value, true),
    }))
  const { gt, gte, lt, lte } = (leaf.op === 'range' ? leaf.bounds : {}) as { [bound in keyof Bounds]: bigint | number }
  const low = gt ?? gte
  const high = lt ?? lte
  return [
    {
      from: low === undefined ? LEAST_POINT : pointBound(low, gt !== undefined),
      to: high === undefined ? GREATEST_POINT : pointBound(high, lt === undefined),
    },
  ]
}

const LEAST_POINT: PointBound = { ...pointBound(-(2n ** 63n), false), value: Number.NEGATIVE_INFINITY }
const GREATEST_POINT: PointBound = { ...pointBound(2n ** 63n - 1n, true), value: Number.POSITIVE_INFINITY }

/** An argument with conditions on its numbers only. */
interface NumberRole {
  field: number
  ranges: NumberRange[]
}

/**
 * Counts logs by the lengths of number ranges; undefined if these cannot tell: other conditions, or
 * two arguments of a log may match. `ids`: all arguments that may match.
 */
export const numberCounter = (ids: readonly number[], nested: Nested, reader: StoreReader) => {
  const roles = numberRoles(ids, nested)
  return (
    roles &&
    ((segment: Segment): number => {
      let sum = 0
      for (const { field, ranges } of roles) {
        reader.check()
        const values = reader.points.values(segment, field)
        if (values) for (const { from, to } of ranges) sum += Math.max(0, values.placeOf(to) - values.placeOf(from))
      }
      return sum
    })
  )
}

const numberRoles = (ids: readonly number[], nested: Nested): NumberRole[] | undefined => {
  const roles: NumberRole[] = []
  const seen = new Set<number>()
  for (const id of ids) {
    const { signature, slot } = argumentOf(id)
    const leaf = nested.forRole(signature, slot)
    if (slot === OVERFLOW_SLOT || seen.has(signature) || !isLeaf(leaf) || !isOfNumbers(leaf)) return undefined
    seen.add(signature)
    roles.push({ field: numbersKey(leaf, signature, slot), ranges: rangesOfNumbers(leaf) })
  }
  return roles
}

const isOfNumbers = ({ field }: FieldCondition): boolean =>
  field.field === 'args.value.num' || field.field === 'args.value.scaled'
