import { recordReader } from './field-values.ts'
import { type Leaf, testOf } from './leaf.ts'
import { memberReader } from './member-reader.ts'
import { positionOfOrdinal } from './places.ts'
import { byDocuments, type Context, type SegmentMatcher } from './segment-matcher.ts'
import { each, listed, run } from './sets.ts'

/** Records that are read between two looks at whether to go on. */
const READ = 0x3f

/** A condition that neither index nor column tells: one field of each candidate's record is read, or the whole document. */
export const byRecords = (node: Leaf, context: Context): SegmentMatcher => {
  const { numbered, reader } = context
  const fulfils = testOfRecord(node, context)
  if (!fulfils) return byDocuments(node, context)
  return {
    matches({ header, size }, within) {
      const found: number[] = []
      let seen = 0
      each(within ?? run(0, size), ordinal => {
        if ((seen++ & READ) === 0) reader.check()
        if (fulfils(positionOfOrdinal(header, numbered, ordinal))) found.push(ordinal)
      })
      return listed(Uint32Array.from(found))
    },
  }
}

const testOfRecord = (node: Leaf, { kind, reader }: Context): ((position: number) => boolean) | undefined => {
  const test = testOf(node)
  const one = recordReader(kind, node.field, reader)
  if (one)
    return position => {
      const value = one(position)
      return value !== undefined && test(value)
    }
  const some = memberReader(kind, node.field, reader)
  return some && (position => some(position).some(test))
}
