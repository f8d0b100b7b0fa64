import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import type { Log } from '../lib/log.ts'
import { countOpenFiles, readOpenFileLimit } from '../lib/system-limits.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { JSON_TYPE } from './answer.ts'
import { nameRequest } from './context.ts'
import { errorJson, rawError } from './errors.ts'

/** Most connections per address; trusted proxies, and local ones, also have this share. */
const MAX_SHARE = 3 / 4
/** Share of the remaining open files for connections: stores, nodes and receivers need some. */
const SHARE_OF_FILES = 1 / 2
const MIN_CONNECTIONS = 8
/** With fewer, threads cannot start once there are some connections. */
const MIN_OPEN_FILES = 128
const REPORT_INTERVAL_MS = 60_000

/** Open connections of all listeners of a server. */
export interface OpenConnections {
  total: number
  readonly byAddress: Map<string, number>
}

export const noConnections = (): OpenConnections => ({ total: 0, byAddress: new Map() })

/** Limits connections in total and per address (flood, slowloris): further ones are closed. */
export const limitConnections = (
  server: Server,
  limits: Limits,
  log: Log,
  {
    isTls = false,
    trusts = NO_PROXIES.trusts,
    open = noConnections(),
  }: { isTls?: boolean; trusts?: Proxies['trusts']; open?: OpenConnections } = {},
): void => {
  const most = mostConnections(limits)
  const files = readOpenFileLimit()
  if (files !== undefined && files < MIN_OPEN_FILES)
    log.warn(`The limit of open files is too low: raise it to ${MIN_OPEN_FILES} or more (ulimit -n)`, { files })
  else if (most < limits.connections)
    log.info('The limit of open files is low (ulimit -n), accepts fewer connections', { files, connections: most })
  const { byAddress } = open
  const report = createRefusalLog(log)

  // Node drops these before allocating anything: an attack costs µs each, and no descriptor.
  server.maxConnections = most
  server.on('drop', () => report({ connections: most }))

  const [serve] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (open.total >= most) {
      report({ connections: most })
      return socket.destroy()
    }
    const address = socket.remoteAddress ?? ''
    const from = originOf(address)
    const allowed = mostFrom(from === THIS_MACHINE || trusts(address), limits, most)
    const already = byAddress.get(from) ?? 0
    if (already >= allowed) {
      report({ connectionsByAddress: allowed, address: from })
      const { message } = overLimit('connectionsByAddress', { ...limits, connectionsByAddress: allowed })
      // Nothing can be sent before a TLS handshake, which is too expensive here.
      if (isTls) return socket.destroy()
      socket.on('error', () => {})
      socket.write(rawError(429, 'es_rejected_execution_exception', message))
      return socket.destroySoon()
    }
    open.total++
    byAddress.set(from, already + 1)
    socket.once('close', () => {
      open.total--
      const left = byAddress.get(from)! - 1
      if (left === 0) byAddress.delete(from)
      else byAddress.set(from, left)
    })
    serve!.call(server, socket)
  })
}

const mostConnections = (limits: Limits): number => {
  const files = readOpenFileLimit()
  if (files === undefined) return limits.connections
  const free = files - (countOpenFiles() ?? 0)
  return Math.min(limits.connections, Math.max(MIN_CONNECTIONS, Math.floor(free * SHARE_OF_FILES)))
}

/** `isTrusted`: a proxy, which has many clients. */
const mostFrom = (isTrusted: boolean, limits: Limits, most: number): number => {
  const share = Math.ceil(most * MAX_SHARE)
  return isTrusted ? share : Math.min(limits.connectionsByAddress, share)
}

export const THIS_MACHINE = 'this machine'

/** Groups IPv6 addresses by their first 64 bits, as a host has all of those. */
export const originOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (plain === '::1' || /^127\./.test(plain)) return THIS_MACHINE
  if (isIPv4(plain)) return plain
  const [head = [], tail = []] = plain.split('::').map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`
}

/** Logs the first refusal, then once a minute the number of refusals. */
const createRefusalLog = (log: Log) => {
  let refused = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  return (limit: Record<string, unknown>) => {
    refused++
    if (performance.now() - reportedAt < REPORT_INTERVAL_MS) return
    log.warn('Refused connections', { refused, ...limit })
    refused = 0
    reportedAt = performance.now()
  }
}

export type ProxyHeader = 'x-forwarded-for' | 'forwarded'

/** Reverse proxies trusted to report the client's address. */
export interface Proxies {
  trusts(address: string): boolean
  originOf(incoming: IncomingMessage): RequestOrigin
}

export interface RequestOrigin {
  /** The nearest address that is not a trusted proxy's. */
  address: string
  /** Trusted proxies that the request passed, nearest first. */
  proxies: readonly string[]
  /** Whether a trusted proxy reported `address`. */
  isNamed: boolean
}

/** `trusted`: ranges such as `10.0.0.0/8`. */
export const createProxies = (trusted: readonly string[], header: ProxyHeader): Proxies => {
  const list = new BlockList()
  for (const range of trusted) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  const trusts = (address: string): boolean =>
    trusted.length > 0 && isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

  return {
    trusts: address => trusts(plainAddress(address)),
    originOf({ socket, headers }) {
      let address = plainAddress(socket.remoteAddress ?? '')
      const proxies: string[] = []
      if (!trusts(address)) return { address, proxies, isNamed: true }
      const hops = READ_PROXY_HEADER[header](String(headers[header] ?? ''))
      while (trusts(address)) {
        const before = hops.pop()
        // Stops at the last valid address.
        if (before === undefined || isIP(before) === 0) break
        proxies.push(address)
        address = before
      }
      return { address, proxies, isNamed: proxies.length > 0 }
    },
  }
}

/** Normalises IPv4-mapped IPv6 addresses to IPv4, and drops zone ids. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

/** Address lists of the headers; the nearest comes last. */
const READ_PROXY_HEADER: Record<ProxyHeader, (text: string) => string[]> = {
  'x-forwarded-for': text => text.split(',').map(addressIn),
  // Proxies write no commas or semicolons within quoted addresses.
  forwarded: text => text.split(',').map(element => addressIn(/(?:^|;)\s*for=([^;]*)/i.exec(element)?.[1] ?? '')),
}

/** Parses `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1` or `"[2001:db8::1]:4711"`. */
const addressIn = (text: string): string => {
  const bare = text.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1]
  if (bracketed !== undefined) return isIPv6(bracketed) ? plainAddress(bracketed) : ''
  const [, v4] = /^([\d.]+):\d+$/.exec(bare) ?? []
  return plainAddress(v4 ?? bare)
}

/** Trusts no proxy. */
export const NO_PROXIES: Proxies = createProxies([], 'x-forwarded-for')

/** Handles CORS: adds headers, and returns true after it answered a preflight itself. */
export type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, DELETE'
const ALLOWED_HEADERS =
  'authorization, content-type, accept, if-match, if-none-match, x-request-id, x-opaque-id, mcp-protocol-version, mcp-method, mcp-name'
const EXPOSED_HEADERS =
  'x-request-id, ratelimit, ratelimit-policy, retry-after, etag, location, www-authenticate, x-elastic-product'
/** Seconds for which browsers cache a preflight. */
const PREFLIGHT_MAX_AGE = '600'

/** `origins`: such as `https://app.example`, or `*` for all. No cookies: tokens are in headers. */
export const createCors = (origins: readonly string[]): Cors | undefined => {
  if (origins.length === 0) return undefined
  const any = origins.includes('*')
  const allowed = new Set(origins)

  return (incoming, outgoing) => {
    const { origin } = incoming.headers
    const isPreflight = incoming.method === 'OPTIONS' && incoming.headers['access-control-request-method'] !== undefined
    if (!any) outgoing.setHeader('vary', 'origin')
    if (origin === undefined) return false
    const isAllowed = any || allowed.has(origin)
    if (isAllowed) {
      outgoing.setHeader('access-control-allow-origin', any ? '*' : origin)
      if (!isPreflight) outgoing.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
    }
    if (!isPreflight) return false
    nameRequest(incoming, outgoing)
    incoming.resume()
    if (isAllowed) {
      outgoing.setHeader('access-control-allow-methods', ALLOWED_METHODS)
      outgoing.setHeader('access-control-allow-headers', ALLOWED_HEADERS)
      outgoing.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE)
      outgoing.writeHead(204).end()
    } else {
      const why =
        'The origin of this page may not ask here. The operator of this server allows it with: --cors-origin ORIGIN'
      outgoing.writeHead(403, JSON_TYPE).end(errorJson(403, 'security_exception', why))
    }
    return true
  }
}
