import { createListBuilder } from './ordinals.ts'
import { sortPairs, type TermPairs } from './postings.ts'
import { createTermCursor, createTermWriter, type TermBlocks, type TermCursor, type TermWriter } from './term-blocks.ts'
import { writeList } from './term-merge.ts'
import { blockIndexOf, ordinalsAt, type Root, rowNumbers, type TermReading, type TermWriting } from './term-rows.ts'

/** A term with the ordinals that it loses and gets, all ascending. */
export interface Change {
  term: number
  fingerprint: number
  gone: number[]
  come: number[]
}

/** In the order of the terms. */
export const changesOf = (removed: TermPairs, put: TermPairs): Change[] => {
  const changes = new Map<string, Change>()
  const take = (pairs: TermPairs, side: 'gone' | 'come') => {
    for (const index of sortPairs(pairs).order) {
      const [term, fingerprint, ordinal] = [pairs.terms[index]!, pairs.fingerprints[index]!, pairs.ordinals[index]!]
      const key = `${term}/${fingerprint}`
      let change = changes.get(key)
      if (!change) {
        change = { term, fingerprint, gone: [], come: [] }
        changes.set(key, change)
      }
      // A document that has the term twice counts once.
      if (change[side].at(-1) !== ordinal) change[side].push(ordinal)
    }
  }
  take(removed, 'gone')
  take(put, 'come')
  return [...changes.values()].sort((a, b) => a.term - b.term || a.fingerprint - b.fingerprint)
}

/** Writes the blocks anew that the changes meet. Returns the new root, and keys for the filter. */
export const patchTerms = (
  segment: number,
  root: Root,
  changes: readonly Change[],
  reading: TermReading,
  writing: TermWriting,
): { root: Root; keys: Uint32Array[] } => {
  const numbers = rowNumbers(root.next)
  const put = (bytes: Uint8Array): number => {
    const number = numbers.take()
    writing.add(segment, number, bytes)
    return number
  }
  const list = createListBuilder()
  /** By the index of the block that they take the place of. */
  const replaced = new Map<number, TermBlocks>()
  const keys: Uint32Array[] = []
  for (let i = 0; i < changes.length; ) {
    const block = Math.max(0, blockIndexOf(root, changes[i]!.term, changes[i]!.fingerprint))
    const from = i++
    while (i < changes.length && Math.max(0, blockIndexOf(root, changes[i]!.term, changes[i]!.fingerprint)) === block)
      i++
    const out = createTermWriter(root.width, put)
    const cursor = createTermCursor()
    const number = root.rows[block]
    if (number !== undefined) {
      cursor.open(reading.row(segment, number))
      writing.drop(segment, number)
    }
    let more = number !== undefined && cursor.next()
    for (const change of changes.slice(from, i)) {
      while (more && before(cursor, change)) {
        copyTerm(cursor, out)
        more = cursor.next()
      }
      const isThere = more && cursor.term === change.term && cursor.fingerprint === change.fingerprint
      list.clear()
      for (const ordinal of changed(isThere ? ordinalsAt(reading, segment, cursor) : NO_ORDINALS, change))
        list.add(ordinal)
      writeList(out, change.term, change.fingerprint, list)
      if (!isThere) continue
      if (cursor.row >= 0) writing.drop(segment, cursor.row)
      more = cursor.next()
    }
    for (; more; more = cursor.next()) copyTerm(cursor, out)
    const blocks = out.finish()
    replaced.set(block, blocks)
    keys.push(blocks.keys)
  }
  return { root: { ...root, ...withReplaced(root, replaced), next: numbers.next }, keys }
}

const before = (cursor: TermCursor, { term, fingerprint }: Change): boolean =>
  cursor.term < term || (cursor.term === term && cursor.fingerprint < fingerprint)

const copyTerm = (at: TermCursor, out: TermWriter) => {
  if (at.count === 1) out.single(at.term, at.fingerprint, at.ordinal)
  else if (at.row >= 0) out.stored(at.term, at.fingerprint, at.count, at.row)
  else out.list(at.term, at.fingerprint, at.count, at.bytes.subarray(at.start, at.end))
}

/** The root's blocks, with others in the place of some. */
const withReplaced = (root: Root, replaced: ReadonlyMap<number, TermBlocks>): TermBlocks => {
  const terms: number[] = []
  const fingerprints: number[] = []
  const rows: number[] = []
  for (let i = 0; i < Math.max(1, root.rows.length); i++) {
    const from = replaced.get(i) ?? {
      terms: root.terms.subarray(i, i + 1),
      fingerprints: root.fingerprints.subarray(i, i + 1),
      rows: root.rows.subarray(i, i + 1),
    }
    terms.push(...from.terms)
    fingerprints.push(...from.fingerprints)
    rows.push(...from.rows)
  }
  return { terms: Float64Array.from(terms), fingerprints: Uint32Array.from(fingerprints), rows: Uint32Array.from(rows) }
}

/** All ascend. */
const changed = (from: Uint32Array, { gone, come }: Change): number[] => {
  const result: number[] = []
  let [g, c] = [0, 0]
  for (const ordinal of from) {
    while (gone[g]! < ordinal) g++
    if (gone[g] === ordinal) continue
    while (come[c]! < ordinal) result.push(come[c++]!)
    if (come[c] !== ordinal) result.push(ordinal)
  }
  for (; c < come.length; c++) result.push(come[c]!)
  return result
}

const NO_ORDINALS = new Uint32Array(0)
