import { promises as dns } from 'node:dns'
import { readFileSync } from 'node:fs'

export type Lookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>

interface NameLookupsOptions {
  /** Default: the system's. */
  servers?: readonly string[]
  lookup?: Lookup
  /** Creates a resolver with the system's current name servers. */
  resolver?: () => Pick<dns.Resolver, 'resolve4' | 'resolve6'>
}

/**
 * Name lookups, one function per account. The system's resolver has two threads for the whole
 * program, which slow name servers would block. So name servers are queried directly, and the
 * system only for names unknown to them, one lookup of an account at a time.
 */
export const createNameLookups = ({
  servers,
  lookup = systemLookup,
  resolver: make = () => createResolver(servers),
}: NameLookupsOptions = {}): (() => Lookup) => {
  let resolver = make()
  let madeAt = performance.now()
  /** The machine may have changed its network and so its name servers. */
  const renew = () => {
    if (performance.now() - madeAt < RENEW_MS) return
    resolver = make()
    madeAt = performance.now()
  }

  return () => {
    const system = oneAtATime(lookup)
    return async hostname => {
      if (isLocal(hostname)) return system(hostname)
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      const found = answers.flatMap((answer, at) =>
        answer.status === 'fulfilled' ? answer.value.map(address => ({ address, family: at === 0 ? 4 : 6 })) : [],
      )
      if (found.length > 0) return found
      const silent = answers.find(it => it.status === 'rejected' && NO_ANSWER_CODES.test(it.reason.code))
      if (silent?.status === 'rejected') {
        renew()
        throw silent.reason
      }
      return system(hostname)
    }
  }
}

const createResolver = (servers: readonly string[] | undefined) => {
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  return resolver
}

const DNS_TIMEOUT_MS = 2_000
/** Shorter than a DNS timeout, so the next lookup queries the new server. */
const RENEW_MS = 1_000
/** The name server did not answer: the system would wait for it as well. */
const NO_ANSWER_CODES = /^(ETIMEOUT|ESERVFAIL)$/
const MAX_WAITING = 100
const LONGEST_WAIT_MS = 10_000
const HOSTS = '/etc/hosts'
const HOSTS_MS = 10_000

const systemLookup: Lookup = hostname => dns.lookup(hostname, { all: true, order: 'verbatim' })

/** Rejects lookups that waited longer than an attempt lasts, and those above the limit. */
const oneAtATime = (lookup: Lookup): Lookup => {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  return hostname => {
    const busy = () => Object.assign(new Error('too many host names are being resolved'), { code: 'EAI_AGAIN' })
    if (waiting >= MAX_WAITING) return Promise.reject(busy())
    const asked = performance.now()
    waiting++
    const found = last
      .then(() => {
        if (performance.now() - asked > LONGEST_WAIT_MS) throw busy()
        return lookup(hostname)
      })
      .finally(() => waiting--)
    last = found.catch(() => {})
    return found
  }
}

let hosts: { names: ReadonlySet<string>; until: number } = { names: new Set(), until: 0 }

/** Single-label names and those in the hosts file are left to the system. */
const isLocal = (hostname: string): boolean => {
  if (!hostname.replace(/\.$/, '').includes('.')) return true
  if (performance.now() >= hosts.until) hosts = { names: readHosts(), until: performance.now() + HOSTS_MS }
  return hosts.names.has(hostname.toLowerCase())
}

const readHosts = (): Set<string> => {
  try {
    const lines = readFileSync(HOSTS, 'utf8').split('\n')
    return new Set(lines.flatMap(line => line.replace(/#.*/, '').toLowerCase().split(/\s+/).slice(1)))
  } catch {
    return new Set()
  }
}
