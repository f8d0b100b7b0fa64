import { Hono } from 'hono'
import type { Account } from '../accounts/index.ts'
import type { Status } from '../ingest/status.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchService } from '../search/service.ts'
import { listAlerts } from './alerting/alerts.ts'
import { createGate } from './alerting/gate.ts'
import { redeliver } from './alerting/redeliver.ts'
import { createRule, getRule, listRules, removeRule, updateRule } from './alerting/rules.ts'
import type { Alerting } from './alerting/service.ts'
import { simulate, simulateRule } from './alerting/simulate.ts'
import { testRule } from './alerting/test.ts'
import { authenticate } from './auth.ts'
import { limitBodies } from './body.ts'
import { type Env, type Handler, pathOf } from './context.ts'
import { renderError, unknownRoute, wrongMethod } from './errors.ts'
import { get } from './es/get.ts'
import { info } from './es/info.ts'
import {
  closeAllPointsInTime,
  closePit,
  closePointsInTime,
  listPointsInTime,
  openPit,
  openPointInTime,
} from './es/pit.ts'
import { clearScroll, scroll } from './es/scroll.ts'
import { search, searchAll } from './es/search.ts'
import { similar } from './es/similar.ts'
import { suggest } from './es/suggest.ts'
import { health, status } from './status.ts'

export interface Services {
  search: SearchService
  accounts: { verify(token: string): Account | undefined }
  status(): Status | Promise<Status>
  /** Absent where this process serves no rules. */
  alerting?: Alerting | undefined

  limits: Limits
  log: Log
}

/** Every route of the server. A path is good with and without a slash at its end, and `//` in it is `/`. */
export const createApp = ({
  search: service,
  accounts,
  status: statusOf,
  alerting,
  limits,
  log,
}: Services): Hono<Env> => {
  const app = new Hono<Env>({ getPath: pathOf })
  app.onError(renderError(log))
  app.notFound(unknownRoute)

  const route = (methods: readonly ('GET' | 'POST')[], path: string, handler: Handler) =>
    resource(path, Object.fromEntries(methods.map(method => [method, handler])))
  const resource = (path: string, handlers: Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>) => {
    for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler)
    app.all(path, wrongMethod(Object.keys(handlers)))
  }

  route(['GET'], '/health', health)

  app.use(authenticate(token => accounts.verify(token)))
  app.use(limitBodies(limits))
  route(['GET'], '/status', status(statusOf))
  route(['GET'], '/', info)

  const base = '/:technology/:blockchain/:network/es'
  const es = `${base}/:entity`
  route(['GET'], base, info)
  route(['GET'], `${base}/suggest`, suggest(service, log))
  const point = `${base}/_search/point_in_time`
  const [nextPage, closeScrolls] = [scroll(service, limits, log), clearScroll(service, limits)]
  route(['GET', 'POST'], `${base}/_search`, searchAll(service, limits, log))
  resource(`${base}/_search/scroll`, { GET: nextPage, POST: nextPage, DELETE: closeScrolls })
  resource(`${base}/_search/scroll/:id`, { GET: nextPage, POST: nextPage, DELETE: closeScrolls })
  resource(`${base}/_pit`, { DELETE: closePit(service, limits) })
  resource(point, { DELETE: closePointsInTime(service, limits) })
  resource(`${point}/_all`, { GET: listPointsInTime(service), DELETE: closeAllPointsInTime(service) })
  resource(`${es}/_pit`, { POST: openPit(service, limits) })
  resource(`${es}/_search/point_in_time`, { POST: openPointInTime(service, limits) })
  route(['GET', 'POST'], `${es}/search`, search(service, limits, log))
  route(['GET', 'POST'], `${es}/_search`, search(service, limits, log))
  route(['GET'], `${es}/_doc/:id`, get(service, log))
  route(['GET'], `${base}/contract/:id/similar`, similar(service, log))
  route(['GET'], `${es}/:id`, get(service, log))

  if (alerting) {
    const rules = '/alerting/rules'
    const gate = createGate(limits)
    const rule = `${rules}/:id`
    resource(rules, { GET: listRules(alerting, log), POST: createRule(alerting, limits) })
    resource(`${rules}/simulate`, { POST: simulate(alerting, limits, gate) })
    resource(rule, { GET: getRule(alerting), PUT: updateRule(alerting, limits), DELETE: removeRule(alerting) })
    resource(`${rule}/simulate`, { POST: simulateRule(alerting, limits, gate) })
    resource(`${rule}/test`, { POST: testRule(alerting, limits, gate) })
    resource(`${rule}/alerts`, { GET: listAlerts(alerting) })
    resource(`${rule}/redeliver`, { POST: redeliver(alerting, limits) })
  }

  return app
}
