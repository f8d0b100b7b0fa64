import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Pages } from '../api/ask.ts'
import { useKey } from '../browser/keys.ts'
import { Await } from './answer.tsx'
import { Button } from './controls.tsx'

export interface Column<Row> {
  title: string
  /** CSS width such as `12ch`; default `1fr`. */
  width?: string
  align?: 'right' | undefined
  /** Whether it is on the first line of a card, which a row is on a phone. */
  isMain?: boolean
  /** Width where there is little room, with two lines for it. */
  wraps?: string
  /** Sort state and action of sortable columns. */
  sort?: { order: 'asc' | 'desc' | undefined; toggle(): void }
  cell(row: Row): ComponentChildren
}

interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Key of the open row. */
  open?: string | undefined
  /** By click or Enter. */
  onOpen?(row: Row): void
  /** When the last rows become visible. */
  onEnd?(): void
}

const [ROW, TALL, CARD] = [36, 52, 64]
const SORTED = { asc: 'ascending', desc: 'descending' } as const
const BEYOND = 12
/** Columns on the second line of a card. */
const MOST_ON_CARD = 4
const phone = matchMedia('(max-width: 640px)')
const narrow = matchMedia('(max-width: 1199px)')

const useMedia = (media: MediaQueryList): boolean => {
  const [matches, setMatches] = useState(media.matches)
  useEffect(() => {
    const look = () => setMatches(media.matches)
    look()
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [media])
  return matches
}

/** A virtual table for any number of rows; `j` and `k` move through it. */
export const VirtualTable = <Row,>({ label, columns, rows, keyOf, open, onOpen, onEnd }: TableProps<Row>) => {
  const box = useRef<HTMLDivElement>(null)
  const [sight, setSight] = useState({ from: 0, to: 60 })
  const [at, setAt] = useState(-1)
  const count = rows.length
  const hasCards = useMedia(phone) && columns.some(({ isMain }) => isMain)
  const isTall = useMedia(narrow) && !hasCards && columns.some(({ wraps }) => wraps)
  const height = hasCards ? CARD : isTall ? TALL : ROW

  const look = () => {
    const { scrollTop, clientHeight } = box.current!
    const from = Math.max(0, Math.floor(scrollTop / height) - BEYOND)
    const to = Math.ceil((scrollTop + clientHeight) / height) + BEYOND
    setSight(sight => (sight.from === from && sight.to === to ? sight : { from, to }))
  }
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [height])
  useEffect(() => {
    if (sight.to >= count) onEnd?.()
  }, [sight.to, count])

  const moveTo = (next: number) => {
    if (count === 0) return
    const row = Math.min(Math.max(next, 0), count - 1)
    setAt(row)
    const { scrollTop, clientHeight } = box.current!
    const [top, bottom] = [row * height, (row + 2) * height]
    if (top < scrollTop) box.current!.scrollTop = top
    else if (bottom > scrollTop + clientHeight) box.current!.scrollTop = bottom - clientHeight
    if (open !== undefined) onOpen?.(rows[row]!)
  }
  const page = () => Math.floor(box.current!.clientHeight / height) - 2
  const openAt = () => at >= 0 && at < count && onOpen?.(rows[at]!)

  useKey('j', 'Next row', () => moveTo(at + 1))
  useKey('k', 'Previous row', () => moveTo(at - 1))
  useKey('Enter', 'Opens the row', openAt)
  const onKeyDown = (event: KeyboardEvent) => {
    // Links and buttons in rows handle their own keys.
    if (event.target !== box.current) return
    const moves: Record<string, () => unknown> = {
      ArrowDown: () => moveTo(at + 1),
      ArrowUp: () => moveTo(at - 1),
      PageDown: () => moveTo(at + page()),
      PageUp: () => moveTo(at - page()),
      Home: () => moveTo(0),
      End: () => moveTo(count - 1),
      Enter: openAt,
    }
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
    if (!move) return
    event.preventDefault()
    move()
  }

  const others = columns.filter(({ isMain }) => !isMain)
  const cells = hasCards ? columns.filter(it => it.isMain || others.indexOf(it) < MOST_ON_CARD) : columns
  const template = columns.map(({ width = 'minmax(8ch, 1fr)', wraps = width }) => (isTall ? wraps : width)).join(' ')
  const shown = rows.slice(sight.from, sight.to)
  const rowId = (i: number) => `${label}-${i}`.replaceAll(/\W/g, '-')
  return (
    <div
      ref={box}
      class={`table ${hasCards ? 'cards' : isTall ? 'tall' : ''}`}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-activedescendant={at >= sight.from && at < sight.to && at < count ? rowId(at) : undefined}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      <div class="row header" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map(({ title, align, sort }) => (
          <div key={title} role="columnheader" class={align} aria-sort={sort?.order && SORTED[sort.order]}>
            {sort ? (
              <button type="button" class="sort" onClick={sort.toggle}>
                {title}
                <span aria-hidden="true">{sort.order === 'asc' ? ' ↑' : sort.order === 'desc' ? ' ↓' : ''}</span>
              </button>
            ) : (
              title
            )}
          </div>
        ))}
      </div>
      <div class="rows" role="rowgroup" style={{ height: `${count * height}px` }}>
        {shown.map((row, i) => {
          const index = sight.from + i
          const key = keyOf(row)
          return (
            <div
              key={key}
              id={rowId(index)}
              class="row"
              role="row"
              tabIndex={-1}
              aria-rowindex={index + 2}
              aria-selected={key === open}
              data-at={index === at || undefined}
              style={{ gridTemplateColumns: template, transform: `translateY(${index * height}px)` }}
              onClick={event => {
                if ((event.target as Element).closest('a, button')) return
                setAt(index)
                onOpen?.(row)
              }}
              onKeyDown={event => event.key === 'Enter' && event.target === event.currentTarget && onOpen?.(row)}
            >
              {cells.map(({ title, align, isMain, wraps, cell }) => (
                <div key={title} role="gridcell" class={`${align ?? ''} ${isMain ? 'first' : ''}`}>
                  {wraps && isTall ? <div class="two-lines">{cell(row)}</div> : cell(row)}
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface PlainTableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string | number
}

export const PlainTable = <Row,>({ label, columns, rows, keyOf }: PlainTableProps<Row>) => (
  <section class="plain-table" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map(({ title, align }) => (
            <th key={title} scope="col" class={align}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, align, cell }) => (
              <td key={title} class={align}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

interface PagedListProps<Row> extends Omit<TableProps<Row>, 'rows' | 'onEnd'> {
  pages: Pages<Row>
  /** Rows to show; default: all. */
  rows?: readonly Row[]
  /** Noun phrase such as `the alerts`. */
  what: string
  /** Shown for an empty list. */
  empty: ComponentChildren
  /** Side panel. */
  children?: ComponentChildren
}

/** A list that loads while scrolling, with progress, errors and empty state. */
export const PagedList = <Row,>({ pages, rows = pages.rows, what, empty, children, ...table }: PagedListProps<Row>) => (
  <>
    <Await
      asked={{ ...pages, error: pages.error ?? pages.moreError }}
      failed={`${what[0]!.toUpperCase()}${what.slice(1)} cannot be read`}
      busy={`Reading ${what}`}
    />
    {pages.data !== undefined && pages.rows.length === 0 && pages.isWhole && empty}
    {pages.data !== undefined && pages.rows.length === 0 && !pages.isWhole && (
      <Button label="Look further back" onClick={pages.askMore} />
    )}
    <div class="found">
      {rows.length > 0 && <VirtualTable {...table} rows={rows} onEnd={pages.askMore} />}
      {children}
    </div>
  </>
)
