import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SearchService } from '../../search/service.ts'
import { checkNetwork } from '../../search/target.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy, type Handler } from '../context.ts'
import { checkParameters, readSize } from './path.ts'

/** `GET …/es/suggest/?q=…&size=…`: names that somebody who types may mean. */
export const suggest =
  (service: SearchService, log: Log): Handler =>
  async c => {
    const { technology, blockchain, network: name } = c.req.param() as Record<string, string>
    const network = `${technology}/${blockchain}/${name}`
    checkNetwork(network, service.networks(network))
    checkParameters(c, ['q', 'size'])
    const q = c.req.query('q') ?? ''
    if (q.length > LONGEST)
      throw refuse(
        'illegal_argument_exception',
        `The URL parameter [q] has ${q.length} characters, and may have ${LONGEST}.`,
      )
    const size = readSize(c)
    return sendAnswer(c, log, await service.suggest({ network, q, size, ...askedBy(c) }))
  }

const LONGEST = 200
