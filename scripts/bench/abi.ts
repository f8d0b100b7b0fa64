import type { Hex } from '../../src/chain/wire.ts'
import type { Random } from '../lib/random.ts'
import type { Topic } from './events.ts'
import type { Party, Token } from './population.ts'

/** Writes ABI words one after another into one buffer, as numbers too large for JavaScript's come out of it at once as hex. */
export interface Abi {
  selector(digits: number): void
  address(party: Party): void
  uint(value: number): void
  int(value: number): void
  /** An amount of the token in its smallest unit, about log-normal; one in four is a round number of tokens. */
  amount(token: Token): void
  /** The same as a negative number, as Uniswap v3 has it for what leaves the pool. */
  negativeAmount(token: Token): void
  /** A log-normal number whose median is e^`median`. */
  scaled(median: number, deviation: number): void
  max(): void
  /** A word of which all but the last `bytes` bytes are zero. */
  random(bytes: number): void
  /** Any value of a static type; `account` where it is an address. */
  value(type: string, account: () => Party): void
  again(): void
  /** What was written, as hex; the next one begins anew. */
  take(): Hex
  topic(): Topic
}

export const createAbi = (random: Random): Abi => {
  let bytes = Buffer.alloc(1 << 16)
  let at = 0
  const word = (): number => {
    if (at + 64 > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
    at += 32
    return at
  }
  const scatter = (from: number, to: number) => {
    for (let i = from; i < to; i += 4) {
      const dice = random.next()
      bytes[i] = dice
      if (i + 1 < to) bytes[i + 1] = dice >> 8
      if (i + 2 < to) bytes[i + 2] = dice >> 16
      if (i + 3 < to) bytes[i + 3] = dice >> 24
    }
  }
  /** Writes a number of any size; the digits beyond a double's precision are made up, `exact` leaves them zero. */
  const large = (value: number, exact: boolean) => {
    const end = word()
    let size = 1
    let rest = value
    while (rest >= 256 && size < 31) {
      rest /= 256
      size++
    }
    for (let i = 0; i < size; i++) {
      if (i === 6 && !exact) {
        scatter(end - size + 6, end)
        return
      }
      const digit = Math.min(255, Math.floor(rest))
      bytes[end - size + i] = digit
      rest = (rest - digit) * 256
    }
  }
  const small = (value: number, end: number) => {
    let rest = value
    for (let i = end - 1; rest > 0; i--) {
      bytes[i] = rest % 256
      rest = Math.floor(rest / 256)
    }
  }
  const scaled = (median: number, deviation: number): number => Math.exp(median + deviation * random.normal())
  const abi: Abi = {
    selector(digits) {
      bytes.writeUInt32BE(digits, at)
      at += 4
    },
    address(party) {
      bytes.set(party.bytes, word() - 20)
    },
    uint: value => small(value, word()),
    int(value) {
      if (value >= 0) {
        abi.uint(value)
        return
      }
      const end = word()
      bytes.fill(255, end - 32, end)
      bytes.writeInt32BE(value, end - 4)
    },
    amount(token) {
      const tokens = scaled(token.size, 2.2)
      const round = random.unit() < 0.25 && tokens >= 1
      large((round ? Number(tokens.toPrecision(1)) : tokens) * POWERS[token.decimals]!, round)
    },
    negativeAmount(token) {
      abi.amount(token)
      for (let i = at - 32; i < at; i++) bytes[i]! ^= 255
    },
    scaled: (median, deviation) => large(scaled(median, deviation), false),
    max: () => void bytes.fill(255, word() - 32, at),
    random(size) {
      const end = word()
      scatter(end - size, end)
    },
    value(type, account) {
      if (type === 'address') abi.address(account())
      else if (type === 'bool') abi.uint(random.below(2))
      else if (type === 'uint8') abi.uint(random.below(4))
      else if (type === 'uint16' || type === 'uint24') abi.uint([0, 100, 500, 3000, 10_000][random.below(5)]!)
      else if (type === 'uint48' || type === 'uint64') abi.uint(1_700_000_000 + random.below(100_000_000))
      else if (type === 'int24') abi.int(60 * (random.below(12_000) - 6_000))
      else if (type === 'bytes32') abi.random(32)
      else if (random.unit() < 0.3) abi.uint(random.skewed(100_000))
      else if (type === 'uint160') abi.random(18)
      else abi.scaled(41, 5)
    },
    again() {
      word()
      bytes.copyWithin(at - 32, at - 64, at - 32)
    },
    take() {
      const text = `0x${bytes.toString('hex', 0, at)}`
      bytes.fill(0, 0, at)
      at = 0
      return text
    },
    topic: () => ({ topic: abi.take(), topicBits: -1 }),
  }
  return abi
}

const POWERS = Array.from({ length: 19 }, (_, i) => 10 ** i)
