import { Hono } from 'hono'
import type { Status } from '../ingest/status/status.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchService } from '../search/service.ts'
import {
  alertSeries,
  getDelivery,
  listAlerts,
  listDeliveries,
  listDestinations,
  redeliver,
  redeliverMany,
} from './alerting/deliveries.ts'
import { createRule, createRules, getRule, listRules, removeRule, updateRule } from './alerting/rules.ts'
import type { Alerting } from './alerting/service.ts'
import { createGate, previewTest, simulate, simulateRule, testRule } from './alerting/simulate.ts'
import { authenticate, createDoor, createRates, type DoorOptions, needs, type Rates } from './auth.ts'
import { type Bodies, limitBodies } from './body.ts'
import { consolePages, leadsToConsole } from './console.ts'
import { type Env, type Handler, pathOf } from './context.ts'
import { createDirect, type Direct } from './direct.ts'
import { renderError, unknownRoute, wrongMethod } from './errors.ts'
import { info } from './es/cluster.ts'
import { dispatch } from './es/dispatch.ts'
import { ENDPOINTS } from './es/index.ts'
import {
  abiOfAddress,
  account,
  addAbis,
  getAbi,
  listAbis,
  listRedecodings,
  rates as rateSeries,
  removeAbi,
  startRedecodings,
  stopRedecoding,
  storage,
} from './manage/routes.ts'
import type { Management } from './manage/service.ts'
import { metrics, type ServedMetrics } from './metrics.ts'
import { openApi } from './openapi/page.ts'
import { health, ready, status } from './status.ts'

export interface Services {
  search: SearchService
  accounts: DoorOptions['accounts']
  rates?: Rates | undefined
  status(): Status | Promise<Status>
  /** Absent where none are served. */
  metrics?: ServedMetrics | undefined
  /** Absent where this process serves no rules. */
  alerting?: Alerting | undefined
  /** Whether the console is served. */
  console?: boolean
  /** Absent where nothing is managed over HTTP. */
  management?: Management | undefined
  bodies: Bodies
  limits: Limits
  log: Log
}

/**
 * Every route of the server, and the short way of a search, through the same door. A path is good with and without a slash at its end, and `//` in it
 * is `/`.
 */
export const createApp = ({
  search: service,
  accounts,
  status: statusOf,
  metrics: served,
  alerting,
  console: hasConsole = false,
  management,
  bodies,
  limits,
  log,
  rates = createRates(limits),
}: Services): { app: Hono<Env>; direct: Direct } => {
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
  route(['GET'], '/ready', ready(statusOf))
  const door = createDoor({ accounts, rates })
  if (served) route(['GET'], '/metrics', metrics(served, door))

  const api = openApi({
    rules: alerting !== undefined,
    metrics: served !== undefined,
    management: management !== undefined,
  })
  route(['GET'], '/openapi.json', api.json)
  route(['GET'], '/openapi', api.page)

  if (hasConsole) {
    const pages = consolePages()
    app.get('/', leadsToConsole)
    route(['GET'], '/console', pages)
    route(['GET'], '/console/*', pages)
  }

  app.use(authenticate(door))
  app.use(limitBodies(bodies))
  route(['GET'], '/status', status(statusOf))
  route(['GET'], '/', info)

  if (management) {
    const features = [
      ...(['search', 'abis'] as const),
      ...(alerting ? (['rules'] as const) : []),
      ...(served ? (['metrics'] as const) : []),
    ]
    route(['GET'], '/account', account(management, limits, features))
    route(['GET'], '/status/rates', rateSeries(management))
    for (const path of ['/status/storage', '/abis/*', '/redecodings/*']) app.use(path, needs(door, 'admin'))
    route(['GET'], '/status/storage', storage(management))
    resource('/abis', { GET: listAbis(management), POST: addAbis(management, limits) })
    resource('/abis/:id', { GET: getAbi(management), DELETE: removeAbi(management) })
    resource('/redecodings', { GET: listRedecodings(management), POST: startRedecodings(management, limits) })
    resource('/redecodings/:id', { DELETE: stopRedecoding(management) })
    const abi = '/:technology/:blockchain/:network/abi/:address'
    app.use(abi, needs(door, 'search'))
    route(['GET'], abi, abiOfAddress(management))
  }

  // Paths below it have a table of their own, with what Elasticsearch answers there.
  app.use('/:technology/:blockchain/:network/es/*', needs(door, 'search'))
  app.all('/:technology/:blockchain/:network/es/*', dispatch(ENDPOINTS, { service, limits, log }))

  if (alerting) {
    const rules = '/alerting/rules'
    app.use('/alerting/*', needs(door, 'rules'))
    const gate = createGate(limits)
    const rule = `${rules}/:id`
    resource(rules, { GET: listRules(alerting, log), POST: createRule(alerting, limits) })
    resource(`${rules}/bulk`, { POST: createRules(alerting, limits) })
    resource(`${rules}/simulate`, { POST: simulate(alerting, limits, gate) })
    resource(`${rules}/test`, { POST: previewTest(alerting, limits, gate) })
    resource(rule, { GET: getRule(alerting), PUT: updateRule(alerting, limits), DELETE: removeRule(alerting) })
    resource(`${rule}/simulate`, { POST: simulateRule(alerting, limits, gate) })
    resource(`${rule}/test`, { POST: testRule(alerting, limits, gate) })
    resource(`${rule}/alerts`, { GET: listAlerts(alerting) })
    resource(`${rule}/redeliver`, { POST: redeliver(alerting, limits) })
    resource('/alerting/series', { GET: alertSeries(alerting, limits, gate) })
    resource('/alerting/destinations', { GET: listDestinations(alerting) })
    resource('/alerting/deliveries', { GET: listDeliveries(alerting) })
    resource('/alerting/deliveries/redeliver', { POST: redeliverMany(alerting, limits) })
    resource('/alerting/deliveries/:id', { GET: getDelivery(alerting) })
  }

  return { app, direct: createDirect({ search: service, door, bodies, limits, log }) }
}
