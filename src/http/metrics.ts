import { refuse } from '../lib/errors.ts'
import { EXPOSITION_TYPE } from '../lib/exposition.ts'
import type { Door } from './auth.ts'
import { originOf, THIS_MACHINE } from './connections.ts'
import { type Context, type Handler, header } from './context.ts'
import { factsOf } from './facts.ts'

export interface ServedMetrics {
  /** In Prometheus's text format. */
  text(): Promise<string>
  /** Who needs no token: everybody, callers on this machine, or nobody. */
  access: 'open' | 'local' | 'token'
}

/** `GET /metrics`: it tells of all accounts together, and names networks and hosts of nodes. */
export const metrics =
  ({ text, access }: ServedMetrics, door: Door): Handler =>
  async c => {
    if (access === 'token' || (access === 'local' && !isLocal(c))) {
      if (access === 'local') refuseUnnamed(c)
      const caller = door.enter(c)
      if (!caller.scopes.has('admin')) return door.forbid(c, caller, 'admin')
    }
    return new Response(await text(), { headers: { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' } })
  }

/** A proxy on this machine asks for others, as these headers tell. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

const isThisMachine = (address: string): boolean => originOf(address) === THIS_MACHINE

/**
 * Behind trusted proxies, the client that these name, if all of them are on this machine: to a proxy elsewhere, 127.0.0.1 is itself. What
 * comes from one that names nobody may come from anywhere.
 */
const isLocal = ({ env }: Context): boolean => {
  const incoming = env?.incoming
  if (!incoming) return false
  const { origin } = factsOf(incoming)
  if (origin && origin.proxies.length > 0) return [origin.address, ...origin.proxies].every(isThisMachine)
  if (origin?.isNamed === false || !isThisMachine(incoming.socket.remoteAddress ?? '')) return false
  return FORWARDED.every(name => incoming.headers[name] === undefined)
}

/** A scraper on this machine is taken for the proxy there: it needs to know why it is refused. */
const refuseUnnamed = (c: Context): void => {
  const origin = c.env?.incoming && factsOf(c.env.incoming).origin
  if (origin?.isNamed !== false || header(c, 'authorization') !== undefined || c.req.query('access_token')) return
  throw refuse(
    'security_exception',
    `${origin.address} is the address of a trusted proxy (--trust-proxy), and the request names no client in the header of ` +
      '--proxy-header: let the proxy set it, or send a token with the scope [admin], which the operator of this server ' +
      'creates with: chainsieve token create --account NAME --scope admin',
  )
}
