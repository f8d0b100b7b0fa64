import { open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Compressors, parquetMetadataAsync, parquetScan, parquetSchema } from 'hyparquet'
import { refuse } from '../../../lib/errors.ts'
import { unpackLz4 } from './lz4.ts'

/** Columns of some rows, by their names. */
export interface Rows {
  count: number
  columns: ReadonlyMap<string, ArrayLike<unknown>>
}

/** A Parquet file, of which one row group is in memory at a time. */
export interface Table {
  names: ReadonlySet<string>
  /** Rows of each row group. */
  groups: readonly number[]
  read(group: number, columns: readonly string[]): Promise<Rows>
  close(): Promise<void>
}

/** Snappy is read by the reader itself. */
const COMPRESSORS: Compressors = {
  GZIP: input => gunzipSync(input),
  BROTLI: input => brotliDecompressSync(input),
  ZSTD: input => zstdDecompressSync(input),
  LZ4_RAW: unpackLz4,
}

export const openTable = async (path: string): Promise<Table> => {
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
