import type { ByteWriter } from '../../lib/bytes.ts'
import type { Hash62 } from '../../lib/hash.ts'
import type { Addresses } from './addresses.ts'
import { NULL, writeJson } from './json.ts'

/**
 * How values of fields are kept in records and shown as JSON; see docs/internals.md for the bytes. Several kinds of fields
 * share a form. Reading begins at the cursor.
 */
export interface Form {
  name: FormName
  size: Size
  /** Appends what the wire says, which was checked; null where it says that there is none. */
  write(out: ByteWriter, value: unknown, ids: Ids): void
  /** Makes what appends the value as JSON. */
  json(plan: FieldPlan, shown: Shown): WriteValue
  /** Reads the value. Absent where it takes the whole document, or more than one value. */
  take?(bytes: Buffer): StoredValue
  /** The wire's value as columns hold it, undefined where it is none. Absent where that is an integer. */
  number?(value: unknown, ids: Pick<Ids, 'address' | 'name'>): number | undefined
  /** Adds the term by which the wire's value is found. Absent where fields of the form have no postings. */
  term?(value: unknown, ids: TermIds, add: AddTerm): void
}

export interface TermIds extends Pick<Ids, 'address' | 'name'> {
  hash(text: string): Hash62
}

/** Takes a dictionary id, or a hash. */
export type AddTerm = (value: number | Hash62) => void

export type FormName =
  | 'address'
  | 'name'
  | 'uint'
  | 'digits'
  | 'boolean'
  | 'bytes'
  | 'bloom'
  | 'words'
  | 'hashes'
  | 'integers'
  | 'list'
  | 'rest'

/**
 * How the end of a value is found: a `varint`, a single `byte`, an `integer` (see integer.ts), or bytes behind their
 * `length`.
 */
export type Size = 'varint' | 'byte' | 'integer' | 'length'

/** Ids of what a block names, given if need be. */
export interface Ids {
  /** Of an address as the wire has it. */
  address(text: string): number
  addressOfDigits(digits: string): number
  /** Of the address that a topic is. */
  addressOfTopic(topic: string): number
  name(text: string): number
  /** Packed forms of large data, by their text, where a block has the same data twice: compressing takes time. */
  packed: Map<string, Uint8Array> | undefined
  /** Whether large data are compressed; default true. */
  compresses?: boolean
}

/** What values are shown with. */
export interface Shown {
  addresses: Addresses
  /** Appends a name of the dictionary as JSON text. */
  name(out: ByteWriter, id: number): void
  /** Appends the bloom filter of the logs of the transaction at hand. */
  ownBloom?(out: ByteWriter): void
}

/** How a field is shown to one request. What is not shown at all has no plan. */
export interface FieldPlan {
  shown: 'whole' | 'part'
  /** Whether a value that is no object is shown: a null in place of one, too. */
  single: boolean
  /** Members of an object that are shown: a bit for each, in their order. */
  members: number
  /** What is left of a value, undefined where nothing is. */
  cut(value: unknown): unknown
}

/** Appends the value that the cursor stands before; false where the filter leaves nothing of it. */
export type WriteValue = (out: ByteWriter, bytes: Buffer) => boolean

/**
 * One field of a stored document. Addresses and names are ids of their dictionaries; integers are exact, and text where
 * a node's leading zeros are shown; bytes are `0x` hex. Null is one that the chain's data state, undefined that there is none.
 */
export type StoredValue = number | bigint | string | boolean | null | undefined

/** Appends the null that the chain's data state. */
export const writeNull = (out: ByteWriter, { single }: FieldPlan): boolean => {
  if (single) out.bytes(NULL)
  return single
}

/** Appends what a filter leaves of a value; false where that is nothing. */
export const writeCut = (out: ByteWriter, value: unknown, { cut }: FieldPlan): boolean => {
  const left = cut(value)
  if (left !== undefined) writeJson(out, left)
  return left !== undefined
}

/** An integer below this is its own byte. */
export const SMALL = 128
/** Hex digits with their leading zeros follow, behind their number of bytes. */
export const PADDED = 254
export const NULL_INTEGER = 255

/** Moves the cursor behind a value. */
export const skipValue = (bytes: Uint8Array, { size }: Pick<Form, 'size'>): void => {
  switch (size) {
    case 'varint':
      while (bytes[cursor.at++]! >= 0x80);
      return
    case 'byte':
      cursor.at++
      return
    case 'integer': {
      const head = bytes[cursor.at++]!
      if (head === PADDED) cursor.at += 1 + bytes[cursor.at]!
      else if (head > SMALL && head < PADDED) cursor.at += head - SMALL
      return
    }
    case 'length': {
      const length = takeVarint(bytes)
      if (length > LENGTH_BASE) cursor.at += length - LENGTH_BASE
    }
  }
}

/** Added to the length of bytes: 0 is an explicit null, 1 the bloom filter of the transaction's logs. */
export const LENGTH_BASE = 2
export const OWN_BLOOM = 1
export const NO_BYTES = -1
export const FOLLOWS_LOGS = -2

/**
 * Length of the bytes that the cursor then stands before; -1 for an explicit null, and for a bloom filter -2 where it is
 * that of the transaction's logs.
 */
export const takeLength = (bytes: Uint8Array): number => {
  const stated = takeVarint(bytes)
  return stated >= LENGTH_BASE ? stated - LENGTH_BASE : stated === OWN_BLOOM ? FOLLOWS_LOGS : NO_BYTES
}

interface Sized {
  /** Appends what is not null. */
  write(out: ByteWriter, value: unknown, ids: Ids): void
  /** Makes what appends the bytes between two places as JSON; it gives false where the filter leaves nothing. */
  json(shown: Shown, plan: FieldPlan): (out: ByteWriter, bytes: Buffer, start: number, end: number) => unknown
}

/** A form whose values are bytes behind their length, which is known when they are written. */
export const sized = (name: FormName, { write, json }: Sized): Form => ({
  name,
  size: 'length',
  write(out, value, ids) {
    out.byte(0)
    if (value === null) return
    const start = out.length
    write(out, value, ids)
    endLength(out, start)
  },
  json(plan, shown) {
    const show = json(shown, plan)
    return (out, bytes) => {
      const length = takeLength(bytes)
      if (length < 0) return writeNull(out, plan)
      return show(out, bytes, cursor.at, cursor.at + length) !== false
    }
  },
})

/** Puts the length of what was written since `start` into the byte before it, and makes room where one byte is not enough. */
const endLength = (out: ByteWriter, start: number) => {
  const length = out.length - start
  const stated = length + LENGTH_BASE
  if (stated < SMALL) {
    out.reserve(0)[start - 1] = stated
    return
  }
  const more = varintSize(stated) - 1
  out.reserve(more).copyWithin(start + more, start, start + length)
  out.truncate(start - 1)
  out.varint(stated)
  out.advance(length)
}

const varintSize = (value: number): number => {
  let size = 1
  for (let rest = value; rest >= 0x80; rest /= 0x80) size++
  return size
}

/** Where the next value of a record is read. One for all readers, since none of them waits: two results then need no object. */
export const cursor = { at: 0 }
/** Reads the varint at the cursor and moves behind it. */
export const takeVarint = (bytes: Uint8Array): number => {
  const first = bytes[cursor.at++]!
  if (first < 0x80) return first
  let value = first & 0x7f
  let unit = 0x80
  for (;;) {
    const byte = bytes[cursor.at++]!
    value += (byte & 0x7f) * unit
    // Beyond the end there is no byte, which ends the loop, too.
    if (!(byte >= 0x80)) return value
    unit *= 0x80
  }
}
