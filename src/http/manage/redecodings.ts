import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { readMembers, readParameters } from '../alerting/request.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { newRedecodings } from '../shapes/management.ts'
import { checkNetwork } from './networks.ts'
import type { Management } from './service.ts'

/** `GET /redecodings/`: what is decoded again now, and what waits for its turn. */
export const listRedecodings =
  ({ redecodings }: Management): Handler =>
  async c => {
    readParameters(c, [])
    return json({ redecodings: await redecodings.list() })
  }

/** `POST /redecodings/`: has stored blocks decoded again by some ABIs. */
export const startRedecodings =
  (management: Management, limits: Limits): Handler =>
  async c => {
    const body = await readMembers(c, limits, newRedecodings)
    if (!('members' in body)) return invalid(body.faults)
    const { abis, networks } = body.members
    for (const network of networks ?? []) checkNetwork(network, management)
    const started = await management.redecodings.start(abis, networks)
    const detail = { networks: [...new Set(started.map(({ network }) => network))] }
    management.note(actorOf(c), { action: 'redecode start', target: abis.join(' '), detail })
    return json({ redecodings: started }, 202)
  }

/** `DELETE /redecodings/<id>/`: what is decoded again already stays so. */
export const stopRedecoding =
  (management: Management): Handler =>
  async c => {
    const id = c.req.param('id')!
    const stopped = await management.redecodings.stop(id)
    if (!stopped)
      throw refuse(
        'resource_not_found_exception',
        `There is no re-decoding ${id}: it has ended, or was never asked for. GET /redecodings/ lists those that go on.`,
      )
    management.note(actorOf(c), { action: 'redecode stop', target: stopped.abi, detail: { network: stopped.network } })
    return json(stopped, 202)
  }
