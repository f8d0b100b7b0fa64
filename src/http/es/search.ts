import type { Log } from '../../lib/log.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { readBody } from '../body.ts'
import { type Handler, whileConnected } from '../context.ts'
import { checkParameters } from './parameters.ts'
import { entitiesOf, networkOf } from './target.ts'

/** `POST …/es/<entity>[,<entity>]/search/`, or GET with or without a body. */
export const search =
  (service: SearchService, bodyLimit: number, log: Log): Handler =>
  async c => {
    const network = networkOf(c, service.networks())
    const entities = entitiesOf(c, c.req.param('entity')!)
    checkParameters(c)
    const body = await readBody(c, bodyLimit)
    return sendAnswer(c, log, await service.search({ network, entities, body, signal: whileConnected(c) }))
  }
