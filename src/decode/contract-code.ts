import { keccak256 } from '../lib/keccak.ts'
import { analyzeCode, type CodeAnalysis } from './code.ts'

/** The code of a contract: what it is known by, and what it tells. */
export interface Code extends CodeAnalysis {
  /** Keccak-256, as `0x` hex. */
  hash: string
  /** Bytes. */
  size: number
  /** How the standard is known; null with it. */
  standardSource: 'selectors' | 'bytecode' | null
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
    standardSource: standard === null ? null : standard === proxy?.kind ? 'bytecode' : 'selectors',
  }
}

const hashOfCode = (bytes: Uint8Array): string => `0x${Buffer.from(keccak256(bytes)).toString('hex')}`
