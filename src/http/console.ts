import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import { lazy } from '../lib/caches.ts'
import { readBuilt } from '../lib/runtime.ts'
import { type Env, type Handler, header, type RequestContext } from './context.ts'
import { errorResponse, unknownRoute } from './errors.ts'

/** Output of `scripts/console/build.ts`. */
interface Pack {
  page: string
  assets: ReadonlyMap<string, Asset>
}

interface Asset {
  type: string
  br: Uint8Array<ArrayBuffer>
  gzip: Uint8Array<ArrayBuffer>
}

/**
 * `GET /console/…`: the page and its assets, public because they contain no data: the page asks for
 * a token and sends it with each request. Other paths return the page, which does the routing.
 */
export const consolePages = (read: () => Buffer | undefined = () => readBuilt('console.pack')): Handler => {
  const pack = lazy(() => {
    const bytes = read()
    return bytes && unpackConsole(bytes)
  })
  return c => {
    const found = pack()
    if (!found)
      return errorResponse(
        503,
        'console_not_built',
        'The console is not built: run "npm run build" in the checkout, and start the server again.',
      )
    const [, asset] = /^\/console\/assets\/(.*)$/.exec(c.req.path) ?? []
    if (asset === undefined) return page(c, found.page)
    const file = found.assets.get(asset)
    return file ? send(c, asset, file) : unknownRoute(c)
  }
}

/** Redirects browsers from `/` to the console; others get Elasticsearch's answer. */
export const leadsToConsole: MiddlewareHandler<Env> = async (c, next) => {
  if (!TAKES_HTML.test(header(c, 'accept') ?? '')) return next()
  return new Response(null, { status: 302, headers: { location: 'console/', vary: 'accept' } })
}

const TAKES_HTML = /^(?=.{0,1000}$)[^"]*\btext\/html\b/i

const page = (c: RequestContext, text: string): Response => {
  const { pathname } = new URL(c.req.url)
  const depth = pathname.slice(pathname.indexOf('/console') + 1).split('/').length - 1
  if (depth > MAX_PAGE_DEPTH)
    return errorResponse(404, 'resource_not_found_exception', 'There is no page at this address.')
  // Relative, since a proxy may serve all of this below a path of its own.
  const body = text.replaceAll('{root}', depth === 0 ? 'console/' : '../'.repeat(depth - 1) || './')
  const etag = tagOf(body)
  if (header(c, 'if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } })
  return new Response(body, { headers: { ...CONSOLE_HEADERS, etag } })
}

/** No page of the console is nested this deeply. */
const MAX_PAGE_DEPTH = 12

const send = (c: RequestContext, name: string, { type, br, gzip }: Asset): Response => {
  const headers = {
    ...ASSET_HEADERS,
    'content-type': `${type}; charset=UTF-8`,
    etag: `"${name}"`,
  }
  if (header(c, 'if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
  const takes = header(c, 'accept-encoding') ?? ''
  if (/\bbr\b/.test(takes)) return new Response(br, { headers: { ...headers, 'content-encoding': 'br' } })
  if (/\bgzip\b/.test(takes)) return new Response(gzip, { headers: { ...headers, 'content-encoding': 'gzip' } })
  return new Response(new Uint8Array(gunzipSync(gzip)), { headers })
}

const unpackConsole = (bytes: Buffer): Pack => {
  const end = bytes.indexOf('\n')
  const { page, files } = JSON.parse(bytes.toString('utf8', 0, end)) as {
    page: string
    files: { name: string; type: string; br: number; gzip: number }[]
  }
  let at = end + 1
  const take = (length: number) => {
    const part = new Uint8Array(bytes.subarray(at, at + length))
    at += length
    return part
  }
  return {
    page,
    assets: new Map(files.map(({ name, type, br, gzip }) => [name, { type, br: take(br), gzip: take(gzip) }])),
  }
}

const tagOf = (text: string) => `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

/** The CSP: only this server's code and requests to it; chain data cannot become script (XSS). */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const CONSOLE_HEADERS = {
  ...SAFE_HEADERS,
  'content-type': 'text/html; charset=UTF-8',
  'cache-control': 'no-cache',
  'content-security-policy': CONTENT_POLICY,
  'cross-origin-opener-policy': 'same-origin',
}

/** Names change with the content. */
const ASSET_HEADERS = {
  ...SAFE_HEADERS,
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
}
