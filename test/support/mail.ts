import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Mail {
  from: string
  to: string[]
  headers: Record<string, string>
  /** The parts of its body, decoded, by their type. */
  parts: Record<string, string>
  text: string
  secure: boolean
  user: unknown
}

/** A mail server on loopback that takes everything, unless `options` say otherwise. */
export const startMailServer = async (t: { after(fn: () => unknown): void }, options: SMTPServerOptions = {}) => {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 50,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope: { mailFrom, rcptTo }, secure, user }, callback) {
      let text = ''
      stream
        .setEncoding('utf8')
        .on('data', chunk => {
          text += chunk
        })
        .on('end', () => {
          const from = (mailFrom as { address: string }).address
          mails.push({ from, to: rcptTo.map(({ address }) => address), ...read(text), text, secure, user })
          callback(null, 'queued')
        })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>(resolve => void server.close(resolve)))
  const { port } = server.server.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, port, mails }
}

const read = (text: string): Pick<Mail, 'headers' | 'parts'> => {
  const [headers, body] = entity(text)
  const [, boundary] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined) return { headers, parts: { [typeOf(headers)]: decode(headers, body) } }
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map(part => entity(part.replace(/^\r\n/, '')))
  return { headers, parts: Object.fromEntries(parts.map(([inner, it]) => [typeOf(inner), decode(inner, it)])) }
}

const entity = (text: string): [headers: Record<string, string>, body: string] => {
  const end = text.indexOf('\r\n\r\n')
  const lines = text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map(line => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return [Object.fromEntries(headers), text.slice(end + 4)]
}

const typeOf = (headers: Record<string, string>): string => /^[\w/-]*/.exec(headers['content-type'] ?? 'text/plain')![0]

const decode = (headers: Record<string, string>, body: string): string => {
  const encoding = headers['content-transfer-encoding']?.toLowerCase()
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? Buffer.from(
            body
              .replace(/=\r\n/g, '')
              .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          )
        : Buffer.from(body)
  return bytes.toString().replaceAll('\r\n', '\n')
}
