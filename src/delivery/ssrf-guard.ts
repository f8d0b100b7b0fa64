import { isIPv4, isIPv6 } from 'node:net'
import { lazy } from '../lib/caches.ts'
import { refuse } from '../lib/errors.ts'

/**
 * Prevents SSRF: rules, which others write, reach neither private addresses nor others that are not
 * public, such as loopback and cloud metadata.
 */
export type Guard = ReturnType<typeof createGuard>

/** `allowed`: the allowlist of the operator, ranges or addresses that the tables do not block. */
export const createGuard = (allowed: readonly string[]) => {
  const open = allowed.map(parseRange)

  const refused = (address: string): string | undefined => {
    const bytes = parseAddress(address)
    if (bytes === undefined) return 'no IP address'
    if (open.some(range => contains(range, bytes))) return undefined
    const mapped = contains(mappedRange(), bytes) ? bytes.subarray(12) : undefined
    // Mapped addresses are connected to by IPv4.
    if (mapped !== undefined) return refused(mapped.join('.'))
    const found = (bytes.length === 4 ? v4() : v6()).find(({ range }) => contains(range, bytes))
    if (found) return found.why
    return bytes.length === 16 && !contains(globalUnicast(), bytes) ? 'not a public address' : undefined
  }

  return {
    /** Why an address is forbidden; undefined if allowed. Text that is no address is refused. */
    refused,
    /** The same for an address or `localhost` in a URL; names are checked when resolved. */
    refusedHost(hostname: string): string | undefined {
      const host = hostname
        .replace(/^\[(.*)\]$/, '$1')
        .replace(/\.$/, '')
        .toLowerCase()
      if (isIPv4(host) || isIPv6(host)) return refused(host)
      return host === 'localhost' || host.endsWith('.localhost') ? refused('127.0.0.1') : undefined
    },
  }
}

/** 4 or 16 bytes; undefined if invalid. A zone (`%eth0`) is ignored. */
export const parseAddress = (text: string): Uint8Array | undefined => {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number)
  if (!isIPv6(text)) return undefined
  const [before, after] = text
    .replace(/%.*$/, '')
    // The last four bytes may be written as an IPv4 address.
    .replace(/[\d.]+\.\d+$/, v4 => {
      const [a, b, c, d] = v4.split('.').map(Number)
      return `${((a! << 8) | b!).toString(16)}:${((c! << 8) | d!).toString(16)}`
    })
    .split('::')
    .map(half => (half === '' ? [] : half.split(':').map(group => Number.parseInt(group, 16))))
  const zeros: number[] = new Array(after ? 8 - before!.length - after.length : 0).fill(0)
  return Uint8Array.from([...before!, ...zeros, ...(after ?? [])].flatMap(group => [group >> 8, group & 255]))
}

interface AddressRange {
  bytes: Uint8Array
  bits: number
}

const parseRange = (text: string): AddressRange => {
  const [address, bits, more] = text.split('/')
  const bytes = parseAddress(address!)
  const length = bits === undefined && bytes ? bytes.length * 8 : /^\d{1,3}$/.test(bits ?? '') ? Number(bits) : -1
  if (bytes === undefined || more !== undefined || length < 0 || length > bytes.length * 8)
    throw refuse('invalid_range', `${text} is not an address range: write it as 10.0.0.0/8 or fd00::/8.`)
  return { bytes, bits: length }
}

const contains = ({ bytes, bits }: AddressRange, address: Uint8Array): boolean => {
  if (bytes.length !== address.length) return false
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) if (bytes[i] !== address[i]) return false
  const rest = 8 - (bits & 7)
  return rest === 8 || bytes[whole]! >> rest === address[whole]! >> rest
}

const rangeTable = (rows: readonly (readonly [range: string, why: string])[]) =>
  lazy(() => rows.map(([range, why]) => ({ range: parseRange(range), why })))

/** Not globally reachable by the IANA special-purpose registries, and cloud metadata addresses. */
const v4 = rangeTable([
  ['0.0.0.0/8', 'an address of this host'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', 'an address of carrier-grade NAT'],
  ['127.0.0.0/8', 'a loopback address'],
  ['168.63.129.16/32', "an address of a cloud's metadata"],
  ['169.254.0.0/16', 'a link-local address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'a reserved address'],
  ['192.0.2.0/24', 'an address for documentation'],
  ['192.88.99.0/24', 'a relay address of 6to4'],
  ['192.168.0.0/16', 'a private address'],
  ['198.18.0.0/15', 'an address for benchmarks'],
  ['198.51.100.0/24', 'an address for documentation'],
  ['203.0.113.0/24', 'an address for documentation'],
  ['224.0.0.0/4', 'a multicast address'],
  ['240.0.0.0/4', 'a reserved address'],
])

const mappedRange = lazy(() => parseRange('::ffff:0:0/96'))
const globalUnicast = lazy(() => parseRange('2000::/3'))

/** The first ones are outside 2000::/3 and listed for their reasons; the rest can lead to IPv4. */
const v6 = rangeTable([
  ['::/128', 'an address of this host'],
  ['::1/128', 'a loopback address'],
  ['64:ff9b::/96', 'a NAT64 address'],
  ['64:ff9b:1::/48', 'a NAT64 address'],
  ['fc00::/7', 'a private address'],
  ['fe80::/10', 'a link-local address'],
  ['ff00::/8', 'a multicast address'],
  ['2001::/32', 'a Teredo address'],
  ['2001:2::/48', 'an address for benchmarks'],
  ['2001:10::/28', 'a reserved address'],
  ['2001:20::/28', 'a reserved address'],
  ['2001:db8::/32', 'an address for documentation'],
  ['2002::/16', 'a 6to4 address'],
  ['3fff::/20', 'an address for documentation'],
])
