import { memoize } from '../lib/caches.ts'
import { stop } from '../lib/errors.ts'
import { parseSignature } from './signature.ts'
import type { EventAbi } from './types.ts'

/** A line of `data/events.txt`; its declaration is parsed on first use, to keep starts fast. */
export interface RegistryEvent {
  topic0: string
  indexed: number
  /** `Transfer(address indexed from, address indexed to, uint256 value)` */
  signature: string
}

/** Matches of a pattern in each line of a file of `data/`; lines with a leading `#` are skipped. */
export const registryLines = (
  file: string,
  text: string,
  { pattern, expected, code = 'registry_broken_line' }: { pattern: RegExp; expected: string; code?: string },
): string[][] =>
  text.split('\n').flatMap((line, i) => {
    if (line === '' || line.startsWith('#')) return []
    const groups = pattern.exec(line)
    if (groups) return [groups.slice(1)]
    const found = JSON.stringify(line.length > 100 ? `${line.slice(0, 100)}…` : line)
    throw stop(
      code,
      `data/${file}, line ${i + 1}: expected ${expected}, not ${found}. Write the file again with node scripts/registry/build.ts or restore the original one`,
    )
  })

export const parseRegistry = (text: string): RegistryEvent[] =>
  registryLines('events.txt', text, {
    pattern: /^(0x[0-9a-f]{64}) ([A-Za-z_$][\w$]*\([^#]*\))$/,
    expected: 'a topic and a declaration, such as 0x1c41…bad1 Sync(uint112 reserve0, uint112 reserve1)',
  }).map(([topic0, signature]) => ({
    topic0: topic0!,
    // Not the beginning of a name such as `indexedSources`.
    indexed: signature!.match(/ indexed(?=[ ,)])/g)?.length ?? 0,
    signature: signature!,
  }))

export type Registry = ReturnType<typeof createRegistry>

export const createRegistry = (events: readonly RegistryEvent[]) => {
  const byTopic = Map.groupBy(events, ({ topic0 }) => topic0)
  const declared = memoize(Number.POSITIVE_INFINITY, (key: string): readonly EventAbi[] => {
    const known = byTopic.get(key.slice(0, 66))!
    const indexed = Number(key.slice(66))
    const exact = known.filter(event => event.indexed === indexed)
    return exact.length > 0 ? exact.map(event => parseSignature(event.signature)) : derive(known[0]!, indexed)
  })
  /**
   * Declarations for a first topic (lower case) and number of further topics, likeliest first.
   * Equal calls return the same objects.
   */
  const find = (topic0: string, indexed: number): readonly EventAbi[] =>
    byTopic.has(topic0) ? declared(`${topic0}${indexed}`) : NO_DECLARATIONS
  return {
    size: events.length,
    find,
    /** Any declaration with this topic: names a log that cannot be decoded. */
    named(topic0: string): EventAbi | undefined {
      const [first] = byTopic.get(topic0) ?? []
      return first && find(topic0, first.indexed)[0]
    },
  }
}

const NO_DECLARATIONS: readonly EventAbi[] = []

/**
 * Contracts declare common events with different `indexed` flags. These are certain if a log
 * indexes no argument or all of them; anything between stays unknown.
 */
const derive = ({ signature }: RegistryEvent, indexed: number): readonly EventAbi[] => {
  const event = parseSignature(signature)
  if (indexed !== 0 && indexed !== event.inputs.length) return NO_DECLARATIONS
  return [{ ...event, inputs: event.inputs.map(input => ({ ...input, indexed: indexed !== 0 })) }]
}

export interface Token {
  chainId: number
  /** In lower case; the file has it checksummed. */
  address: string
  decimals: number
  symbol: string
}

export const parseTokens = (text: string): Token[] =>
  registryLines('tokens.txt', text, {
    pattern: /^(\d+) (0x[0-9a-fA-F]{40}) (\d\d?|1\d\d|2[0-4]\d|25[0-5]) (\S+)$/,
    expected: 'chain id, address, decimals and symbol, such as 1 0xdAC17F958D2ee523a2206206994597C13D831ec7 6 USDT',
    code: 'tokens_broken_line',
  }).map(([chainId, address, decimals, symbol]) => ({
    chainId: Number(chainId),
    address: address!.toLowerCase(),
    decimals: Number(decimals),
    symbol: symbol!,
  }))

export type TokenList = ReturnType<typeof createTokenList>

export const createTokenList = (tokens: readonly Token[]) => {
  const byAddress = new Map(tokens.map(token => [`${token.chainId} ${token.address}`, token]))
  return {
    size: tokens.length,
    find: (chainId: number, address: string): Token | undefined => byAddress.get(`${chainId} ${address}`),
  }
}
