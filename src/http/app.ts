import { Hono } from 'hono'
import { createCurrencies } from '../config/chains.ts'
import type { ServerStatus } from '../ingest/status/status.ts'
import { lazy } from '../lib/caches.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import { createGasPrices } from '../search/gas-price.ts'
import type { SearchService } from '../search/service.ts'
import { RULE_ROUTES } from './alerting/index.ts'
import { type Alerting, createGate } from './alerting/service.ts'
import { authenticate, createDoor, type DoorOptions, needs } from './auth.ts'
import { type Bodies, limitBodies } from './body.ts'
import { consolePages, leadsToConsole } from './console.ts'
import { type Env, type Handler, routePath } from './context.ts'
import { describeApi } from './description.ts'
import { createDirect, type Direct } from './direct.ts'
import { renderError, unknownRoute, wrongMethod } from './errors.ts'
import { infoRoute } from './es/cluster.ts'
import { type DefaultParameters, dispatch } from './es/dispatch.ts'
import { ENDPOINTS } from './es/index.ts'
import { GAS_ROUTES } from './gas-price.ts'
import { MANAGEMENT_ROUTES, type Management } from './manage/routes.ts'
import { agentRoute } from './mcp.ts'
import { metrics, type ServedMetrics } from './metrics.ts'
import { apiPage, DESCRIPTION_ROUTES } from './openapi/page.ts'
import { createRequestQuotas, type RequestQuotas } from './rate-limits.ts'
import type { Route } from './request.ts'
import { createShortPaths } from './short-paths.ts'
import { healthRoute, readyRoute, statusRoute } from './status.ts'

export interface AppServices {
  search: SearchService
  accounts: DoorOptions['accounts']
  rates?: RequestQuotas | undefined
  status(): ServerStatus | Promise<ServerStatus>
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
  /** The network of paths that name none. */
  defaultNetwork?: string | undefined
  /** URL parameters that searches of a network have by default. */
  defaultParameters?: DefaultParameters | undefined
  /** Symbol of a network's native currency. */
  currencyOf?(network: string): string
}

/**
 * All routes of the server and the short path of searches, with the same authentication. Paths may
 * have a trailing slash, and `//` is `/`.
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
  rates = createRequestQuotas(limits),
  defaultNetwork,
  defaultParameters = () => [],
  currencyOf = createCurrencies([]),
}: AppServices): { app: Hono<Env>; direct: Direct } => {
  const paths = createShortPaths({ networks: () => service.networks(), defaultNetwork })
  const app = new Hono<Env>({ getPath: request => paths.complete(routePath(request)) })
  app.onError(renderError(log))
  app.notFound(c => unknownRoute(c, paths.explain(c.req.path)))

  const add = (path: string, handlers: readonly (readonly [method: string, handler: Handler])[]) => {
    for (const [method, handler] of handlers) app.on(method, path, handler)
    app.all(path, wrongMethod(handlers.map(([method]) => method)))
  }
  const addRoutes = <S>(routes: readonly Route<S>[], services: S) => {
    for (const [path, all] of Map.groupBy(routes, route => route.path))
      add(
        withColons(path),
        all.map(({ method, handler }) => [method.toUpperCase(), handler(services)] as const),
      )
  }

  addRoutes([healthRoute, readyRoute], { status: statusOf })
  const door = createDoor({ accounts, rates })
  if (served) addRoutes([metrics], { ...served, door })

  const api = lazy(() =>
    describeApi({
      rules: alerting !== undefined,
      metrics: served !== undefined,
      management: management !== undefined,
    }),
  )
  addRoutes(DESCRIPTION_ROUTES, { json: lazy(() => JSON.stringify(api())), page: lazy(() => apiPage(api())) })

  if (hasConsole) {
    const pages = consolePages()
    app.get('/', leadsToConsole)
    for (const path of ['/console', '/console/*']) add(path, [['GET', pages]])
  }

  app.use(authenticate(door))
  app.use(limitBodies(bodies))
  addRoutes([statusRoute], { status: statusOf })
  addRoutes([infoRoute], undefined)

  if (management) {
    const features = [
      ...(['search', 'abis'] as const),
      ...(alerting ? (['rules'] as const) : []),
      ...(served ? (['metrics'] as const) : []),
    ]
    for (const path of ['/status/storage', '/abis/*', '/redecodings/*']) app.use(path, needs(door, 'admin'))
    app.use('/:technology/:blockchain/:network/abi/:address', needs(door, 'search'))
    addRoutes(MANAGEMENT_ROUTES, { ...management, limits, features })
  }

  // Paths below it have their own table, with Elasticsearch's answers.
  app.use('/:technology/:blockchain/:network/es/*', needs(door, 'search'))
  app.all('/:technology/:blockchain/:network/es/*', dispatch(ENDPOINTS, { service, limits, log, defaultParameters }))

  for (const { path } of GAS_ROUTES) app.use(withColons(path), needs(door, 'search'))
  addRoutes(GAS_ROUTES, { service, gasPrices: createGasPrices(service, limits) })

  if (alerting) {
    app.use('/alerting/*', needs(door, 'rules'))
    addRoutes(RULE_ROUTES, { ...alerting, limits, log, gate: createGate(limits) })
  }

  addRoutes([agentRoute], { fetch: app.fetch, currencyOf, rules: alerting?.rules, limits, log })

  return { app, direct: createDirect({ search: service, door, bodies, limits, log, defaultParameters }) }
}

/** A described path as the router has it. */
const withColons = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')
