import { refuse } from '../../lib/errors.ts'
import { compileGlob, didYouMean } from '../../lib/name-matching.ts'
import { PRODUCT } from '../answer.ts'
import { header } from '../context.ts'
import { type DescribedAnswer, JSON_BODY, schemaRef, stringSchema } from '../openapi/schema.ts'
import { type EndpointCall, isOn, type JsonAnswer, jsonAnswer } from './endpoint.ts'

interface CatTable<Row> {
  columns: Record<string, CatColumn<Row>>
  rows: readonly Row[]
}

export interface CatColumn<Row> {
  /** Shorter names that `h` takes, too. */
  aliases?: readonly string[]
  doc: string
  /** Numbers stand to the right. */
  right?: boolean
  value(row: Row): string | null
  /** Sort key, if it is not the text. */
  order?(row: Row): number
}

/** The same in each row, as are those of `numberColumn`. */
export const textColumn = (doc: string, value: string, aliases: readonly string[] = []): CatColumn<unknown> => ({
  ...{ aliases, doc, value: () => value },
})

export const numberColumn = (
  doc: string,
  value: number | string | null,
  aliases: readonly string[] = [],
): CatColumn<unknown> => ({
  ...{ aliases, doc, right: true, value: () => (value === null ? null : String(value)) },
})

export const TABLE_PARAMETERS = ['format', 'h', 's', 'v', 'help', 'bytes', 'time', 'local', 'master_timeout'] as const

export const tableResponse = <Row>(call: EndpointCall, { columns, rows }: CatTable<Row>): JsonAnswer | Response => {
  const all = Object.entries(columns)
  if (isOn(call, 'help'))
    return textResponse(alignCells(all.map(([name, { aliases = [], doc }]) => [name, aliases.join(','), doc])))
  const shown = chosenColumns(call, all)
  const sorted = sortRows(call, all, rows)
  if (wantsJson(call))
    return jsonAnswer(sorted.map(row => Object.fromEntries(shown.map(([name, { value }]) => [name, value(row)]))))
  const head = isOn(call, 'v') ? [shown.map(([name]) => name)] : []
  const lines = sorted.map(row => shown.map(([, { value }]) => value(row) ?? ''))
  return textResponse(
    alignCells(
      [...head, ...lines],
      shown.map(([, { right = false }]) => right),
    ),
  )
}

type NamedColumn<Row> = readonly [name: string, column: CatColumn<Row>]

const chosenColumns = <Row>(
  { parameters, names }: EndpointCall,
  all: readonly NamedColumn<Row>[],
): NamedColumn<Row>[] => {
  const wanted = names.listed(parameters.get('h') ?? '')
  if (wanted.length === 0) return [...all]
  return wanted.flatMap((name): NamedColumn<Row>[] => {
    const fits = compileGlob(name)
    if (name.includes('*')) return all.filter(([known]) => fits(known))
    const [, column] = columnNamed(name, all) ?? []
    // Elasticsearch shows the name that was asked for, and leaves out what it does not know.
    return column ? [[name, column]] : []
  })
}

const columnNamed = <Row>(name: string, all: readonly NamedColumn<Row>[]): NamedColumn<Row> | undefined =>
  all.find(([known, { aliases = [] }]) => known === name || aliases.includes(name))

const sortRows = <Row>(
  { parameters, names }: EndpointCall,
  all: readonly NamedColumn<Row>[],
  rows: readonly Row[],
): readonly Row[] => {
  const keys = names.listed(parameters.get('s') ?? '').map(key => {
    const [name = '', order = 'asc'] = key.split(':')
    const [, column] = columnNamed(name, all) ?? []
    if (!column)
      throw refuse(
        'unsupported_operation_exception',
        `Unable to sort by unknown sort key \`${name.slice(0, 80)}\`${didYouMean(
          name,
          all.map(([known]) => known),
        )}`,
      )
    return { column, sign: order === 'desc' ? -1 : 1 }
  })
  if (keys.length === 0) return rows
  return rows.toSorted((a, b) => {
    for (const { column, sign } of keys) {
      const { order, value } = column
      const [x, y] = order ? [order(a), order(b)] : [value(a) ?? '', value(b) ?? '']
      if (x !== y) return x < y ? -sign : sign
    }
    return 0
  })
}

/** By the parameter, or else by what the client accepts, where that is not text. */
const wantsJson = ({ c, parameters }: EndpointCall): boolean => {
  const format = parameters.get('format')
  if (format !== undefined && format !== '') {
    if (format === 'json' || /^application\/(.*\+)?json/.test(format)) return true
    if (format === 'text' || format.startsWith('text/plain')) return false
    throw refuse(
      'illegal_argument_exception',
      `The format [${format.slice(0, 50)}] is not supported: ask for json or text.`,
    )
  }
  const accepted = header(c, 'accept') ?? ''
  return !accepted.includes('text/plain') && /application\/(\S*\+)?json/.test(accepted)
}

const alignCells = (lines: readonly (readonly string[])[], right: readonly boolean[] = []): string => {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map(line => line[i]!.length)))
  return lines
    .map(line => {
      const cells = line.map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      return `${cells.join(' ').trimEnd()}\n`
    })
    .join('')
}

export const textResponse = (body: string): Response =>
  new Response(body, { headers: { ...PRODUCT, 'content-type': 'text/plain; charset=UTF-8' } })

export const CAT_BYTE_UNITS = new Map([
  ['b', 1],
  ['kb', 2 ** 10],
  ['mb', 2 ** 20],
  ['gb', 2 ** 30],
  ['tb', 2 ** 40],
])

/** Bytes as Elasticsearch writes them: `2.3mb`, or a number alone in the unit that is asked for. */
export const formatByteCount = ({ parameters }: EndpointCall, bytes: number): string => {
  const given = parameters.get('bytes')
  if (given !== undefined && given !== '') {
    const unit = CAT_BYTE_UNITS.get(given)
    if (unit === undefined)
      throw refuse(
        'illegal_argument_exception',
        `The unit of bytes [${given.slice(0, 50)}] is not supported: b, kb, mb, gb, tb.`,
      )
    return String(Math.floor(bytes / unit))
  }
  const [name, unit] = [...CAT_BYTE_UNITS].findLast(([, size]) => bytes >= size) ?? ['b', 1]
  return `${String(Math.floor((bytes / unit) * 10) / 10)}${name}`
}

export const TABLE: DescribedAnswer = {
  description: 'A table: as text, or as JSON with `format=json`.',
  content: { 'text/plain': stringSchema, [JSON_BODY]: schemaRef('Table') },
}
