import { Hono } from 'hono'
import type { Account } from '../accounts/index.ts'
import type { Status } from '../ingest/status.ts'
import type { Log } from '../lib/log.ts'
import type { SearchService } from '../search/service.ts'
import { authenticate } from './auth.ts'
import { type Env, type Handler, pathOf } from './context.ts'
import { renderError, unknownRoute, wrongMethod } from './errors.ts'
import { get } from './es/get.ts'
import { info } from './es/info.ts'
import { search } from './es/search.ts'
import { health, status } from './status.ts'

export interface Services {
  search: SearchService
  accounts: { verify(token: string): Account | undefined }
  status(): Status | Promise<Status>
  /** Bytes of a request's body. */
  bodyLimit: number
  log: Log
}

/** Every route of the server. A path is good with and without a slash at its end, and `//` in it is `/`. */
export const createApp = ({ search: service, accounts, status: statusOf, bodyLimit, log }: Services): Hono<Env> => {
  const app = new Hono<Env>({ getPath: pathOf })
  app.onError(renderError(log))
  app.notFound(unknownRoute)

  const route = (methods: readonly ('GET' | 'POST')[], path: string, handler: Handler) => {
    app.on([...methods], path, handler)
    app.all(path, wrongMethod(methods))
  }

  route(['GET'], '/health', health)

  app.use(authenticate(token => accounts.verify(token)))
  route(['GET'], '/status', status(statusOf))
  route(['GET'], '/', info)

  const base = '/:technology/:blockchain/:network/es'
  const es = `${base}/:entity`
  route(['GET'], base, info)
  route(['GET', 'POST'], `${es}/search`, search(service, bodyLimit, log))
  route(['GET', 'POST'], `${es}/_search`, search(service, bodyLimit, log))
  route(['GET'], `${es}/_doc/:id`, get(service, log))
  route(['GET'], `${es}/:id`, get(service, log))

  return app
}
