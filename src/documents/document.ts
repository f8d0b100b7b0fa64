import type { AbiParam } from '../decode/types.ts'

/** A document as a search answers it, without the envelope's constant parts. */
export interface Document {
  _id: string
  /** Hash of the containing block; absent for blocks. */
  _routing?: string
  /** Id of the document above: the block's of a transaction, the transaction's of a log or event. */
  _parent?: string
  _source: Record<string, unknown>
  /** Data that rules need besides the fields of a decoded entity: exact amounts and the parts of tuples. Never shown. */
  decoding?: Decoding
}

export interface Decoding {
  /** Declared arguments, by position. */
  inputs: readonly AbiParam[]
  /** Decimals of the token that the entity is of, null where unknown or no token. */
  decimals: number | null
}
