import { refuse } from '../lib/errors.ts'

/** A node's address, or a `refuse` that does not repeat it where it may hold a secret. */
export const parseNodeUrl = (text: string, protocols: readonly string[]): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && protocols.includes(url.protocol)) return url
  const kinds = protocols.map(it => `${it}//`).join(' or ')
  throw refuse(
    'bad_node_url',
    url === undefined
      ? `the URL of the node is not valid: write it as ${kinds}host:port`
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
  const secrets = [
    url.username,
    url.password,
    decodeURIComponent(url.password),
    ...url.pathname.split('/').filter(it => it.length >= 8),
    ...url.searchParams.values(),
  ].filter(it => it !== '')
  return text => {
    const shown = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text).replace(/\s+/g, ' ')
    return shown.length > 300 ? `${shown.slice(0, 297)}...` : shown
  }
}
