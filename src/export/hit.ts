import { readDocument } from '../documents/read.ts'
import { asJson } from '../documents/show.ts'
import type { Kind } from '../mapping/index.ts'

export interface ParsedHit {
  _id: string
  _type: Kind
  _source: Record<string, unknown>
}

/** Integers that a double does not hold stay as they are written (`JSON.rawJSON`). */
export const parseHit = (hit: Buffer): ParsedHit => readDocument(hit.toString(), asJson) as ParsedHit
