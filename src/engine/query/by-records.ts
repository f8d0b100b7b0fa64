import { recordReader } from './field-values.ts'
import { type Leaf, testOf } from './leaf.ts'
import { byDocuments, type Context, type Part } from './part.ts'
import { positionOfOrdinal } from './places.ts'
import { each, listed, run } from './sets.ts'

/** Records that are read between two looks at whether to go on. */
const READ = 0x3f

/** A condition that neither index nor column tells: one field of each candidate's record is read, or the whole document. */
export const byRecords = (node: Leaf, context: Context): Part => {
  const { kind, numbered, reader } = context
  const read = recordReader(kind, node.field, reader)
  if (!read) return byDocuments(node, context)
  const test = testOf(node)
  return {
    matches({ header, size }, within) {
      const found: number[] = []
      let seen = 0
      each(within ?? run(0, size), ordinal => {
        if ((seen++ & READ) === 0) reader.check()
        const value = read(positionOfOrdinal(header, numbered, ordinal))
        if (value !== undefined && test(value)) found.push(ordinal)
      })
      return listed(Uint32Array.from(found))
    },
  }
}
