import { asBigint } from '../../../documents/show.ts'
import { RECORD_KINDS, type RecordKind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import { columnIndex, isFieldwise, RARE_COLUMNS } from '../../documents/columns.ts'
import { valueReader } from '../../documents/record-values.ts'
import { termOf, UNDECODED } from '../../index/terms.ts'
import { createDocuments, fieldValues } from '../documents.ts'
import { type FieldCondition, interpreterOf, recordReader, testOf } from '../fields/field-values.ts'
import { type NumberedKind, positionOfOrdinal, type SegmentView } from '../fields/ordinals.ts'
import { conditionOf, DOUBT, YES } from '../plan/column-conditions.ts'
import { and, complement, listed, type OrdinalSet, run, toArray } from './ordinal-set.ts'
import { createTermMatcher, type MatchContext, type SegmentMatcher } from './segment-matcher.ts'

type PositionTest = (position: number) => boolean

/** Records that are read between two looks at whether to go on. */
const RECORDS_CHECK_MASK = 0xf

/** For conditions without index or column: reads one field of each candidate. */
export const byRecords = (node: FieldCondition, context: MatchContext): SegmentMatcher => {
  const fulfils = testOfRecord(node, context)
  return fulfils ? byTest(fulfils, context, isInRows(node, context)) : byDocuments(node, context)
}

/** Tests documents if no index, column or field decides; reads candidates only as far as needed. */
export const byDocuments = (node: Node, context: MatchContext): SegmentMatcher => {
  const { ask, kind, reader, among } = context
  const { matches } = byTest(position => ask(kind, node, [position])[0]!, context, true)
  if (kind !== 'event') return { matches }
  // Made once: it reads the postings of all segments.
  const undecoded = createTermMatcher([{ term: termOf(0, UNDECODED), fingerprint: 0 }], { reader, among })
  return {
    events: true,
    matches(at, within = run(0, at.size)) {
      return matches(at, and(within, complement(undecoded.matches(at, undefined), at.size), at.size))
    },
  }
}

const byTest = (fulfils: PositionTest, context: MatchContext, inRows: boolean): SegmentMatcher => ({
  matches(at, within) {
    const found: number[] = []
    let seen = 0
    visit(at, within ?? run(0, at.size), { ...context, inRows }, (ordinal, position) => {
      if ((seen++ & RECORDS_CHECK_MASK) === 0) context.reader.check()
      if (fulfils(position)) found.push(ordinal)
    })
    return listed(Uint32Array.from(found))
  },
})

/** Calls for each candidate; neighbours' records are fetched many at a time. */
const visit = (
  { header }: SegmentView,
  within: OrdinalSet,
  { numbered, reader, inRows }: MatchContext & { inRows: boolean },
  call: (ordinal: number, position: number) => void,
) => {
  if (inRows && within.form === 'run' && within.to > within.from && hasRows(numbered)) {
    let ordinal = within.from
    const [first, last] = [ordinal, within.to - 1].map(one => positionOfOrdinal(header, numbered, one))
    reader.records.each(numbered, first!, last!, position => call(ordinal++, position))
  } else for (const ordinal of toArray(within)) call(ordinal, positionOfOrdinal(header, numbered, ordinal))
}

const hasRows = (numbered: NumberedKind): numbered is RecordKind => RECORD_KINDS.includes(numbered as RecordKind)

/** Hashes of transactions stand in the block's row instead. */
const isInRows = ({ field }: FieldCondition, { kind }: MatchContext): boolean =>
  kind !== 'tx' || RARE_COLUMNS.tx.has(field.field) || columnIndex(kind, field.list?.name ?? field.field) >= 0

/** Undefined if the whole document is needed. */
const testOfRecord = (node: FieldCondition, context: MatchContext): PositionTest | undefined => {
  const { kind, reader } = context
  const byNumber = testOfInteger(node, context)
  if (byNumber) return byNumber
  const test = testOf(node)
  const one = recordReader(kind, node.field, reader)
  if (one)
    return position => {
      const value = one(position)
      return value !== undefined && test(value)
    }
  if (!isFieldwise(kind) && kind !== 'log') return undefined
  const some = fieldValues(kind, node.field, createDocuments(reader, asBigint))
  return position => some(position).some(test)
}

/** Compares integers as doubles, as columns do, or exactly if a double is too imprecise. */
const testOfInteger = (node: FieldCondition, { kind, reader }: MatchContext): PositionTest | undefined => {
  const { field } = node
  const read = valueReader(kind, field.field, reader.records)
  if (!read || field.list || (field.kind !== 'quantity' && field.kind !== 'amount')) return undefined
  const condition = conditionOf(node, reader)
  if (condition === 'never') return () => false
  const { low, high, judge } = condition
  const test = testOf(node)
  const interpret = interpreterOf(field, reader)
  return position => {
    const stored = read(position)
    if (stored === null || stored === undefined) return false
    const number = Number(stored)
    if (number < low || number > high) return false
    const verdict = judge ? judge(number) : YES
    if (verdict !== DOUBT) return verdict === YES
    const value = interpret(stored)
    return value !== undefined && test(value)
  }
}
