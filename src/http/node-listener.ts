import type { getRequestListener } from '@hono/node-server'
import { lazy } from '../lib/lazy.ts'

/**
 * What makes of an app a listener for Node's requests. It loads Node's `fetch` with all that belongs to it, which takes a tenth of a start: the
 * first answers need none of it.
 */
export const nodeListener = lazy(
  async (): Promise<typeof getRequestListener> => (await import('@hono/node-server')).getRequestListener,
)
