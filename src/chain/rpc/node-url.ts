import { refuse } from '../../lib/errors.ts'

/** By which a node can be asked: HTTP, a WebSocket, or the path of its Unix socket. */
export const NODE_PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:', 'ipc:']
/** Those that also announce new heads. */
export const announces = (url: string): boolean => /^(wss?|ipc):/.test(url)

/** A node's address, or a `refuse` that does not repeat it where it may hold a secret. */
export const parseNodeUrl = (text: string, protocols: readonly string[]): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && protocols.includes(url.protocol)) return url
  const kinds = protocols
    .map(it => `${it}//`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')
  throw refuse(
    'bad_node_url',
    url === undefined
      ? `the URL of the node is not valid: write it as one of ${kinds}, and what follows`
      : `the URL of the node begins with ${url.protocol}, but must begin with ${kinds}`,
  )
}

/** User name and password of a URL as a header. */
export const authorization = (url: URL): { authorization?: string } => {
  if (url.username === '' && url.password === '') return {}
  const plain = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` }
}

/** Takes the secrets of a URL out of what a node says about them, and line feeds, and all beyond 300 characters. */
export const createHider = (url: URL): ((text: string) => string) => {
  // A path of this machine is no secret.
  if (url.protocol === 'ipc:') return text => shorten(text)
  const secrets = [
    url.username,
    url.password,
    decodeURIComponent(url.password),
    ...url.pathname.split('/').filter(it => it.length >= 8),
    ...url.searchParams.values(),
  ].filter(it => it !== '')
  return text => shorten(secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text))
}

const shorten = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 300 ? `${line.slice(0, 297)}...` : line
}
