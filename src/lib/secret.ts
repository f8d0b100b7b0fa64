import { inspect } from 'node:util'

/** A value that prints and serialises as `shown`. */
export interface Secret {
  reveal(): string
  toString(): string
  toJSON(): string
  [inspect.custom](): string
}

export const secret = (value: string, shown = HIDDEN_TEXT): Secret => ({
  reveal: () => value,
  toString: () => shown,
  toJSON: () => shown,
  [inspect.custom]: () => shown,
})

/** URLs of paid nodes contain keys, so only scheme and host are shown. */
export const secretUrl = (url: string): Secret => {
  const { protocol, host, username, pathname, search, hash } = new URL(url)
  // A path of this machine.
  if (protocol === 'ipc:') return secret(url, url)
  const bare = username === '' && pathname === '/' && search === '' && hash === ''
  return secret(url, `${protocol}//${host}${bare ? '' : `/${HIDDEN_TEXT}`}`)
}

/** Removes our tokens, credentials in URLs and key-like URL parameters, for logs. */
export const redact = (text: string): string =>
  text
    .replace(/\bcs_[\w-]{8,}/g, `cs_${HIDDEN_TEXT}`)
    .replace(/(\w:\/\/)[^\s/?#@"]+@/g, `$1${HIDDEN_TEXT}@`)
    .replace(/([?&](?:access_token|api_?key|key|token|secret|password)=)[^\s&#"]+/gi, `$1${HIDDEN_TEXT}`)

const HIDDEN_TEXT = '[secret]'

/** `host:port` of each URL, or the path of its Unix socket; repeated hosts get a number. */
export const hostsOf = (urls: readonly string[]): string[] => {
  const hosts = urls.map(url => new URL(url).host || new URL(url).pathname)
  return hosts.map((host, i) => {
    const before = hosts.slice(0, i).filter(other => other === host).length
    return before === 0 ? host : `${host}#${before + 1}`
  })
}
