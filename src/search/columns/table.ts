import type { RowShape } from '../../engine/show/row.ts'
import { stop } from '../../lib/errors.ts'
import { type Field, isListField, type ListField, MAPPING } from '../../mapping/index.ts'
import { compileSourcePaths } from '../../query/hits/source-filter.ts'
import type { SourceFilter } from '../../query/request.ts'
import { ADDRESS_SIZE, argumentReader, type CellType, type TableCell, type WideIntegers } from './argument-values.ts'
import type { CalledKind, DeclaredArguments } from './declared.ts'
import {
  createHitScanner,
  type ScanHits,
  type ScannedMember,
  type ScanValue,
  scanConstant,
  scanJson,
  scanRaw,
  scanText,
} from './scanner.ts'

export interface TableColumn extends CellType {
  name: string
  /** Whether texts are hex, which no format has to escape. */
  isHex?: boolean | undefined
}

/** Events, or calls, of one signature as a table. */
export interface ArgumentTable {
  columns: TableColumn[]
  /** The parts of documents that `read` needs. */
  source: string[]
  /** The cells of a document. */
  read(document: TableDocument): TableCell[]
  /** The rows as stores write them. */
  rows: RowShape
  /** Adds the rows of all hits of an answer. */
  scan: ScanHits
}

export interface TableDocument {
  /** Absent from bare hits. */
  _id?: string
  _source: Record<string, unknown>
}

interface HitArgument {
  value: { hex: string; scaled?: number | null; type: string }
}

/** Shown unless `_source` names others. */
const USUAL_FIELDS = {
  event: ['blockNumber', 'timestamp', 'transactionHash', 'transactionIndex', 'logIndex', 'address'],
  call: ['blockNumber', 'timestamp', 'transactionHash', 'transactionIndex', 'traceAddress', 'from', 'to', 'value'],
} as const satisfies Record<CalledKind, readonly string[]>

/** Chosen fields of the document, and then the arguments. */
export const createArgumentTable = (
  declared: DeclaredArguments,
  filter: SourceFilter,
  integers: WideIntegers,
): ArgumentTable => {
  const { kind, name, args } = declared
  const fields = shownFields(kind, filter, integers)
  const names = createColumnNames(fields.map(field => field.name))
  const readers = args.map(({ type }) => argumentReader(type, integers))
  const argumentNames = args.map((argument, pos) => names(argument.name, pos))
  const unitNames = args.map(({ hasUnits }, pos) =>
    hasUnits ? names(`${argumentNames[pos]!} (units)`, pos) : undefined,
  )
  const nameField = kind === 'event' ? 'event' : 'method'
  const anyUnits = args.some(({ hasUnits }) => hasUnits)
  const scanned = Object.keys(MAPPING[kind].fields).flatMap((path): ScannedMember[] => {
    if (path === 'args')
      return [
        {
          path,
          args: args.map(({ type, hasUnits }, i) => ({ type, hasUnits, reader: readers[i]! })),
          anyUnits,
          at: fields.length,
        },
      ]
    const at = fields.findIndex(field => field.name === path)
    if (path === nameField) return [{ path, scan: scanConstant(name), at }]
    return at < 0 ? [] : [{ path, scan: fields[at]!.scan, at }]
  })
  const read = ({ _id, _source }: TableDocument): TableCell[] => {
    const cells: TableCell[] = fields.map(({ read }) => read(_source))
    const shown = (_source.args ?? []) as HitArgument[]
    if (_source[nameField] !== name || (shown.length > 0 && shown.length !== args.length))
      throw otherSignature(declared, _id, _source[nameField], shown)
    for (let i = 0; i < args.length; i++) {
      const value = shown[i]?.value
      // Some cannot be decoded.
      if (value && value.type !== args[i]!.type) throw otherSignature(declared, _id, _source[nameField], shown)
      cells.push(value ? readers[i]!.read(value.hex) : null)
      if (unitNames[i] !== undefined) cells.push(value?.scaled ?? null)
    }
    return cells
  }
  return {
    read,
    rows: {
      name,
      fields: fields.map(field => field.name),
      args: args.map(({ type, hasUnits }) => ({ type, hasUnits })),
    },
    scan: createHitScanner(scanned, json => read(JSON.parse(json) as TableDocument)),
    columns: [
      ...fields.map(({ name, form, lists, isHex }) => ({ name, form, lists, isHex })),
      ...readers.flatMap(({ form, lists, isVerbatim }, i) => [
        { name: argumentNames[i]!, form, lists, isHex: isVerbatim },
        ...(unitNames[i] === undefined ? [] : [{ name: unitNames[i], form: 'double' as const, lists: 0 }]),
      ]),
    ],
    source: [
      ...new Set([
        ...fields.map(({ path }) => path),
        ...[nameField, 'args.value.hex', 'args.value.type', ...(anyUnits ? ['args.value.scaled'] : [])],
      ]),
    ],
  }
}

const otherSignature = (
  { name, args }: DeclaredArguments,
  id: string | undefined,
  other: unknown,
  shown: HitArgument[],
) =>
  stop(
    'several_signatures',
    `the columns are those of ${name}(${args.map(({ type }) => type).join(',')}), but ${id ?? 'another hit'} is ${other}(${shown.map(({ value }) => value.type).join(',')}): add a condition to the query that selects one of them, such as {"term":{"address.raw":"0x…"}}`,
  )

interface TableField extends TableColumn {
  path: string
  read(source: Record<string, unknown>): TableCell
  scan: ScanValue
}

const plainField = (name: string, form: TableColumn['form'], scan: ScanValue): TableField => ({
  ...{ name, path: name, form, scan, lists: 0 },
  read: source => (source[name] ?? null) as TableCell,
})

const tableFieldOf = (name: string, { kind, bytes }: Field, integers: WideIntegers): TableField => {
  switch (kind) {
    case 'quantity':
    case 'wide':
    case 'amount': {
      const reader = argumentReader(kind === 'quantity' ? 'int64' : 'uint256', integers)
      const { form, read: integer } = reader
      const read = (source: Record<string, unknown>) => {
        const raw = (source[name] as { raw?: string } | null | undefined)?.raw
        return raw === undefined ? null : integer(raw)
      }
      return { name, path: `${name}.raw`, form, lists: 0, read, scan: scanRaw(reader) }
    }
    case 'datetime':
      return plainField(name, 'time', scanText())
    case 'long':
      return plainField(name, 'long', scanJson)
    case 'integers':
      return { ...plainField(name, 'long', scanJson), lists: 1 }
    case 'double':
    case 'boolean':
      return plainField(name, kind, scanJson)
    case 'address':
      return { ...plainField(name, 'text', scanText(ADDRESS_SIZE)), isHex: true }
    case 'hex':
      return { ...plainField(name, 'text', scanText(bytes && 2 + 2 * bytes)), isHex: true }
    default:
      return plainField(name, 'text', scanText())
  }
}

const shownFields = (kind: CalledKind, filter: SourceFilter, integers: WideIntegers): TableField[] => {
  const all = Object.entries<Field | ListField>(MAPPING[kind].fields).flatMap(([name, field]) =>
    isListField(field) ? [] : [tableFieldOf(name, field, integers)],
  )
  const isChosen = typeof filter === 'object' && filter.includes.length > 0
  const usual: readonly string[] = USUAL_FIELDS[kind]
  const { of } = compileSourcePaths(filter)
  const isShown = ({ name, path }: TableField) => of(name, [path]) !== 'none' && (isChosen || usual.includes(name))
  const rank = new Map(usual.map((name, i) => [name, i]))
  return all.filter(isShown).toSorted((a, b) => (rank.get(a.name) ?? usual.length) - (rank.get(b.name) ?? usual.length))
}

/** Characters of names that no shell, spreadsheet or SQL has to fear. */
const UNSAFE = /[^\p{L}\p{N}_$ ()]/gu
const MAX_NAME = 64

/**
 * Names of arguments are any text, and may be empty, repeated or those of a field. Databases do not
 * tell letter cases apart.
 */
const createColumnNames = (fields: readonly string[]) => {
  const taken = new Set(fields.map(name => name.toLowerCase()))
  return (text: string, pos: number): string => {
    const clean = [...text.replace(UNSAFE, '_').trim()].slice(0, MAX_NAME).join('')
    const named = clean === '' ? `arg_${pos}` : clean
    const isFree = (name: string) => !taken.has(name.toLowerCase())
    let free = [named, `arg_${named}`].find(isFree) ?? `${named}_${pos}`
    while (!isFree(free)) free += '_'
    taken.add(free.toLowerCase())
    return free
  }
}
