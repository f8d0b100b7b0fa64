import { keccak256 } from '../lib/keccak.ts'
import { analyzeCode, type CodeAnalysis } from './code.ts'
import { featuresOf } from './code-similarity.ts'
import { holderOf, type LinksOf, type OwnAbi, probabilityOfLike } from './declarations.ts'

export interface AbiKnowledge {
  /** Name that the ABI was given under. */
  name: string | null
  source: 'address' | 'codeHash' | 'implementation' | 'similar' | 'signatures' | null
  /** Certainty from 0 to 1; null if nothing is known. */
  probability: number | null
}

const UNKNOWN_ABI: AbiKnowledge = { name: null, source: null, probability: null }

/**
 * Finds the ABI of a contract: of its address, its code or the code it runs; then of the most
 * similar code; then from its selectors, with the share of them that have a name as probability.
 */
export const createAbiFinder = (
  own: readonly (OwnAbi & { name?: string })[],
  isNamed: (selector: string) => boolean,
  linksOf: LinksOf,
  /** The contract or code with an ABI whose code is most similar. */
  nearest: (codeHash: string) => { holder: string; similarity: number } | null = () => null,
) => {
  const byHolder = new Map(
    own.flatMap(abi => {
      const holder = holderOf(abi)
      return holder === null ? [] : [[holder, abi]]
    }),
  )
  const find = (holder: string | null | undefined, source: AbiKnowledge['source']): AbiKnowledge | null => {
    const given = holder == null ? undefined : byHolder.get(holder)
    return given ? { name: given.name ?? null, source, probability: given.probability } : null
  }

  return (
    { address, code, implementation }: { address: string; code: Code | null; implementation: string | null },
    at = Number.POSITIVE_INFINITY,
  ): AbiKnowledge => {
    const given = find(address.toLowerCase(), 'address') ?? find(code?.hash, 'codeHash')
    if (given) return given
    for (const link of implementation === null ? [] : linksOf(implementation, at)) {
      if (link.likeness !== undefined) continue
      const its = find(link.address, 'implementation') ?? find(link.codeHash, 'implementation')
      if (its) return its
    }
    const like = code && nearest(code.hash)
    const similar = like && find(like.holder, 'similar')
    if (similar) return { ...similar, probability: probabilityOfLike(like.similarity) }
    const selectors = code?.selectors ?? []
    const named = selectors.filter(isNamed).length
    if (named === 0) return UNKNOWN_ABI
    return {
      name: null,
      source: 'signatures',
      probability: Math.round((named / selectors.length) * REGISTRY * 1000) / 1000,
    }
  }
}

/** Another contract may mean something else by the same signature. */
const REGISTRY = 0.9

/** Identity of a code and its analysis. */
export interface Code extends CodeAnalysis {
  /** Keccak-256, as `0x` hex. */
  hash: string
  size: number
  /** Evidence for the standard; null without a standard. */
  standardSource: 'selectors' | 'bytecode' | null
  features: Int8Array
}

/** `code` is `0x` hex of at least one byte. */
export const readCode = (code: string): Code => {
  const bytes = Buffer.from(code.slice(2), 'hex')
  const analysis = analyzeCode(code)
  const { standard, proxy } = analysis
  return {
    ...analysis,
    hash: hashOfCode(bytes),
    size: bytes.length,
    features: featuresOf(code, analysis),
    standardSource: standard === null ? null : standard === proxy?.kind ? 'bytecode' : 'selectors',
  }
}

/** Cached codes; most contracts are copies of a few. */
const CODES = 2_000

/** Caches `readCode` by hash; null for no code. */
export const createCodeReader = (): ((code: string) => Code | null) => {
  const codes = new Map<string, Code>()
  return text => {
    if (text.length <= 2) return null
    const hash = hashOfCode(Buffer.from(text.slice(2), 'hex'))
    let code = codes.get(hash)
    if (!code) {
      code = readCode(text)
      if (codes.size >= CODES) codes.clear()
      codes.set(hash, code)
    }
    return code
  }
}

const hashOfCode = (bytes: Uint8Array): string => `0x${Buffer.from(keccak256(bytes)).toString('hex')}`
