import { bloomBitsOf } from '../../lib/bloom.ts'
import type { LogFilter } from '../source.ts'
import type { RpcLog } from '../wire.ts'

export type Fits = (log: Pick<RpcLog, 'address' | 'topics'>) => boolean

export const fitsAny = (filters: readonly LogFilter[]): Fits => {
  const tests = filters.map(({ addresses, topics }) => {
    const [ofAddress, ofTopic] = [new Set(addresses), new Set<string | undefined>(topics)]
    return (address: string, topic: string | undefined) =>
      (ofAddress.size === 0 || ofAddress.has(address)) && (ofTopic.size === 0 || ofTopic.has(topic))
  })
  return log => {
    const [address, topic] = [log.address.toLowerCase(), log.topics[0]?.toLowerCase()]
    return tests.some(fits => fits(address, topic))
  }
}

export const mergeFilters = (filters: readonly LogFilter[]): LogFilter => {
  if (filters.length === 1) return filters[0]!
  const all = (of: 'addresses' | 'topics') =>
    filters.some(it => it[of].length === 0) ? [] : [...new Set(filters.flatMap(it => it[of]))].sort()
  return { addresses: all('addresses'), topics: all('topics') }
}

export const splitFilter = ({ addresses, topics }: LogFilter, most: number): LogFilter[] =>
  pieces(addresses, most).flatMap(some => pieces(topics, most).map(of => ({ addresses: some, topics: of })))

const pieces = (values: readonly string[], most: number): (readonly string[])[] => {
  if (values.length <= most) return [values]
  return Array.from({ length: Math.ceil(values.length / most) }, (_, i) => values.slice(i * most, (i + 1) * most))
}

export const filterParams = ({ addresses, topics }: LogFilter) => ({
  ...(addresses.length > 0 && { address: addresses.length === 1 ? addresses[0] : addresses }),
  ...(topics.length > 0 && { topics: [topics.length === 1 ? topics[0] : topics] }),
})

interface BloomAnswer {
  may: boolean
  /** Probability of a false positive of a bloom with that many bits. */
  byChance: number
}

export const mayHold = (stated: unknown, { address, topics }: Pick<RpcLog, 'address' | 'topics'>): boolean => {
  const bytes = bloomBytes(stated)
  return bytes !== undefined && [address, ...topics].every(it => hasBits(bytes, bitsOf(it)))
}

/** Checks a bloom against filters. A malformed bloom may match anything. */
export const askBloom = (stated: unknown, filters: readonly LogFilter[]): BloomAnswer => {
  const bytes = bloomBytes(stated)
  if (bytes === undefined) return { may: true, byChance: 1 }
  let set = 0
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) set++
  const one = (set / 2048) ** 3
  const among = (count: number) => (count === 0 ? 1 : Math.min(1, count * one))
  const isThere = (bits: readonly number[]) => bits.length === 0 || bits.some(it => hasBits(bytes, it))
  let [may, byChance] = [false, 0]
  for (const filter of filters) {
    const { addresses, topics } = filterBits(filter)
    may ||= isThere(addresses) && isThere(topics)
    byChance += among(addresses.length) * among(topics.length)
  }
  return { may, byChance: Math.min(1, byChance) }
}

const bloomBytes = (stated: unknown): Buffer | undefined =>
  typeof stated === 'string' && /^0x[0-9a-f]{512}$/i.test(stated) ? Buffer.from(stated.slice(2), 'hex') : undefined

const bitsOf = (value: string): number => bloomBitsOf(Buffer.from(value.slice(2), 'hex'))

const hasBits = (bytes: Buffer, bits: number): boolean =>
  isSet(bytes, bits % 2048) &&
  isSet(bytes, Math.floor(bits / 2048) % 2048) &&
  isSet(bytes, Math.floor(bits / 4_194_304))

const isSet = (bytes: Buffer, bit: number): boolean => (bytes[255 - (bit >> 3)]! & (1 << (bit & 7))) !== 0

interface Bits {
  addresses: number[]
  topics: number[]
}

const filterBits = (filter: LogFilter): Bits => {
  let bits = filterBitsCache.get(filter)
  if (bits === undefined) {
    bits = { addresses: filter.addresses.map(bitsOf), topics: filter.topics.map(bitsOf) }
    filterBitsCache.set(filter, bits)
  }
  return bits
}

/** Filters are matched with every new block, and may have thousands of addresses. */
const filterBitsCache = new WeakMap<LogFilter, Bits>()
