import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SearchService } from '../../search/service.ts'
import { sendAnswer } from '../answer.ts'
import { type Handler, whileConnected } from '../context.ts'
import { checkParameters } from './parameters.ts'
import { entitiesOf, networkOf } from './target.ts'

/** `GET …/es/<entity>/<id>/`: one document. */
export const get =
  (service: SearchService, log: Log): Handler =>
  async c => {
    const network = networkOf(c, service.networks())
    const entity = entitiesOf(c, c.req.param('entity')!)
    if (entity.includes(','))
      throw refuse(
        'illegal_argument_exception',
        `A document is of one entity, not of [${entity}]: to look in several, search for ids.`,
      )
    checkParameters(c)
    return sendAnswer(c, log, await service.get({ network, entity, id: c.req.param('id')!, signal: whileConnected(c) }))
  }
