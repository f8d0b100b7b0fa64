import { EMPTIED_KINDS } from '../../engine/returning.ts'
import { blockOf } from '../../engine/schema.ts'
import type { DocumentLines } from '../../engine/show/lines.ts'
import type { Fetched } from './fetch.ts'

/** What the documents of a block differ in from those that the store shows of it; undefined where they are the same. */
export const differenceIn = (
  lines: Pick<DocumentLines, 'block'>,
  documents: readonly Fetched[],
): string | undefined => {
  const left = new Map(documents.map(one => [keyOf(one), one]))
  for (const { source, ...line } of lines.block(blockOf(documents[0]!.position))) {
    if (!KINDS.has(line.kind)) continue
    const there = left.get(keyOf(line))
    if (!there) return `${nameOf(line)} is not in the cluster`
    const here = Buffer.from(source).toString()
    if (here !== there.source) return `${nameOf(line)} is ${shortly(there.source, here)}`
    left.delete(keyOf(line))
  }
  const [lost] = left.values()
  return lost && `${nameOf(lost)} is not in the file`
}

const KINDS: ReadonlySet<string> = new Set(EMPTIED_KINDS)
const keyOf = ({ kind, position, id }: Pick<Fetched, 'kind' | 'position' | 'id'>): string => `${kind} ${position} ${id}`
const nameOf = ({ kind, id }: Pick<Fetched, 'kind' | 'id'>): string => `the ${kind} ${id}`

/** Both from a little before where they differ. */
const shortly = (there: string, here: string): string => {
  let at = 0
  while (there[at] === here[at] && at < there.length) at++
  const from = Math.max(0, at - 40)
  return `…${there.slice(from, at + 40)}… in the cluster, and …${here.slice(from, at + 40)}… in the file`
}
