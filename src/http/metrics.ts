import { EXPOSITION_TYPE } from '../lib/exposition.ts'
import type { Door } from './auth.ts'
import { originOf, THIS_MACHINE } from './connections.ts'
import type { Context, Handler } from './context.ts'

export interface ServedMetrics {
  /** In Prometheus's text format. */
  text(): Promise<string>
  /** Who needs no token: everybody, who asks from this machine itself, or nobody. */
  access: 'open' | 'local' | 'token'
}

/** `GET /metrics`: it tells of all accounts together, and names networks and hosts of nodes. */
export const metrics =
  ({ text, access }: ServedMetrics, door: Door): Handler =>
  async c => {
    if (access === 'token' || (access === 'local' && !isLocal(c))) {
      const caller = door.enter(c)
      if (!caller.scopes.has('admin')) return door.forbid(c, caller, 'admin')
    }
    return new Response(await text(), { headers: { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' } })
  }

/** A proxy on this machine asks for others, as these headers tell. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

const isLocal = ({ env }: Context): boolean => {
  const incoming = env?.incoming
  if (!incoming || originOf(incoming.socket.remoteAddress ?? '') !== THIS_MACHINE) return false
  return FORWARDED.every(name => incoming.headers[name] === undefined)
}
