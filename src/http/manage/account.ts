import { version } from '../../lib/runtime.ts'
import type { Limits } from '../../limits/index.ts'
import { readParameters } from '../alerting/request.ts'
import type { Handler } from '../context.ts'
import { json } from '../json.ts'
import type { Management } from './service.ts'

/** What a server has. */
export type Feature = 'search' | 'rules' | 'abis' | 'metrics'

/** `GET /account`: whose token this is, what it may do, and what this server has. */
export const account =
  (management: Pick<Management, 'token' | 'networks'>, limits: Limits, features: readonly Feature[]): Handler =>
  c => {
    readParameters(c, [])
    const caller = c.get('account')
    const token = management.token(caller.token)
    return json({
      account: caller.name,
      token: {
        id: caller.token,
        hint: token?.hint ?? null,
        scopes: [...caller.scopes],
        createdAt: iso(token?.createdAt),
        expiresAt: iso(token?.expiresAt),
        rate: token?.rate ?? null,
      },
      limits,
      server: { version, features, networks: management.networks() },
    })
  }

const iso = (time: number | null | undefined): string | null => (time == null ? null : new Date(time).toISOString())
