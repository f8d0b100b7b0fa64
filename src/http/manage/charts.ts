import { refuse } from '../../lib/errors.ts'
import { readParameters } from '../alerting/request.ts'
import type { Handler } from '../context.ts'
import { json } from '../json.ts'
import { checkNetwork } from './networks.ts'
import type { Management } from './service.ts'

/** `GET /status/rates`: how fast networks were indexed in the last hour. */
export const rates =
  (management: Management): Handler =>
  c => {
    const { network } = readParameters(c, ['network'])
    if (network !== undefined) checkNetwork(network, management)
    return json(management.rates(network))
  }

/** `GET /status/storage?network=`: what takes how much room. It answers 202 while that is being measured for the first time. */
export const storage =
  (management: Management): Handler =>
  async c => {
    const { network } = readParameters(c, ['network'])
    if (network === undefined)
      throw refuse('illegal_argument_exception', 'Name the network: /status/storage?network=T/B/N.')
    checkNetwork(network, management)
    const found = await management.storage(network)
    return json(found, found.storage === null && found.state === 'measuring' ? 202 : 200)
  }
