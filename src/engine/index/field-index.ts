import { documentOfKey } from '../../decode/calls.ts'
import { doubled, joinDoubleArrays } from '../../lib/arrays.ts'
import type { Hash62 } from '../../lib/hash.ts'
import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { formOfField } from '../forms/field-forms.ts'
import type { TermIds } from '../forms/form.ts'
import { encodeColumn, MISSING } from './column-codec.ts'
import type { createPairsBuilder } from './postings.ts'
import { COLUMN_FIELDS, HASHED, POSTINGS_FIELDS, signatureOfField, termOf, UNDECODED } from './terms.ts'

/** A column of a batch, encoded, on its way to the thread that writes. */
export interface BatchColumn {
  field: number
  least: number
  greatest: number
  data: Uint8Array<ArrayBuffer>
}

/** Indexes documents by the fields that the mapping declares as columns or postings. */
export const createFieldIndex = (pairs: Record<CountedKind, ReturnType<typeof createPairsBuilder>>, ids: TermIds) => {
  const columns = new Map(COLUMN_FIELDS.map(({ number }) => [number, createValues()]))
  return {
    /** Creates the indexer of a kind's documents, in order; `readerOf` creates a field's reader. */
    of<T>(kind: CountedKind, readerOf: (field: string) => (document: T) => unknown) {
      let at = 0
      const postings = pairs[kind]
      const cells = COLUMN_FIELDS.filter(one => one.kind === kind).map(({ field, number, declaration }) => ({
        read: readerOf(field),
        numberOf: formOfField(declaration).number ?? integerOfWire,
        push: columns.get(number)!.push,
      }))
      const terms = POSTINGS_FIELDS.filter(one => one.kind === kind).map(({ field, id, declaration }) => ({
        read: readerOf(field),
        term: formOfField(declaration).term!,
        add: (value: number | Hash62) =>
          typeof value === 'number'
            ? postings.add(termOf(value, id), 0, at)
            : postings.add(termOf(HASHED + value.high, id), value.low, at),
      }))
      return (document: T, ordinal: number): void => {
        at = ordinal
        for (const { read, numberOf, push } of cells) push(numberOf(read(document), ids) ?? MISSING)
        for (const { read, term, add } of terms) term(read(document), ids, add)
      }
    },
    finish: (): Map<number, Float64Array<ArrayBuffer>> =>
      new Map(Array.from(columns, ([field, { take }]) => [field, take()])),
  }
}

/** Some nodes write JSON numbers. Integers beyond 2^53 become the nearest double. */
export const integerOfWire = (value: unknown): number => {
  if (value == null) return MISSING
  return typeof value === 'string' && value.length <= 2 ? 0 : Number(value)
}

const createValues = () => {
  let values = new Float64Array(64)
  let count = 0
  return {
    push(value: number): void {
      if (count === values.length) values = doubled(values)
      values[count++] = value
    },
    take: (): Float64Array<ArrayBuffer> => values.subarray(0, count),
  }
}

/** Encodes the joined parts of each column; `full` if the segment will not be merged. */
export const encodeColumns = (
  columns: readonly { field: number; parts: readonly Float64Array<ArrayBuffer>[] }[],
  full: boolean,
): BatchColumn[] =>
  columns.flatMap(({ field, parts }) => {
    const encoded = encodeColumn(parts.length === 1 ? parts[0]! : joinDoubleArrays(parts), { full })
    return encoded ? [{ field, ...encoded }] : []
  })

const KIND_BY_FIELD_ID: ReadonlyMap<number, CountedKind> = new Map([
  ...POSTINGS_FIELDS.map(({ id, kind }) => [id, kind] as const),
  [UNDECODED, 'log'],
])
/** Kind whose ordinals are in the postings of a field. */
export const kindOfField = (id: number, calls: CallSignatures): CountedKind => {
  const signature = signatureOfField(id)
  if (signature !== undefined) return calls.has(signature) ? 'call' : 'log'
  const kind = KIND_BY_FIELD_ID.get(id)
  if (!kind) throw new Error(`no field has the id ${id}`)
  return kind
}

export interface CallSignatures {
  has(signature: number): boolean
}
/** Tests for signatures of calls; reads them one by one, as there may be many. */
export const callSignatures = (db: Db): CallSignatures => {
  let known = signaturesOfCalls.get(db)
  if (!known) {
    const select = db.prepare('SELECT key FROM signature WHERE id = ?').pluck()
    const answers = new Map<number, boolean>()
    known = {
      has(signature) {
        let answer = answers.get(signature)
        if (answer === undefined) {
          answer = documentOfKey(select.get(signature) as string) === 'call'
          answers.set(signature, answer)
        }
        return answer
      },
    }
    signaturesOfCalls.set(db, known)
  }
  return known
}

const signaturesOfCalls = new WeakMap<Db, CallSignatures>()
