import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from '../../src/chain/wire.ts'
import { createRandom, mix, type Random } from '../lib/random.ts'
import type { Topic } from './events.ts'

export interface Party extends Topic {
  address: Hex
  bytes: Uint8Array
  /** Of the address itself, which is what the emitter of a log puts into its bloom; -1 as long as nobody has asked. */
  addressBits: number
  /** Number of the account among the hot ones, else -1. */
  heat: number
}

export interface Token extends Party {
  decimals: number
  /** Natural logarithm of the median amount, in whole tokens. */
  size: number
  /** Pools against WETH. */
  pairV2: Party
  poolV3: Party
}

export type Population = ReturnType<typeof createPopulation>

export const HOT = 200
const FRESH = 64
/** How far back the long tail reaches: about a year. */
const TAIL = FRESH * 2_600_000
const LAUNCH = 8

/** `random` is the stream that picks are drawn from. */
export const createPopulation = (seed: number, random: Random) => {
  const maker = createRandom()
  const make = (kind: number, high: number, low: number): Party => {
    maker.seek(seed, kind, high, low)
    return partyOf(`0x${maker.word().slice(0, 40)}`)
  }
  /** Parties of one kind by number; what is looked up again and again stays, the rest goes after a while. */
  const book = <T extends Party>(create: (id: number) => T): ((id: number) => T) => {
    let young = new Map<number, T>()
    let old = new Map<number, T>()
    return id => {
      let found = young.get(id)
      if (found !== undefined) return found
      found = old.get(id) ?? create(id)
      if (young.size >= BOOK) {
        old = young
        young = new Map()
      }
      young.set(id, found)
      return found
    }
  }
  const kind = (number: number) => book(id => make(number, Math.floor(id / 4294967296), id | 0))

  const accounts = kind(1)
  const collections = kind(2)
  const contracts = kind(3)
  const pairs = kind(4)
  const pools = kind(5)
  const builders = kind(6)
  const tokens = book((id): Token => {
    const real = TOKENS[id]
    const party = real === undefined ? make(7, 0, id) : partyOf(real[0])
    const decimals = real?.[1] ?? DECIMALS[(mix(id + 99) >>> 0) % DECIMALS.length]!
    const size = real?.[2] ?? Math.log(50_000)
    return Object.assign(party, { decimals, size, pairV2: pairs(id), poolV3: pools(id) })
  })
  const hot = Array.from({ length: HOT }, (_, i) => {
    const party = HOT_ACCOUNTS[i] === undefined ? make(8, 0, i) : partyOf(HOT_ACCOUNTS[i])
    party.heat = i
    return party
  })

  let block = 0
  let fresh = 0
  const seen = (): Party => accounts(Math.max(0, block * FRESH - 1 - random.skewed(TAIL)))
  return {
    weth: tokens(1),
    zero: partyOf(`0x${'0'.repeat(40)}`),
    routers: ROUTERS.map(partyOf),
    seaport: partyOf('0x0000000000000068f116a894984e2db1123eb395'),
    /** Any account, at times a new one. */
    account(): Party {
      const dice = random.unit()
      if (dice < 0.4) return hot[random.skewed(HOT)]!
      return dice < 0.58 && fresh < FRESH ? accounts(block * FRESH + fresh++) : seen()
    },
    /** An account that has been seen. */
    sender: (): Party => (random.unit() < 0.2 ? hot[random.skewed(HOT)]! : seen()),
    token(): Token {
      const dice = random.unit()
      if (dice < 0.3) return tokens(random.below(3))
      if (dice < 0.75) return tokens(random.skewed(4000))
      return tokens(4000 + Math.max(0, Math.floor(block / LAUNCH) - random.skewed(100_000)))
    },
    collection: () => collections(random.skewed(5000)),
    /** A contract that emits the event of that number. */
    emitter: (event: number) => contracts(event * 64 + random.skewed(64)),
    validator: (index: number) => hot[(mix(index >> 6) >>> 0) % HOT]!,
    builder: () => builders(random.skewed(30)),
    /** Sets the block: the population grows with the chain. */
    at(number: number) {
      block = number
      fresh = 0
    },
  }
}

const partyOf = (address: Hex): Party => {
  const digits = address.slice(2)
  const bytes = Buffer.from(digits, 'hex')
  return { address, bytes, addressBits: -1, topic: `0x${ZEROS}${digits}`, topicBits: -1, heat: -1 }
}

/** Most addresses never come into a bloom, and a hash costs as much as the rest of a log: so on demand. */
export const addressBits = (party: Party): number => {
  if (party.addressBits < 0) party.addressBits = bloomBits(party.bytes)
  return party.addressBits
}

export const topicBits = (topic: Topic): number => {
  if (topic.topicBits < 0) topic.topicBits = bloomBits(Buffer.from(topic.topic.slice(2), 'hex'))
  return topic.topicBits
}

const ZEROS = '0'.repeat(24)
/** Parties of one kind that are remembered, in each of two generations. */
const BOOK = 16_384

/** Decimals of the tokens that nobody knows by name. */
const DECIMALS = [18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 9, 9, 9, 6, 8, 0]

/** Address, decimals and the logarithm of the median amount; the first three are the hot ones, the second is WETH. */
const TOKENS: readonly (readonly [Hex, number, number])[] = [
  ['0xdac17f958d2ee523a2206206994597c13d831ec7', 6, 6.5],
  ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 18, -1],
  ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 6, 6.5],
  ['0x6b175474e89094c44da98b954eedeac495271d0f', 18, 6.5],
  ['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', 8, -3],
  ['0x514910771af9ca656af840dff83e8264ecf986ca', 18, 4],
  ['0x6982508145454ce325ddbe47a25d4ec3d2311933', 18, 17],
  ['0x95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce', 18, 16],
  ['0x1f9840a85d5af5bf1d1762f925bdaddc4201f984', 18, 4],
  ['0xae7ab96520de3a18e5e111b5eaab095312d7fe84', 18, 0],
  ['0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9', 18, 2],
  ['0x5a98fcbea516cf06857215779fd812ca3bef1b32', 18, 6],
  ['0x7d1afa7b718fb893db30a3abc0cfc608aacfebb0', 18, 6],
  ['0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2', 18, 0],
]

const ROUTERS: readonly Hex[] = [
  '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
  '0x3fc91a3afd70395cd496c647d5a6cc9d4b2b7fad',
  '0x66a9893cc07d91d95644aedd05d03f95e1dba8af',
  '0x111111125421ca6dc452d289314280a0f8842a65',
  '0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45',
  '0xe592427a0aece92de3edee1f18e0157c05861564',
]

const HOT_ACCOUNTS: readonly Hex[] = [
  '0x28c6c06298d514db089934071355e5743bf21d60',
  '0x7a250d5630b4cf539739df2c5dacb4c659f2488d',
  '0x000000000022d473030f116ddee9f6b43ac78ba3',
  '0x3fc91a3afd70395cd496c647d5a6cc9d4b2b7fad',
]

/** The three bit numbers of an address or topic in a logs bloom, 11 bits each, packed into one number. */
export const bloomBits = (value: Uint8Array): number => {
  const hash = keccak_256(value)
  const part = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return part(0) + part(2) * 2048 + part(4) * 4194304
}

export type Bloom = ReturnType<typeof createBloom>

export const createBloom = () => {
  const bytes = Buffer.alloc(256)
  const set = (bit: number) => {
    bytes[255 - (bit >> 3)]! |= 1 << (bit & 7)
  }
  return {
    bytes: bytes as Uint8Array,
    clear: () => void bytes.fill(0),
    add(bits: number) {
      const low = bits % 4194304
      set(low & 2047)
      set(low >> 11)
      set(Math.floor(bits / 4194304))
    },
    merge(other: { readonly bytes: Uint8Array }) {
      for (let i = 0; i < 256; i++) bytes[i]! |= other.bytes[i]!
    },
    text: (): Hex => `0x${bytes.toString('hex')}`,
  }
}

export const EMPTY_BLOOM: Hex = `0x${'0'.repeat(512)}`
