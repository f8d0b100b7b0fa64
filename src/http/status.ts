import type { Status } from '../ingest/status/status.ts'
import { json } from './answer.ts'
import { answer, ref } from './openapi/schema.ts'
import { routesOf } from './request.ts'

const route = routesOf<{ status(): Status | Promise<Status> }>('Server')

/** Open to everybody, so it tells nothing but that the server answers. */
export const health = route(
  'get',
  '/health',
  'Whether the process lives.',
  { open: true, described: [], answers: 'Health' },
  () => () => json({ status: 'ok' }),
)

/** Open to everybody, so reasons name neither nodes nor receivers. 503 has a load balancer or Kubernetes leave the server alone. */
export const ready = route(
  'get',
  '/ready',
  'Whether the server does all that it should do.',
  {
    open: true,
    described: [],
    answers: { 200: answer(ref('Readiness')), 503: answer(ref('Readiness'), 'It does not; the reasons say why.') },
  },
  ({ status }) =>
    async () => {
      const { reasons = [], warnings = [] } = await status()
      return reasons.length === 0
        ? json({ status: 'ready', reasons, warnings })
        : json({ status: 'not ready', reasons, warnings }, 503, { 'cache-control': 'no-store' })
    },
)

export const status = route(
  'get',
  '/status',
  'Networks, their nodes, and deliveries of the account.',
  { described: ['access_token'], answers: 'Status' },
  ({ status }) =>
    async c =>
      json(statusFor(c.get('account').id, await status())),
)

/** The part that an account may see: only its own receivers. */
const statusFor = (account: number, status: Status): Status => {
  const { deliveries } = status
  if (!deliveries) return status
  const failing = deliveries.failing.filter(it => it.account === account)
  return { ...status, deliveries: { ...deliveries, failing } }
}
