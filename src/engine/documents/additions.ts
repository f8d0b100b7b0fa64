import type { Code } from '../../decode/contract-code.ts'
import type { Delegation } from '../../decode/proxies.ts'
import type { Signature } from '../../decode/types.ts'
import type { TokenFacts, TokenStandard } from '../../documents/tokens.ts'
import type { Added } from '../index/dictionary.ts'
import type { BatchContext } from './batch.ts'

/** New dictionary entries. They are written with the first batch that is committed after they came up, whichever that is. */
export interface Additions {
  addresses: Added
  names: Added
  signatures: { first: number; entries: Signature[] }
  codes: CodeRow[]
  /** What contracts answered. */
  tokens: TokenRow[]
  links: LinkRow[]
}

/** Texts by their ids in the dictionary of names, null where there is none. */
export interface CodeRow extends Pick<Code, 'hash' | 'size' | 'selectors' | 'topics' | 'features'> {
  id: number
  standard: number | null
  source: number | null
}

/** The same; `id` is that of its address. */
export interface TokenRow {
  id: number
  decimals: number | null
  name: number | null
  symbol: number | null
  standard: number | null
  error: number | null
}

/** What a contract answered when it was asked for what tokens tell. */
export interface LearntToken extends TokenFacts {
  /** 40 lower-case hex digits. */
  address: string
  /** Null where the answers leave that open. */
  standard: TokenStandard | null
}

/** What a contract was found to run. */
export interface LearntLink {
  /** Lower-case. */
  address: string
  /** Of its own code, as `0x` hex; null where it has none. */
  codeHash: string | null
  delegation: Delegation | null
  /** Up to where the chain was known when it was asked. */
  position: number
}

/** `id` is that of its address. */
export interface LinkRow extends Omit<LearntLink, 'address'> {
  id: number
}

/** Gives what came up since the last batch the form in which it is written. */
export const createAdditions = (context: BatchContext) => {
  const nameId = (text: string | null): number | null => (text === null ? null : context.names.id(text))

  const tokenRow = (
    address: string,
    { decimals, name, symbol, standard, error }: Omit<LearntToken, 'address'>,
  ): TokenRow => ({
    id: context.addresses.id(address),
    decimals,
    name: nameId(name),
    symbol: nameId(symbol),
    standard: nameId(standard),
    error: nameId(error),
  })

  const codeRow = ({ id, code }: { id: number; code: Code }): CodeRow => {
    const { hash, size, selectors, topics, features, standard, standardSource } = code
    return { id, hash, size, selectors, topics, features, standard: nameId(standard), source: nameId(standardSource) }
  }

  return {
    nameId,
    tokenRow,
    take(): Additions {
      // Before the dictionaries are taken: they hold the texts of these.
      const codes = context.takeCodes().map(codeRow)
      const tokens = context.takeTokens().map(token => tokenRow(token.address, token))
      const links = context
        .takeLinks()
        .map(({ address, ...link }): LinkRow => ({ id: context.addresses.id(digitsOf(address)), ...link }))
      return {
        addresses: context.addresses.takeAdded(),
        names: context.names.takeAdded(),
        signatures: context.takeSignatures(),
        codes,
        tokens,
        links,
      }
    },
  }
}

export const digitsOf = (address: string): string => address.slice(2).toLowerCase()
