import { refuse } from '../../../lib/errors.ts'
import { didYouMean } from '../../../lib/nearest.ts'
import { fitting } from '../../../lib/wildcard.ts'
import { header } from '../../context.ts'
import { PRODUCT } from '../../json.ts'
import { type Call, type Told, told } from '../endpoint.ts'
import { isOn } from '../parameters.ts'

/** What is told as lines of text, or as JSON where a client wants that. */
export interface Table<Row> {
  columns: Record<string, Column<Row>>
  rows: readonly Row[]
}

export interface Column<Row> {
  /** Shorter names that `h` takes, too. */
  aliases?: readonly string[]
  doc: string
  /** Numbers stand to the right. */
  right?: boolean
  value(row: Row): string | null
  /** What rows are put in order by, where that is not the text. */
  order?(row: Row): number
}

/** URL parameters of all tables. */
export const TABLE_PARAMETERS = ['format', 'h', 's', 'v', 'help', 'bytes', 'time', 'local', 'master_timeout'] as const

export const shownTable = <Row>(call: Call, { columns, rows }: Table<Row>): Told | Response => {
  const all = Object.entries(columns)
  if (isOn(call, 'help'))
    return textOf(aligned(all.map(([name, { aliases = [], doc }]) => [name, aliases.join(','), doc])))
  const shown = chosen(call, all)
  const sorted = inOrder(call, all, rows)
  if (wantsJson(call))
    return told(sorted.map(row => Object.fromEntries(shown.map(([name, { value }]) => [name, value(row)]))))
  const head = isOn(call, 'v') ? [shown.map(([name]) => name)] : []
  const lines = sorted.map(row => shown.map(([, { value }]) => value(row) ?? ''))
  return textOf(
    aligned(
      [...head, ...lines],
      shown.map(([, { right = false }]) => right),
    ),
  )
}

type Named<Row> = readonly [name: string, column: Column<Row>]

const chosen = <Row>({ parameters, names }: Call, all: readonly Named<Row>[]): Named<Row>[] => {
  const wanted = names.listed(parameters.get('h') ?? '')
  if (wanted.length === 0) return [...all]
  return wanted.flatMap((name): Named<Row>[] => {
    const fits = fitting(name)
    if (name.includes('*')) return all.filter(([known]) => fits(known))
    const [, column] = columnNamed(name, all) ?? []
    // Elasticsearch shows the name that was asked for, and leaves out what it does not know.
    return column ? [[name, column]] : []
  })
}

const columnNamed = <Row>(name: string, all: readonly Named<Row>[]): Named<Row> | undefined =>
  all.find(([known, { aliases = [] }]) => known === name || aliases.includes(name))

const inOrder = <Row>(
  { parameters, names }: Call,
  all: readonly Named<Row>[],
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
const wantsJson = ({ c, parameters }: Call): boolean => {
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

const aligned = (lines: readonly (readonly string[])[], right: readonly boolean[] = []): string => {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map(line => line[i]!.length)))
  return lines
    .map(line => {
      const cells = line.map((cell, i) => (right[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      return `${cells.join(' ').trimEnd()}\n`
    })
    .join('')
}

export const textOf = (body: string): Response =>
  new Response(body, { headers: { ...PRODUCT, 'content-type': 'text/plain; charset=UTF-8' } })

export const UNITS = new Map([
  ['b', 1],
  ['kb', 2 ** 10],
  ['mb', 2 ** 20],
  ['gb', 2 ** 30],
  ['tb', 2 ** 40],
])

/** Bytes as Elasticsearch writes them: `2.3mb`, or a number alone in the unit that is asked for. */
export const shownBytes = ({ parameters }: Call, bytes: number): string => {
  const given = parameters.get('bytes')
  if (given !== undefined && given !== '') {
    const unit = UNITS.get(given)
    if (unit === undefined)
      throw refuse(
        'illegal_argument_exception',
        `The unit of bytes [${given.slice(0, 50)}] is not supported: b, kb, mb, gb, tb.`,
      )
    return String(Math.floor(bytes / unit))
  }
  const [name, unit] = [...UNITS].findLast(([, size]) => bytes >= size) ?? ['b', 1]
  return `${String(Math.floor((bytes / unit) * 10) / 10)}${name}`
}

/** The moment, as two columns of several tables tell it. */
export const clockColumns = <Row>(now = new Date()): Record<'epoch' | 'timestamp', Column<Row>> => ({
  epoch: {
    aliases: ['t', 'time'],
    doc: 'seconds since 1970-01-01 00:00:00',
    value: () => String(Math.floor(now.getTime() / 1_000)),
  },
  timestamp: {
    aliases: ['ts', 'hms', 'hhmmss'],
    doc: 'time in HH:MM:SS',
    value: () => now.toISOString().slice(11, 19),
  },
})
