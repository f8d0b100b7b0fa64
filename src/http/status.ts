import type { ServerStatus } from '../ingest/status/status.ts'
import { jsonResponse } from './answer.ts'
import { answerSchema, schemaRef } from './openapi/schema.ts'
import { routesOf } from './request.ts'

const serverRoute = routesOf<{ status(): ServerStatus | Promise<ServerStatus> }>('Server')

/** Liveness. Open to everybody, so it only confirms that the server answers. */
export const healthRoute = serverRoute(
  'get',
  '/health',
  'Whether the process lives.',
  { open: true, described: [], answers: 'Health' },
  () => () => jsonResponse({ status: 'ok' }),
)

/** Readiness, for load balancers. Open to everybody: reasons name no nodes or receivers. */
export const readyRoute = serverRoute(
  'get',
  '/ready',
  'Whether the server does all that it should do.',
  {
    open: true,
    described: [],
    answers: {
      200: answerSchema(schemaRef('Readiness')),
      503: answerSchema(schemaRef('Readiness'), 'It does not; the reasons say why.'),
    },
  },
  ({ status }) =>
    async () => {
      const { reasons = [], warnings = [] } = await status()
      return reasons.length === 0
        ? jsonResponse({ status: 'ready', reasons, warnings })
        : jsonResponse({ status: 'not ready', reasons, warnings }, 503, { 'cache-control': 'no-store' })
    },
)

export const statusRoute = serverRoute(
  'get',
  '/status',
  'Networks, their nodes, and deliveries of the account.',
  { described: ['access_token'], answers: 'Status' },
  ({ status }) =>
    async c =>
      jsonResponse(statusFor(c.get('account').id, await status())),
)

/** The part for an account: only its own receivers. */
const statusFor = (account: number, status: ServerStatus): ServerStatus => {
  const { deliveries } = status
  if (!deliveries) return status
  const failing = deliveries.failing.filter(it => it.account === account)
  return { ...status, deliveries: { ...deliveries, failing } }
}
