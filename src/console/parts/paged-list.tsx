import type { ComponentChildren } from 'preact'
import type { Pages } from '../api/ask.ts'
import { Await } from './answer.tsx'
import { Button } from './controls.tsx'
import { type TableProps, VirtualTable } from './table.tsx'

interface PagedListProps<Row> extends Omit<TableProps<Row>, 'rows' | 'onEnd'> {
  pages: Pages<Row>
  /** Of the rows that were read, those that are shown; by default all. */
  rows?: readonly Row[]
  /** In a sentence, such as `the alerts`. */
  what: string
  /** In place of an empty list. */
  empty: ComponentChildren
  /** What was opened beside it. */
  children?: ComponentChildren
}

/** A list that reads on as it is scrolled; or that it is being read, why it cannot be, or that there is nothing. */
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
