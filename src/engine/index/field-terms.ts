import type { Hash62 } from '../../lib/hash.ts'
import { isTrue } from '../../lib/hex.ts'
import type { CountedKind, FieldKind } from '../../mapping/index.ts'
import type { Ids } from '../forms/form.ts'
import type { createPairsBuilder } from './postings.ts'
import { HASHED, POSTINGS_FIELDS, termOf } from './terms.ts'

/** Adds the terms of a document, whose ordinal is given. */
export type AddTerms<T> = (document: T, ordinal: number) => void

/** Makes what adds the terms of a kind's documents: of each field that the mapping declares as indexed. */
export const createFieldTerms =
  (
    pairs: Record<CountedKind, ReturnType<typeof createPairsBuilder>>,
    ids: Pick<Ids, 'address' | 'name'>,
    hash: (text: string) => Hash62,
  ) =>
  <T>(kind: CountedKind, readerOf: (field: string) => (document: T) => unknown): AddTerms<T> => {
    const postings = pairs[kind]
    const adders = POSTINGS_FIELDS.filter(one => one.kind === kind).map(({ field, id, declaration }) => ({
      read: readerOf(field),
      add: adderOf(declaration.kind, id),
    }))
    return (document, ordinal) => {
      for (const { read, add } of adders) add(read(document), ordinal)
    }

    function adderOf(kind: FieldKind, field: number): (value: unknown, ordinal: number) => void {
      switch (kind) {
        case 'address':
          return (value, ordinal) => {
            if (typeof value === 'string') postings.add(termOf(ids.address(value), field), 0, ordinal)
          }
        case 'keyword':
          return (value, ordinal) => {
            if (typeof value === 'string') postings.add(termOf(ids.name(value), field), 0, ordinal)
          }
        case 'hex':
          return (value, ordinal) => {
            if (typeof value !== 'string') return
            const { high, low } = hash(value.toLowerCase())
            postings.add(termOf(HASHED + high, field), low, ordinal)
          }
        case 'boolean':
          // Who asks for what is true asks for nearly everything.
          return (value, ordinal) => {
            if (value != null && !isTrue(value)) postings.add(termOf(0, field), 0, ordinal)
          }
        default:
          throw new Error(`fields of the kind ${kind} have no postings`)
      }
    }
  }
