import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { readBody } from '../body.ts'
import { askedBy, type Handler } from '../context.ts'
import { checkParameters, targetOf } from './path.ts'

/** `POST …/es/<entity>[,<entity>]/search/`, or GET with or without a body. */
export const search =
  (service: SearchService, limits: Limits, log: Log): Handler =>
  async c => {
    const target = targetOf(c, service)
    checkParameters(c)
    const body = await readBody(c, limits)
    return sendAnswer(c, log, await service.search({ ...target, body, ...askedBy(c) }))
  }
