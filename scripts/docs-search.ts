import { PIPELINES, REFUSED_PIPELINES } from '../src/query/aggs/pipelines/index.ts'

/** Where a pipeline aggregation stands, in words. */
const STANDS = { beside: 'beside', 'in buckets': 'in buckets', 'in histogram': 'in a histogram' } as const

const code = (text: string) => `\`${text}\``

const pipelines = (): string => {
  const rows = Object.entries(PIPELINES).map(([name, { doc, example, stands }]) => [
    code(name),
    STANDS[stands],
    doc,
    code(JSON.stringify(example)),
  ])
  const refused = Object.entries(REFUSED_PIPELINES).map(([name, instead]) => [code(name), 'refused', instead, ''])
  return [['Pipeline', 'Stands', 'What it finds', 'Example'], ['---', '---', '---', '---'], ...rows, ...refused]
    .map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

/** Writes the tables of `docs/search.md` that the code knows better, as `docs.ts` does in the README. */
export const withTables = (text: string): string =>
  text.replace(/(<!-- generated: pipelines -->)\n[\s\S]*?(<!-- end -->)/, (_, open, close) =>
    [open, pipelines(), close].join('\n'),
  )

export const SEARCH = new URL('../docs/search.md', import.meta.url)
