import type { ByteWriter } from '../../lib/bytes.ts'
import type { Hash62 } from '../../lib/hash.ts'
import type { Addresses } from './addresses.ts'
import { NULL, writeJson } from './json.ts'

/**
 * Storage of field values in records and their output as JSON; docs/internals.md has the bytes.
 * Kinds of fields may share a form. Reading begins at the cursor.
 */
export interface FieldForm {
  name: FormName
  size: Size
  /** Appends a checked value from the wire; null is an explicit null. */
  write(out: ByteWriter, value: unknown, ids: Ids): void
  json(plan: FieldPlan, shown: JsonContext): WriteValue
  /** Reads the value. Absent if it needs the whole document, or is a list. */
  take?(bytes: Buffer): StoredValue
  /** The value for columns, undefined if there is none. Absent if values are integers. */
  number?(value: unknown, ids: Pick<Ids, 'address' | 'name'>): number | undefined
  /** Adds the value's term. Absent if fields of the form have no postings. */
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

/** Rule for the end of a value: see `skipValue`. */
export type Size = 'varint' | 'byte' | 'integer' | 'length'

/** Numbers what a block refers to. */
export interface Ids {
  address(text: string): number
  addressOfDigits(digits: string): number
  addressOfTopic(topic: string): number
  name(text: string): number
  /** Packed forms of large data, by their text: to compress the same twice takes time. */
  packed: Map<string, Uint8Array> | undefined
  /** Whether large data are compressed; default true. */
  compresses?: boolean
}

export interface JsonContext {
  addresses: Addresses
  name(out: ByteWriter, id: number): void
  /** Appends the bloom filter of the current transaction's logs. */
  ownBloom?(out: ByteWriter): void
}

/** Output of a field for one request. */
export interface FieldPlan {
  shown: 'whole' | 'part'
  /** Whether to show a value that is no object, or an explicit null. */
  single: boolean
  /** Shown members of an object: a bit each. */
  members: number
  /** The value without its filtered parts; undefined if nothing remains. */
  cut(value: unknown): unknown
  /** Of arguments: whether their values are members with literal names, such as `"value.hex"`. */
  flat?: boolean
}

/** Appends the value at the cursor; false if the filter leaves nothing. */
export type WriteValue = (out: ByteWriter, bytes: Buffer) => boolean

/**
 * A field of a stored document: ids of addresses and names, exact integers (text if leading zeros
 * are shown), `0x` hex of bytes. Null is explicit, undefined means absent.
 */
export type StoredValue = number | bigint | string | boolean | null | undefined

export const writeNull = (out: ByteWriter, { single }: FieldPlan): boolean => {
  if (single) out.bytes(NULL)
  return single
}

/** Appends the value without its filtered parts; false if nothing remains. */
export const writeCut = (out: ByteWriter, value: unknown, { cut }: FieldPlan): boolean => {
  const left = cut(value)
  if (left !== undefined) writeJson(out, left)
  return left !== undefined
}

/** An integer below this is its own byte. */
export const SMALL = 128
/** Hex digits with leading zeros follow, after their number of bytes. */
export const PADDED = 254
export const NULL_INTEGER = 255

/** Moves the cursor past a value. */
export const skipValue = (bytes: Uint8Array, { size }: Pick<FieldForm, 'size'>): void => {
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

/** Added to the length of bytes: 0 is an explicit null, 1 a bloom filter that follows from logs. */
export const LENGTH_BASE = 2
export const OWN_BLOOM = 1
export const NO_BYTES = -1
export const FOLLOWS_LOGS = -2

/** Moves the cursor to the bytes and returns their length, `NO_BYTES` or `FOLLOWS_LOGS`. */
export const takeLength = (bytes: Uint8Array): number => {
  const stated = takeVarint(bytes)
  return stated >= LENGTH_BASE ? stated - LENGTH_BASE : stated === OWN_BLOOM ? FOLLOWS_LOGS : NO_BYTES
}

interface Sized {
  write(out: ByteWriter, value: unknown, ids: Ids): void
  /** False if the filter leaves nothing. */
  json(shown: JsonContext, plan: FieldPlan): (out: ByteWriter, bytes: Buffer, start: number, end: number) => unknown
}

/** A form of bytes after their length. */
export const sizedForm = (name: FormName, { write, json }: Sized): FieldForm => ({
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

/** Puts the length into the byte before `start`, and makes room if it takes more bytes. */
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

/** Offset of the next value. Shared by all readers, which are synchronous, to return no objects. */
export const cursor = { at: 0 }
export const takeVarint = (bytes: Uint8Array): number => {
  const first = bytes[cursor.at++]!
  if (first < 0x80) return first
  let value = first & 0x7f
  let unit = 0x80
  for (;;) {
    const byte = bytes[cursor.at++]!
    value += (byte & 0x7f) * unit
    // Beyond the end, the byte is undefined and ends the loop, too.
    if (!(byte >= 0x80)) return value
    unit *= 0x80
  }
}
