import type { Hit } from '../engine/query/hits.ts'
import type { ByteWriter } from '../lib/bytes.ts'
import { type Field, fieldsOf, isList, KINDS, type Kind, MAPPING } from '../mapping/index.ts'
import { compileSourcePaths, globMatches } from '../query/hits/source-filter.ts'
import type { SearchRequest, SourceFilter } from '../query/request.ts'

/** A column: a path into `_source`. */
interface Column {
  path: string
  steps: string[]
}

/** Members of what an integer shows, by its kind. */
const SHOWN: Partial<Record<Field['kind'], readonly string[]>> = {
  quantity: ['num', 'raw'],
  wide: ['padded', 'raw'],
  amount: ['num', 'coin', 'padded', 'raw'],
}

/** All that the documents of a kind show, in the order of the mapping; lists of objects are one column each. */
const pathsOf = (kind: Kind): string[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) => {
    if (isList(field)) return [name]
    return SHOWN[field.kind]?.map(member => `${name}.${member}`) ?? [name]
  })

const columnsOf = ({ parts, source }: Pick<SearchRequest, 'parts' | 'source'>): Column[] => {
  const all = [...new Set(KINDS.filter(kind => parts.some(part => part.kind === kind)).flatMap(pathsOf))]
  const members = new Map(
    parts
      .flatMap(({ kind }) => fieldsOf(kind).flatMap(({ list, path }) => (list ? [[list.name, path] as const] : [])))
      .reduce(
        (lists, [list, path]) => lists.set(list, [...(lists.get(list) ?? []), path]),
        new Map<string, string[]>(),
      ),
  )
  const paths = compileSourcePaths(source)
  const shown = all.filter(path => paths.of(path, members.get(path)) !== 'none')
  return ordered(shown, source).map(path => ({ path, steps: path.split('.') }))
}

/** In the order in which the request names them. */
const ordered = (paths: readonly string[], source: SourceFilter): string[] => {
  if (typeof source === 'boolean' || source.includes.length === 0) return [...paths]
  const named = source.includes.flatMap(pattern =>
    paths.filter(path => globMatches(pattern, path) || globMatches(`${pattern}.*`, path)),
  )
  return [...new Set([...named, ...paths])]
}

/** What the columns of a table hold, in their order. */
export const valuesOf = (request: Pick<SearchRequest, 'parts' | 'source'>) => {
  const columns = columnsOf(request)
  const { cut } = compileSourcePaths(request.source)
  return {
    columns: columns.map(({ path }) => path),
    isMixed: request.parts.length > 1,
    read: (source: Record<string, unknown>): unknown[] =>
      columns.map(({ path, steps }) => cut(at(source, steps), path)),
  }
}

/**
 * Hits as rows of RFC 4180: `_id`, with several kinds `_type`, and the columns that `_source` chooses. Anyone can put a text on
 * the chain: unless `raw`, one that a spreadsheet would run as a formula gets an apostrophe in front.
 */
export const createCsv = (request: Pick<SearchRequest, 'parts' | 'source'>, { raw = false } = {}) => {
  const cell = raw ? rawCell : safeCell
  const { columns, isMixed, read } = valuesOf(request)
  const row = (cells: readonly string[], out: ByteWriter) => out.text(`${cells.map(quoted).join(',')}\r\n`)
  return {
    head: (out: ByteWriter) => row(['_id', ...(isMixed ? ['_type'] : []), ...columns], out),
    hit({ kind, document: { _id, _source } }: Tabled, out: ByteWriter) {
      row([_id, ...(isMixed ? [kind] : []), ...read(_source).map(cell)], out)
    },
  }
}

interface Tabled {
  kind: Hit['kind']
  document: Pick<Hit['document'], '_id' | '_source'>
}

const at = (source: Record<string, unknown>, steps: readonly string[]): unknown => {
  const whole = source[steps.join('.')]
  if (whole !== undefined) return whole
  return steps.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    source,
  )
}

/** Lists and objects as JSON; what is not there as nothing. */
const rawCell = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** Texts alone: a negative number is no formula. */
const safeCell = (value: unknown): string =>
  typeof value === 'string' && FORMULA.test(value) ? `'${value}` : rawCell(value)

const FORMULA = /^[=+\-@\t\r]/

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
