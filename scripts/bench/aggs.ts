import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { createSearcher } from '../../src/engine/query/searcher.ts'
import type { openReader } from '../../src/engine/reader.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import type { Kind } from '../../src/mapping/index.ts'
import type { parseSearch } from '../../src/query/parse.ts'
import { showTable, timesOf } from '../lib/table.ts'
import { createSpans, PANELS, type Span, WHOLE } from './dashboard.ts'
import { FILTERED } from './filtered.ts'

/**
 * Processor time of aggregations over a store that is there, without HTTP. With --before, another checkout answers the same
 * requests in turns:
 *
 *     node scripts/bench/aggs.ts STORE.sqlite [PART OF A NAME] [--before CHECKOUT]
 */
const USAGE = 'node scripts/bench/aggs.ts STORE.sqlite [PART OF A NAME] [--before CHECKOUT]'

interface Side {
  name: string
  ask(kind: Kind, body: object): { ms: number; answer: string }
  close(): void
}

const sideOf = async (name: string, checkout: string, file: string): Promise<Side> => {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(resolve(checkout, path)).href)
  const modules = await Promise.all(
    ['src/engine/reader.ts', 'src/engine/query/searcher.ts', 'src/query/parse.ts'].map(load),
  )
  const code = Object.assign({}, ...modules) as {
    openReader: typeof openReader
    createSearcher: typeof createSearcher
    parseSearch: typeof parseSearch
  }
  const reader = code.openReader(file)
  const searcher = code.createSearcher(reader)
  const out = createByteWriter(1 << 16)
  return {
    name,
    ask(kind, body) {
      const text = JSON.stringify({ size: 0, ...body })
      const start = process.cpuUsage().user
      out.clear()
      const request = code.parseSearch(text, [kind], Date.now())
      const { aggregations, total } = searcher.write(
        request,
        { deadline: Number.POSITIVE_INFINITY },
        { index: 'x', out },
      )
      return { ms: (process.cpuUsage().user - start) / 1000, answer: `${total} ${aggregations}` }
    },
    close: () => reader.close(),
  }
}

const median = (times: readonly number[]) => timesOf(times).p50

const RUNS = 15

interface Asked {
  name: string
  kind: Kind
  body(run: number): object
}

/** The aggregations that are asked beside OpenSearch, in the same way. */
const panels = (whole: Span): Asked[] => {
  const next = createSpans(whole)
  let turn = 0
  return [
    ...[...PANELS, ...WHOLE].map(panel => ({
      ...{ name: `panel: ${panel.name}`, kind: panel.entity },
      body: () => panel.body(next()),
    })),
    ...FILTERED.map(panel => ({
      ...{ name: `filtered: ${panel.name}`, kind: panel.entity },
      body: () => panel.body(turn++),
    })),
  ]
}

const spanOf = (side: Side): Span => {
  const aggs = { a: { min: { field: 'timestamp' } }, b: { max: { field: 'timestamp' } } }
  const { answer } = side.ask('block', { aggs })
  const { a, b } = JSON.parse(answer.slice(answer.indexOf('{'))) as Record<'a' | 'b', { value: number }>
  return { from: a.value, to: b.value }
}

const measure = ({ name, kind, body }: Asked, sides: readonly Side[]): string[] => {
  const anew = sides.map((): number[] => [])
  const again = sides.map((): number[] => [])
  const inTurns = (request: object, into: number[][], run: number) => {
    // Whoever comes second may find the processor warm.
    const order = [...sides.keys()]
    if (run % 2 === 1) order.reverse()
    const answers = order.map(i => {
      const { ms, answer } = sides[i]!.ask(kind, request)
      into[i]!.push(ms)
      return answer
    })
    if (new Set(answers).size > 1) throw new Error(`${name}: answers differ\n${answers.join('\n')}`)
  }
  for (let run = 0; run < RUNS; run++) inTurns(body(run), anew, run)
  const last = body(RUNS)
  for (let run = 0; run < RUNS; run++) inTurns(last, again, run)
  const shown = (times: readonly number[]) => median(times).toFixed(2)
  const ratio = (times: readonly number[][]) =>
    times.length < 2 ? [] : [(median(times[1]!) / median(times[0]!)).toFixed(2)]
  return [
    name,
    ...anew.map(times => times[0]!.toFixed(2)),
    ...anew.map(shown),
    ...ratio(anew),
    ...again.map(shown),
    ...ratio(again),
  ]
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { before: { type: 'string' } } })
const [file, part = ''] = positionals
if (!file) throw new Error(USAGE)
const sides = [await sideOf('now', new URL('../..', import.meta.url).pathname, file)]
if (values.before !== undefined) sides.push(await sideOf('before', values.before, file))
const heads = (what: string) => [
  ...sides.map(({ name }) => `${what}, ${name}`),
  ...(sides.length > 1 && what !== 'first' ? ['ratio'] : []),
]

const rows = panels(spanOf(sides[0]!))
  .filter(({ name }) => name.includes(part))
  .map(asked => measure(asked, sides))
console.log(showTable([['processor ms', ...heads('first'), ...heads('anew'), ...heads('again')], ...rows]))
for (const side of sides) side.close()
