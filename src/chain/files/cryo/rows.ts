import { open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Compressors, parquetMetadataAsync, parquetScan, parquetSchema } from 'hyparquet'
import { refuse } from '../../../lib/errors.ts'
import type { Hex } from '../../wire.ts'
import type { CryoFile } from './folder.ts'

export interface CryoColumns {
  needed: readonly string[]
  integers: readonly string[]
  optional: readonly string[]
}

export type CryoRow = (column: string) => unknown

/** Exact forms of an integer; the other forms lose digits. */
const FORMS = ['_string', '_str', '_binary', '']

export type Cursor = ReturnType<typeof createCursor>

export const createCursor = (files: readonly CryoFile[], wanted: CryoColumns) => {
  let next = 0
  let table: { table: Table; file: CryoFile; columns: ReadonlyMap<string, string> } | undefined
  let group = 0
  let rows: Rows | undefined
  let at = 0
  let last = -1

  const close = async () => {
    const open = table?.table
    table = undefined
    rows = undefined
    await open?.close()
  }
  const seek = async (block: number) => {
    if (table && table.file.to >= block) return table
    await close()
    while (next < files.length && files[next]!.to < block) next++
    const file = files[next++]!
    const opened = await openTable(file.path)
    table = { table: opened, file, columns: new Map() }
    table.columns = columnsOf(file.path, opened.names, wanted)
    group = 0
    at = 0
    last = file.from
    return table
  }
  return {
    async take(block: number): Promise<{ rows: CryoRow[]; file: string }> {
      const { table: opened, file, columns } = await seek(block)
      const found: CryoRow[] = []
      for (;;) {
        if (!rows || at === rows.count) {
          if (group === opened.groups.length) break
          rows = await opened.read(group++, [...columns.values()])
          last = checkSorted(file, rows, last)
          at = 0
          continue
        }
        const number = Number(rows.columns.get('block_number')![at])
        if (number > block) break
        if (number === block) found.push(rowOf(rows, at, columns))
        at++
      }
      return { rows: found, file: file.path }
    },
    close,
  }
}

const checkSorted = ({ path, to }: CryoFile, { count, columns }: Rows, from: number): number => {
  const numbers = columns.get('block_number')!
  let last = from
  for (let i = 0; i < count; i++) {
    const number = Number(numbers[i])
    if (!(number >= last && number <= to))
      throw refuse(
        'cryo_unsorted',
        `${path}: a row of block ${number} follows one of block ${last}. Let cryo write it again without --sort`,
      )
    last = number
  }
  return last
}

const rowOf =
  ({ columns }: Rows, at: number, names: ReadonlyMap<string, string>): CryoRow =>
  name => {
    const column = names.get(name)
    return column === undefined ? undefined : columns.get(column)![at]
  }

const columnsOf = (path: string, names: ReadonlySet<string>, { needed, integers, optional }: CryoColumns) => {
  const columns = new Map<string, string>()
  const missing: string[] = []
  for (const name of [...needed, ...optional]) {
    const found = integers.includes(name) ? FORMS.map(form => `${name}${form}`).find(it => names.has(it)) : name
    if (found !== undefined && names.has(found)) columns.set(name, found)
    else if (needed.includes(name)) missing.push(integers.includes(name) ? `${name}_string` : name)
  }
  if (missing.length > 0)
    throw refuse(
      'cryo_missing_column',
      `${path}: it has no ${missing.join(', ')}. Let cryo write it again, with --include-columns all`,
    )
  return columns
}

export interface Rows {
  count: number
  columns: ReadonlyMap<string, ArrayLike<unknown>>
}

export interface Table {
  names: ReadonlySet<string>
  groups: readonly number[]
  read(group: number, columns: readonly string[]): Promise<Rows>
  close(): Promise<void>
}

/** Snappy is read by the reader itself. */
const COMPRESSORS: Compressors = {
  GZIP: input => gunzipSync(input),
  BROTLI: input => brotliDecompressSync(input),
  ZSTD: input => zstdDecompressSync(input),
  LZ4_RAW: (input, size) => unpackLz4(input, size),
}

const openTable = async (path: string): Promise<Table> => {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const source = {
      byteLength: size,
      async slice(start: number, end = size) {
        const bytes = Buffer.allocUnsafeSlow(Math.max(0, end - start))
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
        if (bytesRead < bytes.length) throw new RangeError(`it ends at byte ${start + bytesRead}`)
        return bytes.buffer as ArrayBuffer
      },
    }
    const metadata = await parquetMetadataAsync(source).catch(error => {
      throw damaged(path, error)
    })
    const scan = await parquetScan({ file: source, metadata, compressors: COMPRESSORS, utf8: false })
    const groups = metadata.row_groups.map(({ num_rows }) => Number(num_rows))
    return {
      names: new Set(parquetSchema(metadata).children.map(({ element }) => element.name)),
      groups,
      async read(group, wanted) {
        const rowStart = groups.slice(0, group).reduce((sum, rows) => sum + rows, 0)
        const rowEnd = rowStart + groups[group]!
        const columns = new Map<string, ArrayLike<unknown>>()
        try {
          for (const column of wanted) columns.set(column, await scan.readColumn({ column, rowStart, rowEnd }))
        } catch (error) {
          throw damaged(path, error)
        }
        for (const [name, { length }] of columns)
          if (length !== groups[group])
            throw damaged(path, new RangeError(`${name} has ${length} values instead of ${groups[group]}`))
        return { count: groups[group]!, columns }
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

const damaged = (path: string, error: unknown) =>
  refuse(
    'cryo_damaged',
    `${path} cannot be read as Parquet: ${(error as Error).message}. Delete it and let cryo write it again`,
    error,
  )

/** Bytes, or hex as cryo writes them with `--hex`; null where there is none. */
export const hexOf = (value: unknown, name: string): Hex | null => {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array)
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`
  if (typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return value.toLowerCase()
  throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not bytes`)
}

/** Numbers, decimal digits, or bytes from the most significant on. */
export const quantityOf = (value: unknown, name: string): Hex | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) {
    if (value >= 0) return `0x${value.toString(16)}`
  } else if (value instanceof Uint8Array) {
    if (value.length > 0 && value.length <= 32) return `0x${BigInt(hexOf(value, name)!).toString(16)}`
  } else if (typeof value === 'string' && /^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(value))
    return `0x${BigInt(value).toString(16)}`
  throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not a whole number`)
}

export const integerOf = (value: unknown, name: string): number => {
  const number = Number(value)
  if (value === null || value === undefined || !Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not a number`)
  return number
}

/** Unpacks a raw LZ4 block, whose size is known. Throws a `RangeError` where it is damaged. */
export const unpackLz4 = (input: Uint8Array, size: number): Uint8Array => {
  const output = new Uint8Array(size)
  let at = 0
  let end = 0
  const next = (): number => {
    if (at >= input.length) throw damagedLz4()
    return input[at++]!
  }
  /** A length of 15 goes on in the bytes that follow. */
  const lengthOf = (nibble: number): number => {
    let length = nibble
    if (nibble === 15)
      for (let more = 255; more === 255; ) {
        more = next()
        length += more
      }
    return length
  }
  while (at < input.length) {
    const token = next()
    const literals = lengthOf(token >> 4)
    if (at + literals > input.length || end + literals > size) throw damagedLz4()
    output.set(input.subarray(at, at + literals), end)
    at += literals
    end += literals
    // The last sequence has literals alone.
    if (at === input.length) break
    const offset = next() + next() * 256
    const length = lengthOf(token & 15) + LEAST_MATCH
    if (offset === 0 || offset > end || end + length > size) throw damagedLz4()
    if (offset >= length) {
      output.copyWithin(end, end - offset, end - offset + length)
      end += length
    } else for (const stop = end + length; end < stop; end++) output[end] = output[end - offset]!
  }
  if (end !== size) throw damagedLz4()
  return output
}

const LEAST_MATCH = 4
const damagedLz4 = () => new RangeError('an LZ4 block is damaged')
