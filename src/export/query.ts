import { refuse } from '../lib/errors.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { KINDS } from '../mapping/index.ts'
import { parseExactJson } from '../query/json.ts'
import { parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import { checkTable } from '../search/lines.ts'
import type { ExportFormat } from './lines.ts'
import { pageBody } from './run.ts'

/** An export has all hits in the order of the chain, and nothing else. */
const NOT_TAKEN = [
  ...['size', 'from', 'sort', 'search_after', 'resume', 'pit', 'slice', 'collapse', 'aggs', 'aggregations'],
  ...['track_total_hits', 'timeout'],
]

/** Reads the body of the search whose hits are exported. */
export const readExportQuery = (
  query: string,
  { index, entities, format, limits }: { index: string; entities: string; format: ExportFormat; limits: Limits },
): SearchRequest => {
  if (Buffer.byteLength(query) > limits.body) throw overLimit('body', limits, 'The query')
  const root = parseExactJson(query, limits)
  if (!(root instanceof Map)) throw refuse('parsing_exception', 'The query of an export is a JSON object.')
  const other = NOT_TAKEN.find(name => root.has(name))
  if (other !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `[${other}] does not work with an export, which has all hits in the order of the chain: leave it out.`,
    )
  const names = entities.split(',')
  const kinds = KINDS.filter(kind => names.includes(kind))
  const body = pageBody(query, { resume: 'start', size: 1 })
  const request = parseSearch(body, kinds, Date.now(), { limits, index })
  if (format !== 'ndjson') checkTable(request)
  return request
}
