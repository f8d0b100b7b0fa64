import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import { KINDS } from '../../mapping/index.ts'
import type { SearchService } from '../../search/service.ts'
import type { Target } from '../../search/target.ts'
import { formatOf } from '../accept.ts'
import { sendAnswer } from '../answer.ts'
import { readBody } from '../body.ts'
import { askedBy, type Context, type Handler, header } from '../context.ts'
import { networkOf } from './cursor-request.ts'
import { checkParameters, targetOf } from './path.ts'

/** `POST …/es/<entity>[,<entity>]/search/`, or GET with or without a body. */
export const search =
  (service: SearchService, limits: Limits, log: Log): Handler =>
  async c => {
    const target = targetOf(c, service)
    return searched(c, { service, limits, log }, target)
  }

/** `POST …/es/_search`, or GET: of all entities, or of those of a point in time. */
export const searchAll =
  (service: SearchService, limits: Limits, log: Log): Handler =>
  async c =>
    searched(c, { service, limits, log }, { network: networkOf(c, service), entities: KINDS.join(','), isNamed: false })

const searched = async (
  c: Context,
  { service, limits, log }: { service: SearchService; limits: Limits; log: Log },
  target: Target & { isNamed?: false },
): Promise<Response> => {
  checkParameters(c, ['scroll'])
  const scroll = c.req.query('scroll')
  const format = formatOf(header(c, 'accept'))
  if (format && scroll !== undefined)
    throw refuse('illegal_argument_exception', 'The pages of a scroll are JSON: leave [scroll] out for other formats.')
  const body = await readBody(c, limits)
  const more = { ...(scroll !== undefined && { scroll }), ...(format && { format }) }
  return sendAnswer(c, log, await service.search({ ...target, body, ...more, ...askedBy(c) }))
}
