import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy, type Handler } from '../context.ts'
import { checkParameters, targetOf } from './path.ts'

/** `GET …/es/<entity>/<id>/`: one document. */
export const get =
  (service: SearchService, log: Log): Handler =>
  async c => {
    const { network, entities } = targetOf(c, service)
    if (entities.includes(','))
      throw refuse(
        'illegal_argument_exception',
        `A document is of one entity, not of [${entities}]: to look in several, search for ids.`,
      )
    checkParameters(c)
    const id = c.req.param('id')!
    return sendAnswer(c, log, await service.get({ network, entity: entities, id, ...askedBy(c) }))
  }
