import type { RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type Field, fieldsOf, type Kind } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { tableValues } from '../search/lines.ts'
import { type Encoder, parseHit } from './lines.ts'

/** Most rows and bytes per row group, which is held in memory. */
const GROUP_ROWS = 100_000
const GROUP_BYTES = 32 << 20

type Type = 'string' | 'long' | 'double' | 'boolean' | 'time'

const ELEMENTS: Record<Type, Omit<SchemaElement, 'name'>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  long: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
}

/** For objects, the type of each member. */
const NUMBER_MEMBERS: Record<string, Type> = { num: 'long', coin: 'double' }
const PARQUET_TYPES: Partial<Record<Field['kind'], Type>> = {
  boolean: 'boolean',
  seconds: 'time',
  datetime: 'time',
  long: 'long',
  double: 'double',
  integer256: 'long',
}

/** One Parquet column per table column; lists of objects are JSON text. */
export const createParquet = (request: Pick<SearchRequest, 'parts' | 'source'>): Encoder => {
  const { columns, isMixed, read } = tableValues(request)
  const names = ['_id', ...(isMixed ? ['_type'] : []), ...columns]
  const types = names.map(name =>
    parquetType(
      request.parts.map(({ kind }) => kind),
      name,
    ),
  )
  const schema: SchemaElement[] = [
    { name: 'hit', num_children: names.length },
    ...names.map((name, i) => ({
      ...({ name, repetition_type: name === '_id' || name === '_type' ? 'REQUIRED' : 'OPTIONAL' } as const),
      ...ELEMENTS[types[i]!],
    })),
  ]
  const write = (writer: ByteWriter) => new ParquetWriter({ writer, schema, createdBy: 'chainsieve' })
  let data: unknown[][] = names.map(() => [])
  let bytes = 0
  const clear = () => {
    data = names.map(() => [])
    bytes = 0
  }
  return {
    add(hits) {
      for (const hit of hits) {
        const { _id, _type, _source } = parseHit(hit)
        const row = [_id, ...(isMixed ? [_type] : []), ...read(_source)]
        for (const [i, value] of row.entries()) data[i]!.push(parquetValue(types[i]!, value))
        bytes += hit.length
      }
    },
    isFull: () => bytes >= GROUP_BYTES || data[0]!.length >= GROUP_ROWS,
    clear,
    async take(at) {
      const writer = new ByteWriter()
      // Offsets count from the file's start; `write` emits the magic, which only a new file needs.
      const made = write(writer)
      const skipped = at === 0 ? 0 : writer.index
      writer.offset = at === 0 ? writer.offset : at
      await made.write({
        columnData: names.map((name, i) => ({ name, data: data[i]!, offsetIndex: false })),
        rowGroupSize: Number.MAX_SAFE_INTEGER,
      })
      clear()
      return { part: writer.getBytes().slice(skipped), note: made.row_groups.map(toNote) }
    },
    async tail(notes, at) {
      const writer = new ByteWriter()
      const made = write(writer)
      const skipped = at === 0 ? 0 : writer.index
      made.row_groups = notes.flatMap(groups => (groups as unknown[]).map(fromNote))
      made.num_rows = made.row_groups.reduce((sum, { num_rows }) => sum + num_rows, 0n)
      await made.finish()
      return writer.getBytes().slice(skipped)
    },
  }
}

const parquetType = (kinds: readonly Kind[], name: string): Type => {
  const types = new Set(kinds.flatMap(kind => typesIn(kind, name)))
  return types.size === 1 ? [...types][0]! : 'string'
}

/** None if documents of the kind have no such column. */
const typesIn = (kind: Kind, name: string): Type[] => {
  const at = name.lastIndexOf('.')
  const [parent, member] = [name.slice(0, at), name.slice(at + 1)]
  const found = fieldsOf(kind).find(({ list, path }) => !list && (path === name || (at > 0 && path === parent)))
  if (!found) return []
  return found.path === name ? [PARQUET_TYPES[found.field.kind] ?? 'string'] : [NUMBER_MEMBERS[member] ?? 'string']
}

const parquetValue = (type: Type, value: unknown): unknown => {
  if (value === undefined || value === null) return null
  switch (type) {
    case 'long':
      return BigInt(typeof value === 'number' ? value : JSON.stringify(value))
    case 'time':
      return typeof value === 'number' ? new Date(value * 1000) : new Date(`${value as string}Z`)
    case 'double':
      return Number(typeof value === 'number' ? value : JSON.stringify(value))
    case 'boolean':
      return value
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

/** JSON has neither integers of this size nor bytes. */
const toNote = (group: RowGroup): unknown =>
  JSON.parse(
    JSON.stringify(group, (_, value: unknown) =>
      typeof value === 'bigint'
        ? { bigint: String(value) }
        : value instanceof Uint8Array
          ? { bytes: Buffer.from(value).toString('base64') }
          : value,
    ),
  )

const fromNote = (note: unknown): RowGroup =>
  JSON.parse(JSON.stringify(note), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('bigint' in value) return BigInt(value.bigint as string)
    if ('bytes' in value) return new Uint8Array(Buffer.from(value.bytes as string, 'base64'))
    return value
  }) as RowGroup
