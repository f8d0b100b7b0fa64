import type { Server } from 'node:http'
import { isIPv4, type Socket } from 'node:net'
import { mostFiles, openFiles } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { rawError } from './errors.ts'
import { NO_PROXIES, type Proxies } from './proxies.ts'

/** One address has this share of all connections at most; so has a trusted proxy, and this machine itself for a proxy on it. */
const LARGEST_SHARE = 3 / 4
/** The share of the files that the process may still open: stores, nodes and receivers need some, too. */
const SHARE_OF_FILES = 1 / 2
const FEWEST = 8
/** With less, threads cannot start once there are some connections. */
const FEWEST_FILES = 128
const TELL_MS = 60_000

/** Refuses connections beyond what is allowed in all and from one address, and closes them at once. */
export const limitConnections = (
  server: Server,
  limits: Limits,
  log: Log,
  { isTls = false, trusts = NO_PROXIES.trusts }: { isTls?: boolean; trusts?: Proxies['trusts'] } = {},
): void => {
  const most = mostConnections(limits)
  const files = mostFiles()
  if (files !== undefined && files < FEWEST_FILES)
    log.warn(`The limit of open files is too low: raise it to ${FEWEST_FILES} or more (ulimit -n)`, { files })
  else if (most < limits.connections)
    log.info('The limit of open files is low (ulimit -n), accepts fewer connections', { files, connections: most })
  const open = new Map<string, number>()
  const tell = createTeller(log)

  // Refused before anything is allocated: an attack costs a few microseconds for each, and no descriptor.
  server.maxConnections = most
  server.on('drop', () => tell({ connections: most }))

  const [serve] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const from = originOf(address)
    const allowed = mostFrom(from === THIS_MACHINE || trusts(address), limits, most)
    const already = open.get(from) ?? 0
    if (already >= allowed) {
      tell({ connectionsByAddress: allowed, address: from })
      const { message } = overLimit('connectionsByAddress', { ...limits, connectionsByAddress: allowed })
      // Nothing can be told before a handshake, which takes more than it is worth.
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
  const files = mostFiles()
  if (files === undefined) return limits.connections
  const free = files - (openFiles() ?? 0)
  return Math.min(limits.connections, Math.max(FEWEST, Math.floor(free * SHARE_OF_FILES)))
}

/** `isTrusted`: it may ask for many. */
const mostFrom = (isTrusted: boolean, limits: Limits, most: number): number => {
  const share = Math.ceil(most * LARGEST_SHARE)
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
const createTeller = (log: Log) => {
  let refused = 0
  let toldAt = Number.NEGATIVE_INFINITY
  return (limit: Record<string, unknown>) => {
    refused++
    if (performance.now() - toldAt < TELL_MS) return
    log.warn('Refused connections', { refused, ...limit })
    refused = 0
    toldAt = performance.now()
  }
}
