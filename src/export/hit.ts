import type { Kind } from '../mapping/index.ts'

export interface ParsedHit {
  _id: string
  _type: Kind
  _source: Record<string, unknown>
}

/** Integers that a double does not hold stay as they are written (`JSON.rawJSON`). */
export const parseHit = (hit: Buffer): ParsedHit => {
  const text = hit.toString()
  return JSON.parse(text, LONG.test(text) ? exact : undefined) as ParsedHit
}

/** Where none may be in the text, the quick way does. */
const LONG = /[:,[]-?\d{16}/

const exact = (_: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source
    ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
    : value
