import type { Code } from './contract-code.ts'
import type { OwnAbi } from './declarations.ts'

/** What a contract's functions and events are known from. */
export interface KnownAbi {
  /** Name that the ABI was given under. */
  name: string | null
  source: 'address' | 'signatures' | null
  /** How sure it is, null where nothing is known. */
  probability: number | null
}

const UNKNOWN: KnownAbi = { name: null, source: null, probability: null }

/**
 * Finds what is known of contracts: an ABI that was given for it goes before what its selectors tell, which are as sure as the share of them that have
 * a name.
 */
export const createAbiFinder = (
  own: readonly (OwnAbi & { name?: string })[],
  isNamed: (selector: string) => boolean,
) => {
  const byAddress = new Map(own.flatMap(abi => (abi.address === null ? [] : [[abi.address.toLowerCase(), abi]])))
  return ({ address, code }: { address: string; code: Code | null }): KnownAbi => {
    const given = byAddress.get(address.toLowerCase())
    if (given) return { name: given.name ?? null, source: 'address', probability: given.probability }
    const selectors = code?.selectors ?? []
    const named = selectors.filter(isNamed).length
    if (named === 0) return UNKNOWN
    return {
      name: null,
      source: 'signatures',
      probability: Math.round((named / selectors.length) * REGISTRY * 1000) / 1000,
    }
  }
}

/** Another contract may mean something else by the same signature. */
const REGISTRY = 0.9
