import type { Log } from '../../lib/log.ts'
import { type Limits, overNow } from '../../limits/index.ts'
import { routesOf } from '../route.ts'
import type { Alerting } from './service.ts'

/** What the routes below `/alerting` are answered by. */
interface RuleServices extends Alerting {
  limits: Limits
  log: Log
  gate: Gate
}

export const ruleRoute = routesOf<RuleServices>('Rules')
export const RULES = '/alerting/rules'
export const RULE = `${RULES}/{id}`

/** Lets an account run a number of simulations and tests at once; a further one must try again later. */
type Gate = <T>(account: number, work: () => Promise<T>) => Promise<T>

export const createGate = (limits: Limits): Gate => {
  const busy = new Map<number, number>()
  return async (account, work) => {
    const count = busy.get(account) ?? 0
    if (count >= limits.simulations) throw overNow('simulations', limits)
    busy.set(account, count + 1)
    try {
      return await work()
    } finally {
      const left = busy.get(account)! - 1
      if (left > 0) busy.set(account, left)
      else busy.delete(account)
    }
  }
}

export const RULE_EXAMPLE = {
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'demo',
  network: 'local',
  config: {
    targetType: 'Event',
    targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://alerts.example/chain' } }],
  },
}
