import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ChainsieveError, refuse } from '../../../lib/errors.ts'
import { DEFAULT_LIMITS, overLimit } from '../../../limits/index.ts'
import { checkBlock } from '../../check/check-block.ts'
import type { BlockRef } from '../../source.ts'
import type { RawBlock } from '../../wire.ts'
import type { PackLine, PackOptions } from '../pack.ts'
import { chainIdIn, decodeBlock } from './block.ts'
import {
  ENTRY_HEAD,
  ENTRY_TYPES,
  headerAt,
  MOST_BLOCKS,
  openWindow,
  readEntry,
  readIndex,
  survey,
  type Window,
} from './survey.ts'

/** Blocks of an era1 file as bytes, after checks of entries, checksum, links and accumulator. */
export async function* readEra1(path: string, options: PackOptions = {}): AsyncGenerator<PackLine> {
  const { signal, onRead, stored, limits = DEFAULT_LIMITS, allocate = size => new Uint8Array(size) } = options
  await using file = await open(path, 'r')
  const window = await openEra1(path, file)
  try {
    if (stored && (await isStored(window, limits.packLine, stored))) {
      onRead?.(window.size)
      return
    }
    await checkSum(path, window, signal)
    const places = await survey(window, limits.packLine, signal)
    for (const { number, hash, from, to } of places) {
      signal?.throwIfAborted()
      onRead?.(to)
      if (stored?.(number)?.hash === hash) continue
      if (to - from > limits.packLine) throw overLimit('packLine', limits, `${path}, block ${number}`)
      const bytes = allocate(to - from)
      bytes.set(await window.bytes(from, to - from))
      yield { path, line: number, bytes, last: false, form: 'era1' }
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw era1Damaged(path, error)
  }
}

export const parseEra1Block = (line: PackLine, options: PackOptions = {}): RawBlock => {
  const { path, line: number, bytes } = line
  const where = `${path}, block ${number}`
  try {
    const raw = decodeBlock(Buffer.from(bytes), (options.limits ?? DEFAULT_LIMITS).packLine)
    checkBlock(raw, options)
    const { chainId } = options
    const genesis = chainId === undefined || number > 0 ? undefined : GENESIS.get(chainId)
    if (genesis !== undefined && genesis !== raw.block.hash)
      throw refuse(
        'pack_other_chain',
        `${where}: this is ${raw.block.hash}, but chain ${chainId} begins with ${genesis}. Import it into a network of its own`,
      )
    if (chainId !== undefined && raw.chainId !== undefined && raw.chainId !== chainId)
      throw refuse(
        'pack_other_chain',
        `${where}: its transactions are of chain ${raw.chainId}, but the network holds chain ${chainId}. Import it into a network of its own`,
      )
    return raw
  } catch (error) {
    if (error instanceof ChainsieveError && error.next === 'refuse') throw error
    if (!(error instanceof RangeError || error instanceof ChainsieveError)) throw error
    throw refuse('pack_inconsistent_block', `${where}: ${error.message}. Download the file again`, error)
  }
}

export const chainIdOfEra1 = async (path: string, options: PackOptions = {}): Promise<number | undefined> => {
  const { limits = DEFAULT_LIMITS, signal } = options
  await using file = await open(path, 'r')
  const window = await openEra1(path, file)
  try {
    const places = await survey(window, limits.packLine, signal)
    const first = places[0]
    const known = first?.number === 0 && [...GENESIS].find(([, hash]) => hash === first.hash)
    if (known) return known[0]
    for (const { from, to } of places) {
      const chainId = chainIdIn(await window.bytes(from, to - from), limits.packLine)
      if (chainId !== undefined) return chainId
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw era1Damaged(path, error)
  }
  return NAMED.get(/([^/\\-]+)-[^/\\]*$/.exec(path)?.[1] ?? '')
}

const GENESIS = new Map([
  [1, '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'],
  [11_155_111, '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9'],
])

const NAMED = new Map([
  ['mainnet', 1],
  ['sepolia', 11_155_111],
])

const openEra1 = async (path: string, file: FileHandle): Promise<Window> => {
  const window = await openWindow(file)
  if (window.size >= 2 * ENTRY_HEAD) return window
  throw era1Damaged(path, new RangeError(`it has only ${window.size} bytes`))
}

const isStored = async (
  window: Window,
  most: number,
  stored: (number: number) => BlockRef | undefined,
): Promise<boolean> => {
  const count = Number((await window.bytes(window.size - 8, 8)).readBigUInt64LE())
  const at = window.size - ENTRY_HEAD - 16 - 8 * count
  if (!(count > 0 && count <= MOST_BLOCKS && at > 0)) return false
  const entry = await readEntry(window, at)
  if (entry.type !== ENTRY_TYPES.index || entry.to !== window.size) return false
  const { first } = await readIndex(window, entry)
  const index = await window.bytes(entry.from, entry.to - entry.from)
  const last = await readEntry(window, at + Number(index.readBigInt64LE(8 * count)))
  if (last.type !== ENTRY_TYPES.header) return false
  const { number, hash } = await headerAt(window, last, most)
  if (number !== first + count - 1 || stored(number)?.hash !== hash) return false
  for (let i = first; i < number; i++) if (!stored(i)) return false
  return true
}

const era1Damaged = (path: string, error: unknown): unknown => {
  if (!(error instanceof RangeError)) return error
  return refuse('era1_damaged', `${path}: ${error.message}. Download the file again`, error)
}

const CHECKSUMS_FILE = 'checksums.txt'
const PIECE = 1 << 20

/** Compares a file with its line in `checksums.txt`, or with all lines if they have no names. */
const checkSum = async (path: string, window: Window, signal?: AbortSignal): Promise<void> => {
  const list = join(dirname(path), CHECKSUMS_FILE)
  const text = await readFile(list, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const sums = new Map<string, string>()
  const nameless = new Set<string>()
  for (const line of text.split('\n')) {
    const [, sum, name] = /^\s*(?:0x)?([0-9a-fA-F]{64})(?:\s+\*?(\S+))?\s*$/.exec(line) ?? []
    if (sum === undefined) continue
    if (name === undefined) nameless.add(sum.toLowerCase())
    else sums.set(basename(name), sum.toLowerCase())
  }
  const hash = createHash('sha256')
  for (let at = 0; at < window.size; at += PIECE) {
    signal?.throwIfAborted()
    hash.update(await window.bytes(at, Math.min(PIECE, window.size - at)))
  }
  const found = hash.digest('hex')
  const due = sums.get(basename(path))
  if (due === found || (due === undefined && nameless.has(found))) return
  const stated = due === undefined ? `does not have it` : `says ${due}`
  throw refuse('era1_checksum', `${path}: its SHA-256 is ${found}, but ${list} ${stated}. Download the file again`)
}
