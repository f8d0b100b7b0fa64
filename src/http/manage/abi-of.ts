import { refuse } from '../../lib/errors.ts'
import { readParameters } from '../alerting/request.ts'
import { askedBy, type Handler } from '../context.ts'
import { json } from '../json.ts'
import { checkNetwork } from './networks.ts'
import type { Management } from './service.ts'

/** `GET /<network>/abi/<address>/`: what decodes the logs and calls of a contract. */
export const abiOfAddress =
  (management: Management): Handler =>
  async c => {
    readParameters(c, [])
    const { technology, blockchain, network: name, address } = c.req.param() as Record<string, string>
    const network = `${technology}/${blockchain}/${name}`
    checkNetwork(network, management)
    if (!/^0x[0-9a-f]{40}$/i.test(address!))
      throw refuse('illegal_argument_exception', `${address} is not an address: it has 0x and 40 hex digits.`)
    return json(await management.abiOf(network, address!.toLowerCase(), askedBy(c)))
  }
