import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import type { Log } from '../lib/log.ts'
import { countOpenFiles, readOpenFileLimit } from '../lib/system-limits.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { JSON_TYPE } from './answer.ts'
import { nameRequest } from './context.ts'
import { errorJson, rawError } from './errors.ts'

/** One address has this share of all connections at most; so has a trusted proxy, and this machine itself for a proxy on it. */
const MAX_SHARE = 3 / 4
/** The share of the files that the process may still open: stores, nodes and receivers need some, too. */
const SHARE_OF_FILES = 1 / 2
const MIN_CONNECTIONS = 8
/** With less, threads cannot start once there are some connections. */
const MIN_OPEN_FILES = 128
const REPORT_INTERVAL_MS = 60_000

/** Refuses connections beyond what is allowed in all and from one address, and closes them at once. */
export const limitConnections = (
  server: Server,
  limits: Limits,
  log: Log,
  { isTls = false, trusts = NO_PROXIES.trusts }: { isTls?: boolean; trusts?: Proxies['trusts'] } = {},
): void => {
  const most = mostConnections(limits)
  const files = readOpenFileLimit()
  if (files !== undefined && files < MIN_OPEN_FILES)
    log.warn(`The limit of open files is too low: raise it to ${MIN_OPEN_FILES} or more (ulimit -n)`, { files })
  else if (most < limits.connections)
    log.info('The limit of open files is low (ulimit -n), accepts fewer connections', { files, connections: most })
  const open = new Map<string, number>()
  const report = createRefusalLog(log)

  // Refused before anything is allocated: an attack costs a few microseconds for each, and no descriptor.
  server.maxConnections = most
  server.on('drop', () => report({ connections: most }))

  const [serve] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const from = originOf(address)
    const allowed = mostFrom(from === THIS_MACHINE || trusts(address), limits, most)
    const already = open.get(from) ?? 0
    if (already >= allowed) {
      report({ connectionsByAddress: allowed, address: from })
      const { message } = overLimit('connectionsByAddress', { ...limits, connectionsByAddress: allowed })
      // Nothing can be sent before a handshake, which is too expensive here.
      if (isTls) return socket.destroy()
      socket.on('error', () => {})
      socket.write(rawError(429, 'es_rejected_execution_exception', message))
      return socket.destroySoon()
    }
    open.set(from, already + 1)
    socket.once('close', () => {
      const left = open.get(from)! - 1
      if (left === 0) open.delete(from)
      else open.set(from, left)
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

/** `isTrusted`: it may ask for many. */
const mostFrom = (isTrusted: boolean, limits: Limits, most: number): number => {
  const share = Math.ceil(most * MAX_SHARE)
  return isTrusted ? share : Math.min(limits.connectionsByAddress, share)
}

export const THIS_MACHINE = 'this machine'

/** A host with an IPv6 address has all addresses with the same first 64 bits. */
export const originOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (plain === '::1' || /^127\./.test(plain)) return THIS_MACHINE
  if (isIPv4(plain)) return plain
  const [head = [], tail = []] = plain.split('::').map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`
}

/** Tells the first refusal, then once a minute how many there were. */
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

/** Reverse proxies whose word is taken on where a request comes from. */
export interface Proxies {
  trusts(address: string): boolean
  originOf(incoming: IncomingMessage): RequestOrigin
}

export interface RequestOrigin {
  /** The last address that no trusted proxy has. */
  address: string
  /** Addresses of the trusted proxies that it came through, the nearest first. */
  proxies: readonly string[]
  /** Whether these name the client. What came through none names itself. */
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
        // Stops at the last address that is known.
        if (before === undefined || isIP(before) === 0) break
        proxies.push(address)
        address = before
      }
      return { address, proxies, isNamed: proxies.length > 0 }
    },
  }
}

/** As others write it: an address of IPv4 behind a socket of IPv6 is one of IPv4. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

/** The last one is the nearest. */
const READ_PROXY_HEADER: Record<ProxyHeader, (text: string) => string[]> = {
  'x-forwarded-for': text => text.split(',').map(addressIn),
  // Only what a proxy writes: a quoted string has no comma or semicolon where it is an address.
  forwarded: text => text.split(',').map(element => addressIn(/(?:^|;)\s*for=([^;]*)/i.exec(element)?.[1] ?? '')),
}

/** Of `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1`, `"[2001:db8::1]:4711"`. */
const addressIn = (text: string): string => {
  const bare = text.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1]
  if (bracketed !== undefined) return isIPv6(bracketed) ? plainAddress(bracketed) : ''
  const [, v4] = /^([\d.]+):\d+$/.exec(bare) ?? []
  return plainAddress(v4 ?? bare)
}

/** None is trusted. */
export const NO_PROXIES: Proxies = createProxies([], 'x-forwarded-for')

/** Handles CORS: adds headers, and returns true after it answered a preflight itself. */
export type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, DELETE'
const ALLOWED_HEADERS = 'authorization, content-type, accept, if-match, if-none-match, x-request-id, x-opaque-id'
const EXPOSED_HEADERS =
  'x-request-id, ratelimit, ratelimit-policy, retry-after, etag, location, www-authenticate, x-elastic-product'
/** Seconds for which browsers cache a preflight. */
const PREFLIGHT_MAX_AGE = '600'

/** `origins`: such as `https://app.example`, or `*` for all. None is sent cookies: tokens are shown by a header. */
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
