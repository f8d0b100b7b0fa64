import { refuse } from '../../lib/errors.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { formatOf } from '../accept.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy, header } from '../context.ts'
import { dialectOf } from './dialect.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { targetOf } from './indexes.ts'
import { OF_SHARDS } from './parameters.ts'
import { BODY_PARAMETERS, bodyOf } from './request-body.ts'

export const search: Endpoint = {
  paths: ['{index}/search', '_search', '{index}/_search', '{index}/{type}/_search'],
  methods: ['GET', 'POST'],
  doc: 'Searches. `{index}/search` answers the total as a number, as before version 7; `_search` as an object. `scroll` opens a scroll.',
  parameters: [...Object.keys(SEARCH_PARAMETERS), ...OF_SHARDS, ...BODY_PARAMETERS, 'scroll', 'type', 'typed_keys'],
  several: true,
  handle: async call => searchWith(call, await bodyOf(call)),
}

/** Answers a search whose body may have come in another way. */
export const searchWith = async (call: Call, body: Uint8Array | undefined): Promise<Response> => {
  const { c, service, log, pairs, path, parameters } = call
  const target = targetOf(call)
  const format = wantedFormat(call)
  const scroll = parameters.get('scroll')
  const more = {
    ...(!path.has('index') && { isNamed: false }),
    ...(scroll !== undefined && { scroll }),
    ...(format && { format }),
  }
  const asked = { ...target, body, parameters: pairs, dialect: dialectOf(call), ...more, ...askedBy(c) }
  return sendAnswer(c, log, await service.search(asked))
}

const wantedFormat = ({ c, parameters, filterPath }: Call) => {
  const format = formatOf(header(c, 'accept'))
  if (!format) return undefined
  const other = parameters.has('scroll') ? 'scroll' : filterPath.length > 0 ? 'filter_path' : undefined
  if (other === undefined) return format
  throw refuse(
    'illegal_argument_exception',
    `The URL parameter [${other}] works with JSON only: leave it out for other formats.`,
  )
}
