import type { Status } from '../ingest/status/status.ts'
import { json } from './answer.ts'
import type { Handler } from './context.ts'

/** `GET /status` */
export const status =
  (service: () => Status | Promise<Status>): Handler =>
  async c =>
    json(statusFor(c.get('account').id, await service()))

/** `GET /health`: open to everybody, so it tells nothing but that the server answers. */
export const health: Handler = () => json({ status: 'ok' })

/** `GET /ready`: open to everybody, so reasons name neither nodes nor receivers. 503 has a load balancer or Kubernetes leave the server alone. */
export const ready =
  (service: () => Status | Promise<Status>): Handler =>
  async () => {
    const { reasons = [], warnings = [] } = await service()
    return reasons.length === 0
      ? json({ status: 'ready', reasons, warnings })
      : json({ status: 'not ready', reasons, warnings }, 503, { 'cache-control': 'no-store' })
  }

/** The part that an account may see: only its own receivers. */
const statusFor = (account: number, status: Status): Status => {
  const { deliveries } = status
  if (!deliveries) return status
  const failing = deliveries.failing.filter(it => it.account === account)
  return { ...status, deliveries: { ...deliveries, failing } }
}
