import { keccak256 } from '../lib/keccak.ts'
import { analyzeCode, type CodeAnalysis } from './code.ts'
import { featuresOf } from './features.ts'

/** Identity of a code and its analysis. */
export interface Code extends CodeAnalysis {
  /** Keccak-256, as `0x` hex. */
  hash: string
  size: number
  /** How the standard is known; null with it. */
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
