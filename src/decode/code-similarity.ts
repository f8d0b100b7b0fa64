import { ARITY, EVM } from './bytecode.ts'
import { analyzeCode, type CodeAnalysis, readProgram } from './code.ts'

export const DIMENSIONS = 256

/**
 * Vector of a code; its direction shows how much two codes have in common. Metadata and bytes that
 * deployment fills in have no effect; all zeros if no code runs. Each function, constant and run
 * of instructions adds to a few numbers that its hash selects.
 */
export const featuresOf = (hex: string, { selectors, topics }: CodeAnalysis = analyzeCode(hex)): Int8Array => {
  const { code, instructions } = readProgram(hex)
  const sum = new Float64Array(DIMENSIONS)
  addGroup(sum, 1, 0.4, selectors.map(Number))
  addGroup(sum, 2, 0.2, [...topics.map(topic => Number(topic.slice(0, 10))), ...constantsOf(code, instructions)])
  addGroup(sum, 3, 0.4, opcodeRuns(code, instructions))
  const most = sum.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  return Int8Array.from(sum, number => (most === 0 ? 0 : Math.round((127 * number) / most)))
}

/** Cosine similarity of two codes, from 0 to 1. */
export const similarityOf = (a: Int8Array, b: Int8Array): number => {
  let product = 0
  let squareA = 0
  let squareB = 0
  for (let i = 0; i < DIMENSIONS; i++) {
    const x = a[i]!
    const y = b[i]!
    product += x * y
    squareA += x * x
    squareB += y * y
  }
  return product <= 0 ? 0 : product / Math.sqrt(squareA * squareB)
}

/** Adds features, weighted by the root of their frequency, as a `share` of the squared length. */
const addGroup = (sum: Float64Array, salt: number, share: number, features: readonly number[]) => {
  const sorted = Int32Array.from(features).sort()
  const scale = Math.sqrt(share / sorted.length)
  for (let at = 0, end = 0; at < sorted.length; at = end) {
    const feature = sorted[at]!
    while (sorted[end] === feature) end++
    const value = scale * Math.sqrt(end - at)
    let hash = mix(feature ^ Math.imul(salt, 0x9e3779b9))
    for (let i = 0; i < SPREAD; i++) {
      sum[hash & (DIMENSIONS - 1)]! += hash < 0 ? -value : value
      hash = mix(hash)
    }
  }
}

/** Numbers of the vector that each feature adds to. */
const SPREAD = 4

/** Values of 4 to 16 pushed bytes, such as selectors; deployment may fill in longer ones. */
const constantsOf = (code: Uint8Array, instructions: readonly number[]): number[] => {
  const found = new Set<number>()
  for (const at of instructions) {
    const width = code[at]! - EVM.PUSH0
    if (width < 4 || width > 16) continue
    let hash = 0
    for (let i = 1; i <= width; i++) hash = mix(hash ^ code[at + i]!)
    found.add(hash)
  }
  return [...found]
}

/** Sequences of four opcodes without stack operations, which optimizers change. */
const opcodeRuns = (code: Uint8Array, instructions: readonly number[]): number[] => {
  const found: number[] = []
  let gram = 0
  for (const at of instructions) {
    const opcode = code[at]!
    if ((opcode >= EVM.PUSH0 && opcode <= EVM.SWAP16) || opcode === EVM.POP || opcode === EVM.JUMPDEST) continue
    if (ARITY[opcode] === 255) continue
    gram = (gram << 8) | opcode
    found.push(gram)
  }
  return found
}

const mix = (number: number): number => {
  let hash = Math.imul(number ^ (number >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return hash ^ (hash >>> 16)
}
