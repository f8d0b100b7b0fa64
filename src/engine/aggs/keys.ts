import { memoize } from '../../lib/caches.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { type FieldPath, KINDS } from '../../mapping/index.ts'
import type { FieldValues } from '../../query/aggs/ast.ts'
import { compareValues, type QueryValue } from '../../query/ast.ts'
import { hashOfTx } from '../documents/records/block.ts'
import { findBlock, findTransaction } from '../query/fields/find-by-id.ts'
import type { Reader } from '../reader.ts'
import { blockOf, PLACES, placeOf } from '../schema.ts'

/** What the numbers of a source stand for: themselves, ids of addresses, positions of transactions, numbers of blocks, or places among texts. */
export type Space = 'number' | 'address' | 'transaction' | 'block' | 'text'

/** Turns values into numbers that stand for them, and back. */
export interface Keys {
  space: Space
  of(value: QueryValue): number
  value(key: number): QueryValue
  /** The order of the values. */
  compare(a: number, b: number): number
  /** Bytes of the texts that are kept. */
  bytes(): number
}

/** What a value is to an aggregation: the number that stands for it, or without keys itself. */
export const keyOfValue = (value: QueryValue, keys: Keys | undefined): number => (keys ? keys.of(value) : Number(value))

/** The space that all kinds of a search share. */
export const keySpaceOf = ({ fields, type }: Pick<FieldValues, 'fields' | 'type'>): Space => {
  if (type !== 'keyword') return 'number'
  const spaces = new Set(KINDS.flatMap(kind => (fields[kind] ? [ownSpace(fields[kind])] : [])))
  const [space = 'text'] = spaces
  return spaces.size === 1 ? space : 'text'
}

const ownSpace = ({ kind, encoding, field, list }: FieldPath): Space => {
  if (list) return 'text'
  if (kind === 'address' && encoding === 'raw') return 'address'
  if (field === 'transactionHash') return 'transaction'
  return field === 'blockHash' ? 'block' : 'text'
}

/** What gives the numbers of an aggregation. Several stores share texts alone. */
export const sharedKeys = (
  values: Pick<FieldValues, 'fields' | 'type'>,
  { shared, isJoined, reader }: { shared<T>(make: () => T): T; isJoined: boolean; reader: Reader },
): Keys => shared(() => createKeys(isJoined && values.type === 'keyword' ? 'text' : keySpaceOf(values), reader))

export const createKeys = (space: Space, reader: Reader): Keys => {
  const places = new Map<QueryValue, number>()
  const values: QueryValue[] = []
  let bytes = 0
  /** Numbers that no id and no long is. */
  const interned = (value: QueryValue): number => {
    let place = places.get(value)
    if (place === undefined) {
      place = values.length
      places.set(value, place)
      values.push(value)
      bytes += 100 + (typeof value === 'string' ? value.length : 8)
    }
    return FIRST_TEXT_KEY - place * STEP
  }
  const stoodFor = (key: number): QueryValue => {
    if (key <= FIRST_TEXT_KEY) return values[(FIRST_TEXT_KEY - key) / STEP]!
    return valueOfKey(space, key, reader)
  }
  const text = memoize(TEXTS, stoodFor)
  const value = (key: number): QueryValue => (space === 'number' ? stoodFor(key) : text(key))
  return {
    space,
    of(given) {
      if (space === 'number') {
        const number = Number(given)
        return typeof given === 'bigint' && !Number.isSafeInteger(number) ? interned(given) : number
      }
      return idOf(space, String(given), reader) ?? interned(given)
    },
    value,
    compare: (a, b) => {
      if (a > FIRST_TEXT_KEY && b > FIRST_TEXT_KEY) {
        if (space === 'number') return a - b
        if (space === 'address') {
          const order = compareDigits(reader.addressDigits(a), reader.addressDigits(b))
          if (order !== undefined) return order
        }
      }
      const [left, right] = [value(a), value(b)]
      return compareValues(left, right)
    },
    bytes: () => bytes,
  }
}

/** The order of two addresses; undefined where it depends on the letter case, which their checksums decide. */
const compareDigits = (a: string, b: string): number | undefined => {
  for (let i = 0; i < a.length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (left > NINE && right > NINE) return undefined
    if (left !== right) return left - right
  }
  return 0
}

const NINE = 0x39

/** Below all longs; doubles of this size lie so far apart. */
const FIRST_TEXT_KEY = -(2 ** 80)
const STEP = 2 ** 30
const TEXTS = 20_000

const valueOfKey = (space: Space, key: number, reader: Reader): QueryValue => {
  switch (space) {
    case 'address':
      return checksumAddress(`0x${reader.addressDigits(key)}`)
    case 'transaction':
      return hashOfTx(reader.records.block(blockOf(key))!, placeOf(key))!
    case 'block':
      return `0x${reader.records.block(key)!.hash.toString('hex')}`
    default:
      return key
  }
}

const idOf = (space: Space, text: string, reader: Reader): number | undefined => {
  switch (space) {
    case 'address':
      return /^0x[0-9a-fA-F]{40}$/.test(text) && checksumAddress(text) === text
        ? reader.addressId(text.slice(2).toLowerCase())
        : undefined
    case 'transaction':
      return findTransaction(text, reader)
    case 'block': {
      const position = findBlock(text, reader)
      return position === undefined ? undefined : position / PLACES
    }
    default:
      return undefined
  }
}
