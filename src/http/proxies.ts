import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

export type ProxyHeader = 'x-forwarded-for' | 'forwarded'

/** Reverse proxies whose word is taken on where a request comes from. */
export interface Proxies {
  trusts(address: string): boolean
  originOf(incoming: IncomingMessage): Origin
}

/** Where a request comes from. */
export interface Origin {
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
    trusts: address => trusts(plain(address)),
    originOf({ socket, headers }) {
      let address = plain(socket.remoteAddress ?? '')
      const proxies: string[] = []
      if (!trusts(address)) return { address, proxies, isNamed: true }
      const hops = READ[header](String(headers[header] ?? ''))
      while (trusts(address)) {
        const before = hops.pop()
        // What a proxy does not name by its address is as far away as is known.
        if (before === undefined || isIP(before) === 0) break
        proxies.push(address)
        address = before
      }
      return { address, proxies, isNamed: proxies.length > 0 }
    },
  }
}

/** As others write it: an address of IPv4 behind a socket of IPv6 is one of IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

/** The last one is the nearest. */
const READ: Record<ProxyHeader, (text: string) => string[]> = {
  'x-forwarded-for': text => text.split(',').map(addressIn),
  // Only what a proxy writes: a quoted string has no comma or semicolon where it is an address.
  forwarded: text => text.split(',').map(element => addressIn(/(?:^|;)\s*for=([^;]*)/i.exec(element)?.[1] ?? '')),
}

/** Of `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1`, `"[2001:db8::1]:4711"`. */
const addressIn = (text: string): string => {
  const bare = text.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1]
  if (bracketed !== undefined) return isIPv6(bracketed) ? plain(bracketed) : ''
  const [, v4] = /^([\d.]+):\d+$/.exec(bare) ?? []
  return plain(v4 ?? bare)
}

/** None is trusted. */
export const NO_PROXIES: Proxies = createProxies([], 'x-forwarded-for')
