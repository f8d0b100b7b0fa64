import { refuse } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SearchService } from '../../search/service.ts'
import { checkNetwork } from '../../search/target.ts'
import { sendAnswer } from '../answer.ts'
import { askedBy, type Handler } from '../context.ts'
import { checkParameters, readSize } from './path.ts'

/** `GET …/es/contract/<address>/similar/?size=…`: contracts whose codes have most in common with that one's. */
export const similar =
  (service: SearchService, log: Log): Handler =>
  async c => {
    const { technology, blockchain, network: name, id: address } = c.req.param() as Record<string, string>
    const network = `${technology}/${blockchain}/${name}`
    checkNetwork(network, service.networks(network))
    checkParameters(c, ['size'])
    if (!/^0x[0-9a-f]{40}$/i.test(address!))
      throw refuse(
        'illegal_argument_exception',
        `A contract is named by its address, 0x and 40 hex digits, and not by [${address!.slice(0, 80)}].`,
      )
    const size = readSize(c)
    return sendAnswer(c, log, await service.similar({ network, address: address!, size, ...askedBy(c) }))
  }
