import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { readBody } from '../body.ts'
import { askedBy, type Handler } from '../context.ts'
import { dialectOf } from './dialect.ts'
import { checkParameters, parametersOf, targetOf } from './path.ts'

/** `POST …/es/<entity>[,<entity>]/search/`, or GET with or without a body. */
export const search =
  (service: SearchService, limits: Limits, log: Log): Handler =>
  async c => {
    const target = targetOf(c, service)
    const parameters = parametersOf(c)
    checkParameters(c, Object.keys(SEARCH_PARAMETERS))
    const body = await readBody(c, limits)
    const dialect = dialectOf(c, new Map(parameters))
    return sendAnswer(c, log, await service.search({ ...target, body, parameters, dialect, ...askedBy(c) }))
  }
