import type { DocumentReader } from '../../engine/port.ts'
import type { Hit } from '../../engine/query/hits.ts'
import type { Range } from '../../lib/ranges.ts'
import type { FindList } from '../../rules/lower.ts'
import type { RuleConfig } from '../../rules/rule.ts'
import { searchOf } from '../../rules/search.ts'

const BEGINNING_SPAN = 64
const MOST_SPAN = 1_000_000
const SPAN_MS = 40
const MOST_HITS = 1_000

/** How many blocks are searched at once for each rule, so that one search holds up nothing else. */
export const createSpans = () => {
  const spans = new Map<number, number>()
  const of = (rule: number) => spans.get(rule) ?? BEGINNING_SPAN
  return {
    of,
    /** Searches a range; undefined if that has too many hits, and a shorter one is to be searched. */
    async measured<T>(rule: number, { from, to }: Range, search: () => Promise<T | undefined>): Promise<T | undefined> {
      const span = of(rule)
      const started = performance.now()
      const found = await search()
      const took = Math.max(1, performance.now() - started)
      const next = found ? span * Math.min(4, SPAN_MS / took) : Math.min(span, to - from + 1) / 2
      spans.set(rule, Math.max(1, Math.min(MOST_SPAN, Math.round(next))))
      await new Promise(resolve => setImmediate(resolve))
      return found
    },
    keys: () => spans.keys(),
    delete: (rule: number) => spans.delete(rule),
  }
}

/** What conditions match, in the order of the chain; undefined if there are too many in several blocks. */
export const hitsIn = async (
  config: RuleConfig,
  lists: FindList,
  { from, to }: Range,
  documents: DocumentReader,
): Promise<Hit[] | undefined> => {
  const size = from === to ? -1 : MOST_HITS + 1
  const request = { ...searchOf(config, { from, to, order: 'asc', size }, lists), trackTotal: false }
  const options = { deadline: Number.POSITIVE_INFINITY }
  const hits: Hit[] = []
  if (size < 0) for await (const page of (await documents.pages(request, options)).pages) hits.push(...page)
  else hits.push(...(await documents.search(request, options)).hits)
  return size > 0 && hits.length === size ? undefined : hits
}
