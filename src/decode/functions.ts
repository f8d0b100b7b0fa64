import { unbrotli } from '../lib/bytes.ts'
import { createRecentCache } from '../lib/caches.ts'
import { stop } from '../lib/errors.ts'
import { type FunctionAbi, parseSignature, selectorOf } from './signature.ts'

export interface FunctionCandidate {
  function: FunctionAbi
  probability: number
}

/**
 * Probability by the sign before a declaration: published ABI, ABI of a verified contract, or list
 * of signatures, which anyone can extend. One of 8,000 unknown selectors matches a listed one by
 * chance, so a match that decodes without remainder is fairly certain.
 */
export const STANDINGS: Readonly<Record<string, number>> = { '+': 0.9, ' ': 0.8, '?': 0.6 }

/**
 * `data/functions.bin`, numbers little-endian:
 * - lines of text that begin with `#`, up to the first byte 0: what it is and where it comes from
 * - u32: declarations, which are counted in alphabetical order
 * - u32: bytes of each of the blocks, as many as there are runs of 1,024 declarations
 * - u16 for each upper half of a selector: declarations with such a selector
 * - u16 for each declaration, in the order of the selectors: the lower half of its selector
 * - u16 for each declaration, in the same order: the group of 16 declarations that has it
 * - blocks: Brotli; one line per name: a character (code less 32 = length of the prefix shared with
 * the previous name, 0 at the start of a group) and the rest; then one line per declaration's
 * arguments: the sign of its standing and `address to,uint256 amount`
 *
 * The selector's hash picks the declaration within its group, so false matches are impossible.
 */
export const GROUP_SIZE = 16
export const BLOCK_SIZE = 1024
/** Bytes of an unpacked block; a declaration has about forty. */
export const BLOCK_LIMIT = 1 << 22

/** Cached selectors per generation; two generations take some 6 MB. */
const GENERATION = 8192
/** Unpacked blocks in the cache, some 200 kB each. */
const UNPACKED = 8

export type Functions = ReturnType<typeof openFunctions>

/**
 * Opens `data/functions.bin`. Every indexing thread does, so it only reads the index (1 to 2 ms);
 * a block is unpacked (about 0.5 ms) on first use.
 */
export const openFunctions = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = bytes.indexOf(0) + 1
  if (at === 0 || at + 4 > bytes.length) throw broken('it has no head')
  const size = view.getUint32(at, true)
  const blocks = Math.ceil(size / BLOCK_SIZE)
  at += 4
  const counts = at + 4 * blocks
  const lower = counts + 2 * 65536
  const groups = lower + 2 * size
  if (groups + 2 * size > bytes.length) throw broken('it ends within its index')

  const starts = new Uint32Array(blocks + 1)
  starts[0] = groups + 2 * size
  for (let i = 0; i < blocks; i++) starts[i + 1] = starts[i]! + view.getUint32(at + 4 * i, true)
  /** Index of the first selector with each upper half. */
  const firsts = new Uint32Array(65537)
  for (let i = 0; i < 65536; i++) firsts[i + 1] = firsts[i]! + view.getUint16(counts + 2 * i, true)
  if (starts[blocks] !== bytes.length || firsts[65536] !== size) throw broken('its index does not add up')

  const unpack = (block: number): string[] => {
    const count = Math.min(BLOCK_SIZE, size - block * BLOCK_SIZE)
    let lines: string[]
    try {
      const packed = bytes.subarray(starts[block]!, starts[block + 1]!)
      lines = unbrotli(packed, BLOCK_LIMIT).toString('latin1').split('\n')
    } catch (cause) {
      throw broken(`block ${block} does not unpack`, cause)
    }
    if (lines.length !== 2 * count) throw broken(`block ${block} has ${lines.length} lines instead of ${2 * count}`)
    return lines
  }

  /** The most recently used one is last. */
  const unpacked = new Map<number, string[]>()
  const linesOf = (block: number): string[] => {
    const lines = unpacked.get(block) ?? unpack(block)
    unpacked.delete(block)
    unpacked.set(block, lines)
    if (unpacked.size > UNPACKED) unpacked.delete(unpacked.keys().next().value!)
    return lines
  }

  const textsOf = (group: number): string[] => {
    const lines = linesOf(Math.floor((group * GROUP_SIZE) / BLOCK_SIZE))
    const first = (group * GROUP_SIZE) % BLOCK_SIZE
    const count = lines.length / 2
    let name = ''
    return lines.slice(first, Math.min(first + GROUP_SIZE, count)).map((line, i) => {
      name = name.slice(0, line.charCodeAt(0) - 32) + line.slice(1)
      const args = lines[count + first + i]!
      return `${args[0]} ${name}(${args.slice(1)})`
    })
  }

  const read = (selector: string): readonly FunctionCandidate[] => {
    const upper = Number.parseInt(selector.slice(2, 6), 16)
    const half = Number.parseInt(selector.slice(6, 10), 16)
    let from = firsts[upper]!
    const end = firsts[upper + 1]!
    for (let to = end; from < to; ) {
      const middle = (from + to) >> 1
      if (view.getUint16(lower + 2 * middle, true) < half) from = middle + 1
      else to = middle
    }
    const found: FunctionCandidate[] = []
    const seen = new Set<number>()
    for (; from < end && view.getUint16(lower + 2 * from, true) === half; from++) {
      const group = view.getUint16(groups + 2 * from, true)
      if (seen.has(group)) continue
      seen.add(group)
      for (const text of textsOf(group)) {
        const declared = parseSignature(text.slice(2), 'function')
        if (selectorOf(declared) !== selector) continue
        found.push({ function: withoutOutputs(declared), probability: STANDINGS[text[0]!] ?? 0 })
      }
    }
    return found.length === 0 ? NO_FUNCTIONS : found.sort((a, b) => b.probability - a.probability)
  }

  const heads: string[] = []
  const headOf = (block: number): string => {
    heads[block] ??= textsOf((block * BLOCK_SIZE) / GROUP_SIZE)[0]!.slice(2)
    return heads[block]
  }

  const recent = createRecentCache<readonly FunctionCandidate[]>(GENERATION)
  const unknown = new Set<string>()

  return {
    size,
    /** Declarations of a selector (lower-case `0x` and 8 digits), likeliest first; mostly one. */
    find(selector: string): readonly FunctionCandidate[] {
      const known = recent.get(selector)
      if (known !== undefined) return known
      if (unknown.has(selector) || !SELECTOR.test(selector)) return NO_FUNCTIONS
      const result = read(selector)
      // The index alone rejects unknown selectors, and there are too many to cache them all.
      if (result === NO_FUNCTIONS) {
        if (unknown.size >= GENERATION) unknown.clear()
        unknown.add(selector)
      } else recent.set(selector, result)
      return result
    },
    /** Declarations with this name; undefined if more than `most`. */
    named(name: string, most: number): readonly FunctionAbi[] | undefined {
      const start = `${name}(`
      let [low, high] = [0, blocks]
      while (low < high) {
        const middle = (low + high) >> 1
        if (headOf(middle) < start) low = middle + 1
        else high = middle
      }
      // The previous block may contain the first declaration of this name.
      let group = (Math.max(0, low - 1) * BLOCK_SIZE) / GROUP_SIZE
      const found: FunctionAbi[] = []
      for (; group * GROUP_SIZE < size; group++) {
        const texts = textsOf(group).map(text => text.slice(2))
        if (texts.at(-1)! < start) continue
        const same = texts.filter(text => text.startsWith(start))
        if (same.length === 0) break
        if (found.length + same.length > most) return undefined
        found.push(...same.map(text => withoutOutputs(parseSignature(text, 'function'))))
      }
      return found
    },
    /** All in alphabetical order, with the standing: `+ transfer(address to,uint256 amount)`. */
    *texts(): Generator<string> {
      for (let group = 0; group * GROUP_SIZE < size; group++) yield* textsOf(group)
    },
  }
}

const NO_FUNCTIONS: readonly FunctionCandidate[] = []
const SELECTOR = /^0x[0-9a-f]{8}$/

const withoutOutputs = ({ name, inputs }: FunctionAbi): FunctionAbi => ({ name, inputs })

const broken = (what: string, cause?: unknown) =>
  stop(
    'functions_broken',
    `data/functions.bin: ${what}. Write the file again with node scripts/registry/build.ts or restore the original one`,
    cause,
  )
