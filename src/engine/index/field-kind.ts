import { documentOfKey } from '../../decode/calls.ts'
import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { POSTINGS_FIELDS, signatureOfField, UNDECODED } from './terms.ts'

const KIND_BY_FIELD_ID: ReadonlyMap<number, CountedKind> = new Map([
  ...POSTINGS_FIELDS.map(({ id, kind }) => [id, kind] as const),
  [UNDECODED, 'log'],
])

/** Which kind's ordinals the postings of a field hold. */
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

/** Which signatures are those of calls. They may be many, so they are read one by one. */
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
