import { constants } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { isRecord } from '../../lib/arrays.ts'
import { newBytes, rawBytesOf } from '../../lib/bytes.ts'
import { ChainsieveError, messageOf, refuse } from '../../lib/errors.ts'
import { DEFAULT_LIMITS, overLimit } from '../../limits/index.ts'
import { type CheckOptions, checkBlock, refOf } from '../check/check-block.ts'
import { checkTraces } from '../check/check-traces.ts'
import { fromTraceBlock } from '../check/normal-traces.ts'
import { BLOATED, decodeText, isBloated } from '../rpc/answer-body.ts'
import type { BlockRef } from '../source.ts'
import type { RawBlock } from '../wire.ts'
import { findJsonFault } from './json-fault.ts'

export interface PackLine {
  path: string
  /** Line number in a pack, from 1; in other files the block number. */
  line: number
  form?: 'era1' | 'cryo'
  bytes: Uint8Array
  /** Whether this is the last line and has no line feed. */
  last: boolean
}

export interface PackOptions extends CheckOptions {
  signal?: AbortSignal
  /** Required chain id; lines without one pass. */
  chainId?: number
  /** Called with the number of file bytes read so far, before unpacking. */
  onRead?: (bytes: number) => void
  /** Looks up a stored block. Files with an index skip stored blocks. */
  stored?: (number: number) => BlockRef | undefined
  /** Makes memory for one or several lines. */
  allocate?: (bytes: number) => Uint8Array
  /** Read at once from a pack. */
  chunkBytes?: number
}

/** Reads a pack (NDJSON, also gzipped) in constant memory; errors name file, line and column. */
export async function* readPack(
  path: string,
  options: PackOptions = {},
): AsyncGenerator<{ line: number; block: RawBlock }> {
  let parent: BlockRef | undefined
  for await (const packLine of readPackLines(path, options)) {
    const block = parsePackLine(packLine, options)
    parent = linkPackBlock(packLine, parent, block)
    yield { line: packLine.line, block }
  }
}

export async function* readPackLines(path: string, options: PackOptions = {}): AsyncGenerator<PackLine> {
  const { limits = DEFAULT_LIMITS, allocate = newBytes, chunkBytes = CHUNK_BYTES } = options
  const most = Math.min(limits.packLine, constants.MAX_STRING_LENGTH)
  let line = 0
  let found = 0
  const checkLength = (bytes: number) => {
    if (bytes > most) throw overLimit('packLine', { ...limits, packLine: most }, `${path}, line ${line + 1}`)
  }
  const take = (bytes: Uint8Array, last: boolean): PackLine | undefined => {
    checkLength(bytes.length)
    line++
    if (isBlank(bytes)) return undefined
    found++
    return { path, line, bytes, last }
  }
  try {
    await using source = await openPack(path, options)
    let memory: Uint8Array = allocate(chunkBytes)
    let filled = 0
    for (;;) {
      const read = await source.read(memory.subarray(filled))
      const chunk = rawBytesOf(memory.subarray(0, filled + read))
      let start = 0
      for (let end = chunk.indexOf(LINE_FEED, filled); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        const packLine = take(chunk.subarray(start, end), false)
        start = end + 1
        if (packLine !== undefined) yield packLine
      }
      filled = chunk.length - start
      checkLength(filled)
      if (read === 0) {
        const packLine = filled === 0 ? undefined : take(chunk.subarray(start), true)
        if (packLine !== undefined) yield packLine
        break
      }
      if (chunk.length < memory.length) {
        // Lines that were handed on are not overwritten: the next chunk follows them.
        memory = memory.subarray(start)
        continue
      }
      // The beginning of a line goes on in other memory.
      memory = allocate(filled < chunkBytes ? chunkBytes : 2 * filled)
      memory.set(chunk.subarray(start))
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw readFault(error, path, line)
  }
  if (found === 0) {
    throw refuse(
      'pack_empty',
      `${path}: it has no blocks. A block pack has one JSON object {"chainId","block","receipts"} per line`,
    )
  }
}

export const parsePackLine = (packLine: PackLine, options: PackOptions = {}): RawBlock => {
  const bytes = rawBytesOf(packLine.bytes)
  if (isBloated(bytes)) throw refuse('pack_not_a_block', `${packLinePlace(packLine)}: ${BLOATED}. Remove the line`)
  const text = decodeText(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw brokenLine(packLine, text, error)
  }
  const raw = toRawBlock(packLine, value, options.chainId)
  try {
    checkBlock(raw, { excerpts: true, ...options })
    delete raw.block.partial
    delete raw.partial
    if (raw.traces !== undefined) {
      raw.traces = fromTraceBlock(raw.block, raw.traces)
      checkTraces(raw, options.limits)
    }
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    throw refuse(
      'pack_inconsistent_block',
      `${packLinePlace(packLine)}: ${error.message}. Record this block again, or remove the line`,
      error,
    )
  }
  return raw
}

/** Checks that a block links to that of the previous line, and returns its reference. */
export const linkPackBlock = (packLine: PackLine, previous: BlockRef | undefined, raw: RawBlock): BlockRef => {
  const ref = refOf(raw.block)
  if (previous !== undefined && ref.number === previous.number + 1 && raw.block.parentHash !== previous.hash) {
    throw refuse(
      'pack_unlinked',
      `${packLinePlace(packLine)}: block ${ref.number} names ${raw.block.parentHash} as its parent, but the block ${previous.number} ${packLine.form ? 'before it' : 'on the line before'} is ${previous.hash}. One of them was recorded from another branch: record both again`,
    )
  }
  return ref
}

export const formatPackLine = (raw: RawBlock): string => {
  const { chainId, block, receipts, traces } = raw
  return `${JSON.stringify({ chainId, block, receipts, traces })}\n`
}

const LINE_FEED = 10
/** Read at once; threads share such groups of lines. */
export const CHUNK_BYTES = 4 << 20
const UNPACKED_BYTES = 1 << 20

const isBlank = (bytes: Uint8Array): boolean => {
  for (const byte of bytes) if (byte !== 32 && byte !== 9 && byte !== 13) return false
  return true
}

export const packLinePlace = ({ path, line, form }: PackLine) => `${path}, ${form ? 'block' : 'line'} ${line}`

interface PackSource extends AsyncDisposable {
  /** Reads at most what fits; 0 at the end. */
  read(into: Uint8Array): Promise<number>
}

/** Bytes of a file, gunzipped if needed. */
const openPack = async (path: string, options: PackOptions): Promise<PackSource> => {
  const { signal, onRead } = options
  signal?.throwIfAborted()
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(6)
    const { bytesRead } = await file.read(head, 0, head.length, 0)
    const format = OTHER_FORMATS.find(it => it.magic.every((byte, i) => i < bytesRead && head[i] === byte))
    if (format !== undefined) {
      throw refuse(
        'pack_format',
        `${path}: this is ${format.name}. Block packs are plain NDJSON or gzip: ${format.remedy}`,
      )
    }
    if (head[0] === 0x1f && head[1] === 0x8b) return openGzip(file, options)
    let at = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0
    return {
      async read(into) {
        signal?.throwIfAborted()
        const { bytesRead } = await file.read(into, 0, into.length, at)
        at += bytesRead
        onRead?.(at)
        return bytesRead
      },
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

const openGzip = (file: FileHandle, { signal, onRead }: PackOptions): PackSource => {
  const stream = file.createReadStream({
    ...{ start: 0, highWaterMark: UNPACKED_BYTES, autoClose: false },
    ...(signal && { signal }),
  })
  const unpacked = stream.pipe(createGunzip({ chunkSize: UNPACKED_BYTES }))
  stream.on('error', error => unpacked.destroy(error))
  const chunks = unpacked[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let left = Buffer.alloc(0)
  return {
    async read(into) {
      if (left.length === 0) {
        const next = await chunks.next()
        if (next.done) return 0
        left = next.value as typeof left
        onRead?.(stream.bytesRead)
      }
      const size = left.copy(into)
      left = left.subarray(size)
      return size
    },
    async [Symbol.asyncDispose]() {
      stream.destroy()
      unpacked.destroy()
      await file.close()
    },
  }
}

const OTHER_FORMATS = [
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], remedy: 'unpack it with zstd -d' },
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], remedy: 'unpack it with xz -d' },
  { name: 'bzip2', magic: [0x42, 0x5a, 0x68], remedy: 'unpack it with bzip2 -d' },
  { name: 'a zip archive', magic: [0x50, 0x4b, 0x03, 0x04], remedy: 'unpack it' },
  { name: 'UTF-16 text', magic: [0xff, 0xfe], remedy: 'convert it to UTF-8' },
  { name: 'UTF-16 text', magic: [0xfe, 0xff], remedy: 'convert it to UTF-8' },
]

const readFault = (error: unknown, path: string, line: number): unknown => {
  const code = (error as NodeJS.ErrnoException | null)?.code
  const after = line === 0 ? 'before the end of its first line' : `after line ${line}`
  switch (code) {
    case 'Z_BUF_ERROR':
      return refuse('pack_truncated', `${path}: the gzip file is cut off ${after}. Copy or record it again`, error)
    case 'Z_DATA_ERROR':
      return refuse(
        'pack_damaged',
        `${path}: the gzip file is damaged ${after} (${messageOf(error)}). Copy it again`,
        error,
      )
    case 'ENOENT':
      return refuse('pack_not_found', `${path}: there is no such file`, error)
    case 'EISDIR':
      return refuse(
        'pack_not_a_file',
        `${path}: this is a folder. Name the packs in it, e.g. ${path.replace(/\/$/, '')}/*.ndjson.gz`,
        error,
      )
    case 'EACCES':
    case 'EPERM':
      return refuse('pack_unreadable', `${path}: no permission to read this file`, error)
    case 'EIO':
      return refuse('pack_unreadable', `${path}: the disk could not be read ${after} (${messageOf(error)})`, error)
    default:
      return error
  }
}

const brokenLine = (at: PackLine, text: string, cause: unknown): ChainsieveError => {
  const fault = findJsonFault(text)
  if (fault === undefined) return refuse('pack_broken_line', `${packLinePlace(at)}: ${messageOf(cause)}`, cause)
  if (fault.cut && at.last) {
    return refuse(
      'pack_truncated',
      `${at.path}: the file ends in the middle of line ${at.line} (column ${fault.offset + 1}, at ${fault.path}). Copy or record it again`,
      cause,
    )
  }
  return refuse(
    'pack_broken_line',
    `${packLinePlace(at)}, column ${fault.offset + 1}, at ${fault.path}: this is not JSON: ${fault.what}. Record this block again, or remove the line`,
    cause,
  )
}

const toRawBlock = (at: PackLine, value: unknown, chainId: number | undefined): RawBlock => {
  if (!isRecord(value)) {
    throw refuse(
      'pack_not_a_block',
      `${packLinePlace(at)}: expected a JSON object {"chainId","block","receipts"}, found ${kindOf(value)}`,
    )
  }
  const missing = (name: string, kind: string, hint: string) =>
    refuse(
      'pack_not_a_block',
      `${packLinePlace(at)}, at $.${name}: expected ${kind}, found ${kindOf(value[name])}. ${hint}`,
    )
  if (!isRecord(value.block)) {
    const hint =
      'transactions' in value
        ? 'This line is a bare block: wrap it as {"block": …, "receipts": …}'
        : 'result' in value
          ? 'This line is a whole JSON-RPC response: use only its result'
          : 'It is the result of eth_getBlockByNumber(n, true)'
    throw missing('block', 'an object', hint)
  }
  if (!Array.isArray(value.receipts))
    throw missing('receipts', 'an array', 'It is the result of eth_getBlockReceipts(n)')
  if (value.traces !== undefined && value.traces !== null && !Array.isArray(value.traces)) {
    throw missing('traces', 'an array', 'It is the result of trace_block(n), and may be absent')
  }
  if (value.traces === null) delete value.traces
  if (value.chainId === undefined || value.chainId === null) delete value.chainId
  else {
    const id = typeof value.chainId === 'string' && value.chainId !== '' ? Number(value.chainId) : value.chainId
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0)
      throw missing('chainId', 'a chain id', 'Ethereum has 1')
    if (chainId !== undefined && id !== chainId) {
      throw refuse(
        'pack_other_chain',
        `${packLinePlace(at)}, at $.chainId: this is a block of chain ${id}, but the network holds chain ${chainId}. Import it into a network of its own`,
      )
    }
    value.chainId = id
  }
  return value as unknown as RawBlock
}

const kindOf = (value: unknown): string =>
  value === undefined
    ? 'nothing'
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'an array'
        : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`
