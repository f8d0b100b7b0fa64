import type { ComponentChildren } from 'preact'

export interface PlainColumn<Row> {
  title: string
  align?: 'right'
  cell(row: Row): ComponentChildren
}

interface Props<Row> {
  label: string
  columns: readonly PlainColumn<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string | number
}

/** A table of some dozens of rows, all of them drawn; wider than the window it scrolls by itself. */
export const PlainTable = <Row,>({ label, columns, rows, keyOf }: Props<Row>) => (
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
