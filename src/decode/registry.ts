import { stop } from '../lib/errors.ts'
import { parseSignature } from './signature.ts'
import type { EventAbi } from './types.ts'

/** A line of `data/events.txt`; its declaration is read only when a log asks for it, so that starting stays fast. */
export interface RegistryEvent {
  topic0: string
  /** Number of indexed arguments. */
  indexed: number
  /** `Transfer(address indexed from, address indexed to, uint256 value)` */
  signature: string
}

export interface Registry {
  /**
   * The declarations that a log with this first topic (lower case) and number of further topics may have, the likeliest
   * first; the same objects each time.
   */
  find(topic0: string, indexed: number): readonly EventAbi[]
  /** A declaration with this first topic, whatever its number of indexed arguments: it names a log that it cannot decode. */
  named(topic0: string): EventAbi | undefined
  /** Number of declarations. */
  readonly size: number
}

export interface Token {
  chainId: number
  /** In lower case; the file has it checksummed. */
  address: string
  decimals: number
  symbol: string
}

export interface TokenList {
  /** Takes the address in lower case. */
  find(chainId: number, address: string): Token | undefined
  readonly size: number
}

/** Reads the text of `data/events.txt`; lines that begin with `#` are comments. */
export function parseRegistry(text: string): RegistryEvent[] {
  const events: RegistryEvent[] = []
  let number = 0
  for (const line of text.split('\n')) {
    number++
    if (line === '' || line.startsWith('#')) continue
    if (!eventLine.test(line)) {
      throw stop(
        'registry_broken_line',
        `data/events.txt, line ${number}: expected a topic and a declaration, such as 0x1c41…bad1 Sync(uint112 reserve0, uint112 reserve1), not ${quote(line)}. Write the file again with node scripts/registry/build.ts or restore the original one`,
      )
    }
    const signature = line.slice(67)
    events.push({ topic0: line.slice(0, 66), indexed: signature.match(indexedWord)?.length ?? 0, signature })
  }
  return events
}

const none: readonly EventAbi[] = []

export function createRegistry(events: readonly RegistryEvent[]): Registry {
  const byTopic = new Map<string, RegistryEvent[]>()
  for (const event of events) {
    const same = byTopic.get(event.topic0)
    if (same === undefined) byTopic.set(event.topic0, [event])
    else same.push(event)
  }
  /** Answers given so far, misses of known topics included. */
  const answers = new Map<string, readonly EventAbi[]>()

  return {
    size: events.length,
    named(topic0) {
      const [first] = byTopic.get(topic0) ?? []
      return first && this.find(topic0, first.indexed)[0]
    },
    find(topic0, indexed) {
      const known = byTopic.get(topic0)
      if (known === undefined) return none
      const key = `${topic0}${indexed}`
      let answer = answers.get(key)
      if (answer === undefined) {
        const exact = known.filter(event => event.indexed === indexed)
        answer = exact.length > 0 ? exact.map(event => parseSignature(event.signature)) : derive(known, indexed)
        answers.set(key, answer)
      }
      return answer
    },
  }
}

/**
 * Contracts declare common events with flags of their own. A log that indexes none of the arguments, or all of them, leaves
 * no doubt which; anything between stays unknown.
 */
function derive(known: readonly RegistryEvent[], indexed: number): readonly EventAbi[] {
  const event = parseSignature(known[0]!.signature)
  if (indexed !== 0 && indexed !== event.inputs.length) return none
  return [{ ...event, inputs: event.inputs.map(input => ({ ...input, indexed: indexed !== 0 })) }]
}

/** Reads the text of `data/tokens.txt`; lines that begin with `#` are comments. */
export function parseTokens(text: string): Token[] {
  const tokens: Token[] = []
  let number = 0
  for (const line of text.split('\n')) {
    number++
    if (line === '' || line.startsWith('#')) continue
    const [, chainId, address, decimals, symbol] = tokenLine.exec(line) ?? []
    if (symbol === undefined || Number(decimals) > 255) {
      throw stop(
        'tokens_broken_line',
        `data/tokens.txt, line ${number}: expected chain id, address, decimals and symbol, such as 1 0xdAC17F958D2ee523a2206206994597C13D831ec7 6 USDT, not ${quote(line)}. Write the file again with node scripts/registry/build.ts or restore the original one`,
      )
    }
    tokens.push({ chainId: Number(chainId), address: address!.toLowerCase(), decimals: Number(decimals), symbol })
  }
  return tokens
}

export function createTokenList(tokens: readonly Token[]): TokenList {
  const chains = new Map<number, Map<string, Token>>()
  for (const token of tokens) {
    const chain = chains.get(token.chainId) ?? new Map<string, Token>()
    chains.set(token.chainId, chain.set(token.address, token))
  }
  return { size: tokens.length, find: (chainId, address) => chains.get(chainId)?.get(address) }
}

const eventLine = /^0x[0-9a-f]{64} [A-Za-z_$][\w$]*\([^#]*\)$/
/** Not the beginning of a name such as `indexedSources`. */
const indexedWord = / indexed(?=[ ,)])/g
const tokenLine = /^(\d+) (0x[0-9a-fA-F]{40}) (\d+) (\S+)$/

const quote = (line: string) => JSON.stringify(line.length > 100 ? `${line.slice(0, 100)}…` : line)
