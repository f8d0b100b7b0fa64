import { isIPv4, isIPv6 } from 'node:net'
import { TOKEN } from './extracts.ts'
import { expected, type Place, string, wrongOf } from './place.ts'

export interface RuleOptions {
  /** Why nothing may be sent to the host of a URL, to complete "the host is …"; undefined where it may. */
  refusedHost?: (hostname: string) => string | undefined
}

/** A webhook's URL, which may have tokens such as `{transactionHash}`. */
export const checkUrl = (place: Place, { refusedHost }: RuleOptions): void => {
  const what = 'a URL that starts with http:// or https://'
  const value = string(place, what)
  if (value === undefined) return
  if (UNSEEN.test(value)) {
    expected(place, what, 'It has surrounding white space or control characters: remove them.')
    return
  }
  const url = URL.parse(value.replace(TOKEN, PLACEHOLDER))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    expected(place, what, 'One is https://example.org/{transactionHash}.')
    return
  }
  const { username, password, host } = url
  // Otherwise anyone who writes to the chain could choose where the alert goes.
  if (`${username} ${password} ${host}`.includes(PLACEHOLDER)) {
    place.fault(`${place.label} has a token before its path: only path and query may have tokens.`)
    return
  }
  const why = refusedHost?.(url.hostname)
  if (why !== undefined)
    place.fault(
      `${place.label} leads to ${url.hostname}, which is ${why}: use a public address, or have the operator of this server allow it: --allow-target ${rangeOf(url.hostname)}`,
    )
}

/** What the operator allows; of a name, whose addresses may change, what it is to be looked up for. */
const rangeOf = (host: string): string => {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIPv4(address)) return `${address}/32`
  return isIPv6(address) ? `${address}/128` : host === 'localhost' ? '127.0.0.1/32' : 'ADDRESS/32'
}

export const checkRecipients = (place: Place): void => {
  const { value } = place
  if (!Array.isArray(value) || value.length === 0) expected(place, 'a list of one or more email addresses')
  for (const it of wrongOf(place, isEmail)) expected(it, EMAIL_ADDRESS)
}

const EMAIL_ADDRESS = 'an email address such as alice@example.org'

/** What mail servers take in practice: no quoted names, no comments, no address literals, one line. */
const isEmail = (text: unknown): boolean => {
  if (typeof text !== 'string' || text.length > 254) return false
  const [local, domain, ...more] = text.split('@')
  return (
    more.length === 0 &&
    local!.length <= 64 &&
    LOCAL.test(local!) &&
    domain !== undefined &&
    (domain === 'localhost' || DOMAIN.test(domain))
  )
}

const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const DOMAIN = /^([\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u
const PLACEHOLDER = 'chainsieve-token'
const UNSEEN = /^\s|\s$|\p{Cc}/u
