import { memoize } from '../../lib/caches.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { type FieldPath, KINDS } from '../../mapping/index.ts'
import type { FieldValues } from '../../query/aggs/ast.ts'
import { compareValues, type QueryValue } from '../../query/ast.ts'
import { hashOfTx } from '../documents/records/block.ts'
import { findBlock, findTransaction } from '../query/fields/find-by-id.ts'
import type { StoreReader } from '../reader.ts'
import { blockOf, PLACES_PER_BLOCK, placeOf } from '../schema.ts'

/** Domain of keys: numbers, address ids, transaction positions, block numbers or interned texts. */
export type Space = 'number' | 'address' | 'transaction' | 'block' | 'text'

/** Encodes values as numbers. */
export interface Keys {
  space: Space
  of(value: QueryValue): number
  /** Whether the id of an address in the store is its key. */
  readonly areAddressIds: boolean
  value(key: number): QueryValue
  compare(a: number, b: number): number
  bytes(): number
}

export const keyOfValue = (value: QueryValue, keys: Keys | undefined): number => (keys ? keys.of(value) : Number(value))

const keySpaceOf = ({ fields, type }: Pick<FieldValues, 'fields' | 'type'>): Space => {
  if (type !== 'keyword') return 'number'
  const spaces = new Set(KINDS.flatMap(kind => (fields[kind] ? [ownSpace(fields[kind])] : [])))
  const [space = 'text'] = spaces
  return spaces.size === 1 ? space : 'text'
}

const ownSpace = ({ kind, encoding, field, list }: FieldPath): Space => {
  // Most values of arguments that are grouped are addresses.
  if (field === 'args.value.hex') return 'address'
  if (list) return 'text'
  if (kind === 'address' && encoding === 'raw') return 'address'
  if (field === 'transactionHash') return 'transaction'
  return field === 'blockHash' ? 'block' : 'text'
}

/** Keys that segments share. Several stores can only share texts. */
export const sharedKeys = (
  values: Pick<FieldValues, 'fields' | 'type'>,
  { shared, isJoined, reader }: { shared<T>(make: () => T): T; isJoined: boolean; reader: StoreReader },
): Keys => shared(() => createKeys(isJoined && values.type === 'keyword' ? 'text' : keySpaceOf(values), reader))

export const createKeys = (space: Space, reader: StoreReader): Keys => {
  const places = new Map<QueryValue, number>()
  const values: QueryValue[] = []
  let bytes = 0
  /** A number that is neither an id nor a long. */
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
  let hasUnlisted = false
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
      // A text that was interned before its address was stored keeps its key.
      if (hasUnlisted && places.has(given)) return interned(given)
      const id = idOf(space, String(given), reader)
      if (id !== undefined) return id
      hasUnlisted ||= space === 'address' && LISTED_TEXT.test(String(given))
      return interned(given)
    },
    get areAddressIds() {
      return space === 'address' && !hasUnlisted
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

/** Undefined if the order depends on letter case, which checksums determine. */
const compareDigits = (a: string, b: string): number | undefined => {
  for (let i = 0; i < a.length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (left > NINE && right > NINE) return undefined
    if (left !== right) return left - right
  }
  return 0
}

const NINE = 0x39

/** Below all longs; doubles of this size are exact multiples of the step. */
const FIRST_TEXT_KEY = -(2 ** 80)
const STEP = 2 ** 30
const TEXTS = 20_000

const LISTED_TEXT = /^0x[0-9a-fA-F]{40}$/

const valueOfKey = (space: Space, key: number, reader: StoreReader): QueryValue => {
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

const idOf = (space: Space, text: string, reader: StoreReader): number | undefined => {
  switch (space) {
    case 'address':
      return LISTED_TEXT.test(text) && checksumAddress(text) === text
        ? reader.addressId(text.slice(2).toLowerCase())
        : undefined
    case 'transaction':
      return findTransaction(text, reader)
    case 'block': {
      const position = findBlock(text, reader)
      return position === undefined ? undefined : position / PLACES_PER_BLOCK
    }
    default:
      return undefined
  }
}
