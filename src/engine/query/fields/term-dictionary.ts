import { fullType } from '../../../decode/signature.ts'
import { rememberedBy } from '../../../lib/caches.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import { inNode, mapChildren, tooLong } from '../../../query/simplify.ts'
import { analyzeText } from '../../../query/text/analysis.ts'
import { nearTo } from '../../../query/text/pattern.ts'
import type { StoreReader } from '../../reader.ts'

/**
 * Superset of a name field's values, from the dictionaries; undefined if there is no list. Searches
 * by other criteria than equality test these values and need not scan documents.
 */
export const dictionaryValues = (kind: Kind, field: FieldPath, reader: StoreReader): string[] | undefined => {
  if (field.kind !== 'keyword' && field.kind !== 'text') return undefined
  const values =
    kind === 'log' || kind === 'event'
      ? OF_LOGS[field.field]?.(reader)
      : kind === 'call'
        ? OF_CALLS[field.field]?.(reader)
        : field.list === undefined
          ? reader.names()
          : undefined
  if (!values) return undefined
  const known = field.compare === 'token' ? [...values].flatMap(analyzeText) : [...values]
  return [...new Set(known)].filter(value => !tooLong(field, value))
}

/** Values from declarations of events. */
const OF_LOGS: Record<string, (reader: StoreReader) => string[]> = {
  event: reader => reader.signatures('log').flatMap(({ event }) => event?.name ?? []),
  error: reader => reader.signatures('log').flatMap(({ error }) => error ?? []),
  'args.name': reader => inputsOf(reader, 'log').map(({ name }) => name),
  'args.value.type': reader => inputsOf(reader, 'log').map(fullType),
}

/** Values from declarations of functions. */
const OF_CALLS: Record<string, (reader: StoreReader) => string[]> = {
  method: reader => reader.signatures('call').flatMap(({ event }) => event?.name ?? []),
  callType: reader => [...reader.names()],
  revertReason: reader => [...reader.names()],
  revertName: reader => [...reader.names()],
  'args.name': reader => inputsOf(reader, 'call').map(({ name }) => name),
  'args.value.type': reader => inputsOf(reader, 'call').map(fullType),
}

const inputsOf = (reader: StoreReader, of: 'log' | 'call') =>
  reader.signatures(of).flatMap(({ event }) => event?.inputs ?? [])

/** Ids of the names one of whose words passes a test. */
export const idsByWord = (test: (word: string) => boolean, reader: StoreReader): number[] => {
  const found = new Set<number>()
  for (const [word, ids] of idsOfWords(reader)) if (test(word)) for (const id of ids) found.add(id)
  return [...found]
}

/** Ids of names by their words; those that came since are added at the next question. */
const idsOfWords = (reader: StoreReader): ReadonlyMap<string, readonly number[]> => {
  const words = wordsByReader(reader)
  const rows = reader.prepare('SELECT id, name FROM name WHERE id > ? ORDER BY id').all(words.last) as {
    id: number
    name: string
  }[]
  for (const { id, name } of rows) {
    words.last = id
    for (const word of new Set(analyzeText(name))) {
      const ids = words.ids.get(word)
      if (ids) ids.push(id)
      else words.ids.set(word, [id])
    }
  }
  return words.ids
}
const wordsByReader = rememberedBy((_: StoreReader) => ({ ids: new Map<string, number[]>(), last: 0 }))

/** The condition by the values that are near; as it was where the field has no vocabulary. */
export const expandFuzzy = (kind: Kind, node: Extract<Node, { op: 'fuzzy' }>, reader: StoreReader): Node => {
  const values = dictionaryValues(kind, node.field, reader)
  if (!values) return node
  const isNear = nearTo(node.near)
  const near = values.filter(value => {
    reader.check()
    return isNear(value)
  })
  return inNode(node.field, near)
}

/** As `expandFuzzy`, within a condition on the elements of a list. */
export const expandAllFuzzy = (kind: Kind, node: Node, reader: StoreReader): Node =>
  node.op === 'fuzzy'
    ? expandFuzzy(kind, node, reader)
    : mapChildren(node, (inner, of = kind) => expandAllFuzzy(of, inner, reader))
